"""Clients that send slowly, send nothing or do not read: each is cut off, and no other waits."""

import asyncio
import json
import socket
from contextlib import suppress

import pytest

from tabhub.agents.http import connections
from tests.agents.mcp.clients import connect
from tests.agents.mcp.sse_clients import streaming
from tests.support.eventually import PATIENCE, eventually
from tests.support.serving import SECRET, client, served


def _head(path: str, more: str = "") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n"
        f"Content-Type: application/json\r\nContent-Length: 100\r\n{more}\r\n"
    ).encode()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """The response on a connection that the server closes afterwards or resets while we send."""
    received = b""
    with suppress(ConnectionResetError):
        while more := await asyncio.wait_for(reader.read(65536), PATIENCE):
            received += more
    head, _, content = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return int(status.split()[1]), dict(line.split(": ") for line in lines), content


@pytest.mark.parametrize("begin", [b"", b'{"jsonrpc"'])
async def test_a_body_that_never_arrives_times_out(
    monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.1)
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        for path in ("/plugin-settings", agent.endpoint, "/mcp"):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(_head(path) + begin)
            status, headers, content = await _answer(reader)
            writer.close()
            assert (status, headers["connection"]) == (408, "close"), path
            error = json.loads(content)["error"]
            fields = error.get("data", error)
            assert (fields["reason"], fields["retryable"]) == ("body_timeout", True)
        assert (await agent.request("ping"))["result"] == {}


async def test_a_slow_body_gets_no_extra_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.1)
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_head("/mcp"))
        answer = asyncio.create_task(_answer(reader))
        while not answer.done():
            writer.write(b" ")
            await asyncio.sleep(0.01)
        assert (await answer)[0] == 408
        writer.close()


async def test_a_client_that_disconnects_while_sending_leaves_nothing_behind() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_head(agent.endpoint) + b'{"jsonrpc":')
        await writer.drain()
        writer.close()
        assert (await agent.request("ping"))["result"] == {}


async def test_bytes_that_are_not_http_get_our_error() -> None:
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        status, headers, content = await _answer(reader)
        writer.close()
    assert (status, headers["content-type"]) == (400, "application/json")
    assert json.loads(content)["error"]["reason"] == "invalid_request"


async def test_a_client_that_stops_reading_is_cut_off_and_its_session_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.2)
    async with served() as server, client(server.port) as http:
        stalled = socket.create_connection(("127.0.0.1", server.port))
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = f"GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n\r\n"
        stalled.sendall(request.encode())
        await eventually(lambda: len(server.app.sse.sessions) == 1)
        (session,) = server.app.sse.sessions.all()
        for _ in range(20):
            session.send(b'"' + b"x" * 1_000_000 + b'"')
        await eventually(lambda: not len(server.app.sse.sessions))
        stalled.close()
        assert (await (await connect(http)).request("ping")).json()["result"] == {}


async def test_the_memory_for_a_client_that_stops_reading_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.agents.mcp.sse.MOST_BYTES", 3_000_000)
    async with served() as server:
        stalled = socket.create_connection(("127.0.0.1", server.port))
        request = f"GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n\r\n"
        stalled.sendall(request.encode())
        await eventually(lambda: len(server.app.sse.sessions) == 1)
        (session,) = server.app.sse.sessions.all()
        for _ in range(100):
            session.send(b'"' + b"x" * 1_000_000 + b'"')
            await asyncio.sleep(0)
        assert len(server.app.sse.sessions) == 0
        assert session.outbox._bytes < 1000
        stalled.close()
