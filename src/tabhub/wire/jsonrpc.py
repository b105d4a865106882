"""JSON-RPC 2.0: decodes incoming messages into one struct, and encodes outgoing ones.

`params`, `result` and `error` stay raw bytes until their type is known.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from tabhub.errors import ProtocolError, TabhubError

Id = int | str
EMPTY = Raw(b"{}")
MOST_VALUES = 100_000
"""How many values a message may have: a small text can become large objects."""


class Incoming(msgspec.Struct):
    """A request, a notification or a response, depending on the members it has."""

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


class ErrorResponse(msgspec.Struct):
    """An error response; without an id if that of the request is unreadable (MCP forbids null)."""

    jsonrpc: str
    id: Id | UnsetType
    error: Any


class RemoteError(msgspec.Struct):
    """The `error` member of an incoming response."""

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
"""The responses to a batch are sent together; a small batch must not ask for gigabytes."""

UNREADABLE = (ValueError, RecursionError)
"""What decoding raises for bytes that are not UTF-8, not JSON, of another type, or too deep."""


def decode(body: bytes) -> Incoming:
    """Decode one message; each kind of mistake has an error of its own."""
    try:
        require_text(body)
        return checked(_decode(body))
    except UNREADABLE as error:
        raise explained(error, ProtocolError(f"Not a JSON-RPC message: {error}.")) from None


def decode_any(body: bytes) -> Incoming | list[Incoming]:
    """Decode one message, or the messages of a batch."""
    try:
        require_text(body)
        found = _decode_any(body)
    except UNREADABLE as error:
        raise explained(error, ProtocolError(f"Not a JSON-RPC message: {error}.")) from None
    if isinstance(found, Incoming):
        return checked(found)
    if not found:
        raise ProtocolError("A batch must have at least one message.")
    if len(found) > LARGEST_BATCH:
        raise ProtocolError(f"A batch has at most {LARGEST_BATCH} messages, not {len(found)}.")
    return [checked(message) for message in found]


def checked(message: Incoming) -> Incoming:
    """Check the rules of JSON-RPC that types cannot express."""
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
    return _encode(ErrorResponse("2.0", UNSET if id is None else id, error.to_jsonrpc()))


def id_of(body: bytes) -> Id | None:
    """The id of a message that is otherwise invalid, so that the sender can match the error."""
    try:
        found = _decode_id(body).id
    except UNREADABLE:
        return None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def require_text(body: bytes) -> None:
    """Raise for bytes that are not UTF-8: the decoder does not look into parts that stay raw."""
    if not body.isascii():
        body.decode()


def explained(error: Exception, misfit: TabhubError) -> TabhubError:
    """The error for a decoding failure; `misfit` if it is valid JSON of another type."""
    if isinstance(error, msgspec.ValidationError):
        return misfit
    if isinstance(error, RecursionError):
        return ProtocolError("The body is nested too deeply.")
    return ProtocolError(f"Not JSON: {fault_in(error)}.", "parse_error")


def fault_in(error: Exception) -> str:
    """What is wrong with a text that is not JSON."""
    return str(error).removeprefix("JSON is malformed: ")


def has_too_many_values(data: bytes, most: int = MOST_VALUES) -> bool:
    """Whether a JSON text has more values than that; no objects are made to find out."""
    # No text has more separators than bytes.
    if len(data) <= most or _separators(data) <= most:
        return False
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in data else data
    # At most every second string is a name.
    if plain.count(b'"') > 4 * most:
        return True
    # Every second piece is outside of strings.
    return _separators(b"".join(plain.split(b'"')[::2])) > most


def _separators(data: bytes) -> int:
    """The values in a JSON text without strings: one after each comma and each bracket."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")
