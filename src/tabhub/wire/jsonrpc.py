"""JSON-RPC 2.0: one struct for whatever arrives, and the encoders for what leaves.

`params`, `result` and `error` stay raw bytes until somebody knows their type.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from tabhub.errors import ProtocolError, TabhubError

Id = int | str
EMPTY = Raw(b"{}")


class Incoming(msgspec.Struct):
    """A request, a notification or a response: what it is depends on which members are there."""

    jsonrpc: str = ""
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    def is_response(self) -> bool:
        return self.method is UNSET

    def is_notification(self) -> bool:
        return self.id is UNSET


class Outgoing(msgspec.Struct, omit_defaults=True):
    """A request or a notification that we send."""

    jsonrpc: str
    method: str
    params: Any = None
    id: Id | None = None


class Success(msgspec.Struct):
    jsonrpc: str
    id: Id
    result: Any


class Failure(msgspec.Struct):
    """An error; without an id when the request's could not be read (MCP forbids a null one)."""

    jsonrpc: str
    id: Id | UnsetType
    error: Any


class RemoteError(msgspec.Struct):
    """The error member of a response from the other side."""

    code: int = -32603
    message: str = ""
    data: dict[str, Any] | None = None


class _Identified(msgspec.Struct):
    id: Any = None


_decode = msgspec.json.Decoder(Incoming).decode
_decode_any = msgspec.json.Decoder(Incoming | list[Incoming]).decode
_decode_id = msgspec.json.Decoder(_Identified).decode
_encode = msgspec.json.Encoder().encode

LARGEST_BATCH = 50
"""All of a batch is answered at once; a small one must not ask for gigabytes."""

UNREADABLE = (ValueError, RecursionError)
"""What decoding raises: for bytes that are no text, no JSON or of the wrong type; for depth."""


def decode(body: bytes) -> Incoming:
    """One message, with every way of being wrong told apart."""
    try:
        require_text(body)
        return checked(_decode(body))
    except UNREADABLE as error:
        raise explained(error, ProtocolError(f"Not a JSON-RPC message: {error}.")) from None


def decode_any(body: bytes) -> Incoming | list[Incoming]:
    """One message, or the messages of a batch."""
    try:
        require_text(body)
        found = _decode_any(body)
    except UNREADABLE as error:
        raise explained(error, ProtocolError(f"Not a JSON-RPC message: {error}.")) from None
    if isinstance(found, Incoming):
        return checked(found)
    if not found:
        raise ProtocolError("An empty batch has nothing to answer.")
    if len(found) > LARGEST_BATCH:
        raise ProtocolError(f"A batch has at most {LARGEST_BATCH} messages, not {len(found)}.")
    return [checked(message) for message in found]


def checked(message: Incoming) -> Incoming:
    """The rules of JSON-RPC that the types alone cannot say."""
    if message.jsonrpc != "2.0":
        raise ProtocolError('The message must carry "jsonrpc": "2.0".')
    if message.method is UNSET and message.result is UNSET and message.error is UNSET:
        raise ProtocolError("The message has no method, no result and no error.")
    if message.id is None and message.method is not UNSET:
        raise ProtocolError("A request id must be a string or an integer, not null.")
    return message


def request(id: Id, method: str, params: Any = None) -> bytes:
    return _encode(Outgoing("2.0", method, params, id))


def notification(method: str, params: Any = None) -> bytes:
    return _encode(Outgoing("2.0", method, params))


def success(id: Id, result: Any) -> bytes:
    return _encode(Success("2.0", id, result))


def failure(id: Id | None, error: TabhubError) -> bytes:
    return _encode(Failure("2.0", UNSET if id is None else id, error.to_jsonrpc()))


def id_of(body: bytes) -> Id | None:
    """The id of a message that may be wrong in every other way, so the error can be matched."""
    try:
        found = _decode_id(body).id
    except UNREADABLE:
        return None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def require_text(body: bytes) -> None:
    """Parts that are left raw are skipped unread, so what is no UTF-8 must be found here."""
    if not body.isascii():
        body.decode()


def explained(error: Exception, misfit: TabhubError) -> TabhubError:
    """Tell JSON that cannot be read from JSON that says something else: that is the misfit."""
    if isinstance(error, msgspec.ValidationError):
        return misfit
    if isinstance(error, RecursionError):
        return ProtocolError("The body is nested too deeply.")
    return ProtocolError(f"Not JSON: {error}.", "parse_error")
