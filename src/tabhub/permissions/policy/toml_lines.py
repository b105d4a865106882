"""Finds the line of each key and item in a TOML text, which `tomllib` does not report."""

import re
import tomllib
from bisect import bisect_left

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\])*"' r"|'[^']*'" r"|[^,\]}\n#]+",
    re.DOTALL,
)


def lines_of(text: str) -> dict[Path, int]:
    """The first line of every key and item in a valid text."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.scan()
    return scanner.lines


def tables_of(text: str) -> list[tuple[Path, int]]:
    """Each table with a header in a valid text, and the line of the header."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.scan()
    return scanner.headers


class _Scanner:
    """Walks over the text once and assumes that it is valid."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.headers: list[tuple[Path, int]] = []
        self._text = text
        self._at = 0
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._last_index: dict[Path, int] = {}

    def scan(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _header(self) -> Path:
        line = self._line()
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        self._skip(_SPACE)
        *parents, last = self._keys()
        table: Path = ()
        for key in parents:
            table = self._inside((*table, key))
        table = self._named(table, last)
        if is_array:
            self._last_index[table] = self._last_index.get(table, -1) + 1
            table = self._inside(table)
        self._at += 2 if is_array else 1
        self.headers.append((table, line))
        return table

    def _inside(self, path: Path) -> Path:
        """The path itself or, for an array of tables, the table in it that started last."""
        self._note(path)
        if path in self._last_index:
            path = (*path, self._last_index[path])
            self._note(path)
        return path

    def _pair(self, table: Path) -> None:
        for key in self._keys():
            table = self._named(table, key)
        self._at += len("=")
        self._skip(_SPACE)
        self._value(table)

    def _named(self, table: Path, key: str) -> Path:
        path = (*table, key)
        self._note(path)
        return path

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while self._text[self._at] == ".":
            self._at += 1
            self._skip(_SPACE)
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        written = self._take(_KEY)
        self._skip(_SPACE)
        if written[0] not in "\"'":
            return written
        key: str = tomllib.loads(f"key = {written}")["key"]
        return key

    def _value(self, path: Path) -> None:
        opening = self._text[self._at]
        if opening == "[":
            self._items(path)
        elif opening == "{":
            self._pairs(path)
        else:
            self._take(_SCALAR)

    def _items(self, path: Path) -> None:
        index = 0
        while self._next("]"):
            self._note((*path, index))
            self._value((*path, index))
            index += 1

    def _pairs(self, path: Path) -> None:
        while self._next("}"):
            self._pair(path)

    def _next(self, closing: str) -> bool:
        """Advance to the next element; False, and past the bracket, if there is none."""
        self._skip(_BLANK)
        if self._text[self._at] != closing:
            self._at += 1
            self._skip(_BLANK)
        if self._text[self._at] != closing:
            return True
        self._at += 1
        return False

    def _note(self, path: Path) -> None:
        self.lines.setdefault(path, self._line())

    def _line(self) -> int:
        return bisect_left(self._ends, self._at) + 1

    def _skip(self, what: "re.Pattern[str]") -> None:
        self._take(what)

    def _take(self, what: "re.Pattern[str]") -> str:
        found = what.match(self._text, self._at)
        if found is None:
            raise AssertionError(f"no TOML at {self._at}")
        self._at = found.end()
        return found[0]
