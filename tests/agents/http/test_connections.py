"""More connections than a server holds: anonymous ones make room, no client takes all of them."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tabhub.agents.http import connections as limits
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.server.serving import Server
from tests.support.browsers.extension import connected
from tests.support.eventually import PATIENCE, eventually
from tests.support.serving import SECRET, client, served

Connection = tuple[StreamReader, StreamWriter]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the connection limits so that a test can reach them."""
    monkeypatch.setattr(limits, "MOST_ANONYMOUS", 20)
    monkeypatch.setattr(limits, "MOST_KNOWN", 12)
    monkeypatch.setattr(limits, "MOST_OF_ONE", 8)
    monkeypatch.setattr(limits, "RESERVED", 4)


def request(path: str, token: str | None = None) -> bytes:
    authorization = "" if token is None else f"Authorization: Bearer {token}\r\n"
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization}\r\n".encode()


@asynccontextmanager
async def held(
    server: Server, count: int, first_bytes: bytes = b""
) -> AsyncIterator[list[Connection]]:
    """Open `count` connections, send `first_bytes` on each, and keep them open."""
    connections = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(first_bytes)
        connections.append((reader, writer))
    try:
        yield connections
    finally:
        for _, writer in connections:
            writer.close()


async def status(connection: Connection) -> int:
    line = await asyncio.wait_for(connection[0].readline(), PATIENCE)
    return int(line.split()[1])


async def statuses(connections: list[Connection]) -> list[int]:
    return [await status(connection) for connection in connections]


@pytest.mark.parametrize(
    "first_bytes", [b"", b"GET /hea", request("/health"), request("/tools", "wrong")]
)
async def test_connections_without_a_token_do_not_block_clients_with_one(
    home: Home, first_bytes: bytes
) -> None:
    token = Clients(home).add("ann")
    async with served(home=home) as server, client(server.port, token) as ann:
        assert (await ann.get("/tools/shortcuts_list")).status_code == 200
        async with held(server, 60, first_bytes) as strangers:
            for credential in (token, SECRET, None):
                async with client(server.port, credential) as late:
                    assert (await late.get("/health")).status_code == 200
            async with connected(server.port):
                pass
            # The oldest anonymous connection is closed; the client with a token keeps its own.
            await asyncio.wait_for(strangers[0][0].read(), PATIENCE)
            assert (await ann.get("/health")).status_code == 200


async def test_one_client_does_not_take_all_connections(home: Home) -> None:
    greedy, other = Clients(home).add("greedy"), Clients(home).add("other")
    async with served(home=home) as server:
        async with held(server, 9, request("/tools/shortcuts_list", greedy)) as connections:
            assert await statuses(connections) == [200] * 8 + [503]
            async with client(server.port, greedy) as late:
                error = (await late.get("/health")).json()["error"]
                assert (error["reason"], error["retryable"]) == ("server_unavailable", True)
            async with client(server.port, other) as http:
                assert (await http.get("/health")).status_code == 200
        async with client(server.port, greedy) as http_again:
            await _until_accepted(http_again)


async def test_the_last_connections_are_reserved_for_the_person(home: Home) -> None:
    tokens = [Clients(home).add(name) for name in ("ann", "bob")]
    async with (
        served(home=home) as server,
        held(server, 6, request("/health", tokens[0])) as anns,
        held(server, 7, request("/health", tokens[1])) as bobs,
    ):
        assert await statuses([*anns, *bobs]) == [200] * 12 + [503]
        async with client(server.port) as person, connected(server.port):
            assert (await person.get("/health")).status_code == 200
            assert (await person.post("/reload")).status_code == 200


async def test_without_authentication_the_last_connections_are_for_administration() -> None:
    async with (
        served(auth=False) as server,
        held(server, 9, request("/tools/shortcuts_list")) as connections,
        client(server.port, None) as person,
    ):
        assert await statuses(connections) == [200] * 8 + [503]
        assert (await person.get("/health")).status_code == 200
        assert (await person.post("/reload")).status_code == 200


async def test_a_connection_without_a_token_is_soon_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "ANONYMOUS_SECONDS", 0)
    async with (
        served() as server,
        held(server, 1, request("/health")) as strangers,
        held(server, 1, request("/health", SECRET)) as authenticated,
    ):
        for first_bytes in (request("/health"), request("/health", SECRET)):
            async with held(server, 1, first_bytes) as connections:
                assert await status(connections[0]) == 200
        assert b"200" in await asyncio.wait_for(strangers[0][0].read(), PATIENCE)
        reader, writer = authenticated[0]
        assert await status(authenticated[0]) == 200
        await reader.readuntil(b"\r\n\r\n")
        writer.write(request("/openapi.json", SECRET))
        assert b"HTTP/1.1 200" in await asyncio.wait_for(reader.readuntil(b"OK"), PATIENCE)


async def _until_accepted(http: httpx.AsyncClient) -> None:
    """Wait until the server has noticed the closed connections."""
    await eventually(
        lambda: http.get("/health"), until=lambda response: response.status_code != 503
    )


class Recorder(asyncio.Transport):
    """A transport that keeps what it should send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")


async def test_the_head_of_a_response_leaves_together_with_its_body() -> None:
    recorder = Recorder()
    joined = limits.JoinedWrites(recorder, asyncio.get_running_loop())
    for body in (b"first", b"HTTP/1.1 is what this body is about"):
        joined.write(b"HTTP/1.1 200 OK\r\n\r\n")
        joined.write(body)
        assert recorder.sent.pop() == b"HTTP/1.1 200 OK\r\n\r\n" + body
    await asyncio.sleep(0)
    assert recorder.sent == []


async def test_the_head_of_a_stream_waits_for_no_event() -> None:
    recorder = Recorder()
    joined = limits.JoinedWrites(recorder, asyncio.get_running_loop())
    joined.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await asyncio.sleep(0)
    joined.write(b"event")
    assert recorder.sent == [b"HTTP/1.1 200 OK\r\n\r\n", b"event"]


async def test_a_head_with_a_length_waits_for_its_body() -> None:
    recorder = Recorder()
    joined = limits.JoinedWrites(recorder, asyncio.get_running_loop())
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
    joined.write(head)
    await asyncio.sleep(0)
    assert recorder.sent == []
    joined.write(b"body")
    assert recorder.sent == [head + b"body"]


async def test_a_response_without_a_body_does_not_wait_for_one() -> None:
    get = request("/health")
    async with served() as server, held(server, 1) as [(reader, writer)]:
        # A head that waits would come once the idle connection is closed, and then no other.
        for asked in (get.replace(b"GET", b"HEAD"), get):
            writer.write(asked)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            assert head.startswith(b"HTTP/1.1 200") and b"content-length: " in head


async def test_a_head_is_sent_before_its_connection_closes() -> None:
    recorder = Recorder()
    joined = limits.JoinedWrites(recorder, asyncio.get_running_loop())
    joined.write(b"HTTP/1.1 431 Too Large\r\n\r\n")
    joined.close()
    assert recorder.sent == [b"HTTP/1.1 431 Too Large\r\n\r\n", b"closed"]


async def test_an_answer_arrives_in_one_piece() -> None:
    async with served() as server, held(server, 1, request("/health")) as [(reader, _)]:
        received = await asyncio.wait_for(reader.read(100_000), PATIENCE)
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200") and body.startswith(b"{")
