"""Connections to the public port that never become WebSockets."""

import asyncio
from contextlib import suppress

import pytest

from tests.proxy.served import ServedProxy, client, served
from tests.support.eventually import PATIENCE, eventually

pytestmark = pytest.mark.requirement("PX-06")
UNFINISHED = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n"
NO_BODY = (
    b"POST /pair HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n"
)
SECONDS = "tabhub.proxy.http_connections.AUTHENTICATION_SECONDS"
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def begun(proxy: ServedProxy, data: bytes = UNFINISHED) -> Stream:
    """A connection that has sent something."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(data)
    return reader, writer


async def rest(stream: Stream) -> bytes:
    """What comes until the node closes the connection."""
    reader, writer = stream
    found = b""
    with suppress(ConnectionResetError):
        while data := await asyncio.wait_for(reader.read(65536), PATIENCE):
            found += data
    writer.transport.abort()
    return found


@pytest.mark.parametrize(
    "data",
    [b"", UNFINISHED, NO_BODY],
    ids=["nothing", "half a header", "no body"],
)
async def test_a_request_that_never_ends_is_cut_off(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SECONDS, 0.05)
    async with served() as proxy:
        assert await rest(await begun(proxy, data)) == b""
        await eventually(lambda: len(proxy.server.http_counts) == 0)


async def test_one_address_has_only_so_many_connections_without_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SECONDS, 3600.0)
    async with served() as proxy:
        counts = proxy.server.http_counts
        waiting = [await begun(proxy) for _ in range(20)]
        await eventually(lambda: len(counts) == 20)
        assert await rest(await begun(proxy)) == b""
        for _, writer in waiting:
            writer.transport.abort()
        await eventually(lambda: len(counts) == 0)
        async with client(proxy) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
            assert len(counts) == 0, "a WebSocket is no longer one of them"


async def test_a_process_has_only_so_many_connections_without_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SECONDS, 3600.0)
    monkeypatch.setattr("tabhub.proxy.http_connections.MOST_STRANGERS", 1)
    async with served() as proxy:
        _, writer = await begun(proxy)
        await eventually(lambda: len(proxy.server.http_counts) == 1)
        assert await rest(await begun(proxy)) == b""
        writer.transport.abort()


async def test_an_upgrade_that_cannot_be_read_is_answered_and_closed() -> None:
    head = UNFINISHED + b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
    async with served() as proxy:
        long = head + b"X: " + b"x" * 10_000 + b"\r\n\r\n"
        assert (await rest(await begun(proxy, long))).startswith(b"HTTP/1.1 431")
