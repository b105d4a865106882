"""JSON with comments: an entry can be added and removed, and nothing else changes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.cli.connect.jsonc import NotJson, parse, put, take, update

ENTRY = {"url": "http://127.0.0.1:9515/mcp", "headers": {"Authorization": "Bearer x"}}
PATH = ("mcpServers", "tabhub")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)
keys = st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
blanks = st.text(" \t", max_size=3)
notes = st.sampled_from(["", " ", "\n", "\r\n  ", "// a note, {\n", "/* } */", "\n\t/* a\n b */\n"])


class Writer:
    """Writes data as a person might, with comments and trailing commas."""

    def __init__(self, draw: st.DrawFn, *, within_pairs: bool = True) -> None:
        self._draw: Callable[[Any], Any] = draw
        self._within_pairs = within_pairs

    def value(self, data: Any) -> str:
        if isinstance(data, dict):
            pairs = [
                f"{json.dumps(key)}{self.inner_gap()}:{self.inner_gap()}{self.value(item)}"
                for key, item in data.items()
            ]
            return "{" + self.gap() + self.joined(pairs) + "}"
        if isinstance(data, list):
            return "[" + self.gap() + self.joined([self.value(item) for item in data]) + "]"
        return json.dumps(data, ensure_ascii=self._draw(st.booleans()))

    def joined(self, parts: list[str]) -> str:
        comma = "," if parts and self._draw(st.booleans()) else ""
        return f"{self.gap()},{self.gap()}".join(parts) + self.gap() + comma + self.gap()

    def inner_gap(self) -> str:
        return self.gap() if self._within_pairs else ""

    def gap(self) -> str:
        note: str = self._draw(notes)
        return note


@st.composite
def files(
    draw: st.DrawFn, data: st.SearchStrategy[Any], *, within_pairs: bool = True
) -> tuple[str, Any]:
    value = draw(data)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    writer = Writer(draw, within_pairs=within_pairs)
    return f"{mark}{writer.gap()}{writer.value(value)}{writer.gap()}", value


settings = st.dictionaries(keys, values, max_size=4)
with_servers = st.builds(
    lambda rest, servers: {**rest, "mcpServers": servers},
    settings,
    st.dictionaries(keys.filter(lambda key: key != "tabhub"), values, max_size=3),
)


@given(files(values))
def test_written_data_is_read_back(file: tuple[str, Any]) -> None:
    text, data = file
    assert parse(text).data == data


@given(files(settings | with_servers))
def test_an_added_entry_is_found_and_the_rest_is_unchanged(
    file: tuple[str, dict[str, Any]],
) -> None:
    text, data = file
    servers = data.get("mcpServers", {})
    if not isinstance(servers, dict):
        with pytest.raises(NotJson, match="mcpServers is not an object"):
            put(text, PATH, ENTRY)
        return
    edit = put(text, PATH, ENTRY)
    assert edit is not None
    after = edit.apply(text)
    assert parse(after).data == {**data, "mcpServers": {**servers, "tabhub": ENTRY}}
    assert put(after, PATH, ENTRY) is None
    assert edit._replace(old=edit.new, new=edit.old).apply(after) == text
    for note in ("// a note, {", "/* } */"):
        assert after.count(note) == text.count(note)


@given(files(with_servers))
def test_a_removed_entry_is_gone_and_the_rest_is_unchanged(
    file: tuple[str, dict[str, Any]],
) -> None:
    text, data = file
    put_in = put(text, PATH, ENTRY)
    assert put_in is not None
    full = put_in.apply(text)
    removal = take(full, PATH)
    assert removal is not None
    after = removal.apply(full)
    assert parse(after).data == data
    if data["mcpServers"]:
        assert after == text


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        (
            '{"a": {"args": [], // the bridge\n "env": {}, "timeout": 60\n}}',
            ("a", "env"),
            '{"a": {"args": [], // the bridge\n  "timeout": 60\n}}',
        ),
        (
            '{"a": {\n"other": {}, // mine\n"tabhub": {"x": 1}}}',
            ("a", "tabhub"),
            '{"a": {\n"other": {} // mine\n}}',
        ),
        (
            '{"a": {\n"other": {}, // mine\n"tabhub": {"x": 1}\n}}',
            ("a", "tabhub"),
            '{"a": {\n"other": {} // mine\n}}',
        ),
    ],
)
def test_what_comes_after_a_removed_member_does_not_become_a_comment(
    text: str, path: tuple[str, ...], after: str
) -> None:
    edit = take(text, path)
    assert edit is not None
    assert edit.apply(text) == after


@given(files(st.dictionaries(keys, scalars, min_size=1, max_size=4)), st.data())
def test_any_member_is_removed_alone(
    file: tuple[str, dict[str, Any]], draws: st.DataObject
) -> None:
    text, data = file
    key = draws.draw(st.sampled_from([*data]))
    removal = take(text, (key,))
    assert removal is not None
    assert parse(removal.apply(text)).data == {name: data[name] for name in data if name != key}


def test_an_entry_after_two_comments_on_a_line_is_inserted_before_the_bracket() -> None:
    text = '{"mcpServers":{\n"a":null/* } */}/* } */\n}'
    edit = put(text, PATH, ENTRY)
    assert edit is not None
    assert parse(edit.apply(text)).data == {"mcpServers": {"a": None, "tabhub": ENTRY}}


@given(files(with_servers), values)
def test_a_value_is_replaced_in_place(file: tuple[str, dict[str, Any]], value: Any) -> None:
    text, data = file
    insertion = put(text, PATH, value)
    assert insertion is not None
    before = insertion.apply(text)
    replacement = put(before, PATH, ENTRY)
    if replacement is None:
        assert value == ENTRY
        return
    after = replacement.apply(before)
    assert parse(after).data == {**data, "mcpServers": {**data["mcpServers"], "tabhub": ENTRY}}


@given(files(st.dictionaries(keys, scalars, max_size=4), within_pairs=False), st.data())
def test_an_update_keeps_every_comment_around_members(
    file: tuple[str, dict[str, Any]], draws: st.DataObject
) -> None:
    inner, data = file
    text = f'{{"mcpServers": {{"tabhub": {inner.removeprefix(chr(0xFEFF))}}}}}'
    target = draws.draw(st.dictionaries(keys | st.sampled_from([*data, "url"]), scalars))
    edit = update(text, PATH, target)
    assert (edit is None) == (data == target)
    if edit is None:
        return
    after = edit.apply(text)
    assert parse(after).data == {"mcpServers": {"tabhub": target}}
    for note in ("// a note, {", "/* } */", "/* a\n b */"):
        assert after.count(note) == text.count(note)


def test_an_update_changes_only_what_differs() -> None:
    text = (
        '{\n  "mcpServers": {\n    "tabhub": {\n      // mine\n'
        '      "url": "http://127.0.0.1:1/mcp", // my port\n'
        '      "headers": {\n        /* and this */ "Authorization": "Bearer x"\n      },\n'
        '      // slow\n      "timeout": 60 // sixty\n    }\n  }\n}\n'
    )
    edit = update(text, PATH, {**ENTRY, "timeout": 60})
    assert edit is not None
    assert edit.apply(text) == text.replace("127.0.0.1:1/", "127.0.0.1:9515/")
    edit = update(text, PATH, {"command": "c", "args": ["a"], "env": {"A": "b"}, "timeout": 60})
    assert edit is not None
    assert edit.apply(text) == (
        '{\n  "mcpServers": {\n    "tabhub": {\n      // mine\n'
        '      "command": "c", // my port\n'
        '      "args": [\n        "a"\n      ],\n'
        '      // slow\n      "timeout": 60, // sixty\n'
        '      "env": {\n        "A": "b"\n      }\n    }\n  }\n}\n'
    )


@given(st.text(alphabet='{}[]",:/*\\ \n01truefalsn', max_size=30))
def test_strict_json_is_read_and_no_text_breaks_the_parser(text: str) -> None:
    try:
        data = parse(text).data
    except NotJson as error:
        assert error.line >= 1
        with pytest.raises(ValueError):
            json.loads(text)
    else:
        try:
            assert json.loads(text) == data
        except ValueError:
            assert any(mark in text for mark in ("//", "/*", ","))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "a value"),
        ("{\n  'a': 1\n}", 2, "double quotes"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, "comma"),
        ('{\n"a": \n', 3, "a value"),
        ('{"a": 1}\n}', 2, "after the end"),
        ('{"a": 01}', 1, "not a value"),
        ("/* open", 1, "a value"),
        ("[" * 100_000, 1, "deeply"),
        ("[,]", 1, "a value"),
    ],
    ids=["empty", "quotes", "comma", "cut off", "more", "number", "comment", "deep", "only comma"],
)
def test_a_fault_is_reported_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(NotJson, match=words) as failed:
        parse(text)
    assert failed.value.line == line


def test_a_new_member_looks_like_its_neighbours() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"a": {}, // first\n\t\t"b": {} // second\n\t}\n}\n'
    edit = put(text, PATH, {"url": "u"})
    assert edit is not None
    assert edit.apply(text) == (
        '{\n\t"mcpServers": {\n\t\t"a": {}, // first\n\t\t"b": {}, // second\n'
        '\t\t"tabhub": {\n\t\t\t"url": "u"\n\t\t}\n\t}\n}\n'
    )
    small = '{"mcpServers": {"a": {}}}'
    edit = put(small, PATH, {"url": "u"})
    assert edit is not None
    assert edit.apply(small) == '{"mcpServers": {"a": {}, "tabhub": {"url": "u"}}}'
