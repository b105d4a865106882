"""Server-sent events out of a stream of bytes."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import NamedTuple


class Event(NamedTuple):
    """One event, as far as MCP uses them."""

    data: bytes
    id: str | None = None
    retry_ms: int | None = None


async def events(chunks: AsyncIterable[bytes]) -> AsyncIterator[Event]:
    """Each event when it is whole; one that breaks off is dropped."""
    rest: list[bytes] = []
    fields: list[tuple[bytes, bytes]] = []
    async for chunk in chunks:
        *lines, last = chunk.split(b"\n")
        for line in lines:
            whole = b"".join([*rest, line]).removesuffix(b"\r")
            rest.clear()
            if whole.startswith(b":"):
                continue
            if whole:
                name, _, value = whole.partition(b":")
                fields.append((name, value.removeprefix(b" ")))
            elif fields:
                yield _event(fields)
                fields = []
        rest.append(last)


def _event(fields: list[tuple[bytes, bytes]]) -> Event:
    named = dict(fields)
    retry = named.get(b"retry", b"")
    return Event(
        data=b"\n".join(value for name, value in fields if name == b"data"),
        id=named[b"id"].decode("latin-1") if b"id" in named else None,
        retry_ms=int(retry) if retry.isdigit() else None,
    )
