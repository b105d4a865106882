"""A `PageTransport` in memory: no browser, no socket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tabhub.calls.time_limit import Progress
from tabhub.errors import NotFound
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.transports import PageListeners, ToolsUpdate
from tabhub.wire.pages import Capabilities, Execute, Outcome

Message = dict[str, Any]
Answer = Callable[[Execute], Awaitable[Any] | Any]


class MemoryTransport(PageListeners):
    """Pages of one origin, each with a function that answers its calls."""

    def __init__(self, origin: str = "https://shop.example") -> None:
        super().__init__()
        self.pages: dict[PageRef, Answer] = {}
        self._origin = origin

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        answer = self.pages.get(page)
        if answer is None:
            raise NotFound("There is no such tab.", "tab_not_found")
        payload = answer(message)
        return Outcome(
            success=True, payload=await payload if asyncio.isfuture(payload) else payload
        )

    def disconnect(self, page: PageRef) -> None:
        self.pages.pop(page, None)
        super().disconnect(page)

    def emit(self, page: PageRef, message: Message) -> None:
        """Deliver a message from a page."""
        params = message["params"]
        tools = [msgspec.Raw(msgspec.json.encode(tool)) for tool in params["tools"]]
        if message["method"] == "browser/registerTools":
            url = params.get("tabUrl", self._origin)
            given = Registration(page, self._origin, url, "A page", tools, Capabilities())
            self.received(given)
        else:
            self.received(ToolsUpdate(page, tools))
