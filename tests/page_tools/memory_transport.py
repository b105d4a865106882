"""MCP-B's `TabHubTransport` in memory: no browser, no socket, the four verbs of its design."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tabhub.calls.time_limit import Progress
from tabhub.errors import NotFound
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.registrations import Pages
from tabhub.wire.pages import Capabilities, Execute, Outcome

Message = dict[str, Any]
Listener = Callable[[PageRef, Message], None]
Answer = Callable[[Execute], Awaitable[Any] | Any]


class MemoryTransport:
    """sendRequest, onMessage, onDisconnect, disconnect."""

    def __init__(self) -> None:
        self.pages: dict[PageRef, Answer] = {}
        self._listeners: list[Listener] = []
        self._left: dict[PageRef, list[Callable[[], None]]] = {}

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        answer = self.pages.get(page)
        if answer is None:
            raise NotFound("There is no such tab.", "tab_not_found")
        payload = answer(message)
        return Outcome(
            success=True, payload=await payload if asyncio.isfuture(payload) else payload
        )

    def on_message(self, callback: Listener) -> None:
        self._listeners.append(callback)

    def on_disconnect(self, page: PageRef, callback: Callable[[], None]) -> None:
        self._left.setdefault(page, []).append(callback)

    def disconnect(self, page: PageRef) -> None:
        self.pages.pop(page, None)
        for callback in self._left.pop(page, []):
            callback()

    def emit(self, page: PageRef, message: Message) -> None:
        """Deliver a message from a page."""
        for callback in self._listeners:
            callback(page, message)


def joined(pages: Pages, transport: MemoryTransport, name: str, origin: str) -> None:
    """Forward the messages of the transport to the hub, as the product does."""

    def on_message(page: PageRef, message: Message) -> None:
        tools = [msgspec.Raw(msgspec.json.encode(tool)) for tool in message["params"]["tools"]]
        if message["method"] == "browser/registerTools":
            url = message["params"].get("tabUrl", origin)
            pages.register(Registration(page, origin, url, "A page", tools, Capabilities()))
            transport.on_disconnect(page, lambda: pages.gone(page))
        else:
            pages.update(page, tools)

    pages.connect(name, transport)
    transport.on_message(on_message)
