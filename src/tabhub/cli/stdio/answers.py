"""What a server said, looked at only as far as to know whose answer it is, or why there is none."""

from contextlib import suppress

import msgspec

from tabhub.cli.stdio.home_server import GONE
from tabhub.errors import TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc


class _Error(jsonrpc.RemoteError):
    reason: str = ""


class _Said(msgspec.Struct):
    jsonrpc: str = ""
    id: int | str | None = None
    method: str | None = None
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Said | list[_Said]).decode


def is_message(body: bytes) -> bool:
    """Whether it is for the client, as it is."""
    said = _read(body)
    return bool(said) and all(one.jsonrpc for one in said)


def answered(body: bytes) -> set[jsonrpc.Id]:
    """The requests that it answers."""
    return {one.id for one in _read(body) if one.method is None and one.id is not None}


def refusal_in(body: bytes, status: int) -> TabhubError:
    """An error in either of the two shapes that a server has: JSON-RPC's, or that of plain HTTP."""
    for one in _read(body):
        if one.error is not None:
            reason = one.error.reason or (one.error.data or {}).get("reason", "")
            return from_reason(reason, one.error.message)
    return Unavailable(f"The tabhub server answered with status {status}.", GONE)


def _read(body: bytes) -> list[_Said]:
    with suppress(*jsonrpc.UNREADABLE):
        said = _decode(body)
        return said if isinstance(said, list) else [said]
    return []
