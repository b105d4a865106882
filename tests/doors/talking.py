"""MCP over a line that carries everything both ways: HTTP+SSE, and the bridge's two pipes."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Protocol

from tabhub.config.home import Home
from tests.agents.mcp.sse_clients import streaming
from tests.doors.door import Door, Entered, Entrance, Json, Outcome, Place, Wish
from tests.doors.streamable import note, outcome, params
from tests.stdio.pipe import bridged


class Line(Protocol):
    """A client that has said hello."""

    async def request(self, method: str, params: Json | None = None, id: Any = None) -> Json: ...

    async def notify(self, method: str, params: Json | None = None) -> None: ...


class TalkingDoor(Door):
    def __init__(self, line: Line, others: list[Json]) -> None:
        self._line = line
        self._others = others
        """Where the line puts what came while it waited for an answer."""
        self._ids = count(1000)
        self._last = 0

    async def tools(self) -> set[str]:
        listed = (await self._line.request("tools/list"))["result"]["tools"]
        return {tool["name"] for tool in listed}

    async def call(self, wish: Wish) -> Outcome:
        self._last = next(self._ids)
        answer = await self._line.request("tools/call", params(wish), self._last)
        note(wish, self._others)
        return outcome(answer)

    async def take_back(self, calling: "asyncio.Task[Outcome]") -> None:
        await self._line.notify("notifications/cancelled", {"requestId": self._last})
        await super().take_back(calling)


class Sse(Entrance):
    name = "HTTP+SSE"

    @asynccontextmanager
    async def enter(self, place: Place) -> Entered:
        async with place.http() as http, streaming(http, "/sse?toolsets=all") as client:
            await client.initialize()
            yield TalkingDoor(client, client.others)


class Stdio(Entrance):
    name = "stdio"

    @asynccontextmanager
    async def enter(self, place: Place) -> Entered:
        async with bridged(
            Home(place.home),
            "--toolsets=all",
            TABHUB_PORT=str(place.port),
            TABHUB_TOKEN=place.token,
        ) as pipe:
            await pipe.initialize()
            yield TalkingDoor(pipe, pipe.heard)
            assert await pipe.close() == 0
