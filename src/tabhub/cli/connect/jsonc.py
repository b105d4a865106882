"""JSON with comments and trailing commas: where things are, so that one can be put in or taken out.

All that is not touched stays byte for byte. A text is read once into nodes that know their place.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")


class NotJson(ValueError):
    """What is wrong with a text, and on which line."""

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
    """Where the comma after it is."""


@dataclass
class Node:
    """A value: where it begins and ends, what it says, and the members of an object."""

    start: int
    end: int
    data: Any
    members: list[Member] = field(default_factory=list)

    def member(self, key: str) -> Member | None:
        """The one that counts: of equal keys the last."""
        return next((one for one in reversed(self.members) if one.key == key), None)

    def find(self, path: tuple[str, ...]) -> "Node | None":
        node: Node | None = self
        for key in path:
            found = None if node is None else node.member(key)
            node = None if found is None else found.value
        return node


def parse(text: str) -> Node:
    """The whole text as one value; a blank text is an error like others."""
    return _Reader(text).whole()


class _Reader:
    """Walks over the text once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node:
        self._skip()
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("there is something after the end")
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
            raise self._wrong(f"{written} is no value") from None

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
        """Past the opening bracket or a comma; whether there is anything before the closing one."""
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
