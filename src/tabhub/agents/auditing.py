"""`/audit`: the newest entries, sent in pieces so that no call waits for a long answer."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from tabhub.agents.answers import JSON
from tabhub.agents.messages import as_query, query_of
from tabhub.errors import InvalidArguments
from tabhub.wire.asgi import Scope, Send

PIECE = 32
"""After as many entries, the server looks whether others want something."""


class AuditQuery(msgspec.Struct, forbid_unknown_fields=True):
    """What of the audit somebody wants to see."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    plugin: str | None = None
    tool: str | None = None
    client: str | None = None
    success: bool | None = None
    since: str | None = None

    def begin(self) -> float | None:
        """What `since` means, in seconds since 1970."""
        return None if self.since is None else max(_moment(self.since), 0)


def asked(scope: Scope) -> AuditQuery:
    query = as_query(query_of(scope), AuditQuery, strict=False)
    try:
        query.begin()
    except ValueError as error:
        raise InvalidArguments(f"The query: {error}.") from None
    return query


def _moment(written: str) -> float:
    """A time that names no zone is one of UTC."""
    # In a URL, a plus means a blank.
    for spelling in (written, written.replace(" ", "+")):
        with suppress(ValueError):
            time = datetime.fromisoformat(spelling)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    raise ValueError(f"since is no date or time of ISO 8601: {written!r}")


async def send_entries(send: Send, lines: list[bytes]) -> None:
    size = sum(map(len, lines)) + max(len(lines) - 1, 0) + 2
    headers = [JSON, (b"content-length", b"%d" % size)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    begin = b"["
    for first in range(0, len(lines), PIECE):
        piece = begin + b",".join(lines[first : first + PIECE])
        begin = b","
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b"]" if lines else b"[]"})
