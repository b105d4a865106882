"""Why a server does not reach the proxy: each cause has a sentence that says what to do."""

import asyncio
import socket
from pathlib import Path

import pytest

from tabhub.browser.remote.proxy_connection import proxy_connection
from tabhub.errors import AccessError, TabhubError, Unavailable
from tests.proxy.certificates import certificate
from tests.proxy.served import served, token

pytestmark = pytest.mark.requirement("PX-08")


async def failure(url: str, given: str | None = None) -> TabhubError:
    with pytest.raises(TabhubError) as failed:
        async with proxy_connection(url, given or token()):
            pass
    assert given is None or given not in failed.value.message
    return failed.value


async def test_a_name_that_the_proxy_does_not_go_by_is_named() -> None:
    async with served(hosts=frozenset({"proxy.example"})) as proxy:
        found = await failure(f"ws://127.0.0.1:{proxy.port}/mcp")
    assert isinstance(found, Unavailable)
    assert "status 421" in found.message
    assert f"--allowed-host 127.0.0.1:{proxy.port}" in found.message


async def test_another_path_and_a_node_that_stops_say_so() -> None:
    async with served() as proxy:
        found = await failure(f"ws://127.0.0.1:{proxy.port}/nowhere")
        assert "no such WebSocket" in found.message
        proxy.server.service.is_draining = True
        assert "Going down" in (await failure(f"ws://127.0.0.1:{proxy.port}/mcp")).message


async def test_nobody_at_the_port_is_said_without_numbers_of_errors() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = await failure(f"ws://127.0.0.1:{unused.getsockname()[1]}/mcp")
    assert "Connection refused" in found.message
    assert "Errno" not in found.message


async def test_a_refused_token_keeps_its_reason() -> None:
    async with served() as proxy:
        found = await failure(f"ws://127.0.0.1:{proxy.port}/mcp", token("ann", aud="x", exp=1))
        assert (type(found), found.reason) == (AccessError, "token_expired")


@pytest.mark.parametrize(
    ("days", "host", "words"),
    [
        (1, "127.0.0.1", "SSL_CERT_FILE"),
        (-1, "127.0.0.1", "has to be renewed"),
        (1, "localhost", "Use the name that the certificate is for"),
    ],
    ids=["of nobody", "expired", "of another name"],
)
async def test_a_certificate_that_is_not_trusted_says_why_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, host: str, words: str
) -> None:
    cert, key = certificate(tmp_path, "127.0.0.1", days)
    if "SSL_CERT_FILE" not in words:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    async with served(certificate=cert, certificate_key=key) as proxy:
        found = await failure(f"wss://{host}:{proxy.port}/mcp")
    assert words in found.message
    assert "_ssl.c" not in found.message


async def test_what_is_no_proxy_is_not_quoted() -> None:
    body = b"<html><script>alert(1)</script></html>"
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        found = await failure(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    assert "script" not in found.message
    assert "none of a proxy" in found.message


async def test_a_plain_port_reached_by_tls_says_so() -> None:
    async with served() as proxy:
        found = await failure(f"wss://127.0.0.1:{proxy.port}/mcp")
    assert "TLS" in found.message
    assert "_ssl.c" not in found.message
