"""Edits TOML: sets or removes one table, as a text edit; all other lines stay as they are."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from tabhub.cli.connect.jsonc import Edit, newline_of
from tabhub.permissions.policy.toml_lines import lines_of, tables_of

Path = tuple[str, ...]
CONNECTION_KEYS = frozenset(
    {"url", "http_headers", "bearer_token_env_var", "command", "args", "env"}
)
"""Keys that say how to reach a server; they are all replaced, so that no two ways are mixed."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Unusual(Exception):
    """The file has a form that tabhub does not edit; the message says which."""


def put(text: str, path: Path, value: dict[str, Any], *, whole: bool = False) -> Edit | None:
    """Set members of the table at `path`; its other members stay unless `whole`.

    None if the table has these values already.
    """
    before = _at(tomllib.loads(text), path)
    if before is not None and (before == value if whole else _includes(before, value)):
        return None
    line = newline_of(text)
    body = [f"{_key(key)} = {_value(member)}" for key, member in value.items()]
    header = f"[{'.'.join(map(_key, path))}]"
    if before is None:
        gap = "" if not text else line if text.endswith("\n") else line * 2
        return _valid(text, Edit(len(text), "", gap + line.join([header, *body]) + line), path)
    kept = [] if whole else list(_other_lines(text, path, value))
    start, end = _span(text, path)
    return Edit(start, text[start:end], line.join([header, *body]) + line + "".join(kept))


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


def take(text: str, path: Path) -> Edit | None:
    """Remove the table, its subtables and the blank line before it."""
    if _at(tomllib.loads(text), path) is None:
        return None
    start, end = _span(text, path)
    for blank in ("\r\n", "\n"):
        if text[:start].endswith(blank * 2) or text[:start] == blank:
            start -= len(blank)
            break
    return Edit(start, text[start:end], "")


def _includes(before: Any, value: dict[str, Any]) -> bool:
    return isinstance(before, dict) and all(
        before.get(key) == member for key, member in value.items()
    )


def _other_lines(text: str, path: Path, value: dict[str, Any]) -> Iterator[str]:
    """Lines of the table whose keys are not set by us."""
    lines = text.splitlines(keepends=True)
    starts = {line: key for key, line in lines_of(text).items() if key[:-1] == path}
    first, last = _block(text, path)
    key: Any = None
    for number in range(first + 1, last):
        key = starts[number][-1] if number in starts else key
        if key is not None and key not in value and key not in CONNECTION_KEYS:
            yield lines[number - 1]


def _span(text: str, path: Path) -> tuple[int, int]:
    """The position of the table and its subtables in the text."""
    first, last = _block(text, path)
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    return start, start + sum(map(len, lines[first - 1 : last - 1]))


def _block(text: str, path: Path) -> tuple[int, int]:
    """The line of the table's header, and the first line after the table and its subtables."""
    tables = tables_of(text)
    own = [index for index, (table, _) in enumerate(tables) if table[: len(path)] == path]
    if not own or own != list(range(own[0], own[-1] + 1)):
        name = ".".join(path)
        raise Unusual(f"{name} is not written as one separate table ([{name}]).")
    last = own[-1] + 1
    ends = tables[last][1] if last < len(tables) else len(text.splitlines()) + 1
    return tables[own[0]][1], _before_comments(text, ends)


def _before_comments(text: str, line: int) -> int:
    """Comments and blank lines right above a table belong to that table."""
    lines = text.splitlines()
    if line > len(lines):
        return line
    while not lines[line - 2].strip() or lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(member)}" for key, member in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # For the strings and numbers that we write, JSON and TOML are the same.
    return json.dumps(value, ensure_ascii=False)
