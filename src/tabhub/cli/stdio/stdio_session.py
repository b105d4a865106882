"""A client of the handshake era: its session, and what must be said again to another server."""

import asyncio
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import msgspec

from tabhub.cli.running import PidFile
from tabhub.cli.stdio.answers import refusal_in
from tabhub.cli.stdio.events import events
from tabhub.cli.stdio.home_server import FIRST_PAUSE, LONGEST_PAUSE, Server
from tabhub.cli.stdio.http_client import Answer
from tabhub.cli.stdio.pipes import Output
from tabhub.errors import TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header

JSON: list[Header] = [
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
]
STREAM: Header = (b"accept", b"text/event-stream")
ENDED_SECONDS = 1.0
OWN_ID = "tabhub-bridge-"
"""What ids of our own begin with."""

_INITIALIZED = jsonrpc.notification("notifications/initialized")
_TOOLS_CHANGED = jsonrpc.notification("notifications/tools/list_changed")


class _Agreed(msgspec.Struct):
    protocol_version: str = msgspec.field(default="", name="protocolVersion")


class _Opened(msgspec.Struct):
    result: _Agreed = msgspec.field(default_factory=_Agreed)


class _Uri(msgspec.Struct):
    uri: str = ""


_opened = msgspec.json.Decoder(_Opened).decode
_uri = msgspec.json.Decoder(_Uri).decode


class Key(NamedTuple):
    """What a session is known by; another one after it was made anew."""

    id: bytes
    version: bytes

    def headers(self) -> list[Header]:
        return [(b"mcp-session-id", self.id), (b"mcp-protocol-version", self.version)]


class Session:
    """One session towards the client, whichever sessions of whichever servers stand behind it."""

    def __init__(self, server: Server, output: Output, opening: bytes) -> None:
        self.key: Key | None = None
        self._server = server
        self._output = output
        self._opening = opening
        self._life: PidFile | None = None
        self._numbers = count(1)
        self._turn = asyncio.Lock()
        self._level: Any = None
        self._subscribed: dict[str, Any] = {}
        self._last_event: str | None = None
        self._follower: asyncio.Task[None] | None = None

    def opened(self, answer: Answer, body: bytes) -> None:
        """The server has answered the client's `initialize`."""
        self._note(answer, body)
        if self.key is not None:
            self._life = self._server.life
            self._follower = asyncio.create_task(self._follow())

    def hear(self, message: jsonrpc.Incoming) -> None:
        """Remember what a server forgets when it restarts."""
        params = message.params
        if message.method == "logging/setLevel":
            self._level = params
        elif message.method == "resources/subscribe" and (uri := _uri_of(params)):
            self._subscribed[uri] = params
        elif message.method == "resources/unsubscribe" and (uri := _uri_of(params)):
            self._subscribed.pop(uri, None)

    async def current(self, start: bool = True) -> Key | None:
        """What to show a server, once it knows all that its predecessor knew."""
        await self._server.ready(start)
        if self.key is not None and self._life != self._server.life:
            async with self._turn:
                if self._life != self._server.life:
                    await self._restore(self.key)
        return self.key

    async def renew(self, unknown: Key) -> None:
        """A server does not know our session: make another one, as the client made the first."""
        async with self._turn:
            if self.key == unknown:
                await self._reopen()
                await self._tell_again()
                await self._output.write(_TOOLS_CHANGED)

    async def end(self) -> None:
        """The client has gone."""
        if self._follower is not None:
            self._follower.cancel()
        if self.key is None:
            return
        with suppress(OSError, TabhubError, TimeoutError):
            async with (
                asyncio.timeout(ENDED_SECONDS),
                self._server.ask("DELETE", self.key.headers(), start=False) as answer,
            ):
                await answer.body()

    def _note(self, answer: Answer, body: bytes) -> None:
        id = answer.headers.get(b"mcp-session-id")
        if answer.status == 200 and id is not None:
            with suppress(*jsonrpc.UNREADABLE):
                self.key = Key(id, _opened(body).result.protocol_version.encode())

    async def _restore(self, key: Key) -> None:
        """Another run of the server: it may still know the session, though not all about it."""
        life = self._server.life
        if not await self._tell_again():
            await self._reopen()
            await self._tell_again()
        self._life, self._last_event = life, None
        await self._output.write(_TOOLS_CHANGED)

    async def _reopen(self) -> None:
        async with self._server.ask("POST", JSON, self._opening) as answer:
            body = await answer.body()
        if answer.status != 200:
            raise refusal_in(body, answer.status)
        self._note(answer, body)
        await self._say(_INITIALIZED)

    async def _tell_again(self) -> bool:
        """Log level and subscriptions; whether the server knows the session at all."""
        told = [("ping", msgspec.UNSET)]
        if self._level is not None:
            told.append(("logging/setLevel", self._level))
        told += [("resources/subscribe", params) for params in self._subscribed.values()]
        return all([await self._say(self._request(*one)) for one in told])

    def _request(self, method: str, params: Any) -> bytes:
        id = f"{OWN_ID}{next(self._numbers)}"
        return msgspec.json.encode(jsonrpc.Incoming("2.0", id, method, params))

    async def _say(self, body: bytes) -> bool:
        assert self.key is not None
        async with self._server.ask("POST", [*JSON, *self.key.headers()], body) as answer:
            await answer.body()
            if answer.status >= 500:
                raise ConnectionAbortedError("the server is about to stop")
            return answer.status != 404

    async def _follow(self) -> None:
        """Hold the stream of news open, for as long as there is a client."""
        pause = FIRST_PAUSE
        while True:
            with suppress(OSError, TabhubError):
                if await self._listen():
                    pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> bool:
        """One GET to its end; whether the server had anything to do with it."""
        key = await self.current(start=False)
        assert key is not None
        last = [] if self._last_event is None else [(b"last-event-id", self._last_event.encode())]
        headers = [STREAM, *key.headers(), *last]
        async with self._server.ask("GET", headers, start=False) as answer:
            if answer.status == 200:
                async for event in events(answer.chunks()):
                    self._last_event = event.id or self._last_event
                    if event.data:
                        await self._output.write(event.data)
                return True
            await answer.body()
        if answer.status == 404:
            await self.renew(key)
        return False


def _uri_of(params: Any) -> str:
    try:
        return _uri(params).uri if isinstance(params, msgspec.Raw) else ""
    except jsonrpc.UNREADABLE:
        return ""
