"""One message of the client, sent by POST, until each request in it has an answer.

The answer comes from the server or, if the server is lost, from the bridge.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

import msgspec

from tabhub.calls.results import failed
from tabhub.cli.stdio.home_server import FIRST_PAUSE, GONE, LONGEST_PAUSE, HomeServer
from tabhub.cli.stdio.http_client import HttpResponse, events
from tabhub.cli.stdio.message import CALL, LISTEN, Message
from tabhub.cli.stdio.pipes import Output
from tabhub.cli.stdio.stdio_session import (
    JSON,
    OWN_ID,
    STREAM,
    Key,
    StdioSession,
    answered,
    is_message,
    refusal_in,
)
from tabhub.errors import Internal, ProtocolError, TabhubError, Unavailable
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.headers import Mark, declared, rendered

LIST = "tools/list"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TRIES = 6
RETRY_MS = 500

log = logging.getLogger(__name__)
_MAY_HAVE_RUN = (
    "The tabhub server went away during this call, which may have been done. "
    "Look at the page before you try again."
)
_LOST = "The tabhub server went away before it answered. Try again."


class _Tool(msgspec.Struct):
    name: str
    input_schema: Any = msgspec.field(default=None, name="inputSchema")


class _Page(msgspec.Struct):
    tools: list[_Tool] = []
    next_cursor: str | None = msgspec.field(default=None, name="nextCursor")


class _Listed(msgspec.Struct):
    result: _Page = msgspec.field(default_factory=_Page)


_listed = msgspec.json.Decoder(_Listed).decode


class HeaderMarks:
    """Which arguments of which tools a client must repeat in headers.

    Few tools have any, so they are looked up only after the server has missed headers.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[Mark]] = {}

    def headers(self, message: Message) -> list[Header]:
        marks = self._known.get(message.name) if message.method == CALL else None
        return rendered(marks, message.arguments()) if marks else []

    async def learn(self, server: HomeServer, message: Message) -> bool:
        """List the tools with the client's own metadata; whether any mark has changed."""
        before, self._known = self._known, {}
        cursor: str | None = None
        while True:
            page = await self._page(server, message, cursor)
            for tool in page.tools:
                if marks := declared(tool.input_schema):
                    self._known[tool.name] = marks
            cursor = page.next_cursor
            if cursor is None:
                return self._known != before

    async def _page(self, server: HomeServer, message: Message, cursor: str | None) -> _Page:
        params = {"_meta": message.meta} | ({"cursor": cursor} if cursor else {})
        request = Message(jsonrpc.request(f"{OWN_ID}list", LIST, params))
        headers = [*JSON, *request.mirrored()]
        async with server.request("POST", headers, request.raw) as response:
            try:
                return _listed(await response.body()).result
            except jsonrpc.UNREADABLE:
                return _Page()


class PostExchange:
    """One POST, repeated while that is safe."""

    def __init__(
        self,
        server: HomeServer,
        output: Output,
        message: Message,
        session: StdioSession | None = None,
        marks: HeaderMarks | None = None,
    ) -> None:
        self.message = message
        self.sent = asyncio.Event()
        self._server = server
        self._output = output
        self._session = None if message.is_sessionless else session
        self._marks = marks or HeaderMarks()
        self._open = set(message.ids)
        self._is_done = False
        self._last_event: str | None = None
        self._retry_ms = RETRY_MS

    async def run(self) -> None:
        try:
            await self._run()
        except TabhubError as error:
            await self._fail(error)
        except Exception:
            # The client must get an answer in any case.
            log.exception("a message could not be relayed")
            await self._fail(Internal("Something went wrong inside the bridge."))

    async def _run(self) -> None:
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
            async with self._server.request(
                "POST", self._headers(key), self.message.raw, sent=self.sent
            ) as response:
                if response.is_stream:
                    await self._read_stream(response)
                else:
                    await self._read_plain(response, key)
        except OSError:
            if self._last_event is None:
                raise
        await self._resume(key)

    def _headers(self, key: Key | None) -> list[tuple[bytes, bytes]]:
        if self.message.is_sessionless:
            return [*JSON, *self.message.mirrored(), *self._marks.headers(self.message)]
        return JSON if key is None else [*JSON, *key.headers()]

    async def _read_stream(self, response: HttpResponse) -> None:
        async for event in events(response.chunks()):
            self._last_event = event.id or self._last_event
            self._retry_ms = event.retry_ms or self._retry_ms
            if event.data:
                self._note_answers(event.data)
                await self.deliver(event.data)

    async def deliver(self, data: bytes) -> None:
        """Write a message of the server to the client."""
        await self._output.write(data)

    def _note_answers(self, data: bytes) -> None:
        self._open -= answered(data)
        self._is_done = not self._open

    async def _resume(self, key: Key | None) -> None:
        """A stream may end before its answer; from the last event's id on it can be resumed."""
        while self._open and self._last_event is not None and self._session and key:
            await asyncio.sleep(self._retry_ms / 1000)
            life = self._server.life
            await self._server.ready()
            last = (b"last-event-id", self._last_event.encode())
            if self._server.life != life:
                break
            with suppress(OSError):
                async with self._server.request("GET", [STREAM, *key.headers(), last]) as response:
                    if not response.is_stream:
                        break
                    await self._read_stream(response)
        self._last_event = None

    async def _read_plain(self, response: HttpResponse, key: Key | None) -> None:
        body = await response.body()
        refusal = refusal_in(body, response.status) if response.status >= 400 else None
        if refusal is not None and await self._can_retry(refusal, key):
            self.sent.clear()
            return
        if body and is_message(body):
            self._session_opened(response, body)
            await self.deliver(body)
        elif self._open:
            raise refusal or Unavailable("The server sent no answer.", "invalid_response")
        self._open.clear()
        self._is_done = True

    async def _can_retry(self, refusal: TabhubError, key: Key | None) -> bool:
        """Whether the server refused the message before it ran it, and will accept it now."""
        if refusal.reason == "unknown_session" and self._session is not None and key is not None:
            await self._session.renew(key)
            return True
        if refusal.reason == "header_mismatch":
            return await self._marks.learn(self._server, self.message)
        if refusal.reason == "not_authenticated":
            return self._server.renewed_token()
        return refusal.reason == GONE

    def _session_opened(self, response: HttpResponse, body: bytes) -> None:
        if self.message.method == "initialize" and self._session is not None:
            self._session.opened(response, body)

    async def _fail(self, error: TabhubError) -> None:
        """Answer every request that has no answer yet."""
        bodies = [self._failure(r, error) for r in self.message.requests if r.id in self._open]
        if self.message.is_batch and bodies:
            bodies = [b"[" + b",".join(bodies) + b"]"]
        for body in bodies:
            await self._output.write(body)

    def _failure(self, request: jsonrpc.Incoming, error: TabhubError) -> bytes:
        assert isinstance(request.id, int | str)
        if request.method != CALL or isinstance(error, ProtocolError):
            return jsonrpc.failure(request.id, error)
        result = failed(error)
        if self.message.is_sessionless:
            result.result_type = "complete"
        return jsonrpc.success(request.id, result)


def lost(error: Exception | None = None) -> TabhubError:
    """The error for a request that can safely be repeated, unless a better one is known."""
    return error if isinstance(error, TabhubError) else Unavailable(_LOST, GONE)


class _NotificationParams(msgspec.Struct):
    notifications: m.ListenFilter = msgspec.field(default_factory=m.ListenFilter)
    meta: Any = msgspec.field(default=None, name="_meta")


class _Notification(msgspec.Struct):
    method: str = ""
    params: _NotificationParams = msgspec.field(default_factory=_NotificationParams)
    error: Any = None


_notification = msgspec.json.Decoder(_Notification).decode


class Subscription(PostExchange):
    """A request for notifications, renewed with each server until cancelled or refused."""

    def __init__(self, server: HomeServer, output: Output, message: Message) -> None:
        super().__init__(server, output, message)
        self._is_acknowledged = False

    async def _run(self) -> None:
        pause = FIRST_PAUSE
        while self._open:
            try:
                await self._listen()
                pause = FIRST_PAUSE
            except (OSError, TabhubError) as error:
                if not self._is_acknowledged:
                    raise lost(error) from None
            if self._open:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> None:
        start = not self._is_acknowledged
        async with self._server.request(
            "POST", self._headers(None), self.message.raw, start=start, sent=self.sent
        ) as response:
            if not response.is_stream:
                await self._read_plain(response, None)
                return
            async for event in events(response.chunks()):
                if event.data:
                    await self._receive(event.data)

    async def _receive(self, data: bytes) -> None:
        message = _notification(data)
        if message.method == ACKNOWLEDGED and self._is_acknowledged:
            await self._announce_restart(message.params)
        elif message.method or message.error is not None:
            self._is_acknowledged = self._is_acknowledged or message.method == ACKNOWLEDGED
            self._note_answers(data)
            await self.deliver(data)
        # A result means that the server stops; the next server continues.

    async def _announce_restart(self, params: _NotificationParams) -> None:
        """The list of tools may have changed while no server was running."""
        if params.notifications.tools_list_changed:
            meta = {"_meta": params.meta}
            await self.deliver(jsonrpc.notification("notifications/tools/list_changed", meta))


class Presence(Subscription):
    """A subscription to nothing: shows the server that a client is connected."""

    async def deliver(self, data: bytes) -> None:
        return

    async def _fail(self, error: TabhubError) -> None:
        return


def presence(server: HomeServer, output: Output, version: str) -> Presence:
    meta = {m.META_VERSION: version, m.META_CAPABILITIES: {}}
    params = {"notifications": {}, "_meta": meta}
    return Presence(server, output, Message(jsonrpc.request(f"{OWN_ID}presence", LISTEN, params)))
