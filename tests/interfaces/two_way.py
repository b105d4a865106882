"""MCP over one connection in both directions: HTTP+SSE, and the two pipes of the bridge."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Protocol

from tabhub.config.paths import Home
from tests.agents.mcp.sse_clients import streaming
from tests.cli.stdio.pipe import alone, bridged
from tests.interfaces.interface import (
    CallRequest,
    Connected,
    Interface,
    InterfaceClient,
    Json,
    Outcome,
    Place,
)
from tests.interfaces.streamable import collect_progress, outcome, params

Wrap = Callable[[Json], Json]
"""Adds the members that a revision requires to the parameters of each request."""


class Line(Protocol):
    """A client that has sent `initialize`."""

    async def request(self, method: str, params: Json | None = None, id: Any = None) -> Json: ...

    async def notify(self, method: str, params: Json | None = None) -> None: ...


NEWEST = "2026-07-28"


class TwoWayClient(InterfaceClient):
    def __init__(self, line: Line, others: list[Json], wrap: Wrap = dict) -> None:
        self._line = line
        self._wrap = wrap
        self._others = others
        """Messages that the line received while it waited for an answer."""
        self._ids = count(1000)
        self._last = 0

    async def tools(self) -> set[str]:
        listed = (await self._line.request("tools/list", self._wrap({})))["result"]["tools"]
        return {tool["name"] for tool in listed}

    async def call(self, request: CallRequest) -> Outcome:
        self._last = next(self._ids)
        answer = await self._line.request("tools/call", self._wrap(params(request)), self._last)
        collect_progress(request, self._others)
        return outcome(answer)

    async def cancel(self, calling: "asyncio.Task[Outcome]") -> None:
        await self._line.notify("notifications/cancelled", {"requestId": self._last})
        await super().cancel(calling)


class Sse(Interface):
    name = "HTTP+SSE"

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        async with place.http() as http, streaming(http, "/sse?toolsets=all") as client:
            await client.initialize()
            yield TwoWayClient(client, client.others)


class Stdio(Interface):
    """A revision over stdio."""

    def __init__(self, version: str) -> None:
        self._version = version
        self.name = f"stdio {version}"

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        environment = {"TABHUB_PORT": str(place.port), "TABHUB_TOKEN": place.token}
        is_alone = self._version == NEWEST
        async with bridged(Home(place.home), "--toolsets", "all", environment=environment) as pipe:
            if not is_alone:
                await pipe.initialize(self._version)
            yield TwoWayClient(pipe, pipe.unread, alone if is_alone else dict)
            assert await pipe.close() == 0
