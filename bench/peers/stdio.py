"""A small MCP client over a process's standard input and output."""

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

Json = dict[str, Any]
LONGEST_LINE = 64 * 1024 * 1024
STOP_SECONDS = 10
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class StdioServer:
    """A server in a process, with one request at a time."""

    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout
        self._in, self._out = process.stdin, process.stdout
        self._ids = count(1)

    async def call(self, tool: str, /, **arguments: Any) -> Json:
        """Call a tool and return its result; a failure raises an error."""
        _, answer = await self.request("tools/call", {"name": tool, "arguments": arguments})
        result: Json = answer.get("result", {"isError": True})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {answer}")
        return result

    async def text(self, tool: str, /, **arguments: Any) -> str:
        blocks = (await self.call(tool, **arguments))["content"]
        return "\n".join(block.get("text", "") for block in blocks)

    async def request(self, method: str, params: Json) -> tuple[bytes, Json]:
        """The response, as bytes and decoded."""
        id = next(self._ids)
        await self._send({"id": id, "method": method, "params": params})
        while line := await self._out.readline():
            answer: Json = json.loads(line)
            if answer.get("id") == id and "method" not in answer:
                return line, answer
        raise RuntimeError("The server has closed its output.")

    async def initialize(self) -> None:
        await self.request("initialize", INITIALIZE)
        await self._send({"method": "notifications/initialized"})

    async def _send(self, message: Json) -> None:
        self._in.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._in.drain()


@asynccontextmanager
async def serving(command: Sequence[str], folder: str) -> AsyncIterator[StdioServer]:
    """Run a server while the context lasts."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_LINE, cwd=folder
    )
    try:
        server = StdioServer(process)
        await server.initialize()
        yield server
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    """Close its stdin, so that it closes its browser and exits; terminate it if it does not."""
    assert process.stdin
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.terminate()
        await process.wait()
