"""The bridge: reads the client's lines and relays each message to the server."""

import asyncio
import logging
import sys
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from tabhub.cli.stdio.exchange import HeaderMarks, PostExchange, Presence, Subscription, presence
from tabhub.cli.stdio.home_server import HomeServer
from tabhub.cli.stdio.message import LISTEN, Message
from tabhub.cli.stdio.pipes import Lines, Output, TooLong, take_over
from tabhub.cli.stdio.stdio_session import StdioSession
from tabhub.config import settings
from tabhub.config.paths import Home
from tabhub.config.settings import choose_toolsets
from tabhub.errors import ProtocolError, Unavailable
from tabhub.system.signals import on_stop
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import versions

DRAIN_SECONDS = 10.0
"""How long running requests may take after stdin has closed."""
MOST_REQUESTS = 500
CANCEL_AGAIN_SECONDS = 0.2
FLUSH_SECONDS = 2.0


class RelayedRequest(NamedTuple):
    exchange: PostExchange
    task: "asyncio.Task[None]"


class Bridge:
    """Relays between one client and the server."""

    def __init__(self, server: HomeServer, lines: Lines, output: Output) -> None:
        self._server = server
        self._lines = lines
        self._output = output
        self._session: StdioSession | None = None
        self._presence: Presence | None = None
        self._marks = HeaderMarks()
        self._running: dict[jsonrpc.Id, RelayedRequest] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Relay until stdin closes, then wait a while for the answers to running requests."""
        while (line := await self._lines.next()) is not None:
            await self._handle(line)
        running = self._running.values()
        calls = {one.task for one in running if not isinstance(one.exchange, Subscription)}
        if calls:
            await asyncio.wait(calls, timeout=DRAIN_SECONDS)

    async def end(self) -> None:
        """Cancel all tasks, end the session and close the connections."""
        for task in self._tasks:
            task.cancel()
        if self._session is not None:
            await self._session.end()
        self._server.close()

    async def _handle(self, line: bytes) -> None:
        try:
            if isinstance(line, TooLong):
                raise ProtocolError("The message is too long.", "too_large")
            message = Message(line)
        except ProtocolError as error:
            await self._output.write(jsonrpc.failure(jsonrpc.id_of(line), error))
            return
        if message.cancels is not None:
            await self._cancel(message, message.cancels)
        elif message.method == "initialize" and message.requests:
            await self._initialize(message)
        elif message.requests:
            await self._request(message)
        else:
            # Notifications are sent in order, and before the requests that follow.
            await self._exchange(message).run()

    async def _initialize(self, message: Message) -> None:
        """Awaited, because the messages that follow need the session."""
        if self._session is not None:
            await self._session.end()
        self._session = StdioSession(self._server, self._output, message.raw)
        await self._exchange(message).run()

    async def _request(self, message: Message) -> None:
        if len(self._running) >= MOST_REQUESTS:
            error = Unavailable("Too many requests at once; wait for answers.", "too_many_calls")
            for id in message.ids:
                await self._output.write(jsonrpc.failure(id, error))
            return
        if message.is_sessionless and self._presence is None:
            self._start_presence(message)
        elif self._session is not None:
            for request in message.requests:
                self._session.remember(request)
        self._begin(self._exchange(message))

    def _exchange(self, message: Message) -> PostExchange:
        if message.method == LISTEN and message.is_sessionless:
            return Subscription(self._server, self._output, message)
        return PostExchange(self._server, self._output, message, self._session, self._marks)

    def _begin(self, exchange: PostExchange) -> None:
        task = self._spawn(exchange.run())
        running = RelayedRequest(exchange, task)
        for id in exchange.message.ids:
            self._running[id] = running
        task.add_done_callback(lambda _: self._forget(running))

    def _forget(self, running: RelayedRequest) -> None:
        for id in running.exchange.message.ids:
            if self._running.get(id) is running:
                del self._running[id]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_presence(self, message: Message) -> None:
        if message.version in versions.SESSIONLESS:
            self._presence = presence(self._server, self._output, message.version)
            self._spawn(self._presence.run())

    async def _cancel(self, message: Message, id: jsonrpc.Id) -> None:
        """Without a session, or before the request was sent, closing the connection cancels it."""
        running = self._running.get(id)
        if running is None:
            return
        if running.exchange.message.is_sessionless or not running.exchange.sent.is_set():
            running.task.cancel()
            return
        await self._exchange(message).run()
        self._spawn(self._cancel_again(message, running.task))

    async def _cancel_again(self, message: Message, task: "asyncio.Task[None]") -> None:
        """The cancellation may have overtaken the request, which uses another connection."""
        await asyncio.wait({task}, timeout=CANCEL_AGAIN_SECONDS)
        if not task.done():
            await self._exchange(message).run()


def run(*, gateway: bool, toolsets: str | None, starter: Sequence[str]) -> None:
    """Relay until stdin or stdout is closed, or a signal comes."""
    home = Home.from_environment().create()
    longest = settings.load(home).limits.body_bytes
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="tabhub: %(message)s")
    path = "/mcp/gateway" if gateway else "/mcp"
    if toolsets is not None:
        choose_toolsets(toolsets.split(","))
        path += f"?toolsets={quote(toolsets, safe=',')}"
    asyncio.run(_relay(HomeServer(home, path, starter), longest))


async def _relay(server: HomeServer, longest: int) -> None:
    stopping = asyncio.Event()
    source, target = take_over()
    lines, output = Lines(source, longest), Output(target, stopping.set)
    on_stop(stopping.set)
    bridge = Bridge(server, lines, output)
    lines.start()
    working, stopped = asyncio.create_task(bridge.run()), asyncio.create_task(stopping.wait())
    await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (working, stopped):
        task.cancel()
    await bridge.end()
    await output.flush(FLUSH_SECONDS)
    if working.done() and not working.cancelled():
        working.result()
