"""The command line: one process for each call."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager

from tests.interfaces.interface import (
    CallRequest,
    Connected,
    Interface,
    InterfaceClient,
    Outcome,
    Place,
)
from tests.interfaces.rest import outcome


class CommandClient(InterfaceClient):
    reports_progress = False

    def __init__(self, place: Place) -> None:
        kept = {name: value for name, value in os.environ.items() if name != "PORT"}
        self._environment = {
            **kept,
            "TABHUB_HOME": str(place.home),
            "TABHUB_PORT": str(place.port),
            "TABHUB_TOKEN": place.token,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def tools(self) -> set[str]:
        _, output = await self._run("list")
        return {tool["name"] for tool in json.loads(output)["tools"]}

    async def call(self, request: CallRequest) -> Outcome:
        flags = [f"--operation-id={request.operation_id}"] if request.operation_id else []
        code, output = await self._run("call", request.tool, json.dumps(request.arguments), *flags)
        result = outcome(json.loads(output))
        assert code == (0 if result.error is None else 1)
        return result

    async def cancel(self, calling: "asyncio.Task[Outcome]") -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        await self._process.wait()
        await asyncio.wait({calling})

    async def _run(self, *arguments: str) -> tuple[int, bytes]:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tabhub", "tool", *arguments),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        output, _ = await self._process.communicate()
        return self._process.returncode or 0, output


class Command(Interface):
    name = "command line"

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        yield CommandClient(place)
