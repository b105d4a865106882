"""The schema of a page tool, with the parameter for the tab."""

from typing import Any

import msgspec

from tabhub.hub.schemas import BoundedSchema

TAB_ID = "tabId"
OTHER_TAB_ID = "targetTabId"
ABOUT = "Optional: the tab to use, by an id of list_browser_tabs; else the one in front."
FIRST = b'{"properties":{'
_decode = msgspec.json.decode


class PageSchema(BoundedSchema):
    """What a page's schema says, with the parameter for the tab beside the page's own."""

    __slots__ = ("_kinds", "parameter")

    def __init__(self, own: bytes, parameter: str = "", kinds: tuple[str, ...] = ()) -> None:
        super().__init__(own)
        self.parameter = parameter
        """The name of the one for the tab; empty for none."""
        self._kinds = kinds

    def plain(self) -> dict[str, Any]:
        schema = self.published()
        if not self.parameter:
            return schema
        properties = {self.parameter: self._told(), **schema.get("properties", {})}
        return {**schema, "properties": properties}

    def written(self) -> bytes:
        """Where properties come first, without reading it."""
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

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.own, self.parameter, self._kinds


def parameter_for(own: bytes) -> str:
    """What the parameter for the tab is called beside those of the page."""
    if b'"tabId"' not in own:
        return TAB_ID
    properties = _decode(own).get("properties", {})
    names = (TAB_ID, OTHER_TAB_ID, "tabhubTabId")
    return next((name for name in names if name not in properties), "")
