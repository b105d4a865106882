"""The runner itself, without any transport: what the doors are compared with."""

from contextlib import asynccontextmanager

import msgspec

from tabhub.calls.call import Call
from tabhub.calls.results import failed
from tabhub.config.clients import MAIN
from tabhub.errors import TabhubError
from tests.interfaces.interface import (
    CallRequest,
    Door,
    Entered,
    Entrance,
    Outcome,
    Place,
    of_result,
)


class Within(Door):
    def __init__(self, place: Place) -> None:
        assert place.app is not None
        self._app = place.app

    async def tools(self) -> set[str]:
        return {tool.name for tool in self._app.hub.tools}

    async def call(self, request: CallRequest) -> Outcome:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            if request.heard is not None:
                request.heard.append({"progress": done, "total": total, "message": message})

        call = Call(
            name=request.tool,
            raw=msgspec.Raw(msgspec.json.encode(request.arguments)),
            session="within",
            progress=progress,
            client=MAIN,
            operation_id=request.operation_id,
        )
        try:
            result = await self._app.runner.run(call)
        except TabhubError as error:
            result = failed(error)
        return of_result(msgspec.to_builtins(result))


class Memory(Entrance):
    name = "in memory"
    within = True

    @asynccontextmanager
    async def enter(self, place: Place) -> Entered:
        yield Within(place)
