"""HTTP+SSE: posts, and one stream that carries all answers."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count

from tests.agents.mcp.sse_clients import SseClient, streaming
from tests.doors.door import Door, Entered, Entrance, Outcome, Place, Wish
from tests.doors.streamable import note, outcome, params


class SseDoor(Door):
    def __init__(self, client: SseClient) -> None:
        self._client = client
        self._ids = count(1000)
        self._last = 0

    async def tools(self) -> set[str]:
        listed = (await self._client.request("tools/list"))["result"]["tools"]
        return {tool["name"] for tool in listed}

    async def call(self, wish: Wish) -> Outcome:
        self._last = next(self._ids)
        answer = await self._client.request("tools/call", params(wish), self._last)
        note(wish, self._client.others)
        return outcome(answer)

    async def take_back(self, calling: "asyncio.Task[Outcome]") -> None:
        await self._client.notify("notifications/cancelled", {"requestId": self._last})
        await super().take_back(calling)


class Sse(Entrance):
    name = "HTTP+SSE"

    @asynccontextmanager
    async def enter(self, place: Place) -> Entered:
        async with place.http() as http, streaming(http, "/sse?toolsets=all") as client:
            await client.initialize()
            yield SseDoor(client)
