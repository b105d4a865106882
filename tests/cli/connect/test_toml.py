"""A table in TOML: added, changed and removed, with all other lines unchanged."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.cli.connect.toml_edits import Unusual, put, take, update

PATH = ("mcp_servers", "tabhub")
HTTP = {"url": "http://127.0.0.1:9515/mcp", "http_headers": {"Authorization": "Bearer x"}}
STDIO = {"command": "/opt/tab hub", "args": ["start", "--stdio"], "env": {"TABHUB_TOKEN": 'a"b'}}

PIECES = [
    'model = "o5" # the best\n',
    "\n",
    "# mcp_servers.tabhub is not here\n",
    'notes = """\n[mcp_servers.tabhub]\n"""\n',
    "list = [\n  1,\n  # [x]\n  2,\n]\n",
]
TABLES = [
    '[mcp_servers.other]\ncommand = "x"\nargs = ["[mcp_servers.tabhub]"]\n\n',
    "# about profiles\n[profiles.fast]\neffort = 'low'\n",
    "[[history]]\nat = 2026-07-28\n",
    '[mcp_servers."with space"]\nurl = "https://example.com"\n',
]
texts = st.builds(
    lambda top, tables, end, line: ("".join([*top, *tables]) + end).replace("\n", line),
    st.lists(st.sampled_from(PIECES), max_size=4, unique=True),
    st.lists(st.sampled_from(TABLES), max_size=4, unique=True),
    st.sampled_from(["", "# the end", "# the end\n\n\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
entries = st.sampled_from([HTTP, STDIO])
OWN_LINES = [
    "# mine\n",
    "\n",
    "startup_timeout_sec = 60 # sixty\n",
    "since = 2020-01-01\n",
    'about = """\n[mcp_servers.tabhub]\n# """\n',
    "# url = not this one\n",
]
own_lines = st.lists(st.sampled_from(OWN_LINES), max_size=5, unique=True)


@given(texts, entries, entries)
def test_a_table_is_added_changed_and_removed(
    text: str, first: dict[str, object], second: dict[str, object]
) -> None:
    data = tomllib.loads(text)
    others = data.get("mcp_servers", {})
    edit = put(text, PATH, first)
    assert edit is not None
    full = edit.apply(text)
    assert tomllib.loads(full) == {**data, "mcp_servers": {**others, "tabhub": first}}
    assert put(full, PATH, first) is None
    removal = take(full, PATH)
    assert removal is not None
    assert removal.apply(full).rstrip("\r\n") == text.rstrip("\r\n")
    change = put(full, PATH, second)
    assert (change is None) == (first == second)
    if change is not None:
        changed = change.apply(full)
        assert tomllib.loads(changed) == {**data, "mcp_servers": {**others, "tabhub": second}}


@given(texts, own_lines, own_lines, texts, entries, entries)
def test_an_update_changes_only_the_lines_of_the_keys_that_differ(
    top: str,
    first_lines: list[str],
    last_lines: list[str],
    end: str,
    first: dict[str, Any],
    second: dict[str, Any],
) -> None:
    line = "\r\n" if "\r\n" in top else "\n"
    top = "".join(top.partition("[[history]]")[:1])
    edit = put(top, PATH, first)
    assert edit is not None
    header, own = edit.new.split("]", 1)
    lines = [one for one in last_lines if one not in first_lines]
    table = f"{header}]{line}{''.join(first_lines)}{own.lstrip()}{''.join(lines)}# after\n"
    before = edit._replace(new=table.replace("\r\n", "\n").replace("\n", line)).apply(top)
    entry = tomllib.loads(before)["mcp_servers"]["tabhub"]
    target = second | {key: entry[key] for key in entry.keys() - first.keys()}
    change = update(before, PATH, target)
    assert (change is None) == (first == second)
    if change is None:
        return
    after = change.apply(before)
    assert tomllib.loads(after)["mcp_servers"]["tabhub"] == target
    at = edit.start
    assert after[:at] == before[:at]
    assert _without_keys(after[at:], second) == _without_keys(before[at:], first)


def _without_keys(text: str, entry: dict[str, Any]) -> list[str]:
    """The lines of a text, without those of the entry's keys."""
    starts = tuple(f"{key} = " for key in entry)
    return [line for line in text.splitlines(keepends=True) if not line.startswith(starts)]


def test_comments_beside_what_changes_stay() -> None:
    text = (
        "[mcp_servers.tabhub] # mine\n# one\n"
        'url  =  "http://127.0.0.1:1/mcp"   # "my" port #1\n'
        'http_headers = { Authorization = "Bearer x" } # two\n'
        "\n# --- notes to myself, unrelated ---\n# other = 1"
    )
    edit = update(text, PATH, HTTP)
    assert edit is not None
    assert edit.apply(text) == text.replace("127.0.0.1:1/", "127.0.0.1:9515/")
    edit = update(text, PATH, STDIO)
    assert edit is not None
    assert edit.apply(text) == (
        "[mcp_servers.tabhub] # mine\n# one\n"
        'command = "/opt/tab hub"   # "my" port #1\n'
        'args = ["start", "--stdio"] # two\n'
        'env = { TABHUB_TOKEN = "a\\"b" }\n'
        "\n# --- notes to myself, unrelated ---\n# other = 1"
    )
    removal = take(text, PATH)
    assert removal is not None
    assert removal.apply(text) == "\n# --- notes to myself, unrelated ---\n# other = 1"


def test_keys_that_a_person_added_to_the_table_stay() -> None:
    text = (
        '[mcp_servers.tabhub]\nurl = "old"\n# slow machine\ntool_timeout_sec = 90\n'
        'args = [\n  "old",\n]\nenabled = true\n\n'
        "# next\n[profiles.a]\nx = 1\n"
    )
    target = {**HTTP, "tool_timeout_sec": 90, "enabled": True}
    edit = update(text, PATH, target)
    assert edit is not None
    after = edit.apply(text)
    assert tomllib.loads(after)["mcp_servers"]["tabhub"] == target
    assert "\n# slow machine\ntool_timeout_sec = 90\n" in after
    assert after.endswith("\n\n# next\n[profiles.a]\nx = 1\n")


def test_inner_tables_are_removed_with_their_table() -> None:
    text = (
        '[mcp_servers.tabhub]\nurl = "old"\n\n[mcp_servers.tabhub.http_headers]\nA = "b"\n'
        '\n[mcp_servers.other]\nurl = "x"\n'
    )
    for edit in (put(text, PATH, STDIO), update(text, PATH, STDIO)):
        assert edit is not None
        assert tomllib.loads(edit.apply(text))["mcp_servers"] == {
            "tabhub": STDIO,
            "other": {"url": "x"},
        }


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.tabhub]",
        "a = 1\r\n[mcp_servers.tabhub]",
        '[mcp_servers.tabhub.env]\nTABHUB_TOKEN = "a"\n[mcp_servers.tabhub]\nurl = "x"\n',
        '[mcp_servers.tabhub.env]\nTABHUB_TOKEN = "a"\n',
    ],
)
def test_a_table_without_lines_or_after_its_subtable_is_changed(text: str) -> None:
    others = {key: value for key, value in tomllib.loads(text).items() if key == "a"}
    for entry in (HTTP, STDIO):
        edit = update(text, PATH, entry)
        assert edit is not None
        assert tomllib.loads(edit.apply(text)) == {**others, "mcp_servers": {"tabhub": entry}}


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { tabhub = { url = "x" } }\n',
        'mcp_servers.tabhub.url = "x"\n',
        'mcp_servers = { other = { url = "x" } }\n',
        '[mcp_servers]\ntabhub = { url = "x" }\n',
        '[mcp_servers.tabhub]\nurl = "x"\n[a]\nb = 1\n[mcp_servers.tabhub.env]\nC = "d"\n',
    ],
    ids=["inline", "dotted", "others inline", "in its parent", "scattered"],
)
def test_a_table_in_another_notation_is_not_changed(text: str) -> None:
    with pytest.raises(Unusual):
        put(text, PATH, HTTP)
    if "tabhub" in text:
        with pytest.raises(Unusual):
            take(text, PATH)
