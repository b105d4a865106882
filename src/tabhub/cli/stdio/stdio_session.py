"""The session of a client with a handshake, and what to repeat to a restarted server."""

import asyncio
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import msgspec

from tabhub.cli.running import PidFile
from tabhub.cli.stdio.home_server import FIRST_PAUSE, GONE, LONGEST_PAUSE, HomeServer
from tabhub.cli.stdio.http_client import HttpResponse, events
from tabhub.cli.stdio.pipes import Output
from tabhub.errors import TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header

JSON: list[Header] = [
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
]
STREAM: Header = (b"accept", b"text/event-stream")
END_SECONDS = 1.0
OWN_ID = "tabhub-bridge-"
"""The prefix of request ids that the bridge itself makes."""
_INITIALIZED = jsonrpc.notification("notifications/initialized")
_TOOLS_CHANGED = jsonrpc.notification("notifications/tools/list_changed")


class _Error(jsonrpc.RemoteError):
    reason: str = ""


class _Message(msgspec.Struct):
    jsonrpc: str = ""
    id: int | str | None = None
    method: str | None = None
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Message | list[_Message]).decode


def is_message(body: bytes) -> bool:
    """Whether the body is JSON-RPC, and so for the client."""
    messages = _read(body)
    return bool(messages) and all(message.jsonrpc for message in messages)


def answered(body: bytes) -> set[jsonrpc.Id]:
    """The ids of the requests that the body answers."""
    messages = _read(body)
    return {m.id for m in messages if m.method is None and m.id is not None}


def refusal_in(body: bytes, status: int) -> TabhubError:
    """The error in a body of JSON-RPC or of plain HTTP."""
    for message in _read(body):
        if (error := message.error) is not None:
            reason = error.reason or (error.data or {}).get("reason", "")
            return from_reason(reason, error.message)
    return Unavailable(f"The tabhub server answered with status {status}.", GONE)


def _read(body: bytes) -> list[_Message]:
    with suppress(*jsonrpc.UNREADABLE):
        found = _decode(body)
        return found if isinstance(found, list) else [found]
    return []


class _Initialized(msgspec.Struct):
    protocol_version: str = msgspec.field(default="", name="protocolVersion")


class _Initialization(msgspec.Struct):
    result: _Initialized = msgspec.field(default_factory=_Initialized)


class _Uri(msgspec.Struct):
    uri: str = ""


_initialization = msgspec.json.Decoder(_Initialization).decode
_uri = msgspec.json.Decoder(_Uri).decode


class Key(NamedTuple):
    """The identification of a session; a new one after the session was reopened."""

    id: bytes
    version: bytes

    def headers(self) -> list[Header]:
        return [(b"mcp-session-id", self.id), (b"mcp-protocol-version", self.version)]


class StdioSession:
    """One session for the client, over the sessions of successive servers."""

    def __init__(self, server: HomeServer, output: Output, opening: bytes) -> None:
        self.key: Key | None = None
        self._server = server
        self._output = output
        self._opening = opening
        self._life: PidFile | None = None
        self._numbers = count(1)
        self._restoring = asyncio.Lock()
        self._level: Any = None
        self._subscribed: dict[str, Any] = {}
        self._last_event: str | None = None
        self._follower: asyncio.Task[None] | None = None

    def opened(self, response: HttpResponse, body: bytes) -> None:
        """Handle the response to the client's `initialize`."""
        self._note_key(response, body)
        if self.key is not None:
            self._life = self._server.life
            self._follower = asyncio.create_task(self._follow())

    def remember(self, message: jsonrpc.Incoming) -> None:
        """Remember the log level and subscriptions, which a server forgets when it restarts."""
        params = message.params
        if message.method == "logging/setLevel":
            self._level = params
        elif message.method == "resources/subscribe" and (uri := _uri_of(params)):
            self._subscribed[uri] = params
        elif message.method == "resources/unsubscribe" and (uri := _uri_of(params)):
            self._subscribed.pop(uri, None)

    async def current(self, start: bool = True) -> Key | None:
        """The key for the current server, once the session is restored there."""
        await self._server.ready(start)
        if self.key is not None and self._life != self._server.life:
            async with self._restoring:
                if self._life != self._server.life:
                    await self._restore(self.key)
        return self.key

    async def renew(self, unknown: Key) -> None:
        """Open a new session instead of one that the server does not know."""
        async with self._restoring:
            if self.key == unknown:
                await self._reopen()
                await self._repeat_state()
                await self._output.write(_TOOLS_CHANGED)

    async def end(self) -> None:
        """End the session, because the client has disconnected."""
        if self._follower is not None:
            self._follower.cancel()
        if self.key is None:
            return
        with suppress(OSError, TabhubError, TimeoutError):
            async with (
                asyncio.timeout(END_SECONDS),
                self._server.request("DELETE", self.key.headers(), start=False) as response,
            ):
                await response.body()

    def _note_key(self, response: HttpResponse, body: bytes) -> None:
        id = response.headers.get(b"mcp-session-id")
        if response.status == 200 and id is not None:
            with suppress(*jsonrpc.UNREADABLE):
                self.key = Key(id, _initialization(body).result.protocol_version.encode())

    async def _restore(self, key: Key) -> None:
        """Restore the session at a restarted server, which may know it, but not its state."""
        life = self._server.life
        if not await self._repeat_state():
            await self._reopen()
            await self._repeat_state()
        self._life, self._last_event = life, None
        await self._output.write(_TOOLS_CHANGED)

    async def _reopen(self) -> None:
        async with self._server.request("POST", JSON, self._opening) as response:
            body = await response.body()
        if response.status != 200:
            raise refusal_in(body, response.status)
        self._note_key(response, body)
        await self._send(_INITIALIZED)

    async def _repeat_state(self) -> bool:
        """Send log level and subscriptions again; whether the server knows the session."""
        requests = [("ping", msgspec.UNSET)]
        if self._level is not None:
            requests.append(("logging/setLevel", self._level))
        requests += [("resources/subscribe", params) for params in self._subscribed.values()]
        return all([await self._send(self._request(*request)) for request in requests])

    def _request(self, method: str, params: Any) -> bytes:
        id = f"{OWN_ID}{next(self._numbers)}"
        return msgspec.json.encode(jsonrpc.Incoming("2.0", id, method, params))

    async def _send(self, body: bytes) -> bool:
        """Send a message of our own; whether the server knows the session."""
        assert self.key is not None
        async with self._server.request("POST", [*JSON, *self.key.headers()], body) as response:
            await response.body()
            if response.status >= 500:
                raise ConnectionAbortedError("the server is about to stop")
            return response.status != 404

    async def _follow(self) -> None:
        """Keep the session's stream of notifications open while the client is connected."""
        pause = FIRST_PAUSE
        while True:
            with suppress(OSError, TabhubError):
                if await self._listen():
                    pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> bool:
        """Relay one stream to its end; whether the server opened it."""
        key = await self.current(start=False)
        assert key is not None
        last = [] if self._last_event is None else [(b"last-event-id", self._last_event.encode())]
        headers = [STREAM, *key.headers(), *last]
        async with self._server.request("GET", headers, start=False) as response:
            if response.status == 200:
                async for event in events(response.chunks()):
                    self._last_event = event.id or self._last_event
                    if event.data:
                        await self._output.write(event.data)
                return True
            await response.body()
        if response.status == 404:
            await self.renew(key)
        return False


def _uri_of(params: Any) -> str:
    try:
        return _uri(params).uri if isinstance(params, msgspec.Raw) else ""
    except jsonrpc.UNREADABLE:
        return ""
