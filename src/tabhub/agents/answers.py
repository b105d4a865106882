"""Answering an HTTP request with JSON."""

from collections.abc import Iterable

from tabhub.wire.asgi import Header, Send


async def send_json(send: Send, status: int, body: bytes, headers: Iterable[Header] = ()) -> None:
    always: list[Header] = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    start = {"type": "http.response.start", "status": status, "headers": [*always, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": body})
