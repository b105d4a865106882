"""A small MCP agent of the sessionless era: one POST a call."""

from itertools import count
from typing import Any

import httpx

PREFIX = "io.modelcontextprotocol/"
_ids = count(1)


class ToolFailed(AssertionError):
    """A call ended in an error; `error` is its data."""

    def __init__(self, message: str, error: dict[str, Any]) -> None:
        super().__init__(f"{message} {error}")
        self.message = message
        self.error = error
        self.reason: str = error["reason"]


class Agent:
    """Calls tools and returns their structured content."""

    def __init__(self, http: httpx.AsyncClient, path: str = "/mcp") -> None:
        self.http = http
        self._path = path

    async def post(self, method: str, params: dict[str, Any] | None = None) -> httpx.Response:
        given = params or {}
        meta = {
            PREFIX + "protocolVersion": "2026-07-28",
            PREFIX + "clientCapabilities": {},
            **given.get("_meta", {}),
        }
        body = {
            "jsonrpc": "2.0",
            "id": next(_ids),
            "method": method,
            "params": {**given, "_meta": meta},
        }
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if name := given.get("name") or given.get("uri"):
            headers["Mcp-Name"] = name
        headers["Accept"] = "application/json, text/event-stream"
        return await self.http.post(self._path, json=body, headers=headers)

    async def result(
        self, tool: str, /, _meta: dict[str, Any] | None = None, **arguments: Any
    ) -> dict[str, Any]:
        """The whole result of a call, whether it failed or not."""
        params = {"name": tool, "arguments": arguments, "_meta": _meta or {}}
        answer = (await self.post("tools/call", params)).json()
        assert "result" in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must succeed."""
        result = await self.result(tool, **arguments)
        structured: dict[str, Any] = result["structuredContent"]
        if result.get("isError"):
            raise ToolFailed(result["content"][0]["text"], structured["error"])
        return structured

    async def text(self, tool: str, /, **arguments: Any) -> str:
        """The readable text of a call that must succeed."""
        result = await self.result(tool, **arguments)
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise ToolFailed(text, result["structuredContent"]["error"])
        return text
