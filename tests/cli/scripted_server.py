"""A server that knows the secret and answers from a script: for what the real one rarely says."""

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


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Said(NamedTuple):
    status: int
    body: bytes
    kind: str = "application/json"


class Script:
    """What was asked, and what is said to whatever is asked next."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.said = Said(200, b"{}")
        self.hold = threading.Event()
        self.hold.set()
        """Cleared, nothing is answered until the client hangs up."""
        self.hung_up = threading.Event()
        self.token_hash: str | None = None
        """By which it proves itself to agents."""

    def say(self, body: Any, status: int = 200) -> None:
        self.said = Said(status, json.dumps(body).encode())

    def stream(self, *events: tuple[str, Any]) -> None:
        told = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        self.said = Said(200, told.encode(), STREAM)


@contextmanager
def scripted(product: Product) -> Iterator[Script]:
    """The server of this product's home, for as long as the block lasts."""
    prepare(Home(product.home).create(), 1)
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            split = urlsplit(self.path)
            if split.path == "/health":
                challenge = parse_qs(split.query).get("challenge", [""])[0]
                told = {
                    "status": "ok",
                    "proof": prove(product.secret, challenge, server.server_port),
                }
                if script.token_hash is not None:
                    port = server.server_port
                    told["clientProof"] = prove_to_client(script.token_hash, challenge, port)
                self._send(Said(200, json.dumps(told).encode()))
            else:
                self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, body: bytes) -> None:
            script.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            if script.hold.is_set():
                self._send(script.said)
            elif not self.rfile.read(1):
                script.hung_up.set()

        def _send(self, said: Said) -> None:
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body)

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
