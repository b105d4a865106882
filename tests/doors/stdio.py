"""stdio: a bridge in a process of its own, with one message a line, in both eras."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count

from tabhub.config.home import Home
from tests.doors.door import Door, Entered, Entrance, Json, Outcome, Place, Wish
from tests.doors.streamable import note, outcome, params
from tests.stdio.pipe import Pipe, alone, bridged


class PipeDoor(Door):
    def __init__(self, pipe: Pipe, era: str) -> None:
        self._pipe = pipe
        self._is_alone = era == NEWEST
        self._ids = count(1000)
        self._last = 0

    async def tools(self) -> set[str]:
        listed = await self._pipe.request("tools/list", self._params({}))
        return {tool["name"] for tool in listed["result"]["tools"]}

    async def call(self, wish: Wish) -> Outcome:
        self._last = next(self._ids)
        answer = await self._pipe.request("tools/call", self._params(params(wish)), self._last)
        note(wish, self._pipe.heard)
        return outcome(answer)

    async def take_back(self, calling: "asyncio.Task[Outcome]") -> None:
        await self._pipe.notify("notifications/cancelled", {"requestId": self._last})
        await super().take_back(calling)

    def _params(self, given: Json) -> Json:
        return alone(given) if self._is_alone else given


NEWEST = "2026-07-28"


class Stdio(Entrance):
    """A revision over stdio."""

    def __init__(self, version: str) -> None:
        self._version = version
        self.name = f"stdio {version}"

    @asynccontextmanager
    async def enter(self, place: Place) -> Entered:
        shown = {"TABHUB_PORT": str(place.port), "TABHUB_TOKEN": place.token}
        async with bridged(Home(place.home), "--toolsets", "all", environment=shown) as pipe:
            if self._version != NEWEST:
                await pipe.initialize(self._version)
            yield PipeDoor(pipe, self._version)
            assert await pipe.close() == 0
