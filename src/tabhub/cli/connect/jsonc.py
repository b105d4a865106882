"""Edits JSON with comments and trailing commas: sets, changes or removes a member by a text edit.

Everything else stays as it is, byte for byte: the text is parsed into nodes with their positions.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Path = tuple[str, ...]
INDENT = "  "
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_NOTE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\n])*\*/[ \t]*(?=\r?\n))")
"""A comment that ends its line."""
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|$)")


class Edit(NamedTuple):
    """A replacement of one part of a text."""

    start: int
    old: str
    new: str

    def apply(self, text: str) -> str:
        end = self.start + len(self.old)
        assert text[self.start : end] == self.old
        return text[: self.start] + self.new + text[end:]


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


class NotJson(ValueError):
    """The text is not JSON: what is wrong, and on which line."""

    def __init__(self, text: str, at: int, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.line = text.count("\n", 0, at) + 1


@dataclass
class Member:
    """One `"key": value` of an object."""

    key: str
    start: int
    value: "Node"
    comma: int | None = None
    """The position of the comma after it."""


@dataclass
class Node:
    """A value: its position, its data and, for an object, its members."""

    start: int
    end: int
    data: Any
    members: list[Member] = field(default_factory=list)

    def member(self, key: str) -> Member | None:
        """The member with this key; of several, the last counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    def find(self, path: Path) -> "Node | None":
        node: Node | None = self
        for key in path:
            found = None if node is None else node.member(key)
            node = None if found is None else found.value
        return node


def parse(text: str) -> Node:
    """The whole text as one value; a blank text is an error."""
    return _JsoncParser(text).whole()


class _JsoncParser:
    """A recursive descent parser."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node:
        self._skip()
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("there is text after the end")
        return node

    def _value(self) -> Node:
        opening = self._text[self._at : self._at + 1]
        try:
            if opening == "{":
                return self._object()
            if opening == "[":
                return self._list()
        except RecursionError:
            raise self._wrong("it is nested too deeply") from None
        start, written = self._at, self._take(_STRING if opening == '"' else _PLAIN, "a value")
        try:
            return Node(start, self._at, json.loads(written))
        except ValueError:
            raise self._wrong(f"{written} is not a value") from None

    def _object(self) -> Node:
        node = Node(self._at, self._at, {})
        while self._more("}", node.members[-1] if node.members else None):
            start = self._at
            key = json.loads(self._take(_STRING, "a key in double quotes"))
            self._skip()
            self._expect(":")
            self._skip()
            value = self._value()
            node.members.append(Member(key, start, value))
            node.data[key] = value.data
        node.end = self._at
        return node

    def _list(self) -> Node:
        node, item = Node(self._at, self._at, []), None
        while self._more("]", item):
            item = Member("", self._at, self._value())
            node.data.append(item.value.data)
        node.end = self._at
        return node

    def _more(self, closing: str, last: Member | None) -> bool:
        """Skip the opening bracket or a comma, or the closing bracket; whether an item follows."""
        is_first = last is None and self._text[self._at] in "{["
        if is_first:
            self._at += 1
        self._skip()
        if not is_first and self._text.startswith(",", self._at):
            assert last is not None
            last.comma = self._at
            self._at += 1
            self._skip()
        elif not is_first and not self._text.startswith(closing, self._at):
            raise self._wrong(f"a comma or {closing} is missing")
        if not self._text.startswith(closing, self._at):
            return True
        self._at += 1
        return False

    def _expect(self, what: str) -> None:
        if not self._text.startswith(what, self._at):
            raise self._wrong(f"{what} is missing")
        self._at += len(what)

    def _skip(self) -> None:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _take(self, what: "re.Pattern[str]", name: str) -> str:
        found = what.match(self._text, self._at)
        if found is None:
            raise self._wrong(f"{name} is missing")
        self._at = found.end()
        return found[0]

    def _wrong(self, message: str) -> NotJson:
        return NotJson(self._text, self._at, message)


def put(text: str, path: Path, value: Any) -> Edit | None:
    """Set the value at `path` and create missing objects; None if it has that value already."""
    root = parse(text)
    if root.find(path) is not None and _data(root, path) == value:
        return None
    node, at = _object(text, root, "the whole text"), 0
    while at < len(path) - 1 and (found := node.member(path[at])) is not None:
        at += 1
        node = _object(text, found.value, ".".join(path[:at]))
    old = node.member(path[-1]) if at == len(path) - 1 else None
    unit, outer = _indent_unit(text, root), _indent_at(text, node.start)
    if old is not None:
        written = _written(value, unit, _indent_at(text, old.start), text)
        return Edit(old.value.start, text[old.value.start : old.value.end], written)
    for key in reversed(path[at + 1 :]):
        value = {key: value}
    return _added(text, node, path[at], value, unit, outer)


def update(text: str, path: Path, value: dict[str, Any]) -> Edit | None:
    """Change, add or remove only the members that differ, in objects inside likewise."""
    root = parse(text)
    node = root.find(path)
    if node is None or not isinstance(node.data, dict) or node.data == value:
        return put(text, path, value)
    old = text[node.start : node.end]
    return Edit(node.start, old, _updated(old, value, _indent_unit(text, root)))


def _updated(text: str, value: dict[str, Any], unit: str) -> str:
    """The text of an object with other members. A new member takes the place of an old one, so
    that the comments around that stay."""
    node = parse(text)
    added = [key for key in value if key not in node.data]
    edits, drops = [], []
    for member in node.members:
        if member.key in value:
            if member.value.data != value[member.key]:
                new = _replacement(text, node, member, value[member.key], unit)
                edits.append((member.value.start, member.value.end, new))
        elif added:
            key = added.pop(0)
            new = f"{json.dumps(key)}: {_replacement(text, node, member, value[key], unit)}"
            edits.append((member.start, member.value.end, new))
        else:
            drops.append(member.key)
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    for key in drops:
        edit = take(text, (key,))
        text = text if edit is None else edit.apply(text)
    for key in added:
        text = _added(text, parse(text), key, value[key], unit, "").apply(text)
    return text


def _replacement(text: str, node: Node, member: Member, value: Any, unit: str) -> str:
    """The text of another value of a member; an object keeps what does not change."""
    if isinstance(value, dict) and member.value.members:
        return _updated(text[member.value.start : member.value.end], value, unit)
    if not _is_multiline(text, node):
        return json.dumps(value, ensure_ascii=False)
    return _written(value, unit, _indent_at(text, member.start), text)


def _object(text: str, node: Node, name: str) -> Node:
    if not isinstance(node.data, dict):
        raise NotJson(text, node.start, f"{name} is not an object")
    return node


def take(text: str, path: Path) -> Edit | None:
    """Remove the member at `path`, and nothing else; None if there is none. The comments
    around it stay."""
    parent = parse(text).find(path[:-1])
    found = None if parent is None else parent.member(path[-1])
    if parent is None or found is None:
        return None
    index = parent.members.index(found)
    before = parent.members[index - 1] if index else None
    begins = parent.start + 1 if before is None else (before.comma or before.value.end - 1) + 1
    ends = found.value.end if found.comma is None else found.comma + 1
    start = _start_of(text, begins, found.start, ends) if before is not None else begins
    start = found.start if text[start : found.start].strip() else start
    note = text[found.value.end : ends - 1]
    note = note if note.strip() else ""
    if found.comma is not None or before is None or before.comma is None:
        return Edit(start, text[start:ends], note)
    # The last member has no comma, so the comma of the one before has to go too.
    kept = text[before.comma + 1 : start] + note
    return Edit(before.comma, text[before.comma : ends], kept)


def _added(text: str, node: Node, key: str, value: Any, unit: str, outer: str) -> Edit:
    """Add the last member, on its own line if the others have their own lines."""
    last = node.members[-1] if node.members else None
    if last is not None and not _is_multiline(text, node):
        member = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        comma = "," if last.comma is not None else ""
        at = last.value.end if last.comma is None else last.comma + 1
        return Edit(at, "", f"{'' if comma else ','} {member}{comma}")
    line = newline_of(text)
    indent = outer + unit if last is None else _indent_at(text, last.start)
    member = f"{line}{indent}{json.dumps(key)}: {_written(value, unit, indent, text)}"
    if last is None:
        inside = text[node.start + 1 : node.end - 1]
        closing = "" if "\n" in inside else line + outer
        return Edit(node.start + 1, "", member + closing)
    if last.comma is not None:
        return Edit(_after_note(text, last.comma + 1), "", member + ",")
    at = last.value.end
    kept = text[at : _after_note(text, at)]
    return Edit(at, kept, "," + kept + member)


def _start_of(text: str, begins: int, member: int, ends: int) -> int:
    """Where the removal of a member begins: after the comment of the one before, unless what comes
    after the member would become part of that comment."""
    start = _after_note(text, begins)
    is_open = "//" in text[begins:start] and not _LINE_END.match(text, ends)
    return member if is_open else start


def _after_note(text: str, at: int) -> int:
    """Skip a comment that ends the line: it belongs to what is before it."""
    found = _NOTE.match(text, at)
    return found.end() if found else at


def _is_multiline(text: str, node: Node) -> bool:
    return "\n" in text[node.start : node.members[0].start]


def _written(value: Any, unit: str, indent: str, text: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline_of(text) + indent).join(lines)


def _indent_unit(text: str, root: Node) -> str:
    """How far the file indents one level."""
    if root.members and _is_multiline(text, root):
        return _indent_at(text, root.members[0].start) or INDENT
    return INDENT


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _data(root: Node, path: Path) -> Any:
    node = root.find(path)
    return None if node is None else node.data
