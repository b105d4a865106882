"""Answering an HTTP request with JSON."""

from collections.abc import Iterable

from tabhub.errors import TabhubError
from tabhub.wire.asgi import Header, Send

JSON: Header = (b"content-type", b"application/json")


async def send_body(send: Send, status: int, body: bytes, kind: bytes) -> None:
    """Answer with something else."""
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_json(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = (), prefix: str = ""
) -> None:
    """`prefix` is what an answer to a refused WebSocket has before its messages' names."""
    always: list[Header] = [JSON, (b"content-length", b"%d" % len(body))]
    start = {
        "type": f"{prefix}http.response.start",
        "status": status,
        "headers": [*always, *headers],
    }
    await send(start)
    await send({"type": f"{prefix}http.response.body", "body": body})


def headers_of(error: TabhubError) -> list[Header]:
    """What an error says beside its body."""
    headers: list[Header] = []
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.allow is not None:
        headers.append((b"allow", error.allow.encode()))
    if error.reason == "rate_limited":
        headers.append((b"retry-after", b"60"))
    return headers
