"""How a page proves itself at `/page`, or waits until a person confirms its code.

A page says `page/hello` with the id of its token. The server proves that it knows this token, so
that another program that listens on the port does not get it; then the page sends it.
"""

import asyncio
import hashlib
import logging
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from tabhub.calls.ports import AuditSink, Clock, incident, throttled
from tabhub.errors import Forbidden, TabhubError
from tabhub.page_tools.flood_limits import FaultLog
from tabhub.page_tools.pairing import Pairing, PairingRequest
from tabhub.rate_limit import RateLimit
from tabhub.wire import jsonrpc
from tabhub.wire import pages as worker
from tabhub.wire.asgi import Receive
from tabhub.wire.methods import PAGE, Handlers

log = logging.getLogger(__name__)

MESSAGE_SECONDS = 10.0
"""How long the server waits for each message of a page that is not admitted yet."""
PAIRING_SECONDS = 120.0
LONGEST_MESSAGE = 2000
MOST_LINES, LINES_SECONDS = 10, 60.0
"""Entries in the audit log about refused pages; any web page can cause them."""

Close = Callable[[int, str], Awaitable[None]]
Notify = Callable[[str, Any], Awaitable[None]]
T = TypeVar("T", worker.PageHello, worker.PageToken)


class RefusalLog:
    """Writes refusals of pages to the audit log, limited so that pages cannot fill it."""

    def __init__(self, audit: AuditSink, clock: Clock) -> None:
        self._audit = audit
        self.faults = FaultLog(clock)
        self._limit = RateLimit(MOST_LINES, LINES_SECONDS, clock)

    def refused(self, origin: str, error: TabhubError) -> bool:
        """Write an entry; returns False if there were too many."""
        is_due = self._is_due(origin, error)
        if is_due:
            self._audit.record(incident("door", "", "knock at /page", {"origin": origin}, error))
        return is_due

    def throttled(self, origin: str, error: TabhubError) -> None:
        if self._is_due(origin, error):
            self._audit.record(throttled("", f"messages of {origin}", error))

    def enrolled(self, origin: str) -> None:
        """A person has opened the enrolment, so this is never too much."""
        self._audit.record(incident("door", "", "enrol at /page", {"origin": origin}))

    def _is_due(self, origin: str, error: TabhubError) -> bool:
        """Once a minute for each origin, and limited for all."""
        return self.faults.add(origin, error.reason) and not self._limit.admit()


@dataclass(frozen=True, eq=False)
class Visitor:
    """A socket that is not admitted yet."""

    origin: str
    port: int
    """The server's own, which the page has connected to."""
    receive: Receive
    notify: Notify
    close: Close


class PageAdmission:
    """Admits pages with a token, and those that a person pairs."""

    def __init__(self, pairing: Pairing, refusals: RefusalLog) -> None:
        self._pairing = pairing
        self._refusals = refusals

    async def admitted(self, visitor: Visitor) -> str | None:
        """The id of the page's token; None if the page was refused, and is disconnected."""
        try:
            hello = await _next(visitor, worker.PageHello)
            id = await self._proved(visitor, hello) or await self._paired(visitor)
            if self._pairing.find(visitor.origin, id) is None:
                raise Forbidden(f"{visitor.origin} is not allowed any more")
        except TabhubError as error:
            self._refusals.refused(visitor.origin, error)
            await visitor.close(worker.UNPAIRED, error.message[:123])
            return None
        return id

    async def _proved(self, visitor: Visitor, hello: worker.PageHello) -> str | None:
        """The id of the token that the page holds, if it holds the one it names."""
        known = self._pairing.find(visitor.origin, hello.id)
        if known is None:
            return None
        proof = hashlib.sha256(f"{visitor.port}:{hello.challenge}:{known.key}".encode())
        await visitor.notify("page/proof", worker.PageProof(proof=list(proof.digest())))
        answer = await _next(visitor, worker.PageToken)
        # It may have been revoked while the page answered.
        current = self._pairing.find(visitor.origin, hello.id)
        return hello.id if current is not None and current.is_for(answer.token) else None

    async def _paired(self, visitor: Visitor) -> str:
        """Give the page a token if an enrolment is open, or when a person confirms its code."""
        paired = self._pairing.enrol(visitor.origin)
        if paired is not None:
            self._refusals.enrolled(visitor.origin)
        else:
            with self._pairing.requested(visitor.origin) as request:
                paired = await self._asked(visitor, request)
        await visitor.notify("page/paired", paired)
        return paired.id

    async def _asked(self, visitor: Visitor, request: PairingRequest) -> worker.PagePaired:
        """Wait until a person allows the page; stop if the page closes or sends something."""
        origin, code = request.origin, request.code
        # A program that is no browser can send an origin that a shell would execute.
        command = shlex.join(("tabhub", "page", "allow", origin, code))
        waiting = Forbidden(f"{origin} is not allowed yet; its code is {code}.")
        if self._refusals.refused(origin, waiting):
            log.info("a page waits for pairing: %s", command)
        message = (
            f"tabhub asks the person about {origin}: {code}. They answer in its side panel, or "
            f"by: {command}"
        )
        unpaired = worker.PageUnpaired(origin=origin, code=code, message=message)
        await visitor.notify("page/unpaired", unpaired)
        paired = await _answer_first(request.answer, visitor.receive)
        if paired is None:
            raise Forbidden(f"{origin} is not allowed: tabhub page allow {origin}")
        return paired


async def _answer_first(
    answer: "asyncio.Future[worker.PagePaired | None]", receive: Receive
) -> worker.PagePaired | None:
    """The person's answer, if it comes before the page sends or closes anything."""
    event = asyncio.ensure_future(receive())
    either: set[asyncio.Future[Any]] = {event, answer}
    try:
        await asyncio.wait(either, timeout=PAIRING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        event.cancel()
    return answer.result() if answer.done() else None


async def _next(visitor: Visitor, kind: type[T]) -> T:
    """The page's next message, which must be of this kind."""
    try:
        event = await asyncio.wait_for(visitor.receive(), MESSAGE_SECONDS)
        message = _read(event.get("text") or event.get("bytes") or b"")
    except (TimeoutError, TabhubError, *jsonrpc.UNREADABLE):
        message = None
    if not isinstance(message, kind):
        raise Forbidden("The page did not say hello; its pagekit may be older than this tabhub.")
    return message


def _read(text: str | bytes) -> Any:
    if len(text) > LONGEST_MESSAGE:
        return None
    message = jsonrpc.decode(text.encode(errors="replace") if isinstance(text, str) else text)
    params = message.params if isinstance(message.params, msgspec.Raw) else jsonrpc.EMPTY
    return _MESSAGES.handle(str(message.method), params)


def _same(message: T) -> T:
    return message


_MESSAGES = Handlers(PAGE.taken_by("admission"), {"page/hello": _same, "page/token": _same})
