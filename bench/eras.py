"""Requests of MCP with and without sessions, and of REST, as bytes."""

from itertools import count
from typing import Any, Protocol

import msgspec

from bench.http_connection import HttpConnection

Json = dict[str, Any]

PATH, GATEWAY = "/mcp", "/mcp/gateway"
CLIENT = {"name": "bench", "version": "1"}
HANDSHAKE, SESSIONLESS = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {
    PREFIX + "protocolVersion": SESSIONLESS,
    PREFIX + "clientInfo": CLIENT,
    PREFIX + "clientCapabilities": {},
}
_ids = count(1)


class Era(Protocol):
    """Encodes the requests of one client."""

    def request(self, method: str, params: Json) -> bytes: ...


class Session:
    """A client of a revision with a handshake, with its session."""

    def __init__(self, headers: Json, id: str, path: str = PATH) -> None:
        self._path = path
        self._headers = {**headers, "mcp-protocol-version": HANDSHAKE, "mcp-session-id": id}

    @classmethod
    async def begin(cls, connection: HttpConnection, headers: Json, path: str = PATH) -> "Session":
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
        await connection.ask(_encoded(path, headers, "initialize", params))
        id = connection.head.lower().partition(b"mcp-session-id: ")[2].partition(b"\r\n")[0]
        return cls(headers, id.decode(), path)

    def request(self, method: str, params: Json) -> bytes:
        return _encoded(self._path, self._headers, method, params)

    def stream(self) -> bytes:
        """The request for the session's stream of notifications, which does not end."""
        return f"GET {self._path} HTTP/1.1\r\n{_lines(self._headers)}\r\n".encode()


class Sessionless:
    """A client of the revision without sessions: every request is complete."""

    def __init__(self, headers: Json, path: str = PATH) -> None:
        self._path = path
        self._headers = {**headers, "mcp-protocol-version": SESSIONLESS}

    def request(self, method: str, params: Json) -> bytes:
        headers = {**self._headers, "mcp-method": method}
        if "name" in params:
            headers["mcp-name"] = params["name"]
        return _encoded(self._path, headers, method, {**params, "_meta": ENVELOPE})


class Rest:
    """A client that calls tools by REST, without MCP."""

    def __init__(self, headers: Json) -> None:
        self._headers = headers

    def request(self, method: str, params: Json) -> bytes:
        body = msgspec.json.encode({"arguments": params["arguments"]})
        return posted(f"/tools/{params['name']}/call", self._headers, body)


def common_headers(secret: str) -> Json:
    return {
        "host": "127.0.0.1",
        "authorization": f"Bearer {secret}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }


def _encoded(path: str, headers: Json, method: str, params: Json) -> bytes:
    message = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params}
    return posted(path, headers, msgspec.json.encode(message))


def posted(path: str, headers: Json, body: bytes) -> bytes:
    start = f"POST {path} HTTP/1.1\r\n{_lines(headers)}content-length: {len(body)}\r\n\r\n"
    return start.encode() + body


def _lines(headers: Json) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())
