"""A change as a dry run shows it: the lines that change, and nothing of what others keep there."""

import difflib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from tabhub.audit.redaction import Redactor
from tabhub.cli.connect.file import BOM, Keys, SettingsFile
from tabhub.cli.connect.jsonc import Node, parse

HIDDEN = "***"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')


def difference(
    before: SettingsFile, after: str, keys: Keys, *, is_ours: bool, token: str | None
) -> Iterator[str]:
    """Line by line; an entry that was there before us is another's, too."""
    changed = before.replaced(after)
    lines = _masked(before, keys if is_ours else None), _masked(changed, keys)
    source = str(before.path) if before.is_there else os.devnull
    told = difflib.unified_diff(*lines, source, str(before.path), lineterm="", n=0)
    redactor = Redactor([token] if token else [])
    for line in told:
        hides = before.is_toml and not is_ours and line.startswith("-") and line[:3] != "---"
        yield redactor.text(_QUOTED.sub(f'"{HIDDEN}"', line) if hides else line)


def _masked(file: SettingsFile, keep: Keys | None) -> list[str]:
    """The lines of a file; of JSON, which may be all on one, without the values of others."""
    text = file.text
    if not file.is_toml and text.strip(f"{BOM} \t\r\n"):
        root = parse(text)
        kept = None if keep is None else root.find(keep)
        for node in sorted(_leaves(root, kept), key=lambda one: -one.start):
            text = text[: node.start] + json.dumps(_hidden(node.data)) + text[node.end :]
    return text.splitlines()


def _leaves(node: Node, kept: Node | None) -> Iterator[Node]:
    if node is kept:
        return
    if not isinstance(node.data, dict):
        yield node
    for member in node.members:
        yield from _leaves(member.value, kept)


def _hidden(data: Any) -> Any:
    if isinstance(data, list):
        return [_hidden(one) for one in data]
    if isinstance(data, dict):
        return {key: _hidden(one) for key, one in data.items()}
    return HIDDEN if isinstance(data, str) else data
