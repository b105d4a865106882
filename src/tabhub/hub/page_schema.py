"""The schema of a page tool: kept as bytes, read when somebody needs it.

Thousands of tools are listed, few are called; as dicts their schemas would take most of the memory.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

TAB_ID = "tabId"
OTHER_TAB_ID = "targetTabId"
ABOUT = "Optional: the tab to use, by an id of list_browser_tabs; else the one in front."
FIRST = b'{"properties":{'
_decode = msgspec.json.decode


class PageSchema(Mapping[str, Any]):
    """What a page's schema says, with the parameter for the tab beside the page's own."""

    __slots__ = ("_kinds", "own", "parameter")

    def __init__(self, own: bytes, parameter: str = "", kinds: tuple[str, ...] = ()) -> None:
        self.own = own
        self.parameter = parameter
        """The name of the one for the tab; empty for none."""
        self._kinds = kinds

    def plain(self) -> dict[str, Any]:
        """As agents see it."""
        schema: dict[str, Any] = _decode(self.own)
        if not self.parameter:
            return schema
        properties = {self.parameter: self._told(), **schema.get("properties", {})}
        return {**schema, "properties": properties}

    def written(self) -> bytes:
        """The same as JSON; where properties come first, without reading it."""
        if not self.parameter:
            return self.own
        if not self.own.startswith(FIRST):
            return msgspec.json.encode(self.plain())
        rest = self.own[len(FIRST) :]
        told = msgspec.json.encode({self.parameter: self._told()})[1:-1]
        return b"".join((FIRST, told, b"" if rest.startswith(b"}") else b",", rest))

    def _told(self) -> dict[str, Any]:
        kind = self._kinds[0] if len(self._kinds) == 1 else list(self._kinds)
        return {"type": kind, "description": ABOUT}

    def page_schema(self) -> dict[str, Any]:
        """As the page has it."""
        found: dict[str, Any] = _decode(self.own)
        return found

    def __getitem__(self, key: str) -> Any:
        return self.plain()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.plain())

    def __len__(self) -> int:
        return len(self.plain())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PageSchema):
            return NotImplemented
        return self._all == other._all

    def __hash__(self) -> int:
        return hash(self._all)

    @property
    def _all(self) -> tuple[bytes, str, tuple[str, ...]]:
        return self.own, self.parameter, self._kinds


def parameter_for(own: bytes) -> str:
    """What the parameter for the tab is called beside those of the page."""
    if b'"tabId"' not in own:
        return TAB_ID
    properties = _decode(own).get("properties", {})
    names = (TAB_ID, OTHER_TAB_ID, "tabhubTabId")
    return next((name for name in names if name not in properties), "")
