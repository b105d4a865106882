"""Small requests that cause much work: each is bounded, and no other client waits for it."""

import asyncio
from itertools import repeat

import httpx
import pytest

from tabhub.agents.http import connections
from tests.support.eventually import PATIENCE
from tests.support.serving import client, served

HELLO = {
    "protocolVersion": "2025-03-26",
    "capabilities": {},
    "clientInfo": {"name": "greedy", "version": "1"},
}
LONG = ("screenshot tab read page " * 40_000, "aB" * 100_000, "a_" * 100_000, "x" * 1_000_000)


async def session_of(http: httpx.AsyncClient) -> dict[str, str]:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    return {"mcp-session-id": (await http.post("/mcp", json=hello)).headers["mcp-session-id"]}


@pytest.mark.parametrize("name", LONG, ids=("words", "humps", "parts", "one word"))
async def test_an_impossible_name_is_neither_compared_nor_repeated(name: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    async with served() as server, client(server.port) as http:
        search = {"query": name, "names": [name[:1000]] * 5}
        for arguments in (search, {"query": name}):
            answer = await http.post(
                "/mcp/gateway",
                json={
                    **message,
                    "params": {
                        "name": "tabhub_list_tools",
                        "arguments": arguments,
                        "_meta": envelope,
                    },
                },
                headers={
                    "MCP-Protocol-Version": "2026-07-28",
                    "Mcp-Method": "tools/call",
                    "Mcp-Name": "tabhub_list_tools",
                },
            )
            assert answer.status_code == 200
            assert len(answer.content) < 100_000
        called = await http.post(f"/tools/{name[:30_000]}/call", json={})
        assert called.status_code == 404
        assert len(called.content) < 1000


async def test_the_size_of_a_batch_is_limited() -> None:
    async with served() as server, client(server.port) as http:
        session = await session_of(http)
        ping = {"jsonrpc": "2.0", "method": "ping"}
        few = [{**ping, "id": number} for number in range(50)]
        assert (await http.post("/mcp", json=few, headers=session)).status_code == 200
        many = [{**ping, "id": number} for number in range(51)]
        refused = await http.post("/mcp", json=many, headers=session)
        assert refused.status_code == 400
        assert refused.json()["error"]["data"]["reason"] == "invalid_request"


async def test_the_number_of_subscriptions_is_limited() -> None:
    async with served() as server, client(server.port) as http:
        session = await session_of(http)

        async def subscribe(uri: str) -> httpx.Response:
            params = {"uri": uri}
            message = {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params}
            return await http.post("/mcp", json=message, headers=session)

        assert "error" in (await subscribe("tab://" + "9" * 2000)).json()
        for number in range(1000):
            assert "result" in (await subscribe(f"tab://{number}")).json()
        assert (await subscribe("tab://1000")).json()["error"]["code"] == -32602


async def test_bytes_after_a_body_are_dropped_and_bounded() -> None:
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = (
            b"POST /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        )
        writer.write(head)
        line = b"x-more: " + b"a" * 1000 + b"\r\n"
        sent = 0
        with pytest.raises(ConnectionError):
            for piece in repeat(line * 50, 10_000):
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
                if reader.at_eof():
                    raise ConnectionResetError
        assert sent < 100 * connections.MAX_HEAD_BYTES
        async with client(server.port) as http:
            assert (await http.get("/health")).status_code == 200


async def test_a_trailer_does_not_count_as_a_header() -> None:
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /tools HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n"
            b"0\r\norigin: http://evil.example\r\n\r\n"
        )
        assert b" 401 " in await reader.readline()
        writer.close()


async def test_many_requests_in_one_piece_are_all_answered() -> None:
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        request = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        number = 4000

        async def send() -> None:
            writer.write(request * number)
            await writer.drain()

        sending = asyncio.create_task(send())
        received = b""
        async with asyncio.timeout(PATIENCE):
            while received.count(b"HTTP/1.1 200 OK") < number:
                piece = await reader.read(1 << 16)
                assert piece, "the server closed the connection"
                received += piece
        await sending
        writer.close()
