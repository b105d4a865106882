"""An npm registry inside the test: honest unless the test changes what it says."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha512
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote, urlsplit

from tabhub.config.npmrc import Npmrc
from tabhub.plugins.npm.npm_registry import Registry
from tests.plugins.packages import ADAPTER, package_json, tool
from tests.plugins.tarballs import package_of

Json = dict[str, Any]
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def plugin_files(name: str, version: str, adapter: str = ADAPTER, **opentabs: Any) -> Json:
    """The files of a package that can be installed."""
    package = {**package_json(name, **opentabs), "version": version}
    return {
        "package.json": json.dumps(package).encode(),
        "dist/tools.json": json.dumps({"sdkVersion": "0.0.115", "tools": [tool()]}).encode(),
        "dist/adapter.iife.js": adapter.encode(),
    }


class FakeRegistry:
    """Its packages, its tarballs by path, and the requests that it got."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.packages: dict[str, Json] = {}
        self.tarballs: dict[str, bytes] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, bytes | Answer] = {}
        """Whole answers by path, in place of the honest ones."""

    def client(self, **values: str) -> Registry:
        """A client whose `.npmrc` names this registry, and what else is given."""
        return Registry(lambda: Npmrc({"registry": self.url, **values}, Path(".npmrc")))

    def publish(self, name: str, version: str, tarball: bytes | None = None) -> Json:
        """Add a version, which becomes the latest; returns what the registry says about it."""
        body = package_of(plugin_files(name, version)) if tarball is None else tarball
        path = f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self.tarballs[path] = body
        digest = b64encode(sha512(body).digest()).decode()
        dist = {"tarball": f"{self.url}{path[1:]}", "integrity": f"sha512-{digest}"}
        said = {"name": name, "version": version, "dist": dist}
        package = self.packages.setdefault(name, {"name": name, "versions": {}, "dist-tags": {}})
        package["versions"][version] = said
        package["dist-tags"]["latest"] = version
        return said

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path, headers = _head(await reader.readuntil(b"\r\n\r\n"))
            self.requests.append((path, headers))
            await self._answer(unquote(urlsplit(path).path), path, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, name: str, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        given = self.answers.get(name)
        if callable(given):
            await given(reader, writer)
            return
        writer.write(given if given is not None else self._honest(name, path))
        await writer.drain()

    def _honest(self, name: str, path: str) -> bytes:
        if name == "/-/v1/search":
            return response(json.dumps({"objects": self._found(path)}).encode())
        if name in self.tarballs:
            return response(self.tarballs[name])
        package = self.packages.get(name[1:])
        return response(json.dumps(package).encode()) if package else response(b"{}", 404)

    def _found(self, path: str) -> list[Json]:
        words = unquote(urlsplit(path).query).partition("text=")[2].partition("&")[0].split("+")
        return [
            {"package": {"name": name, "version": said["dist-tags"]["latest"]}}
            for name, said in self.packages.items()
            if all(word in name for word in words)
        ]


def response(body: bytes, status: int = 200, **headers: str) -> bytes:
    """A whole answer over HTTP."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body


def _head(head: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = head.decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines if line)
    return first.split(" ")[1], {name.lower(): value for name, _, value in pairs}


@asynccontextmanager
async def serving_registry() -> AsyncIterator[FakeRegistry]:
    registry: list[FakeRegistry] = []
    server = await asyncio.start_server(lambda *pair: registry[0].handle(*pair), "127.0.0.1", 0)
    registry.append(FakeRegistry(server.sockets[0].getsockname()[1]))
    async with server:
        yield registry[0]


@contextmanager
def registry_in_thread() -> Iterator[FakeRegistry]:
    """The same for tests without an event loop, whose commands have their own."""
    loop, ready, over = asyncio.new_event_loop(), Event(), asyncio.Event()
    found: list[FakeRegistry] = []

    async def serve() -> None:
        async with serving_registry() as registry:
            found.append(registry)
            ready.set()
            await over.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
