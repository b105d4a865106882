"""A server that knows the secret and sends scripted responses, which the real one rarely sends."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tabhub.config.paths import Home
from tabhub.config.secret import prepare, prove, prove_to_client
from tests.support.product import Product

STREAM = "text/event-stream"


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Response(NamedTuple):
    status: int
    body: bytes
    kind: str = "application/json"


class Script:
    """The received requests, and the response to the next one."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.response = Response(200, b"{}")
        self.hold = threading.Event()
        self.hold.set()
        """When cleared, requests are not answered until the client disconnects."""
        self.disconnected = threading.Event()
        self.token_hash: str | None = None
        """The hash of the token by which it proves itself to agents."""

    def respond(self, body: Any, status: int = 200) -> None:
        self.response = Response(status, json.dumps(body).encode())

    def stream(self, *events: tuple[str, Any]) -> None:
        text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        self.response = Response(200, text.encode(), STREAM)


@contextmanager
def scripted(product: Product) -> Iterator[Script]:
    """Run the scripted server for the home of this product."""
    prepare(Home(product.home).create(), 1)
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            split = urlsplit(self.path)
            if split.path == "/health":
                challenge = parse_qs(split.query).get("challenge", [""])[0]
                health = {
                    "status": "ok",
                    "proof": prove(product.secret, challenge, server.server_port),
                }
                if script.token_hash is not None:
                    port = server.server_port
                    health["clientProof"] = prove_to_client(script.token_hash, challenge, port)
                self._send(Response(200, json.dumps(health).encode()))
            else:
                self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, body: bytes) -> None:
            script.requests.append(Request(self.command, self.path, dict(self.headers), body))
            if script.hold.is_set():
                self._send(script.response)
            elif not self.rfile.read(1):
                script.disconnected.set()

        def _send(self, response: Response) -> None:
            self.send_response(response.status)
            self.send_header("Content-Type", response.kind)
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    product.environment["TABHUB_PORT"] = str(server.server_port)
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
