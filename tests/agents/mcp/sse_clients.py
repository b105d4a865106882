"""A small client of HTTP+SSE: one stream, and messages by POST."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, NamedTuple

import httpx

from tests.agents.mcp.clients import Json, called
from tests.support.eventually import PATIENCE

JSON = {"content-type": "application/json"}


class SseEvent(NamedTuple):
    """One event as it was received."""

    kind: str
    data: str


class SseClient:
    """A client that reads its stream only on request."""

    def __init__(self, http: httpx.AsyncClient, response: httpx.Response) -> None:
        self.http = http
        self.response = response
        self.session = response.headers.get("x-session-id", "")
        self.endpoint = ""
        self.others: list[Json] = []
        """Messages that arrived while the client waited for an answer."""
        self._lines = response.aiter_lines()
        self._ids = count(1)

    async def next(self) -> SseEvent | None:
        """The next event; None when the stream has ended."""
        kind, data = "", []
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    data.append(value)
                elif not line:
                    assert len(data) == 1, "the data of an event is one line"
                    return SseEvent(kind, data[0])
        return None

    async def message(self) -> Json:
        """The next message, which must arrive before the stream ends."""
        while (event := await self.next()) is not None:
            if event.kind == "message":
                message: Json = json.loads(event.data)
                return message
        raise AssertionError("the stream ended")

    async def send(self, body: Any, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body)
        return await self.http.post(self.endpoint, content=content, headers={**JSON, **headers})

    async def request(self, method: str, params: Json | None = None, id: Any = None) -> Json:
        """The answer to a request."""
        number = next(self._ids) if id is None else id
        answer = await self.send(written(method, params, number))
        assert (answer.status_code, answer.json()) == (202, {"status": "accepted"}), answer.text
        return await self.answer(number)

    async def answer(self, id: Any) -> Json:
        while (message := await self.message()).get("id") != id or "method" in message:
            self.others.append(message)
        return message

    async def notify(self, method: str, params: Json | None = None) -> None:
        assert (await self.send(written(method, params))).status_code == 202

    async def call(self, tool: str, meta: Json | None = None, **arguments: Any) -> Json:
        return await self.request("tools/call", called(tool, meta, **arguments))

    async def initialize(self, version: str = "2024-11-05", **capabilities: Json) -> Json:
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        answer = await self.request("initialize", params)
        await self.notify("notifications/initialized")
        return answer


def written(method: str, params: Json | None = None, id: Any = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message if id is None else {**message, "id": id}


@asynccontextmanager
async def streaming(http: httpx.AsyncClient, path: str = "/sse") -> AsyncIterator[SseClient]:
    """A client that knows the address for its messages."""
    async with http.stream("GET", path, headers={"accept": "text/event-stream"}) as response:
        client = SseClient(http, response)
        if response.status_code == 200:
            event = await client.next()
            assert event is not None and event.kind == "endpoint"
            client.endpoint = event.data
        yield client
