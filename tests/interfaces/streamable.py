"""MCP over Streamable HTTP: `/mcp` and the gateway, in both eras."""

import asyncio
import json
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx

from tests.agents.mcp.clients import Client, LoneClient, connect, messages
from tests.interfaces.interface import (
    CallRequest,
    Connected,
    Interface,
    InterfaceClient,
    Json,
    Outcome,
    Place,
    of_error,
    of_result,
)

GATEWAY = "/mcp/gateway"
_ids = count(1000)


def outcome(answer: Json) -> Outcome:
    """The outcome of a JSON-RPC response."""
    if "error" in answer:
        error = answer["error"]
        return of_error(error["code"], error["message"], error["data"])
    return of_result(answer["result"])


def params(request: CallRequest) -> Json:
    """The parameters of `tools/call`."""
    meta: Json = (
        {} if request.operation_id is None else {"tabhub/operationId": request.operation_id}
    )
    if request.progress is not None:
        meta["progressToken"] = "wanted"
    return {"name": request.tool, "arguments": request.arguments, "_meta": meta}


def collect_progress(request: CallRequest, received: list[Json]) -> None:
    """Add the progress notifications among the messages to the request."""
    for message in received:
        if message.get("method") == "notifications/progress" and request.progress is not None:
            progress = dict(message["params"])
            assert progress.pop("progressToken") == "wanted"
            request.progress.append(progress)


class McpClient(InterfaceClient):
    """A client that gets its response on the same POST."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> set[str]:
        answer = await self._client.request("tools/list")
        return {tool["name"] for tool in answer.json()["result"]["tools"]}

    def params(self, request: CallRequest) -> Json:
        return params(request)

    async def call(self, request: CallRequest, id: Any = None) -> Outcome:
        streaming = self._client.streaming("tools/call", self.params(request), id)
        async with streaming as response:
            received = await _received(response)
        collect_progress(request, received)
        return outcome(received[-1])


async def _received(response: httpx.Response) -> list[Json]:
    if response.headers["content-type"] == "application/json":
        return [json.loads(await response.aread())]
    return await messages(response)


class SessionClient(McpClient):
    """Cancels a call by a notification: disconnecting does not cancel it."""

    _last: Any = None

    async def call(self, request: CallRequest, id: Any = None) -> Outcome:
        self._last = next(_ids)
        return await super().call(request, self._last)

    async def cancel(self, calling: "asyncio.Task[Outcome]") -> None:
        await self._client.notify("notifications/cancelled", {"requestId": self._last})
        assert (await calling).brief["reason"] == "cancelled"


class GatewayClient(McpClient):
    """The same with the gateway's two tools."""

    def params(self, request: CallRequest) -> Json:
        inner = {"name": request.tool, "arguments": request.arguments}
        return {**params(request), "name": "tabhub_call", "arguments": inner}

    async def tools(self) -> set[str]:
        names: set[str] = set()
        more: Json = {}
        while True:
            answer = await self._client.call("tabhub_list_tools", **more)
            page = answer.json()["result"]["structuredContent"]
            names |= {tool["name"] for tool in page["tools"]}
            if "nextCursor" not in page:
                return names
            more = {"cursor": page["nextCursor"]}


class GatewaySessionClient(GatewayClient, SessionClient):
    """The gateway in a session."""


class Handshake(Interface):
    """A revision with sessions."""

    def __init__(self, version: str, kind: type[SessionClient], path: str, name: str) -> None:
        self._version = version
        self._kind = kind
        self._path = path
        self.name = f"{name} {version}"

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        async with place.http() as http:
            client = await connect(http, self._version, path=self._path)
            yield self._kind(client)
            await client.end()


class Sessionless(Interface):
    """The revision without sessions."""

    def __init__(self, kind: type[McpClient], path: str, name: str) -> None:
        self._kind = kind
        self._path = path
        self.name = f"{name} 2026-07-28"

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        async with place.http() as http:
            yield self._kind(LoneClient(http, path=self._path))
