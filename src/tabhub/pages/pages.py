"""Where registrations come in, from either transport. A page is hostile: all of it is bounded."""

from typing import Any

from msgspec import Raw

from tabhub.hub.page_tools import PageRef
from tabhub.pages.transport import PageTransport
from tabhub.wire.pages import Capabilities, Kind


class Pages:
    """Takes what pages publish to the hub, and knows the way back to them."""

    def __init__(self) -> None:
        self._transports: dict[str, PageTransport] = {}

    def connect(self, name: str, transport: PageTransport) -> None:
        """A way to pages is there; `PageRef.transport` names it."""
        self._transports[name] = transport

    def disconnect(self, name: str) -> None:
        """It has gone, and so have its pages."""
        self._transports.pop(name, None)

    def register(
        self,
        page: PageRef,
        origin: str,
        url: str,
        title: str,
        tools: list[Raw],
        capabilities: Capabilities,
        *,
        kind: Kind = "worker",
        worker_id: str = "",
        extensions: dict[str, Any] | None = None,
    ) -> None:
        """All that a page publishes; `origin` is what the browser says, never the page."""

    def update(
        self, page: PageRef, tools: list[Raw], extensions: dict[str, Any] | None = None
    ) -> None:
        """The page's new list, as a whole; an empty one clears."""

    def gone(self, page: PageRef) -> None:
        """The page is no more there."""

    def activated(self, tab: int | str | None) -> None:
        """The person looks at this tab; None: at none of those that are known."""
