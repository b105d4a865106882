"""One session of the link in a tunnel, over one connection to the proxy after another."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from msgspec import Raw

from tabhub.browser.remote.proxy_connection import ProxyConnection
from tabhub.errors import ProtocolError, TabhubError, Unavailable
from tabhub.rate_limit import Clock
from tabhub.wire import link_versions as versions
from tabhub.wire.asgi import Message, Receive, Send
from tabhub.wire.jsonrpc import UNREADABLE
from tabhub.wire.link_versions import End
from tabhub.wire.tunnel import LOST, METHOD, CallingEnd, Closed, TunnelAnswer

log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
MOST_BYTES = 64 * 1024 * 1024
"""That wait to be acknowledged."""
PAUSES = {"missing_piece": 0.1, "invalid_response": 0.1, "rate_limited": 1.0, "too_many_calls": 1.0}
"""Refusals of one request, after which a new turn begins; the seconds before it does."""
WITHOUT_CONNECTION = frozenset(
    {"server_unavailable", "extension_gone", "not_connected", "not_authenticated", "token_expired"}
)
"""Refusals after which the session goes on with another connection."""

Serve = Callable[[str, End, Receive, Send], Awaitable[None]]
"""Serves the link of a profile, whose extension has this version, until it ends."""
_decode = msgspec.json.Decoder(TunnelAnswer).decode


class TunnelLink:
    """Carries the messages of a link, which does not notice that it is no WebSocket."""

    def __init__(
        self, serve: Serve, profile: str, max_bytes: int, clock: Clock = time.monotonic
    ) -> None:
        self._serve = serve
        self._profile = profile
        self._end = CallingEnd(secrets.token_hex(16), clock, max_bytes)
        self._events: asyncio.Queue[Message] = asyncio.Queue()
        self._connection: ProxyConnection | None = None
        self._is_pausing = False
        self._serving: asyncio.Task[None] | None = None
        self._watching = asyncio.create_task(self._watch())
        self._ended = asyncio.Event()
        self.failure: TabhubError | None = None
        """Why it has ended, if neither end has closed it."""
        self.code = LOST
        """The close code with which it has ended."""

    @property
    def is_open(self) -> bool:
        """Whether the extension has accepted it."""
        return self._end.is_open

    @property
    def is_connected(self) -> bool:
        return self.is_open and self._connection is not None

    @property
    def is_ended(self) -> bool:
        return self._ended.is_set()

    async def ended(self) -> None:
        """Wait until it has ended, and nobody uses it any more."""
        await self._ended.wait()
        if self._serving is not None:
            await asyncio.wait({self._serving})

    async def stop(self) -> None:
        """End it from here."""
        self._finish(LOST)
        await self.ended()

    # Connections.

    def connected(self, connection: ProxyConnection) -> None:
        """Begin, or go on, with this connection."""
        self._connection = connection
        if self._end.is_open:
            self._end.connected()
        self._pump()

    def disconnected(self) -> None:
        """The connection is lost; another one may come."""
        self._connection = None
        self._end.lost()
        if not self._end.is_open:
            # What has become of the request that opens the session is unknown.
            self._finish(LOST)

    def _pump(self) -> None:
        if self._connection is None or self._is_pausing or self.is_ended:
            return
        connection = self._connection
        for id, request in self._end.requests():
            connection.send(METHOD, request, partial(self._answered, connection, id))

    def _answered(self, connection: ProxyConnection, id: int, said: Raw | TabhubError) -> None:
        if connection is not self._connection or self.is_ended:
            return
        try:
            if isinstance(said, TabhubError):
                self._refused(id, said)
            else:
                self._take(id, _decode(said))
        except UNREADABLE as error:
            self._fail(ProtocolError(f"The extension's answer cannot be read: {error}."))
        except ProtocolError as error:
            self._fail(error)
        self._pump()

    def _take(self, id: int, answer: TunnelAnswer) -> None:
        arrived = self._end.answered(id, answer)
        if self._serving is None and self._end.is_open:
            self._begin()
        for one in arrived:
            if isinstance(one, Closed):
                self._finish(one.code)
            else:
                self._events.put_nowait({"type": "websocket.receive", "text": one})

    def _refused(self, id: int, error: TabhubError) -> None:
        if not self._end.is_waiting_for(id):
            return
        pause = PAUSES.get(error.reason)
        if error.reason in WITHOUT_CONNECTION:
            connection = self._connection
            self.disconnected()
            if connection is not None:
                connection.hang_up()
        elif pause is None or not self._end.is_open:
            self._fail(error)
        else:
            self._end.again()
            self._pause(pause)

    def _pause(self, seconds: float) -> None:
        self._is_pausing = True
        asyncio.get_running_loop().call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._is_pausing = False
        self._pump()

    # The link.

    def _begin(self) -> None:
        extension = versions.parse(self._end.offer) or End()
        serving = self._serve(self._profile, extension, self._events.get, self._send)
        self._serving = asyncio.ensure_future(serving)
        self._serving.add_done_callback(self._served)

    def _served(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the link through the proxy failed", exc_info=error)
        self._finish(LOST)

    async def _send(self, event: Message) -> None:
        if self.is_ended:
            raise BrokenPipeError("the session has ended")
        if event["type"] == "websocket.close":
            self._end.close(event["code"])
            self._pump()
            self._finish(event["code"])
        else:
            self._end.send(event["text"])
            self._pump()
            if self._end.unacknowledged > MOST_BYTES:
                self._fail(Unavailable("The browser does not take what is sent.", "slow_reader"))

    def _fail(self, error: TabhubError) -> None:
        self.failure = error
        self._finish(LOST)

    def _finish(self, code: int) -> None:
        if self.is_ended:
            return
        self.code = code
        self._ended.set()
        self._watching.cancel()
        self._events.put_nowait({"type": "websocket.disconnect", "code": code})

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._end.is_over:
                self._fail(Unavailable("The browser was not heard for too long."))
