"""An MCP client with one connection and one session, which adds as little time as possible."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from bench.eras import Era, Session, Sessionless, common_headers
from bench.http_connection import HttpConnection

Json = dict[str, Any]


class Caller:
    """Calls tools of a running server."""

    def __init__(self, connection: HttpConnection, era: Era) -> None:
        self._connection = connection
        self._era = era

    @classmethod
    async def begin(cls, port: int, secret: str) -> "Caller":
        connection = await HttpConnection.open(port)
        return cls(connection, await Session.begin(connection, common_headers(secret)))

    @classmethod
    async def sessionless(cls, port: int, secret: str) -> "Caller":
        """Of the revision without sessions, whose answers have no messages before them."""
        return cls(await HttpConnection.open(port), Sessionless(common_headers(secret)))

    async def request(self, method: str, params: Json) -> bytes:
        return await self._connection.ask(self._era.request(method, params))

    async def call(self, tool: str, /, **arguments: Any) -> Json:
        """Call a tool and return its result; a failure raises an error."""
        body = await self.request("tools/call", {"name": tool, "arguments": arguments})
        answer = msgspec.json.decode(body)
        result: Json = answer.get("result", {"isError": True})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {answer}")
        return result

    async def open(self, url: str, **more: Any) -> int:
        """Open a tab and return its id."""
        result = await self.call("browser_open_tab", url=url, **more)
        tab: int = result["structuredContent"]["tabId"]
        return tab


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    begin = time.perf_counter()
    await work()
    return (time.perf_counter() - begin) * 1000
