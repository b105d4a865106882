"""A table in TOML: added, changed and removed, with all other lines unchanged."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.cli.connect.toml_edits import Unusual, put, take

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


def test_keys_that_a_person_added_to_the_table_stay() -> None:
    text = (
        '[mcp_servers.tabhub]\nurl = "old"\n# slow machine\ntool_timeout_sec = 90\n'
        'args = [\n  "old",\n]\nenabled = true\n\n'
        "# next\n[profiles.a]\nx = 1\n"
    )
    edit = put(text, PATH, HTTP)
    assert edit is not None
    after = edit.apply(text)
    assert tomllib.loads(after)["mcp_servers"]["tabhub"] == {
        **HTTP,
        "tool_timeout_sec": 90,
        "enabled": True,
    }
    assert after.endswith("\n\n# next\n[profiles.a]\nx = 1\n")


def test_inner_tables_are_removed_with_their_table() -> None:
    text = (
        '[mcp_servers.tabhub]\nurl = "old"\n\n[mcp_servers.tabhub.http_headers]\nA = "b"\n'
        '\n[mcp_servers.other]\nurl = "x"\n'
    )
    edit = put(text, PATH, STDIO)
    assert edit is not None
    assert tomllib.loads(edit.apply(text))["mcp_servers"] == {
        "tabhub": STDIO,
        "other": {"url": "x"},
    }


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
