"""Tabs are named by number; what else stands for one is understood, though no schema lists it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.errors import NotFound
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import Tool
from tabhub.wire.worker import TabId

ONE, MANY = "tabId", "tabIds"
MOST = 1000
"""In a list of more, texts are not looked up."""


def numbered(tabs: Tabs, tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """With the numbers of tabs that were named by a text; what names none stays as it is."""
    changed = {key: _numbers(tabs, given[key]) for key in _taken(tool) if key in given}
    return {**given, **changed} if changed else given


def unknown_tab(tabs: Tabs, tool: Tool, given: Mapping[str, Any]) -> NotFound | None:
    """What to say where an id of the page worker is given that no tab has."""
    words = (word for key in _taken(tool) for word in _several(given.get(key)))
    return next((tabs.missing(word) for word in words if _is_id(word)), None)


def _taken(tool: Tool) -> list[str]:
    """What a schema that somebody else wrote calls so is its own."""
    known = () if tool.is_bounded else tool.input_schema.get("properties", ())
    return [key for key in (ONE, MANY) if key in known]


def _numbers(tabs: Tabs, named: Any) -> Any:
    if isinstance(named, list) and len(named) <= MOST:
        return [_number(tabs, one) for one in named]
    return _number(tabs, named)


def _number(tabs: Tabs, named: Any) -> Any:
    number = tabs.number_of(named) if isinstance(named, str) else None
    return named if number is None else number


def _several(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]


def _is_id(word: Any) -> bool:
    try:
        msgspec.convert(word, TabId)
    except msgspec.ValidationError:
        return False
    return True
