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
from typing import Any

from tabhub.browser.link.connection import Connection
from tabhub.calls.incidents import incident, throttled
from tabhub.calls.ports import AuditSink, Clock
from tabhub.errors import AccessError, Forbidden, TabhubError, Unavailable
from tabhub.page_tools.pairing import Pairing, web_origin
from tabhub.page_tools.registrations import Pages
from tabhub.pages.complaints import Complaints
from tabhub.pages.worker_line import WorkerLine
from tabhub.rate_limit import RateLimit
from tabhub.wire import worker
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.methods import PAGE

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
