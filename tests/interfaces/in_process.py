"""The runner itself, without any transport: the interfaces are compared with it."""

from contextlib import asynccontextmanager

import msgspec

from tabhub.calls.call import Call
from tabhub.calls.results import failed
from tabhub.config.clients import MAIN
from tabhub.errors import TabhubError
from tests.interfaces.interface import (
    CallRequest,
    Connected,
    Interface,
    InterfaceClient,
    Outcome,
    Place,
    of_result,
)


class InProcessClient(InterfaceClient):
    def __init__(self, place: Place) -> None:
        assert place.app is not None
        self._app = place.app

    async def tools(self) -> set[str]:
        return {tool.name for tool in self._app.hub.tools}

    async def call(self, request: CallRequest) -> Outcome:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            if request.progress is not None:
                request.progress.append({"progress": done, "total": total, "message": message})

        call = Call(
            name=request.tool,
            raw=msgspec.Raw(msgspec.json.encode(request.arguments)),
            session="in-process",
            progress=progress,
            client=MAIN,
            operation_id=request.operation_id,
        )
        try:
            result = await self._app.runner.run(call)
        except TabhubError as error:
            result = failed(error)
        return of_result(msgspec.to_builtins(result))


class InProcess(Interface):
    name = "in process"
    needs_app = True

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        yield InProcessClient(place)
