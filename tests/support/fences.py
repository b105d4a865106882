"""Finds the words of a page in a result that are neither marked nor named as the page's."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.support.hostile_outputs import MARKER

UNTRUSTED = "tabhub/untrusted"
FENCE = re.compile(
    r"\[page ([0-9a-f]{6})\]"
    r"(?:\n.*?\n| (?P<line>[^\n]*?) )\[end \1\]",
    re.DOTALL,
)


def outside(text: str) -> str:
    """What stands outside of every fence."""
    return FENCE.sub("", text)


def leaks(result: dict[str, Any]) -> list[str]:
    """Where a result has the page's words without saying that they are the page's."""
    pointers = result.get("_meta", {}).get(UNTRUSTED, [])
    assert MARKER not in json.dumps(pointers)
    data = places(result.get("structuredContent"), "/structuredContent")
    content = places(result["content"], "/content")
    return [place for place in (*data, *content) if not _is_marked(result, place, pointers)]


def _is_marked(result: dict[str, Any], place: str, pointers: list[str]) -> bool:
    is_named = any(place == pointer or place.startswith(f"{pointer}/") for pointer in pointers)
    if not place.startswith("/content/"):
        return is_named
    number, _, member = place.removeprefix("/content/").partition("/")
    text = result["content"][int(number)].get("text", "")
    if member != "text":
        return is_named
    return MARKER not in outside(text) or (is_named and _is_json(text))


def _is_json(text: str) -> bool:
    return isinstance(json.loads(text), dict | list)


def places(value: Any, place: str) -> Iterator[str]:
    """The JSON pointers of what has the page's words."""
    if isinstance(value, str) and MARKER in value:
        yield place
    if isinstance(value, dict) and any(MARKER in key for key in value):
        yield place
        return
    for key, item in _items(value):
        yield from places(item, f"{place}/{key}")


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
