"""Reading a request's body, never more of it than allowed."""

from collections.abc import Mapping

from tabhub.errors import ProtocolError, Unavailable
from tabhub.wire.asgi import Receive


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The whole body; a larger one is refused as soon as that is known."""
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise Unavailable("The client went away while sending.", "cancelled")
        chunk: bytes = event.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        if not event.get("more_body"):
            return chunk if not chunks else b"".join([*chunks, chunk])
        chunks.append(chunk)


def require_json(headers: Mapping[bytes, bytes]) -> None:
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise ProtocolError("The body must be application/json.", "unsupported_media_type")


def _too_large(limit: int) -> ProtocolError:
    return ProtocolError(f"The body is larger than {limit} bytes.", "too_large")
