"""Reading a request's body, never more of it than allowed."""

from collections.abc import Mapping

from tabhub.calls.limit import Limit
from tabhub.errors import ProtocolError, Unavailable
from tabhub.wire.asgi import Receive

BODY_SECONDS = 30.0
"""For all of it: ten megabytes take a moment on one machine."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The whole body; a larger one is refused as soon as that is known."""
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    try:
        with Limit(BODY_SECONDS):
            return await _whole(receive, limit)
    except TimeoutError:
        raise ProtocolError(
            f"The body did not come within {BODY_SECONDS:.0f} seconds.", "body_timeout"
        ) from None


async def _whole(receive: Receive, limit: int) -> bytes:
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
