"""A double of an extension that is reached through a real node of the proxy, by a tunnel."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from tabhub.errors import TabhubError
from tabhub.wire.tunnel import METHOD, TunnelAnswer
from tests.proxy.answering_end import AnsweringEnd, AnsweringTunnels
from tests.proxy.served import ServedProxy, Side, extension
from tests.support.browsers.extension import FakeExtension
from tests.support.eventually import PATIENCE

Json = dict[str, Any]
TICK_SECONDS = 0.05


class SessionSocket:
    """A session of the tunnel, as the double of an extension takes a WebSocket."""

    def __init__(self, session: AnsweringEnd) -> None:
        self._session = session
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        session.on_message = self._received

    def _received(self, text: str) -> None:
        self._session.messages.append(text)
        self._texts.put_nowait(text)

    async def send(self, text: str) -> None:
        self._session.send(text)

    async def close(self, code: int = 1000) -> None:
        self._session.close(code)

    def __aiter__(self) -> "SessionSocket":
        return self

    async def __anext__(self) -> str:
        return await self._texts.get()


class TunnelledExtension:
    """Answers the proxy, and keeps its sessions while it is disconnected."""

    def __init__(self, proxy: ServedProxy, profile: str) -> None:
        self.proxy = proxy
        self.profile = profile
        self.tunnels = AnsweringTunnels(time.monotonic)
        self.tunnels.on_open = self._opened
        self.requests: list[Json] = []
        """The params of every request that came."""
        self.broken: Json | None = None
        """The next answer, whatever the tunnel says."""
        self._links: asyncio.Queue[FakeExtension] = asyncio.Queue()
        self._running: set[asyncio.Task[None]] = set()
        self._side: Side | None = None

    async def link(self) -> FakeExtension:
        """The link of the next session, greeted."""
        found = await asyncio.wait_for(self._links.get(), PATIENCE)
        found.greeting = (await found.next("sync.full"))["params"]
        return found

    def said(self) -> list[Json]:
        """Everything that the server has said in the sessions that are open."""
        sessions = self.tunnels.sessions.values()
        return [json.loads(text) for session in sessions for text in session.messages]

    def _opened(self, session: AnsweringEnd) -> None:
        socket = cast(ClientConnection, SessionSocket(session))
        link = FakeExtension(socket)
        self._run(link.run())
        self._links.put_nowait(link)

    def _run(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def serve(self) -> None:
        """Be connected to the proxy until the socket closes."""
        async with extension(self.proxy, profile=self.profile) as (side, _):
            self._side = side
            with suppress(ConnectionClosed):
                async for data in side.connection:
                    self._take(side, json.loads(data))
        self._left()

    def _left(self) -> None:
        for session in self.tunnels.sessions.values():
            session.left()

    async def disconnect(self) -> None:
        assert self._side is not None
        await self._side.connection.close()

    def _take(self, side: Side, message: Json) -> None:
        if message.get("method") == METHOD:
            connection, id = message["id"].split(":")[0], message["id"]
            self.requests.append(message["params"])
            self.tunnels.take(
                connection,
                message["params"],
                lambda said: self._run(self._answer(side, id, said)),
            )

    async def _answer(self, side: Side, id: str, said: TunnelAnswer | TabhubError) -> None:
        answer: Json = {"jsonrpc": "2.0", "id": id}
        if self.broken is not None:
            answer, self.broken = {**answer, **self.broken}, None
        elif isinstance(said, TabhubError):
            answer["error"] = said.to_jsonrpc()
        else:
            answer["result"] = msgspec.to_builtins(said)
        with suppress(ConnectionClosed):
            await side.send(answer)

    async def keep_time(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.tunnels.tick()

    def end_all(self) -> None:
        for task in self._running:
            task.cancel()


@asynccontextmanager
async def tunnelled(proxy: ServedProxy, profile: str = "far") -> AsyncIterator[TunnelledExtension]:
    """An extension that connects again whenever its socket has closed."""
    found = TunnelledExtension(proxy, profile)

    async def stay() -> None:
        while True:
            with suppress(OSError, ConnectionClosed):
                await found.serve()
            await asyncio.sleep(TICK_SECONDS)

    tasks = [asyncio.create_task(stay()), asyncio.create_task(found.keep_time())]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        found.end_all()
