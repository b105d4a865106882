"""Where the requests of a session speak while they are answered.

Over Streamable HTTP that is the answer to their POST: JSON, or an event stream from the first
thing it says. The stream belongs to the session, not to the connection: what is said after the
connection is gone is kept, and the client may come back for it.
"""

from abc import ABC, abstractmethod
from typing import Any

from tabhub.agents.mcp.backend import Exchange
from tabhub.agents.mcp.elicitation import Ask
from tabhub.agents.mcp.reply import Reply
from tabhub.agents.mcp.session import Session
from tabhub.agents.mcp.streams import EventStream
from tabhub.errors import ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp import versions

RETRY_MS = 500
"""How soon a client whose stream we closed should come back."""


class Outlet(ABC):
    """Where the requests of one message speak: several of them when it is a batch."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.status = 200
        """Of an answer that is no stream."""
        self.cancelled = False
        """Whether the client took a request back."""

    @property
    @abstractmethod
    def may_stream(self) -> bool:
        """Whether anything can be said before the answer."""

    @abstractmethod
    async def emit(self, data: bytes) -> None:
        """Send a message that is no answer."""

    async def let_go(self) -> None:
        """Close the connection, where a client can come back for the rest."""
        return


class PostOutlet(Outlet):
    """The answer to one POST."""

    def __init__(self, session: Session, reply: Reply) -> None:
        super().__init__(session)
        self._reply = reply
        self._stream: EventStream | None = None

    @property
    def may_stream(self) -> bool:
        return self._reply.may_stream

    async def emit(self, data: bytes) -> None:
        if self._reply.may_stream:
            stream = await self._opened()
            await self._reply.frame(stream.append(data))

    async def finish(self, bodies: list[bytes], batched: bool) -> None:
        """Send the responses, on the stream if there is one."""
        if self._stream is None:
            if batched:
                await self._reply.json(200, b"[" + b",".join(bodies) + b"]")
            else:
                await self._reply.json(self.status, bodies[0])
            return
        for body in bodies:
            await self._reply.frame(self._stream.append(body))
        self._stream.finish()
        await self._reply.end()

    async def let_go(self) -> None:
        """Close the connection; only a client that has an event's id can come back for the rest."""
        if self._reply.may_stream and versions.primes_streams(self.session.version):
            await self._opened()
            await self._reply.end()

    async def _opened(self) -> EventStream:
        if self._stream is None:
            self._stream = self.session.streams.open()
            if versions.primes_streams(self.session.version):
                await self._reply.frame(self._stream.append(b"", RETRY_MS))
        return self._stream


class HandshakeExchange(Exchange):
    """One request of a session."""

    def __init__(self, outlet: Outlet, meta: m.Json) -> None:
        session = outlet.session
        super().__init__(
            version=session.version,
            client=session.client,
            capabilities=session.capabilities,
            session=session.id,
            caller=session.caller,
            toolsets=session.toolsets,
            meta=meta,
            log_level=session.log_level,
        )
        self.peer = session
        self._outlet = outlet

    async def notify(self, method: str, params: m.Json) -> None:
        await self._outlet.emit(jsonrpc.notification(method, params))

    async def exchange(self, asks: dict[str, Ask], state: Any) -> dict[str, Any]:
        if not self._outlet.may_stream:
            raise ProtocolError("Asking back needs a client that accepts event streams.")
        asked = {key: self.peer.asking(ask) for key, ask in asks.items()}
        try:
            for data, _ in asked.values():
                await self._outlet.emit(data)
            return {key: await answer for key, (_, answer) in asked.items()}
        finally:
            for _, answer in asked.values():
                answer.cancel()

    async def close_stream(self) -> None:
        await self._outlet.let_go()
