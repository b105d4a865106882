"""Answering an HTTP request with JSON."""

from collections.abc import Iterable

from tabhub.wire.asgi import Header, Send


async def send_json(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = (), prefix: str = ""
) -> None:
    """`prefix` is what an answer to a refused WebSocket has before its messages' names."""
    always: list[Header] = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    start = {
        "type": f"{prefix}http.response.start",
        "status": status,
        "headers": [*always, *headers],
    }
    await send(start)
    await send({"type": f"{prefix}http.response.body", "body": body})
