"""The messages of the proxy: JSON-RPC with clients and extensions, and what nodes send each other.

The id of a client's request is kept as JSON text, so that `1` and `"1"` are two ids and come back
as they were. Parameters, results and errors stay raw: the proxy passes them on without looking
inside.
"""

import json
import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from tabhub.errors import ProtocolError, TabhubError
from tabhub.wire.jsonrpc import UNREADABLE, fault_in

MAX_BYTES = 10_000_000
"""Of one message."""
LONGEST_ID = 1000
"""Characters of an id as JSON."""
LONGEST_NAME = 100
"""Of a client or an extension, in units of UTF-16, which is what the extension counts."""
MOST_EXTENSIONS = 16
"""Of one user."""
EXTENSION_ID = re.compile(r"ext-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""How a service names an extension; a profile of this machine has no such name."""
RESERVED = ("proxy:", "ext:")
"""How ids begin that no client may use."""
AUTHENTICATE_ID = "proxy:1"
CONTROL = frozenset({"mcp_handshake", "list_extensions", "connect", "disconnect"})
"""Requests of clients that the proxy answers itself."""
NEVER_FORWARDED = frozenset({"authenticate", "authenticated", "status", "disconnected"})

_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_encode = msgspec.json.Encoder().encode


def shown_name(name: str) -> str:
    """A name as both sides know it: the extension would cut a longer one, and know another."""
    units = name.encode("utf-16-le", "ignore")[: 2 * LONGEST_NAME]
    return units.decode("utf-16-le", "ignore")


class BadMessage(Exception):
    """A message that cannot be taken; the sender gets the error under the id, as JSON text."""

    def __init__(self, error: TabhubError, id: bytes = b"null") -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id


class _Received(Struct, rename="camel"):
    jsonrpc: Any = None
    id: Raw | UnsetType = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    connection_id: Any = UNSET


class ClientMessage(Struct, frozen=True):
    """A request of a client; without an id it is a notification."""

    id: bytes | None
    """As JSON."""
    method: str
    params: Raw | UnsetType
    connection_id: str | None


class ExtensionAnswer(Struct, frozen=True):
    """What an extension answers; exactly one of the two is there, unless it is broken."""

    id: str
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    @property
    def is_broken(self) -> bool:
        return (self.result is UNSET) == (self.error is UNSET)


_decode = msgspec.json.Decoder(_Received).decode


def read_client(data: bytes) -> ClientMessage:
    """A client's message; raises BadMessage."""
    received = _read(data)
    id = None if received.id is UNSET else _client_id(bytes(received.id))
    answer = b"null" if id is None else id
    if received.jsonrpc != "2.0":
        raise BadMessage(ProtocolError('The message must carry "jsonrpc": "2.0".'), answer)
    if not isinstance(received.method, str) or not received.method:
        raise BadMessage(ProtocolError("A message of a client needs a method."), answer)
    connection = None if received.connection_id is UNSET else received.connection_id
    if connection is not None and not isinstance(connection, str):
        raise BadMessage(ProtocolError("connectionId must be a string.", "invalid_params"), answer)
    return ClientMessage(id, received.method, received.params, connection)


def read_extension(data: bytes) -> ExtensionAnswer | None:
    """An extension's answer; None for a notification. Raises BadMessage for everything else."""
    try:
        received = _read(data)
    except BadMessage:
        return _unreadable_answer(data)
    if received.id is UNSET:
        return None
    id = bytes(received.id)
    if received.method is not UNSET:
        raise BadMessage(ProtocolError("An extension answers and never asks."), _shown_id(id))
    if not id.startswith(b'"'):
        raise BadMessage(ProtocolError("The id is none that the proxy has sent."), _shown_id(id))
    return ExtensionAnswer(msgspec.json.decode(id), received.result, received.error)


def _unreadable_answer(data: bytes) -> ExtensionAnswer:
    """An answer that is no strict JSON (half of a surrogate pair): its client must get an end."""
    try:
        found = json.loads(data)
    except UNREADABLE:
        found = None
    if isinstance(found, dict) and isinstance(found.get("id"), str) and "method" not in found:
        return ExtensionAnswer(found["id"])
    raise BadMessage(ProtocolError("Not JSON.", "parse_error"))


def _read(data: bytes) -> _Received:
    try:
        return _decode(data)
    except msgspec.ValidationError:
        what = "Batches are not taken." if data.lstrip()[:1] == b"[" else "Not a JSON-RPC message."
        raise BadMessage(ProtocolError(what)) from None
    except RecursionError:
        raise BadMessage(ProtocolError("The message is nested too deeply.")) from None
    except UNREADABLE as error:
        raise BadMessage(ProtocolError(f"Not JSON: {fault_in(error)}.", "parse_error")) from None


def _client_id(id: bytes) -> bytes:
    """The id as the shortest JSON, so that an id written in two ways is one."""
    if len(id) > LONGEST_ID:
        raise BadMessage(ProtocolError(f"An id has at most {LONGEST_ID} characters."))
    if _INTEGER.fullmatch(id):
        return id
    if not id.startswith(b'"'):
        raise BadMessage(ProtocolError("An id must be a string or an integer."))
    text: str = msgspec.json.decode(id)
    if text.startswith(RESERVED):
        raise BadMessage(ProtocolError(f"Ids that begin with {text.split(':')[0]}: are reserved."))
    return _encode(text)


def _shown_id(id: bytes) -> bytes:
    return id if len(id) <= LONGEST_ID else b"null"


class _RequestFrame(Struct, omit_defaults=True):
    jsonrpc: str
    id: Raw | str
    method: str
    params: Any = UNSET


class _Notice(Struct):
    jsonrpc: str
    method: str
    params: Any


class _ResultAnswer(Struct):
    jsonrpc: str
    id: Raw
    result: Any


class _ErrorAnswer(Struct):
    jsonrpc: str
    id: Raw
    error: Any


def request(id: str, method: str, params: Any = UNSET) -> bytes:
    return _encode(_RequestFrame("2.0", id, method, params))


def notification(method: str, params: Any) -> bytes:
    return _encode(_Notice("2.0", method, params))


def result(id: bytes, value: Any) -> bytes:
    return _encode(_ResultAnswer("2.0", Raw(id), value))


def failure(id: bytes, error: TabhubError | Raw) -> bytes:
    """An error: the proxy's own, with its reason, or an extension's, as it is."""
    written = error.to_jsonrpc() if isinstance(error, TabhubError) else error
    return _encode(_ErrorAnswer("2.0", Raw(id), written))


def mapped_id(connection: str, id: bytes) -> str:
    """The id under which an extension gets a client's request."""
    return f"{connection}:{id.decode()}"


def unmapped_id(id: str) -> tuple[str, bytes]:
    """The connection and the client's id; names of connections have no colon."""
    connection, _, own = id.partition(":")
    return connection, own.encode()


# What the two sides say about themselves.


class Credentials(Struct):
    """The extension's answer to `authenticate`."""

    name: str
    access_token: str = msgspec.field(name="accessToken")
    profile_id: str | None = None


class ProxyHandshake(Struct):
    access_token: str = msgspec.field(name="accessToken")


class Connect(Struct):
    extension_id: str


class ExtensionListed(Struct):
    id: str
    name: str
    connected: bool = True


class ClientListed(Struct):
    """A client, as its extension learns of it."""

    connection_id: str
    name: str


# What nodes send each other.


class ExtensionPresent(Struct, frozen=True):
    """An extension on a node. Of two with the same id the one with the higher turn is the newer."""

    id: str
    name: str
    turn: int


class NodePresence(Struct, frozen=True, tag=True):
    """Everything that a node has of one user; each change is sent as a whole."""

    node: str
    room: str
    extensions: tuple[ExtensionPresent, ...] = ()
    clients: int = 0


class Members(Struct, frozen=True, tag=True):
    """What a node knows of a room, for one that has just come."""

    room: str
    present: tuple[NodePresence, ...]


class Attach(Struct, frozen=True, tag=True):
    """A client of the sender wants an extension of the receiver."""

    room: str
    connection: str
    extension: str
    client: str


class Attached(Struct, frozen=True, tag=True):
    """The extension of a connection knows its client now."""

    connection: str


class Detach(Struct, frozen=True, tag=True):
    """A client has left its extension."""

    connection: str


class Gone(Struct, frozen=True, tag=True):
    """A connection has ended on the extension's side, or has not come about."""

    connection: str
    reason: str


class Peers(Struct, frozen=True, tag=True):
    """How many clients the extension of a connection has."""

    connection: str
    count: int


class ToExtension(Struct, frozen=True, tag=True):
    """A request; its id is that of the client."""

    connection: str
    id: bytes
    frame: bytes
    resumes: bool = False
    """Whether its sender goes on by itself over another connection, so that no stop waits."""


class ToClient(Struct, frozen=True, tag=True):
    """An answer; a broken one has neither of the two."""

    connection: str
    id: bytes
    result: bytes | None = None
    error: bytes | None = None


NodeMessage = Attach | Attached | Detach | Gone | Peers | ToExtension | ToClient | NodePresence
