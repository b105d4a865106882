"""Edits TOML: sets, changes or removes one table, as a text edit; all else stays as it is."""

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, time
from typing import Any, NamedTuple

from tabhub.cli.connect.jsonc import Edit, newline_of
from tabhub.permissions.policy.toml_lines import tables_of

Path = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PLAIN_KEY = re.compile(r"""[ \t]*(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*')[ \t]*=[ \t]*""")
"""A key without dots, and what is between it and its value."""


class Unusual(Exception):
    """The file has a form that tabhub does not edit; the message says which."""


class _Statement(NamedTuple):
    """The lines of one key of a table; of a subtable, one of its lines."""

    key: str
    start: int
    end: int
    value: tuple[int, int] | None
    """Where the value is; None if the key has dots or is in a subtable."""
    is_inner: bool
    """Whether it is in a subtable."""


def put(text: str, path: Path, value: dict[str, Any]) -> Edit | None:
    """Replace or add the whole table at `path`; None if it has exactly this value already."""
    before = _at(tomllib.loads(text), path)
    if before == value:
        return None
    line = newline_of(text)
    body = [_pair(value, key) for key in value]
    table = line.join([f"[{'.'.join(map(_key, path))}]", *body]) + line
    if before is None:
        gap = "" if not text else line if text.endswith("\n") else line * 2
        return _valid(text, Edit(len(text), "", gap + table), path)
    start, old = _block(text, path)
    return Edit(start, old, table)


def update(text: str, path: Path, value: dict[str, Any]) -> Edit | None:
    """Change, add or remove only the keys that differ: the rest of the table stays as it is."""
    before = _at(tomllib.loads(text), path)
    if not isinstance(before, dict) or before == value:
        return put(text, path, value)
    start, old = _block(text, path)
    if tables_of(old)[0][0] != path:
        # Its subtables stand before it, or without it.
        return put(text, path, value)
    new = _updated(old, path, before, value, newline_of(text))
    return _valid(text, Edit(start, old, new), path)


def take(text: str, path: Path) -> Edit | None:
    """Remove the table, its subtables and the blank line before it."""
    if _at(tomllib.loads(text), path) is None:
        return None
    start, old = _block(text, path)
    for blank in ("\r\n", "\n"):
        if text[:start].endswith(blank * 2) or text[:start] == blank:
            start, old = start - len(blank), blank + old
            break
    return Edit(start, old, "")


def _valid(text: str, edit: Edit, path: Path) -> Edit:
    """An inline table cannot get another table."""
    try:
        tomllib.loads(edit.apply(text))
    except tomllib.TOMLDecodeError:
        outer = ".".join(path[:-1])
        raise Unusual(
            f"{outer} is an inline table ({outer} = {{ ... }}), which cannot be extended; "
            f"write [{outer}.NAME] tables instead."
        ) from None
    return edit


def _updated(
    block: str, path: Path, before: dict[str, Any], value: dict[str, Any], line: str
) -> str:
    """The text of a table with another value. A new key takes the place of an old one, so that
    the comments around that stay."""
    statements = list(_statements(block, path))
    changed = {key for key in value if key not in before or before[key] != value[key]}
    in_place = {one.key for one in statements if one.value is not None}
    added = [key for key in value if key in changed and key not in in_place]
    edits = []
    for one in statements:
        if one.key in value and one.key not in changed:
            continue
        if one.value is None or not (one.key in value or added):
            edits.append((one.start, one.end, ""))
        elif one.key in value:
            edits.append((*one.value, _value(value[one.key])))
        else:
            indent = len(block[one.start :]) - len(block[one.start :].lstrip(" \t"))
            edits.append((one.start + indent, one.value[1], _pair(value, added.pop(0))))
    header = len(_LINE.findall(block)[0])
    end = max((one.end for one in statements if not one.is_inner), default=header)
    gap = "" if block[:end].endswith("\n") else line
    edits.append((end, end, gap + "".join(_pair(value, key) + line for key in added)))
    for start, end, new in sorted(edits, reverse=True):
        block = block[:start] + new + block[end:]
    return block


def _block(text: str, path: Path) -> tuple[int, str]:
    """The table and its subtables: the position and the text. Comments and blank lines after the
    last key are not part of it."""
    tables = tables_of(text)
    own = [index for index, (table, _) in enumerate(tables) if table[: len(path)] == path]
    if not own or own != list(range(own[0], own[-1] + 1)):
        name = ".".join(path)
        raise Unusual(f"{name} is not written as one separate table ([{name}]).")
    lines = _LINE.findall(text)
    first, next_one = tables[own[0]][1] - 1, own[-1] + 1
    last = tables[next_one][1] - 1 if next_one < len(tables) else len(lines)
    block = "".join(lines[first:last])
    end = max((one.end for one in _statements(block, path)), default=len(lines[first]))
    return sum(map(len, lines[:first])), block[:end]


def _statements(block: str, path: Path) -> Iterator[_Statement]:
    """All of a table but its header, comments and blank lines."""
    lines = _LINE.findall(block)
    at, number, inner = len(lines[0]), 1, ""
    while number < len(lines):
        first = lines[number].lstrip(" \t")
        count = 1
        if first.startswith("["):
            inner = next(iter(_inside(tomllib.loads(first), path)), "")
            yield _Statement(inner, at, at + len(lines[number]), None, is_inner=True)
        elif first.strip() and not first.startswith("#"):
            count = _length(lines[number:])
            yield _statement("".join(lines[number : number + count]), at, inner)
        at += sum(map(len, lines[number : number + count]))
        number += count


def _length(lines: list[str]) -> int:
    """How many lines the statement at the start has: it ends where it is valid."""
    for count in range(1, len(lines)):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("".join(lines[:count]))
            return count
    return len(lines)


def _statement(written: str, at: int, inner: str) -> _Statement:
    """The statement with this text, at this position; in a subtable it belongs to its key."""
    end, found = at + len(written), _PLAIN_KEY.match(written)
    if inner or found is None:
        key = inner or next(iter(tomllib.loads(written)))
        return _Statement(key, at, end, None, is_inner=bool(inner))
    (key,) = tomllib.loads(written)
    value = (at + found.end(), at + len(_without_comment(written)))
    return _Statement(key, at, end, value, is_inner=False)


def _without_comment(written: str) -> str:
    """A statement without the comment after it: that starts where the rest is valid."""
    for found in re.finditer("#", written):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads(written[: found.start()])
            return written[: found.start()].rstrip()
    return written.rstrip()


def _inside(data: Any, path: Path) -> Any:
    """The value at a path; an array of tables counts as its first."""
    for key in path:
        data = data[key]
        data = data[0] if isinstance(data, list) else data
    return data


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _pair(value: dict[str, Any], key: str) -> str:
    return f"{_key(key)} = {_value(value[key])}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(_pair(value, key) for key in value)
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    # For the strings and numbers that we write, JSON and TOML are the same.
    return json.dumps(value, ensure_ascii=False)
