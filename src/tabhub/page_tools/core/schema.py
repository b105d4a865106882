"""How a page tool is listed: its schema with the parameter for the tab, and its texts."""

from typing import Any

import msgspec

from tabhub.hub.tools import PAGE_LABEL, BoundedSchema

TAB_ID = "tabId"
OTHER_TAB_ID = "targetTabId"
ABOUT = "Optional: the tab to use, by an id of list_browser_tabs; else the one in front."
PROPERTIES_FIRST = b'{"properties":{'
LONGEST = 4000
LONGEST_TITLE = 200


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
        if not self.own.startswith(PROPERTIES_FIRST):
            return msgspec.json.encode(self.plain())
        rest = self.own[len(PROPERTIES_FIRST) :]
        added = msgspec.json.encode({self.parameter: self._property()})[1:-1]
        return b"".join((PROPERTIES_FIRST, added, b"" if rest.startswith(b"}") else b",", rest))

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


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """A page's text, by default a title, as one line of printable characters."""
    return " ".join(readable(text, longest).split())


def readable(text: str, longest: int = LONGEST) -> str:
    """A page's text, shortened, without unprintable characters; line ends stay."""
    printable = "".join(char for char in text[: 2 * longest] if char.isprintable() or char == "\n")
    return printable if len(printable) <= longest else printable[: longest - 1] + "…"
