"""Putting a member into JSON with comments, and taking it out: in the manner of the file."""

import json
import re
from typing import Any

from tabhub.cli.connect.edits import Edit, newline_of
from tabhub.cli.connect.jsonc import Node, NotJson, parse

Path = tuple[str, ...]
UNIT = "  "
_NOTE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/[ \t]*(?=\r?\n))")


def put(text: str, path: Path, value: Any) -> Edit | None:
    """Have `path` say `value`; objects on the way are made. None if it does already."""
    root = parse(text)
    if root.find(path) is not None and _data(root, path) == value:
        return None
    node, at = _object(text, root, "the whole"), 0
    while at < len(path) - 1 and (found := node.member(path[at])) is not None:
        at += 1
        node = _object(text, found.value, ".".join(path[:at]))
    old = node.member(path[-1]) if at == len(path) - 1 else None
    unit, outer = _unit(text, root), _indent_at(text, node.start)
    if old is not None:
        written = _written(value, unit, _indent_at(text, old.start), text)
        return Edit(old.value.start, text[old.value.start : old.value.end], written)
    for key in reversed(path[at + 1 :]):
        value = {key: value}
    return _added(text, node, path[at], value, unit, outer)


def _object(text: str, node: Node, name: str) -> Node:
    if not isinstance(node.data, dict):
        raise NotJson(text, node.start, f"{name} is no object")
    return node


def take(text: str, path: Path) -> Edit | None:
    """Take the member at `path` out, and nothing else."""
    parent = parse(text).find(path[:-1])
    found = None if parent is None else parent.member(path[-1])
    if parent is None or found is None:
        return None
    index = parent.members.index(found)
    before = parent.members[index - 1] if index else None
    begins = parent.start + 1 if before is None else (before.comma or before.value.end - 1) + 1
    ends = found.value.end if found.comma is None else found.comma + 1
    start = _after_note(text, begins) if before is not None else begins
    if found.comma is not None or before is None or before.comma is None:
        return Edit(start, text[start:ends], "")
    # It was the last, without a comma: the one before it has one only because of it.
    kept = text[before.comma + 1 : start]
    return Edit(before.comma, text[before.comma : ends], kept)


def _added(text: str, node: Node, key: str, value: Any, unit: str, outer: str) -> Edit:
    """As the last member, on a line of its own where the others have one."""
    last = node.members[-1] if node.members else None
    if last is not None and not _is_spread(text, node):
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


def _after_note(text: str, at: int) -> int:
    """Past a comment that stands behind something on its line: it belongs to that."""
    found = _NOTE.match(text, at)
    return found.end() if found else at


def _is_spread(text: str, node: Node) -> bool:
    return "\n" in text[node.start : node.members[0].start]


def _written(value: Any, unit: str, indent: str, text: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline_of(text) + indent).join(lines)


def _unit(text: str, root: Node) -> str:
    """By how much the file indents."""
    if root.members and _is_spread(text, root):
        return _indent_at(text, root.members[0].start) or UNIT
    return UNIT


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _data(root: Node, path: Path) -> Any:
    node = root.find(path)
    return None if node is None else node.data
