"""A small web site for real browsers: pages from a folder, redirects, headers, slow answers."""

import base64
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.eventually import PATIENCE

PAGES = Path(__file__).parent.parent / "real" / "pages"
NPM = Path(__file__).parent.parent / "npm" / "node_modules"
"""Packages as they are published, for pages that use them."""
PAGEKIT = Path(__file__).parents[2] / "pagekit"
STRICT_CSP = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'"


class Site:
    """The addresses of the site; its second name is another origin."""

    def __init__(self, port: int, gate: threading.Event) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.other = f"http://localhost:{port}"
        self._gate = gate

    def page(self, name: str) -> str:
        return f"{self.url}/{name}.html"

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold every request for /held until the block ends."""
        self._gate.clear()
        try:
            yield
        finally:
            self._gate.set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gate = threading.Event()
        self.gate.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        if address.path == "/redirect":
            self._answer(302, b"", Location=query["to"])
        elif address.path == "/slow":
            time.sleep(float(query["seconds"]))
            self._answer(200, b"<title>slow</title>at last")
        elif address.path == "/held":
            self.server.gate.wait(PATIENCE)
            self._answer(200, b"let go")
        elif address.path == "/trickle":
            self._trickle(float(query["seconds"]))
        elif address.path == "/bytes":
            self._answer(200, bytes(range(256)), **{"Content-Type": "application/octet-stream"})
        elif address.path == "/html":
            self._answer(200, query["body"].encode(), **_policy(query))
        elif address.path == "/raw":
            self._answer(200, bytes.fromhex(query["hex"]), **{"Content-Type": query["type"]})
        elif address.path == "/hang":
            self._hang()
        elif address.path == "/secret":
            self._secret()
        elif address.path == "/download":
            self._answer(200, b"data", **{"Content-Disposition": "attachment; filename=x.bin"})
        elif address.path.startswith("/npm/"):
            self._package(NPM / address.path.removeprefix("/npm/"))
        elif address.path.startswith("/pagekit/"):
            self._package(PAGEKIT / address.path.removeprefix("/pagekit/"))
        else:
            self._file(address.path, query)

    def do_POST(self) -> None:
        """Return the headers and body of the request, except at /private."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        content = b"" if self.path == "/private" else f"{self.headers}\n".encode() + body
        self._answer(200, content)

    def _hang(self) -> None:
        """Do not answer until the browser closes the connection."""
        with suppress(OSError):
            self.connection.recv(1)
        self.close_connection = True

    def _secret(self) -> None:
        """A page for the user ann with the password `open sesame`."""
        expected = base64.b64encode(b"ann:open sesame").decode()
        if self.headers.get("Authorization") == f"Basic {expected}":
            self._answer(200, b"<title>inside</title>welcome")
        else:
            asking = {"WWW-Authenticate": 'Basic realm="the cave"'}
            self._answer(401, b"<title>outside</title>no entry", **asking)

    def _trickle(self, seconds: float) -> None:
        """A download that takes this long, or until the browser cancels it."""
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        with suppress(OSError):
            for _ in range(100):
                self.wfile.write(b"." * 1000)
                time.sleep(seconds / 100)

    def _package(self, file: Path) -> None:
        kind = {"Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*"}
        self._answer(200, file.read_bytes(), **kind)

    def _file(self, path: str, query: dict[str, str]) -> None:
        file = PAGES / path.strip("/")
        if not file.is_file():
            self._answer(404, b"<title>not found</title>")
            return
        body = file.read_text().replace("{{other}}", f"http://localhost:{self.server.server_port}")
        kind = "text/javascript" if file.suffix == ".js" else "text/html; charset=utf-8"
        self._answer(200, body.encode(), **_policy(query), **{"Content-Type": kind})

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        headers.setdefault("Content-Type", "text/html; charset=utf-8")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _policy(query: dict[str, str]) -> dict[str, str]:
    if "policy" in query:
        return {"Content-Security-Policy": query["policy"]}
    if "sandbox" in query:
        return {"Content-Security-Policy": "sandbox allow-scripts"}
    return {"Content-Security-Policy": STRICT_CSP} if "csp" in query else {}


@contextmanager
def serving() -> Iterator[Site]:
    server = _Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Site(server.server_port, server.gate)
    finally:
        server.shutdown()
        server.server_close()
