"""Sessions of the handshake era: what the server remembers of a client between two requests."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import uuid4

import msgspec

from tabhub.agents.mcp.announce import Change
from tabhub.agents.mcp.asking import Ask
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.streams import Streams
from tabhub.errors import NotFound, ProtocolError, TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m


class Running:
    """A request in progress that its client may take back."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        if self._task is not None:
            self._task.cancel()

    def absorb(self) -> None:
        """The cancellation has done its work; the task lives on to say so."""
        if self._task is not None:
            self._task.uncancel()


class Session:
    """One connected client, from `initialize` to DELETE or to the reaper."""

    def __init__(
        self, id: str, version: str, params: m.InitializeParams, caller: str, now: float
    ) -> None:
        self.id = id
        self.caller = caller
        self.version = version
        self.client = params.client_info
        self.capabilities = params.capabilities
        self.log_level: m.LogLevel = "debug"
        self.subscriptions: set[str] = set()
        self.streams = Streams()
        self.running: dict[jsonrpc.Id, Running] = {}
        self.connections = 0
        self.seen = now
        self._asked: dict[jsonrpc.Id, asyncio.Future[Any]] = {}
        self._numbers = count(1)

    def hear(self, change: Change) -> None:
        """Pass on news; single resources only where the client subscribed to them."""
        if change.uri is None or change.uri in self.subscriptions:
            self.streams.standalone.append(jsonrpc.notification(change.method, change.params))

    def cancel(self, request_id: jsonrpc.Id | None) -> None:
        running = self.running.get(request_id) if request_id is not None else None
        if running is not None:
            running.cancel()

    def asking(self, ask: Ask) -> tuple[bytes, asyncio.Future[Any]]:
        """A request of our own: its bytes, and the answer that will come."""
        id = f"ask-{next(self._numbers)}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[id] = answer
        answer.add_done_callback(lambda _: self._asked.pop(id, None))
        return jsonrpc.request(id, ask.method, ask.params), answer

    def answered(self, message: jsonrpc.Incoming) -> None:
        """Hand a client's response to whoever asked; one that nobody waits for is dropped."""
        answer = self._asked.pop(message.id, None) if isinstance(message.id, int | str) else None
        if answer is None or answer.done():
            return
        if isinstance(message.error, msgspec.Raw):
            answer.set_exception(_refusal(message.error))
        elif isinstance(message.result, msgspec.Raw):
            answer.set_result(msgspec.json.decode(message.result))

    @property
    def busy(self) -> bool:
        return bool(self.running) or self.connections > 0

    def close(self) -> None:
        for running in list(self.running.values()):
            running.cancel()
        for answer in list(self._asked.values()):
            answer.cancel()
        self.streams.close()


def _refusal(raw: msgspec.Raw) -> TabhubError:
    try:
        error = msgspec.json.decode(raw, type=jsonrpc.RemoteError)
    except jsonrpc.UNREADABLE:
        return ProtocolError("The client's answer is not a JSON-RPC error.")
    return ProtocolError(f"The client refused: {error.message}", code=error.code)


class Sessions:
    """Every session there is, by id."""

    def __init__(self, backend: Backend, clock: Callable[[], float], idle_seconds: float) -> None:
        self._backend = backend
        self._clock = clock
        self._idle = idle_seconds
        self._all: dict[str, Session] = {}
        self._mute: dict[str, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def open(self, version: str, params: m.InitializeParams, caller: str) -> Session:
        session = Session(str(uuid4()), version, params, caller, self._clock())
        self._all[session.id] = session
        self._mute[session.id] = self._backend.news.subscribe(session.hear)
        return session

    def get(self, id: str) -> Session:
        session = self._all.get(id)
        if session is None:
            raise NotFound("There is no such session; initialize a new one.", "unknown_session")
        session.seen = self._clock()
        return session

    def end(self, id: str) -> None:
        session = self.get(id)
        del self._all[id]
        self._mute.pop(id)()
        session.close()
        self._backend.session_ended(id)

    def reap(self) -> list[str]:
        """End the sessions that nothing has been heard of for too long."""
        now = self._clock()
        for session in self._all.values():
            if session.busy:
                session.seen = now
        idle = [s.id for s in self._all.values() if now - s.seen > self._idle]
        for id in idle:
            self.end(id)
        return idle

    def close(self) -> None:
        for id in list(self._all):
            self.end(id)
