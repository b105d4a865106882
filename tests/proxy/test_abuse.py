"""What a stranger, or a client that means ill, can make a node spend."""

import asyncio
import json
import ssl
from contextlib import suppress
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from websockets.exceptions import ConnectionClosed

from tabhub.proxy.addresses import source_of
from tabhub.proxy.identity import KeySet
from tests.proxy.certificates import certificate, trusting
from tests.proxy.served import ServedProxy, Side, client, served, token
from tests.support.eventually import PATIENCE, eventually

pytestmark = pytest.mark.requirement("PX-06")


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What comes until the node ends a connection."""
    received = b""
    with suppress(ConnectionError):
        while data := await asyncio.wait_for(reader.read(65536), PATIENCE):
            received += data
    return received


async def test_a_stranger_sends_no_more_than_a_token_needs() -> None:
    async with served() as proxy:
        for path in ("/mcp", "/extension"):
            async with proxy.connect(path) as connection:
                side = Side(connection)
                with suppress(ConnectionClosed):
                    await side.send("[" + " " * 200_000)
                assert (await side.closed())[0] == 4413
        async with client(proxy) as agent:
            large = {"text": "x" * 5_000_000}
            assert "error" in await agent.ask(2, "type", large)
            assert "result" in await agent.ask(3, "list_extensions")


async def test_a_strangers_fragments_count_together() -> None:
    async with served() as proxy, proxy.connect("/mcp") as connection:

        async def pieces() -> None:
            with suppress(ConnectionClosed):
                await connection.send(["x" * 20_000] * 20)

        sending = asyncio.create_task(pieces())
        assert (await Side(connection).closed())[0] == 4413
        await sending


async def test_a_stranger_says_only_a_few_things() -> None:
    async with served() as proxy:
        for path in ("/mcp", "/extension"):
            async with proxy.connect(path) as connection:
                side = Side(connection)
                with suppress(ConnectionClosed):
                    for _ in range(200):
                        await side.send("no json")
                assert (await side.closed())[0] == 4429


async def test_bad_messages_count_as_messages() -> None:
    async with served() as proxy, client(proxy) as agent:

        async def read() -> None:
            async for _ in agent.connection:
                pass

        reading = asyncio.create_task(read())
        with suppress(ConnectionClosed):
            for _ in range(5000):
                await agent.send("no json")
        assert (await agent.closed())[0] == 4429
        await asyncio.gather(reading, return_exceptions=True)


async def test_whoever_pings_all_the_time_is_cut_off() -> None:
    async with served() as proxy, client(proxy) as agent:
        agent.connection.transport.pause_reading()
        with suppress(ConnectionError):
            for _ in range(200):
                agent.connection.transport.write(b"\x89\x80\0\0\0\0" * 100)
                await asyncio.sleep(0)
        board = proxy.server.service.board
        await eventually(lambda: board.sockets()["clients"] == 0)
        agent.connection.transport.abort()


async def test_headers_that_do_not_end_end_the_connection() -> None:
    async with served() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        sent = 0
        with suppress(ConnectionError):
            while sent < 20_000_000:
                writer.write(b"X-Filler: " + b"x" * 8000 + b"\r\n")
                sent += 8000
                await writer.drain()
        await ended(reader)
        assert sent < 20_000_000
        writer.transport.abort()


async def test_connections_that_do_not_finish_tls_count(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "a.example")
    async with served(certificate=cert, certificate_key=key) as proxy:
        opened = [await asyncio.open_connection("127.0.0.1", proxy.port) for _ in range(30)]
        reading = [asyncio.create_task(ended(reader)) for reader, _ in opened]
        await eventually(lambda: sum(one.done() for one in reading) == 10, "ten to be cut off")
        for _, writer in opened:
            writer.transport.abort()
        await asyncio.gather(*reading)
        assert "result" in await asked(proxy, trusting())


async def test_tls_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabhub.proxy.tls_listener.AUTHENTICATION_SECONDS", 0.2)
    cert, key = certificate(tmp_path, "a.example")
    async with served(certificate=cert, certificate_key=key) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await ended(reader) == b""
        writer.transport.abort()


async def asked(proxy: ServedProxy, tls: ssl.SSLContext) -> dict[str, object]:
    async with client(proxy, ssl=tls) as agent:
        return await agent.ask(2, "list_extensions")


async def test_a_user_whose_name_is_no_text_is_refused() -> None:
    async with served() as proxy:
        for given in (token("\ud800"), token(client="\ud800"), token(jti="\ud800")):
            async with proxy.connect("/mcp") as connection:
                params = {"accessToken": given}
                answer = await Side(connection).ask(1, "mcp_handshake", params)
                assert answer["error"]["data"]["reason"] == "not_authenticated"


async def test_a_token_made_right_after_a_revocation_counts() -> None:
    async with served() as proxy, proxy.http("0123456789abcdef" * 2) as http:
        for _ in range(5):
            await http.post(f"{proxy.admin}/revoke", json={"user_id": "ann"})
            async with client(proxy, token()) as agent:
                assert "result" in await agent.ask(2, "list_extensions")


async def test_a_key_that_is_known_does_not_wait_for_the_issuer() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    entry = {**json.loads(jwt.get_algorithm_by_name("RS256").to_jwk(key)), "kid": "known"}
    is_slow = asyncio.Event()

    async def fetch() -> bytes:
        if is_slow.is_set():
            await asyncio.Event().wait()
        return json.dumps({"keys": [entry]}).encode()

    clock = [0.0]
    keys = KeySet(fetch, lambda: clock[0])
    assert await keys.find("known") is not None
    is_slow.set()
    clock[0] = 120.0
    asking = asyncio.create_task(keys.find("unknown"))
    await eventually(lambda: keys.is_fetching)
    assert await asyncio.wait_for(keys.find("known"), PATIENCE) is not None
    asking.cancel()


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "", True),
    ],
)
def test_whoever_has_many_addresses_counts_once(one: str, other: str, is_same: bool) -> None:
    assert (source_of(one) == source_of(other)) == is_same
