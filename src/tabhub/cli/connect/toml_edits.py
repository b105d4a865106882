"""Putting a table into TOML and taking it out; all other lines stay as they are."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from tabhub.cli.connect.jsonc import Edit, newline_of
from tabhub.permissions.policy.toml_lines import lines_of, tables_of

Path = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def put(text: str, path: Path, value: dict[str, Any], *, whole: bool = False) -> Edit | None:
    """Have the table at `path` say `value`; what else it says stays, unless it is to be `whole`.

    None if it does already.
    """
    before = _at(tomllib.loads(text), path)
    if before is not None and (before == value if whole else _says(before, value)):
        return None
    line = newline_of(text)
    body = [f"{_key(key)} = {_value(one)}" for key, one in value.items()]
    header = f"[{'.'.join(map(_key, path))}]"
    if before is None:
        gap = "" if not text else line if text.endswith("\n") else line * 2
        return _valid(text, Edit(len(text), "", gap + line.join([header, *body]) + line), path)
    kept = [] if whole else list(_other_lines(text, path, value))
    start, end = _span(text, path)
    return Edit(start, text[start:end], line.join([header, *body]) + line + "".join(kept))


def _valid(text: str, edit: Edit, path: Path) -> Edit:
    """Tables cannot be added to everything that is one."""
    try:
        tomllib.loads(edit.apply(text))
    except tomllib.TOMLDecodeError:
        outer = ".".join(path[:-1])
        raise Unusual(
            f"{outer} is an inline table ({outer} = {{ ... }}), to which none can be added; "
            f"[{outer}.NAME] tables would be right."
        ) from None
    return edit


def take(text: str, path: Path) -> Edit | None:
    """Take the table and those in it out, with the blank line before it."""
    if _at(tomllib.loads(text), path) is None:
        return None
    start, end = _span(text, path)
    for blank in ("\r\n", "\n"):
        if text[:start].endswith(blank * 2) or text[:start] == blank:
            start -= len(blank)
            break
    return Edit(start, text[start:end], "")


def _says(before: Any, value: dict[str, Any]) -> bool:
    return isinstance(before, dict) and all(before.get(key) == one for key, one in value.items())


def _other_lines(text: str, path: Path, value: dict[str, Any]) -> Iterator[str]:
    """Lines of the table that are none of ours."""
    lines = text.splitlines(keepends=True)
    starts = {line: key for key, line in lines_of(text).items() if key[:-1] == path}
    first, last = _block(text, path)
    key: Any = None
    for number in range(first + 1, last):
        key = starts[number][-1] if number in starts else key
        if key is not None and key not in value and key not in OURS:
            yield lines[number - 1]


OURS = frozenset({"url", "http_headers", "bearer_token_env_var", "command", "args", "env"})
"""What says how to reach a server: of one way nothing may be left beside the other."""


def _span(text: str, path: Path) -> tuple[int, int]:
    """Where the table and its inner tables are in the text; they must stand together."""
    first, last = _block(text, path)
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    return start, start + sum(map(len, lines[first - 1 : last - 1]))


def _block(text: str, path: Path) -> tuple[int, int]:
    """The line of the table's header, and the first line that is not in it any more."""
    tables = tables_of(text)
    own = [index for index, (table, _) in enumerate(tables) if table[: len(path)] == path]
    if not own or own != list(range(own[0], own[-1] + 1)):
        name = ".".join(path)
        raise Unusual(f"{name} is not written as one table of its own ([{name}]).")
    last = own[-1] + 1
    ends = tables[last][1] if last < len(tables) else len(text.splitlines()) + 1
    return tables[own[0]][1], _without_head(text, ends)


def _without_head(text: str, line: int) -> int:
    """Comments and blank lines right above a table belong to that table."""
    lines = text.splitlines()
    if line > len(lines):
        return line
    while not lines[line - 2].strip() or lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line


class Unusual(Exception):
    """It is written in a way that we do not change; the message says in which."""


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # Of all that we write, JSON and TOML think alike.
    return json.dumps(value, ensure_ascii=False)
