"""The `/page` endpoint, where page workers connect without the extension. Raw ASGI.

The origin comes from the socket's header, which a page cannot choose, but a program can. Only
messages of pages that prove to be paired are read, and their rate is limited.
"""

import logging
import time
from contextlib import suppress
from itertools import count
from typing import ClassVar

import msgspec

from tabhub.browser.link.connection import LinkConnection
from tabhub.calls.ports import AuditSink, Clock
from tabhub.calls.time_limit import Progress
from tabhub.errors import (
    AccessError,
    NotFound,
    ProtocolError,
    TabhubError,
    Unavailable,
    from_reason,
)
from tabhub.page_tools.admission import Close, PageAdmission, RefusalLog, Visitor
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.origins import web_origin
from tabhub.page_tools.pairing import Pairing
from tabhub.page_tools.registrations import Pages
from tabhub.page_tools.transports import PageListeners, ToolsUpdate
from tabhub.rate_limit import RateLimit
from tabhub.wire import pages as worker
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.methods import PAGE, Handlers
from tabhub.wire.pages import Execute, Outcome

log = logging.getLogger(__name__)

PREFIX = "worker:"
"""Begins the names of these transports; a number follows."""
MOST_SOCKETS = 64
MOST_UNADMITTED = 64
"""Sockets that have not proved anything yet; any page of the web can open them."""
MOST_OF_ONE = 16
"""Sockets of one origin, each from another browser."""
MOST_MESSAGES, MESSAGES_SECONDS = 1000, 20.0
MOST_BYTES, BYTES_SECONDS = 32 * 1024 * 1024, 32.0
"""What one connection may send in so many seconds: 50 messages and 1 MB a second on average."""

MOST_TABS = 200
"""Tabs of one socket."""
LONGEST_URL, LONGEST_TITLE = 2000, 500


_MESSAGES = {
    "tab_not_found": "The tab has closed.",
    "no_tab_for_tool": "The tab no longer has this tool.",
    "page_may_have_received": "The page has gone during this call; it may have received it.",
    "cancelled": "The call was cancelled.",
    "extension_disconnected": "The page has just disconnected; nothing was sent.",
    "too_large": "The call is too large for the page.",
}
"""The errors that a page can report; its own text is not shown, because it could mislead."""


class WorkerEndpoint:
    """Accepts sockets of page workers, and hands their messages to their transport."""

    def __init__(
        self,
        pages: Pages,
        pairing: Pairing,
        audit: AuditSink,
        max_bytes: int,
        clock: Clock = time.monotonic,
    ) -> None:
        self._pages = pages
        self._pairing = pairing
        self._max_bytes = max_bytes
        self._clock = clock
        self._numbers = count(1)
        self._tabs: dict[str, WorkerTransport] = {}
        self._transports: set[WorkerTransport] = set()
        self._unadmitted: dict[Visitor, None] = {}
        self._refusals = RefusalLog(audit, clock)
        self._admission = PageAdmission(pairing, self._refusals)
        pairing.on_change(self._end_forgotten)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = _origin(scope)
        offered: list[str] = scope["subprotocols"]
        await receive()
        if offered[:1] == [worker.PROBE]:
            await send({"type": "websocket.accept", "subprotocol": worker.PROBE})
            await send({"type": "websocket.close", "code": 1000, "reason": ""})
            return
        if offered[:1] != [worker.PROTOCOL]:
            raise AccessError(f"The subprotocol must be {worker.PROTOCOL}.")
        if len(self._transports) >= MOST_SOCKETS:
            raise Unavailable("Too many pages are connected.", "too_many_calls")
        await send({"type": "websocket.accept", "subprotocol": worker.PROTOCOL})
        await self._accept(origin, scope["server"][1], receive, send)

    async def _accept(self, origin: str, port: int, receive: Receive, send: Send) -> None:
        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        is_closed = False

        async def close(code: int, reason: str) -> None:
            nonlocal is_closed
            if is_closed:
                return
            is_closed = True
            with suppress(OSError):
                await send({"type": "websocket.close", "code": code, "reason": reason})

        name = f"{PREFIX}{next(self._numbers)}"
        transport = WorkerTransport(name, origin, self._pages, self._tabs)
        connection = LinkConnection(
            send_text,
            lambda _, method, params: transport.handle(method, params),
            self._max_bytes,
            lambda *_: self._refusals.faults.add(origin, "sends messages that cannot be read"),
            PAGE,
        )
        transport.connection = connection
        visitor = Visitor(origin, port, receive, connection.send_notification, close)
        id = await self._admitted(visitor)
        if id is None:
            return
        if sum(other.origin == origin for other in self._transports) >= MOST_OF_ONE:
            await close(worker.TOO_MUCH, f"{origin} is connected {MOST_OF_ONE} times already")
            return
        transport.token = id
        await self._serve(transport, connection, receive, close)

    async def _admitted(self, visitor: Visitor) -> str | None:
        """The id of the page's token. If too many wait for that, the oldest makes room."""
        if len(self._unadmitted) >= MOST_UNADMITTED:
            oldest = next(iter(self._unadmitted))
            del self._unadmitted[oldest]
            await oldest.close(worker.TOO_MUCH, "Too many pages connect at once.")
        self._unadmitted[visitor] = None
        try:
            return await self._admission.admitted(visitor)
        finally:
            self._unadmitted.pop(visitor, None)

    async def _serve(
        self,
        transport: "WorkerTransport",
        connection: LinkConnection,
        receive: Receive,
        close: Close,
    ) -> None:
        self._pages.connect(transport.name, transport)
        self._transports.add(transport)
        connection.hang_up = lambda: close(
            worker.UNPAIRED, f"{transport.origin} is not allowed any more"
        )
        try:
            ready = worker.PageReady(origin=transport.origin)
            await connection.send_notification("page/ready", ready)
            await self._listen(transport, connection, receive, close)
        finally:
            self._transports.discard(transport)
            connection.close()
            transport.close()

    async def _listen(
        self,
        transport: "WorkerTransport",
        connection: LinkConnection,
        receive: Receive,
        close: Close,
    ) -> None:
        messages = RateLimit(MOST_MESSAGES, MESSAGES_SECONDS, self._clock)
        amount = RateLimit(MOST_BYTES, BYTES_SECONDS, self._clock)
        while (event := await receive())["type"] == "websocket.receive":
            text = event.get("text") or event.get("bytes") or b""
            if connection.closed:
                return
            if messages.admit() or amount.admit(len(text)):
                error = Unavailable(f"{transport.origin} sends too much.", "rate_limited")
                self._refusals.throttled(transport.origin, error)
                await close(worker.TOO_MUCH, "too much at once: wait, and connect again")
                return
            connection.receive(text)

    def _end_forgotten(self) -> None:
        """Disconnect the pages whose token no longer counts."""
        for transport in list(self._transports):
            is_known = self._pairing.find(transport.origin, transport.token) is not None
            if not is_known and transport.connection is not None:
                transport.connection.disconnect()


def _origin(scope: Scope) -> str:
    """The page's origin by the header that browsers send."""
    header: bytes = dict(scope["headers"]).get(b"origin", b"")
    text = header.decode("latin-1")
    origin = web_origin(text)
    # People can allow `:*` for every port, but no browser sends that.
    if origin is None or origin != text or "*" in text:
        raise AccessError("Only web pages may connect here, through a browser.", "foreign_origin")
    return origin


class WorkerTransport(PageListeners):
    """The `PageTransport` of one socket; its messages count for its origin alone."""

    def __init__(
        self, name: str, origin: str, pages: Pages, all_tabs: "dict[str, WorkerTransport]"
    ) -> None:
        super().__init__()
        self.name = name
        self.origin = origin
        self._pages = pages
        self._all_tabs = all_tabs
        """The tabs of all sockets, shared between them."""
        self._tabs: set[str] = set()
        self._active: str | None = None
        self.token = ""
        """The id of the token by which the page was admitted."""
        self.connection: LinkConnection | None = None

    def handle(self, method: str, params: msgspec.Raw) -> None:
        """Take one message; raises an error if it is invalid."""
        self._HANDLERS.handle(method, params, self)

    def close(self) -> None:
        """Remove the tabs of a closed socket."""
        for tab in list(self._tabs):
            self._forget(tab)
        self._pages.disconnect(self.name)

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        if self.connection is None or page.tab not in self._tabs:
            raise NotFound(_MESSAGES["tab_not_found"], "tab_not_found", effect="none")
        request = msgspec.structs.replace(message, tab_id=page.tab)
        try:
            return await self.connection.execute(request, progress)
        except TabhubError as error:
            raise _with_our_message(error) from None

    def _register(self, params: worker.RegisterWorkerTab) -> None:
        self._add(params.tab_id)
        self.received(
            Registration(
                self._ref(params.tab_id),
                self.origin,
                params.url[:LONGEST_URL],
                params.title[:LONGEST_TITLE],
                params.tools,
                params.capabilities,
                extensions=params.extensions,
            )
        )

    def _add(self, tab: str) -> None:
        """Take a tab over from an older socket of the same origin; never from another origin."""
        other = self._all_tabs.get(tab)
        if other is not None and other is not self:
            if other.origin != self.origin:
                raise ProtocolError(f"The id {tab} belongs to another site.")
            other.disconnect(other._ref(tab))
        if tab not in self._tabs and len(self._tabs) >= MOST_TABS:
            raise Unavailable(f"{self.origin} has {MOST_TABS} tabs here already.", "too_many_calls")
        self._tabs.add(tab)
        self._all_tabs[tab] = self

    def disconnect(self, page: PageRef) -> None:
        """Remove a tab that has gone, has connected by a newer socket, or is not allowed."""
        super().disconnect(page)
        self._forget(str(page.tab))

    def _update(self, params: worker.UpdateWorkerTools) -> None:
        self.received(ToolsUpdate(self._ref(params.tab_id), params.tools, params.extensions))

    def _gone(self, params: worker.WorkerTab) -> None:
        self.disconnect(self._ref(params.tab_id))
        if self._active == params.tab_id:
            # The worker's next message names the tab that is active instead.
            self._active = None

    def _forget(self, tab: str) -> None:
        self._tabs.discard(tab)
        self._all_tabs.pop(tab, None)

    def _activated(self, params: worker.ActiveTab) -> None:
        tab = params.tab_id
        before, self._active = self._active, tab
        if tab is not None:
            self._ref(tab)
            self._pages.looked_at(tab, self.origin)
        elif before is not None:
            self._pages.hidden(before, self.origin)

    def _ref(self, tab: str) -> PageRef:
        if tab not in self._tabs:
            raise NotFound(f"This connection has no tab {tab}.", "tab_not_found")
        return PageRef(self.name, tab)

    _HANDLERS: ClassVar = Handlers(
        PAGE.taken_by("pages"),
        {
            "browser/registerTools": _register,
            "browser/updateTools": _update,
            "browser/unregisterTools": _gone,
            "browser/activeTab": _activated,
        },
    )


def _with_our_message(error: TabhubError) -> TabhubError:
    message = _MESSAGES.get(error.reason)
    if message is None:
        return Unavailable("The page's answer cannot be read.", "invalid_response")
    return from_reason(error.reason, message).with_effect(error.effect)
