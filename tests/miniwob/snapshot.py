"""The result of browser_read_page, parsed into lines: all that a policy sees of a page."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.real.looking import page_lines

_STRING = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"( *)([^\s\"]*)(?: ?({_STRING}))?(?: \[(ref_\d+)\])?(.*)")
_ATTRIBUTE = re.compile(rf"([\w-]+)=({_STRING}|\S+)")
_ROW = re.compile(rf" *row(?: {_STRING})?(?: \[ref_\d+\])?[^\"|:]*(?=:(?: |$))")
_CELL = re.compile(rf"((?:{_STRING}|[^\"|])*)(?:\||$)")
_PLAIN = re.compile(r"((?:(?!\[ref_)[^\"])*?)(?: \[(ref_\d+)\])?")
_BEGINNING = rf"(?:{_STRING}|[a-z]+ (?:{_STRING}|\[ref_))"
_PART = re.compile(
    rf"(?:[a-z]+ )?(?:{_STRING}|\S+)(?: (?!{_BEGINNING})(?:[\w-]+={_STRING}|[^\s\"]+))*"
)


@dataclass(frozen=True)
class Line:
    """One element, or a text (which has no role)."""

    depth: int
    role: str
    name: str
    ref: str
    attributes: dict[str, str] = field(default_factory=dict)
    states: frozenset[str] = frozenset()

    def __str__(self) -> str:
        more = [self.ref, *(f"{key}={value}" for key, value in self.attributes.items())]
        return " ".join([" " * self.depth + self.role, repr(self.name), *more, *self.states])

    @property
    def hint(self) -> str:
        return self.attributes.get("hint", "")

    @property
    def is_multiline(self) -> bool:
        return "multiline" in self.states

    @property
    def box(self) -> tuple[float, float, float, float]:
        x, y, width, height = map(float, self.attributes["box"].split(","))
        return x, y, width, height

    @property
    def middle(self) -> tuple[float, float]:
        x, y, width, height = self.box
        return x + width / 2, y + height / 2


class Snapshot:
    """The lines of a page."""

    def __init__(self, text: str) -> None:
        self.lines = [part for line in page_lines(text).splitlines() for part in _parts(line)]

    @property
    def task(self) -> str:
        """The task, which is the first line of the page."""
        return self.lines[0].name

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def all(self, *roles: str) -> list[Line]:
        """The lines with a ref and one of these roles."""
        return [line for line in self if line.ref and line.role in roles]

    def one(self, role: str, name: str | None = None) -> Line:
        """The first line with this role, and with this name if one is given."""
        for line in self.all(role):
            if name is None or line.name == name:
                return line
        raise LookupError(f"no {role} {name or ''} in:\n{self}")

    def named(self, name: str) -> Line:
        """The first line with a ref and this name."""
        for line in self:
            if line.ref and line.name == name:
                return line
        raise LookupError(f"no {name!r} in:\n{self}")

    def hinted(self, words: str) -> Line:
        """The first line with a ref and these words in its hint."""
        for line in self:
            if line.ref and words in line.hint:
                return line
        raise LookupError(f"nothing with {words!r} in:\n{self}")

    def has(self, name: str) -> bool:
        return any(line.ref and line.name == name for line in self)

    @property
    def texts(self) -> list[str]:
        """Texts and names below the task."""
        return [line.name for line in self.lines[1:] if line.name]

    def after(self, text: str, role: str) -> Line:
        """The first line with this role after a text."""
        seen = False
        for line in self.lines[1:]:
            if seen and line.ref and line.role == role:
                return line
            seen = seen or line.name == text
        raise LookupError(f"no {role} behind {text!r} in:\n{self}")

    def __str__(self) -> str:
        return "\n".join(str(line) for line in self)


def _parts(text: str) -> list[Line]:
    """What a line of the page stands for: a row of a table has many parts."""
    row = _ROW.match(text)
    cells = _CELL.findall(text[row.end() + 1 :] if row else text)[:-1]
    if not row and len(cells) == 1:
        return _items(text)
    depth = len(text) - len(text.lstrip())
    inside = [part for cell in cells for part in _cell(cell.strip(), len(cells) > 1)]
    return [
        *([_line(row[0])] if row else []),
        *(replace(part, depth=depth + 1) for part in inside),
    ]


def _cell(text: str, is_plain: bool) -> list[Line]:
    """A text or link alone in its cell has no role and no quotation marks."""
    plain = _PLAIN.fullmatch(text) if is_plain else None
    if plain is None:
        return _items(text)
    name, ref = plain.groups()
    return [Line(0, "link" if ref else "cell", name, ref or "")]


def _items(text: str) -> list[Line]:
    indent = " " * (len(text) - len(text.lstrip()))
    return [_line(indent + part) for part in _PART.findall(text)]


def _line(text: str) -> Line:
    found = _LINE.fullmatch(text)
    assert found, text
    indent, role, name, ref, rest = found.groups()
    attributes = {key: _plain(value) for key, value in _ATTRIBUTE.findall(rest)}
    states = frozenset(_ATTRIBUTE.sub("", rest).split())
    return Line(len(indent), role, _plain(name or ""), ref or "", attributes, states)


def _plain(text: str) -> str:
    plain: str = json.loads(text) if text.startswith('"') else text
    return plain
