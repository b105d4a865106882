"""One POST of a client's requests, until each has its answer: from the server, or from us."""

import asyncio
import logging
from contextlib import suppress

from tabhub.calls.results import failed
from tabhub.cli.stdio.answers import answered, is_message, refusal_in
from tabhub.cli.stdio.events import events
from tabhub.cli.stdio.home_server import FIRST_PAUSE, GONE, Server
from tabhub.cli.stdio.http_client import Answer
from tabhub.cli.stdio.marks import Marks
from tabhub.cli.stdio.message import CALL, Message
from tabhub.cli.stdio.pipes import Output
from tabhub.cli.stdio.stdio_session import JSON, STREAM, Key, Session
from tabhub.errors import Internal, ProtocolError, TabhubError, Unavailable
from tabhub.wire import jsonrpc

log = logging.getLogger(__name__)

TRIES = 6
RETRY_MS = 500

_MAY_HAVE_RUN = (
    "The tabhub server went away while this ran, and it may have been done. "
    "Look at the page before you try again."
)
_LOST = "The tabhub server went away while this ran. Try again."


class Exchange:
    """A POST on its way."""

    def __init__(
        self,
        server: Server,
        output: Output,
        message: Message,
        session: Session | None = None,
        marks: Marks | None = None,
    ) -> None:
        self.message = message
        self.sent = asyncio.Event()
        self._server = server
        self._output = output
        self._session = None if message.stands_alone else session
        self._marks = marks or Marks()
        self._open = set(message.ids)
        self._is_done = False
        self._last_event: str | None = None
        self._retry_ms = RETRY_MS

    async def run(self) -> None:
        try:
            await self._converse()
        except TabhubError as error:
            await self._fail(error)
        except Exception:
            # Whatever it is, a client must not wait for ever.
            log.exception("a message could not be passed on")
            await self._fail(Internal("Something went wrong inside the bridge."))

    async def _converse(self) -> None:
        for number in range(TRIES):
            self.sent.clear()
            with suppress(OSError):
                await self._post(None if self._session is None else await self._session.current())
            if self._is_done:
                return
            if self.message.calls_tools and self.sent.is_set():
                raise Unavailable(_MAY_HAVE_RUN, "page_may_have_received")
            await asyncio.sleep(FIRST_PAUSE * 2**number)
        raise lost()

    async def _post(self, key: Key | None) -> None:
        try:
            async with self._server.ask(
                "POST", self._headers(key), self.message.raw, sent=self.sent
            ) as answer:
                if answer.is_stream:
                    await self._read_stream(answer)
                else:
                    await self._read_plain(answer, key)
        except OSError:
            if self._last_event is None:
                raise
        await self._resume(key)

    def _headers(self, key: Key | None) -> list[tuple[bytes, bytes]]:
        if self.message.stands_alone:
            return [*JSON, *self.message.mirrored(), *self._marks.headers(self.message)]
        return JSON if key is None else [*JSON, *key.headers()]

    async def _read_stream(self, answer: Answer) -> None:
        async for event in events(answer.chunks()):
            self._last_event = event.id or self._last_event
            self._retry_ms = event.retry_ms or self._retry_ms
            if event.data:
                self._note(event.data)
                await self.tell(event.data)

    async def tell(self, data: bytes) -> None:
        """Give the client what the server says."""
        await self._output.write(data)

    def _note(self, data: bytes) -> None:
        self._open -= answered(data)
        self._is_done = not self._open

    async def _resume(self, key: Key | None) -> None:
        """A stream may end before its answer; who has an event's id can come back for the rest."""
        while self._open and self._last_event is not None and self._session and key:
            await asyncio.sleep(self._retry_ms / 1000)
            life = self._server.life
            await self._server.ready()
            last = (b"last-event-id", self._last_event.encode())
            if self._server.life != life:
                break
            with suppress(OSError):
                async with self._server.ask("GET", [STREAM, *key.headers(), last]) as answer:
                    if not answer.is_stream:
                        break
                    await self._read_stream(answer)
        self._last_event = None

    async def _read_plain(self, answer: Answer, key: Key | None) -> None:
        body = await answer.body()
        refusal = refusal_in(body, answer.status) if answer.status >= 400 else None
        if refusal is not None and await self._is_to_be_sent_again(refusal, key):
            self.sent.clear()
            return
        if body and is_message(body):
            self._opened(answer, body)
            await self.tell(body)
        elif self._open:
            raise refusal or Internal("The server gave no answer.", "invalid_response")
        self._open.clear()
        self._is_done = True

    async def _is_to_be_sent_again(self, refusal: TabhubError, key: Key | None) -> bool:
        """Nothing was done, and the next attempt may have more luck."""
        if refusal.reason == "unknown_session" and self._session is not None and key is not None:
            await self._session.renew(key)
            return True
        if refusal.reason == "header_mismatch":
            return await self._marks.learn(self._server, self.message)
        if refusal.reason == "not_authenticated":
            return self._server.renewed_token()
        return refusal.reason == GONE

    def _opened(self, answer: Answer, body: bytes) -> None:
        if self.message.method == "initialize" and self._session is not None:
            self._session.opened(answer, body)

    async def _fail(self, error: TabhubError) -> None:
        """Answer all that is still open."""
        bodies = [
            self._failure(one, error) for one in self.message.requests if one.id in self._open
        ]
        if self.message.is_batch and bodies:
            bodies = [b"[" + b",".join(bodies) + b"]"]
        for body in bodies:
            await self._output.write(body)

    def _failure(self, request: jsonrpc.Incoming, error: TabhubError) -> bytes:
        assert isinstance(request.id, int | str)
        if request.method != CALL or isinstance(error, ProtocolError):
            return jsonrpc.failure(request.id, error)
        result = failed(error)
        if self.message.stands_alone:
            result.result_type = "complete"
        return jsonrpc.success(request.id, result)


def lost(error: Exception | None = None) -> TabhubError:
    """What a client is told when the server went away and nothing was lost but time."""
    return error if isinstance(error, TabhubError) else Unavailable(_LOST, GONE)
