"""Sessions of the handshake era: what the server remembers of a client between two requests.

A session survives a restart of the server: its client continues with the same id and tabs.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

import msgspec

from tabhub.agents.http.messages import Toolsets
from tabhub.agents.mcp.backend import Backend, Change
from tabhub.agents.mcp.elicitation import ClientQuestion
from tabhub.agents.mcp.streams import Streams
from tabhub.config.clients import Client
from tabhub.errors import Cancelled, Forbidden, NotFound, ProtocolError, TabhubError, Unavailable
from tabhub.hub.sessions import readable
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

log = logging.getLogger(__name__)

STOPPED = (
    "The server stopped while this ran, and it may have taken effect. "
    "Look at the page before you try again."
)


Admit = Callable[[Client], None]
"""Called for a new session; raises when the client opens sessions too often."""


class SessionStore(Protocol):
    """Stores sessions on disk, so that they survive a restart."""

    def load(self) -> dict[str, bytes]: ...

    def put(self, key: str, body: bytes) -> None: ...

    def drop(self, key: str) -> None: ...


class _Stored(msgspec.Struct):
    version: str
    params: m.InitializeParams
    caller: str
    toolsets: Toolsets


class RunningRequest:
    """A request in progress, which its client may cancel."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self.ended: TabhubError | None = None
        """Why it was cancelled: by its client, or because its session ended."""

    def cancel(self, error: TabhubError) -> None:
        self.ended = error
        if self._task is not None:
            self._task.cancel()

    def absorb(self) -> None:
        """Undo the cancellation of the task, which goes on to respond with the error."""
        if self._task is not None:
            self._task.uncancel()


class McpSession:
    """One client, from `initialize` until it ends the session or is idle too long."""

    def __init__(
        self,
        id: str,
        version: str,
        params: m.InitializeParams,
        caller: Client,
        toolsets: Toolsets,
        now: float,
    ) -> None:
        self.id = id
        self.caller = caller
        self.toolsets = toolsets
        self.identify(version, params)
        self.log_level: m.LogLevel = "debug"
        self.subscriptions: set[str] = set()
        self.streams = Streams()
        self.running: dict[jsonrpc.Id, RunningRequest] = {}
        self.connections = 0
        self.seen = now
        self._asked: dict[jsonrpc.Id, asyncio.Future[Any]] = {}
        self._numbers = count(1)

    def identify(self, version: str, params: m.InitializeParams) -> None:
        """Take the client's name and capabilities from `initialize`."""
        self.version = version
        self.client = params.client_info
        self.capabilities = params.capabilities

    def on_change(self, change: Change) -> None:
        """Notify the client; of single resources only where it subscribed to them."""
        if change.uri is None or change.uri in self.subscriptions:
            self.send(jsonrpc.notification(change.method, change.params))

    def send(self, message: bytes) -> None:
        """Send a message that belongs to no request."""
        self.streams.standalone.append(message)

    def log(self, level: m.LogLevel, data: m.Json, logger: str) -> None:
        """Send a log message that belongs to no request, if the client wants that level."""
        if m.is_wanted(level, self.log_level):
            params = {"level": level, "data": data, "logger": logger}
            self.send(jsonrpc.notification("notifications/message", params))

    def cancel(self, request_id: jsonrpc.Id | None) -> None:
        running = self.running.get(request_id) if request_id is not None else None
        if running is not None:
            running.cancel(Cancelled("The client cancelled this request."))

    def ask(self, ask: ClientQuestion) -> tuple[bytes, asyncio.Future[Any]]:
        """Make a request to the client; returns its bytes and its future answer."""
        id = f"ask-{next(self._numbers)}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[id] = answer
        answer.add_done_callback(lambda _: self._asked.pop(id, None))
        return jsonrpc.request(id, ask.method, ask.params), answer

    def take_response(self, message: jsonrpc.Incoming) -> None:
        """Resolve the question that a client's response answers; drop any other response."""
        answer = self._asked.pop(message.id, None) if isinstance(message.id, int | str) else None
        if answer is None or answer.done():
            return
        if isinstance(message.error, msgspec.Raw):
            answer.set_exception(_refusal(message.error))
        elif isinstance(message.result, msgspec.Raw):
            answer.set_result(msgspec.json.decode(message.result))

    def __str__(self) -> str:
        return f"{readable(self.client.name) or 'an agent'} (client {self.caller.name})"

    @property
    def busy(self) -> bool:
        return bool(self.running) or self.connections > 0

    def close(self, error: TabhubError) -> None:
        for running in list(self.running.values()):
            running.cancel(error)
        for answer in list(self._asked.values()):
            answer.cancel()
        self.streams.close()


def _refusal(raw: msgspec.Raw) -> TabhubError:
    try:
        error = msgspec.json.decode(raw, type=jsonrpc.RemoteError)
    except jsonrpc.UNREADABLE:
        return ProtocolError("The client's answer is not a JSON-RPC error.")
    return ProtocolError(f"The client refused: {error.message}", code=error.code)


def _encoded(session: McpSession, params: m.InitializeParams) -> bytes:
    stored = _Stored(session.version, params, session.caller.name, session.toolsets)
    return msgspec.json.encode(stored)


S = TypeVar("S", bound=McpSession)


class Register(Generic[S]):
    """Sessions by id. Each gets notifications, and belongs to the client that opened it."""

    def __init__(self, backend: Backend, clock: Callable[[], float]) -> None:
        self._backend = backend
        self._clock = clock
        self._all: dict[str, S] = {}
        self._unsubscribe: dict[str, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, id: str) -> bool:
        return id in self._all

    def all(self) -> list[S]:
        return list(self._all.values())

    def find(self, id: str) -> S | None:
        return self._all.get(id)

    def add(self, session: S, event: str = "has begun") -> None:
        log.info("a session of %s %s", session, event)
        self._all[session.id] = session
        self._unsubscribe[session.id] = self._backend.news.subscribe(session.on_change)

    def get(self, id: str, caller: Client) -> S:
        """The session of that id, which must be the caller's own."""
        session = self._all.get(id) or self._restored(id, caller)
        if session is None:
            raise NotFound("There is no such session; initialize a new one.", "unknown_session")
        if session.caller.name != caller.name:
            raise Forbidden("This session belongs to another client.")
        # The token may have been replaced by a narrower one of the same name.
        session.caller = caller
        session.seen = self._clock()
        return session

    def end(self, id: str) -> None:
        if id in self._all:
            log.info("a session of %s has ended", self._all[id])
        self._remove(id, Cancelled("The session has ended."))
        self._backend.session_ended(id)

    def close(self) -> None:
        for id in list(self._all):
            self._remove(id, Unavailable(STOPPED, "page_may_have_received"))
            self._backend.session_ended(id)

    def _remove(self, id: str, error: TabhubError) -> None:
        session = self._all.pop(id, None)
        if session is not None:
            self._unsubscribe.pop(id)()
            session.close(error)

    def _restored(self, id: str, caller: Client) -> S | None:
        """A stored session, back in memory."""
        return None


class Sessions(Register[McpSession]):
    """Sessions that outlive their connections and, with a store, the server."""

    def __init__(
        self,
        backend: Backend,
        clock: Callable[[], float],
        idle_seconds: float,
        store: SessionStore | None = None,
    ) -> None:
        super().__init__(backend, clock)
        self._idle = idle_seconds
        self._store = store
        self._started = clock()
        self._is_closed = False
        self._stored = store.load() if store else {}
        """Sessions from before a restart whose clients have not returned yet."""

    def __contains__(self, id: str) -> bool:
        return super().__contains__(id) or id in self._stored

    def get(self, id: str, caller: Client) -> McpSession:
        if self._is_closed:
            raise _stopping()
        return super().get(id, caller)

    def open(
        self, version: str, params: m.InitializeParams, caller: Client, toolsets: Toolsets
    ) -> McpSession:
        if self._is_closed:
            raise _stopping()
        session = McpSession(str(uuid4()), version, params, caller, toolsets, self._clock())
        if self._store:
            self._store.put(session.id, _encoded(session, params))
        self.add(session)
        return session

    def end(self, id: str) -> None:
        if self._store:
            self._store.drop(id)
        super().end(id)

    def _remove(self, id: str, error: TabhubError) -> None:
        self._stored.pop(id, None)
        super()._remove(id, error)

    def _restored(self, id: str, caller: Client) -> McpSession | None:
        """A session from before a restart, at its client's first request."""
        body = self._stored.get(id)
        if body is None:
            return None
        try:
            stored = msgspec.json.decode(body, type=_Stored)
        except msgspec.DecodeError:
            return None
        if stored.caller != caller.name:
            raise Forbidden("This session belongs to another client.")
        del self._stored[id]
        session = McpSession(
            id, stored.version, stored.params, caller, stored.toolsets, self._clock()
        )
        self.add(session, "continues")
        return session

    def reap(self) -> list[str]:
        """End the sessions that have been idle too long; returns their ids."""
        now = self._clock()
        for session in self._all.values():
            if session.busy:
                session.seen = now
        idle = [s.id for s in self._all.values() if now - s.seen > self._idle]
        if now - self._started > self._idle:
            idle += self._stored
        for id in idle:
            self.end(id)
        return idle

    def close(self) -> None:
        """Close all sessions because the server stops; stored ones continue after a restart."""
        self._is_closed = True
        if self._store is None:
            super().close()
        for id in list(self._all):
            self._remove(id, Unavailable(STOPPED, "page_may_have_received"))


def _stopping() -> Unavailable:
    """The error while the server stops: the next one will know the session."""
    return Unavailable("The server is about to stop. Try again.", "server_unavailable")
