"""A server, nodes of the proxy with TLS in processes of their own, and a browser elsewhere."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.proxy.certificates import certificate
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import managed, store
from tests.support.browsers.unpacked import browser_with
from tests.support.eventually import PATIENCE, eventually, eventually_sync
from tests.support.product import Product

FREE = ("--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--drain-seconds", "0")
Process = subprocess.Popen[str]


class FarSide:
    """What both sides of a proxy need: a secret, a certificate and tokens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self._secret = self._private("secret", "5e" * 32)
        self.certificate, self._key = certificate(folder, "127.0.0.1")

    def _private(self, name: str, text: str) -> Path:
        path = self._folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    @contextmanager
    def node(self, name: str = "node") -> Iterator[tuple[str, Process]]:
        """A node, and its address."""
        product = Product(self._folder / name)
        product.home.mkdir(mode=0o700)
        secret = ("--jwt-secret-file", str(self._secret))
        tls = ("--tls-cert", str(self.certificate), "--tls-key", str(self._key))
        with product.running("proxy", "serve", *FREE, *secret, *tls) as process:
            file = product.home / "proxy.json"
            eventually_sync(lambda: file.exists() and "Health" in product.output, "the node")
            yield f"https://127.0.0.1:{json.loads(file.read_text())['port']}", process

    def token(self, client: str = "") -> str:
        own = Product(self._folder / "signing")
        named = ("--client", client) if client else ()
        flags = ("--user-id", "ann", "--jwt-secret-file", str(self._secret), *named)
        signed = own.run("proxy", "token", *flags)
        assert signed.returncode == 0, signed.stderr
        return signed.stdout.strip()

    @contextmanager
    def server(
        self, product: Product, *urls: str, config: dict[str, Any] | None = None
    ) -> Iterator[int]:
        """A server that uses the browsers of these nodes; its port."""
        product.home.mkdir(mode=0o700)
        settings = {"toolsets": ["all"], **(config or {})}
        (product.home / "config.json").write_text(json.dumps(settings))
        product.environment["SSL_CERT_FILE"] = str(self.certificate)
        token = self._private("token", self.token("far server"))
        flags = ("--via-proxy", ",".join(urls), "--token-file", str(token))
        with product.running("start", "--port", "0", *flags):
            yield product.wait_running()

    @asynccontextmanager
    async def browser(self, *urls: str) -> AsyncIterator[Cdp]:
        """A browser that tabhub started elsewhere, which goes to these nodes."""
        flags = "--ignore-certificate-errors"
        async with browser_with(self._folder / "browser", managed, flags) as cdp:
            await self.configure(cdp, *urls)
            yield cdp

    async def configure(self, cdp: Cdp, *urls: str) -> None:
        """Let a browser go to these nodes."""
        await eventually(lambda: cdp.in_worker("'describeTabState' in self"), "the worker")
        service = {"urls": list(urls), "token": self.token()}
        await store(cdp, remoteService=service, remoteEnded=False, remoteRefused="")


async def until_connected(product: Product) -> dict[str, Any]:
    """The status, once a browser has listed its tabs."""
    return await asyncio.to_thread(product.wait_browser)


@asynccontextmanager
async def mcp_client(product: Product, port: int) -> AsyncIterator[Client]:
    """The official client, connected to a server."""
    headers = {"Authorization": f"Bearer {product.secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, read_timeout_seconds=PATIENCE) as client:
            yield client


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured content of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content)
    return result.structured_content
