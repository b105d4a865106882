"""How a page tool is listed: its schema with the parameter for the tab, and its texts."""

from typing import Any

import msgspec

from tabhub.hub.tools import PAGE_LABEL, BoundedSchema, with_property

TAB_ID = "tabId"
OTHER_TAB_ID = "targetTabId"
ABOUT = "Optional: the tab to use, by an id of list_browser_tabs; else the one in front."


class PageSchema(BoundedSchema):
    """A page's schema with one more property, the parameter for the tab."""

    __slots__ = ("_kinds", "parameter")

    def __init__(self, own: bytes, parameter: str = "", kinds: tuple[str, ...] = ()) -> None:
        super().__init__(own)
        self.parameter = parameter
        """The name of that parameter; empty for none."""
        self._kinds = kinds

    def plain(self) -> dict[str, Any]:
        schema = self.published()
        if not self.parameter:
            return schema
        properties = {self.parameter: self._property(), **schema.get("properties", {})}
        return {**schema, "properties": properties}

    def written(self) -> bytes:
        """The schema as JSON, made without decoding the page's where its properties come first."""
        if not self.parameter:
            return self.own
        return with_property(self.own, self.parameter, self._property())

    def _property(self) -> dict[str, Any]:
        kind = self._kinds[0] if len(self._kinds) == 1 else list(self._kinds)
        return {"type": kind, "description": ABOUT}

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.own, self.parameter, self._kinds


def parameter_for(own: bytes) -> str:
    """A name for the tab parameter that the page's own schema does not use."""
    if b'"tabId"' not in own:
        return TAB_ID
    properties = msgspec.json.decode(own).get("properties", {})
    names = (TAB_ID, OTHER_TAB_ID, "tabhubTabId")
    return next((name for name in names if name not in properties), "")


NOT_OPEN = " • not open"
"""Marks a tool that is remembered: no tab has it now, and a call opens one."""


def description(text: str, domain: str, tab: str = "") -> str:
    """The page's description after its domain and what there is to say about its tab.

    The label is always the same, so that lists are.
    """
    return f"[{domain}{tab}] {PAGE_LABEL}{text}" if text else f"[{domain}{tab}]"
