"""The `/page` endpoint, where pages come without the extension. Raw ASGI.

The origin is that of the socket's header, which a page cannot choose. Only origins that a person
has allowed are heard; everything they send is counted first.
"""

import asyncio
import logging
import shlex
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any, ClassVar

import msgspec

from tabhub.browser.link.connection import Connection
from tabhub.calls.ports import AuditSink, Clock, incident, throttled
from tabhub.calls.time_limit import Progress
from tabhub.errors import (
    AccessError,
    Forbidden,
    NotFound,
    ProtocolError,
    TabhubError,
    Unavailable,
    from_reason,
)
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.flood_limits import Complaints
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.pairing import Pairing, web_origin
from tabhub.page_tools.registrations import Pages
from tabhub.rate_limit import RateLimit
from tabhub.wire import pages as worker
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.methods import PAGE, Handlers
from tabhub.wire.pages import Execute, Outcome

MOST_TABS = 200
LONGEST_URL, LONGEST_TITLE = 2000, 500

_SAID = {
    "tab_not_found": "The tab is not there any more.",
    "no_tab_for_tool": "The tab does not have this tool any more.",
    "page_may_have_received": "The page has gone during this call; it may have received it.",
    "cancelled": "The call was taken back.",
    "extension_disconnected": "The page's connection has just broken off; nothing was sent.",
    "too_large": "The call is too large for the page.",
}
"""What a page can say of a call, in our words: its own could pretend to be anybody's."""


class WorkerLine:
    """The `PageTransport` of one origin; what it says counts for that origin alone."""

    def __init__(
        self, name: str, origin: str, pages: Pages, claims: "dict[str, WorkerLine]"
    ) -> None:
        self.name = name
        self.origin = origin
        self._pages = pages
        self._claims = claims
        self._tabs: set[str] = set()
        self._active: str | None = None
        self.connection: Connection | None = None

    def hear(self, method: str, params: msgspec.Raw) -> None:
        """One message; an error says what is wrong with it."""
        self._HANDLERS.handle(method, params, self)

    def close(self) -> None:
        """The socket has gone, and its tabs with it."""
        for tab in list(self._tabs):
            self._forget(tab)
        self._pages.disconnect(self.name)

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        if self.connection is None or page.tab not in self._tabs:
            raise NotFound(_SAID["tab_not_found"], "tab_not_found")
        named = msgspec.structs.replace(message, tab_id=page.tab)
        try:
            return await self.connection.execute(named, progress)
        except TabhubError as error:
            raise _in_our_words(error) from None

    def _register(self, told: worker.RegisterWorkerTab) -> None:
        self._claim(told.tab_id)
        self._pages.register(
            Registration(
                self._ref(told.tab_id),
                self.origin,
                told.url[:LONGEST_URL],
                told.title[:LONGEST_TITLE],
                told.tools,
                told.capabilities,
            )
        )

    def _claim(self, tab: str) -> None:
        """An id belongs to one socket: the newest of its origin, never to another origin's."""
        holder = self._claims.get(tab)
        if holder is not None and holder is not self:
            if holder.origin != self.origin:
                raise ProtocolError(f"The id {tab} is another site's.")
            holder.lose(tab)
        if tab not in self._tabs and len(self._tabs) >= MOST_TABS:
            raise Unavailable(f"{self.origin} has {MOST_TABS} tabs here already.", "too_many_calls")
        self._tabs.add(tab)
        self._claims[tab] = self

    def lose(self, tab: str) -> None:
        """The same tab has come back by a newer socket."""
        self._pages.gone(self._ref(tab))
        self._forget(tab)

    def _update(self, told: worker.UpdateWorkerTools) -> None:
        self._pages.update(self._ref(told.tab_id), told.tools)

    def _gone(self, told: worker.WorkerTab) -> None:
        self.lose(told.tab_id)
        if self._active == told.tab_id:
            # Which one is looked at instead, the worker says next.
            self._active = None

    def _forget(self, tab: str) -> None:
        self._tabs.discard(tab)
        self._claims.pop(tab, None)

    def _activated(self, told: worker.ActiveTab) -> None:
        tab = told.tab_id
        before, self._active = self._active, tab
        if tab is not None:
            self._ref(tab)
            self._pages.looked_at(tab, self.origin)
        elif before is not None:
            self._pages.hidden(before, self.origin)

    def _ref(self, tab: str) -> PageRef:
        if tab not in self._tabs:
            raise NotFound(f"There is no tab {tab} here.", "tab_not_found")
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


def _in_our_words(error: TabhubError) -> TabhubError:
    said = _SAID.get(error.reason)
    if said is None:
        return Unavailable("The page's answer makes no sense.", "invalid_response")
    return from_reason(error.reason, said)


log = logging.getLogger(__name__)

PREFIX = "worker:"
"""What the ways to pages begin with that come here."""
PAIRING_SECONDS = 120.0
MOST_SOCKETS = 64
MOST_OF_ONE = 16
"""Of one origin, each from another browser."""
MOST_MESSAGES, MESSAGES_SECONDS = 1000, 20.0
MOST_BYTES, BYTES_SECONDS = 32 * 1024 * 1024, 32.0
"""What one connection may send within so many seconds: 50 messages and 1 MB a second on average."""
MOST_LINES, LINES_SECONDS = 10, 60.0
"""Of the audit, about pages that were not let in; they are anybody's."""

Close = Callable[[int, str], Awaitable[None]]
Tell = Callable[[str, Any], Awaitable[None]]


class WorkerEndpoint:
    """Takes pages in, and hands what they say to their line."""

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
        self._audit = audit
        self._max_bytes = max_bytes
        self._clock = clock
        self._numbers = count(1)
        self._claims: dict[str, WorkerLine] = {}
        self._lines: set[WorkerLine] = set()
        self._sockets = 0
        self._complaints = Complaints(clock)
        self._lines_limit = RateLimit(MOST_LINES, LINES_SECONDS, clock)
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
        if self._sockets >= MOST_SOCKETS:
            raise Unavailable("Too many pages are connected.", "too_many_calls")
        self._sockets += 1
        try:
            await send({"type": "websocket.accept", "subprotocol": worker.PROTOCOL})
            await self._welcome(origin, receive, send)
        finally:
            self._sockets -= 1

    async def _welcome(self, origin: str, receive: Receive, send: Send) -> None:
        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        async def close(code: int, reason: str) -> None:
            with suppress(OSError):
                await send({"type": "websocket.close", "code": code, "reason": reason})

        line = WorkerLine(f"{PREFIX}{next(self._numbers)}", origin, self._pages, self._claims)
        connection = Connection(
            send_text,
            lambda _, method, params: line.hear(method, params),
            self._max_bytes,
            lambda *_: self._complaints.say(origin, "sends messages that make no sense"),
            PAGE,
        )
        line.connection = connection
        if sum(other.origin == origin for other in self._lines) >= MOST_OF_ONE:
            await close(worker.TOO_MUCH, f"{origin} is connected {MOST_OF_ONE} times already")
        elif origin in self._pairing or await self._admitted(
            origin, receive, connection.tell, close
        ):
            await self._serve(line, connection, receive, close)

    async def _admitted(self, origin: str, receive: Receive, tell: Tell, close: Close) -> bool:
        """Wait for a person's leave; a page that goes or speaks before that is not waited for."""
        try:
            with self._pairing.requested(origin) as (code, answer):
                self._pairing_requested(origin, code)
                said = f"tabhub asks the person about {origin}: {code}. They answer in its side "
                said += f"panel, or by: tabhub page allow {origin}"
                await tell(
                    "page/unpaired", worker.PageUnpaired(origin=origin, code=code, message=said)
                )
                if await _first(answer, receive):
                    return True
            await close(
                worker.UNPAIRED, f"{origin} is not allowed: tabhub page allow {origin}"[:123]
            )
        except Forbidden as error:
            self._refused(origin, error)
            await close(worker.UNPAIRED, error.message[:123])
        return False

    async def _serve(
        self, line: WorkerLine, connection: Connection, receive: Receive, close: Close
    ) -> None:
        self._pages.connect(line.name, line)
        self._lines.add(line)
        connection.hang_up = lambda: close(
            worker.UNPAIRED, f"{line.origin} is not allowed any more"
        )
        try:
            await connection.tell("page/ready", worker.PageReady(origin=line.origin))
            await self._listen(line, connection, receive, close)
        finally:
            self._lines.discard(line)
            connection.close()
            line.close()

    async def _listen(
        self, line: WorkerLine, connection: Connection, receive: Receive, close: Close
    ) -> None:
        messages = RateLimit(MOST_MESSAGES, MESSAGES_SECONDS, self._clock)
        amount = RateLimit(MOST_BYTES, BYTES_SECONDS, self._clock)
        while (event := await receive())["type"] == "websocket.receive":
            text = event.get("text") or event.get("bytes") or b""
            if connection.closed:
                return
            if messages.admit() or amount.admit(len(text)):
                error = Unavailable(f"{line.origin} sends too much.", "rate_limited")
                self._throttled(line.origin, error)
                await close(worker.TOO_MUCH, "too much at once: wait, and come again")
                return
            connection.receive(text)

    def _end_forgotten(self) -> None:
        """Whoever is not allowed any more has to go."""
        for line in list(self._lines):
            if line.origin not in self._pairing and line.connection is not None:
                line.connection.cut()

    def _pairing_requested(self, origin: str, code: str) -> None:
        error = Forbidden(f"{origin} is not allowed yet; its code is {code}.")
        if self._refused(origin, error):
            # Whoever is no browser may claim origins that a shell would obey.
            shown = shlex.quote(origin)
            log.info("a page waits to be let in (code %s): tabhub page allow %s", code, shown)

    def _refused(self, origin: str, error: TabhubError) -> bool:
        """Whether that was worth a line."""
        is_due = self._is_due(origin, error)
        if is_due:
            self._audit.record(incident("door", "", "knock at /page", {"origin": origin}, error))
        return is_due

    def _throttled(self, origin: str, error: TabhubError) -> None:
        if self._is_due(origin, error):
            self._audit.record(throttled("", f"messages of {origin}", error))

    def _is_due(self, origin: str, error: TabhubError) -> bool:
        """Once a minute for each, and not too often for all: the record is not theirs to fill."""
        return self._complaints.say(origin, error.reason) and not self._lines_limit.admit()


async def _first(answer: "asyncio.Future[bool]", receive: Receive) -> bool:
    """Whether a yes comes before anything else does."""
    spoken = asyncio.ensure_future(receive())
    either: set[asyncio.Future[Any]] = {spoken, answer}
    try:
        await asyncio.wait(either, timeout=PAIRING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        spoken.cancel()
    return answer.done() and answer.result()


def _origin(scope: Scope) -> str:
    """The page's origin, as its browser says; a program that says none is no page."""
    given: bytes = dict(scope["headers"]).get(b"origin", b"")
    text = given.decode("latin-1")
    origin = web_origin(text)
    # Those with any port are for people to allow; no browser sends them.
    if origin is None or origin != text or "*" in text:
        raise AccessError("Only web pages come here, by their browser.", "foreign_origin")
    return origin
