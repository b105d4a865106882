"""The clients of a node: their requests to the proxy itself, and those that are passed on."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from tabhub.errors import NotFound, ProtocolError, Unavailable
from tabhub.proxy.outputs import TOO_MUCH, Identity, Outputs
from tabhub.proxy.rooms import UserRoom
from tabhub.rate_limit import Bucket, Clock
from tabhub.wire import proxy as wire
from tabhub.wire.proxy import BadMessage, ClientMessage
from tabhub.wire.tunnel import METHOD as TUNNEL

MOST_REQUESTS = 256
"""In flight on one connection."""
CONNECTION_RATE, CONNECTION_BURST = 200.0, 1000.0
"""Messages a second of one client."""
MOST_REFUSED = 1000
"""Messages over the limit after which a socket is closed."""
NOT_FOUND = "Extension not found or not accessible"
ALREADY_CONNECTED = "MCP client already connected to an extension"

Status = Callable[[bool, int], dict[str, Any]]


class Connection(Struct):
    """A client's connection to an extension, which may be on another node."""

    id: str
    extension: str
    name: str
    node: str
    asked: bytes | None
    """The id of the `connect` that is not answered yet."""
    pending: set[bytes] = msgspec.field(default_factory=set)
    """The ids of requests without an answer."""
    resuming: set[bytes] = msgspec.field(default_factory=set)
    """Those among them that are of a tunnel, which goes on over another connection."""


class ConnectedClient(Struct):
    """A client that has authenticated."""

    socket: int
    room: UserRoom
    identity: Identity
    bucket: Bucket
    refused: int = 0
    connection: Connection | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request of its own has no answer, and a stop should wait for it."""
        own = self.connection
        return own is not None and (own.asked is not None or bool(own.pending - own.resuming))


class ProxyClients:
    """The clients of this node."""

    def __init__(
        self, outputs: Outputs, clock: Clock, new_id: Callable[[], str], status: Status
    ) -> None:
        self._outputs = outputs
        self._clock = clock
        self._new_id = new_id
        self._status = status
        self._clients: dict[int, ConnectedClient] = {}
        self._by_connection: dict[str, ConnectedClient] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def find(self, socket: int) -> ConnectedClient | None:
        return self._clients.get(socket)

    def all(self) -> list[ConnectedClient]:
        return list(self._clients.values())

    def admit(self, socket: int, room: UserRoom, identity: Identity, handshake: bytes) -> None:
        bucket = Bucket(CONNECTION_RATE, CONNECTION_BURST, self._clock)
        client = self._clients[socket] = ConnectedClient(socket, room, identity, bucket)
        room.add_client()
        answer = {
            "authenticated": True,
            "user_id": identity.user,
            "mcp_client_id": f"mcp-{self._new_id()}",
        }
        self._outputs.send(socket, wire.result(handshake, answer))
        self._tell(client, 0)

    def remove(self, client: ConnectedClient) -> None:
        """A client's socket is closed, so nothing more is sent to it."""
        own = client.connection
        if own is not None:
            del self._by_connection[own.id]
            self._outputs.deliver(own.node, wire.Detach(own.id))
        del self._clients[client.socket]
        client.room.remove_client()

    def received(self, client: ConnectedClient, data: bytes) -> None:
        wait = client.bucket.admit() or client.room.bucket.admit()
        if wait and self._is_over(client):
            return
        message = wire.read_client(data)
        if wait and message.id is not None:
            raise BadMessage(_too_fast(wait), message.id)
        if wait:
            self._outputs.counts["dropped"] += 1
        elif message.id is None:
            self._outputs.counts["dropped"] += 1
        elif message.method in wire.CONTROL:
            self._control(client, message, message.id)
        elif message.method in wire.NEVER_FORWARDED:
            raise BadMessage(_no_method(message.method), message.id)
        else:
            self._forward(client, message, message.id)

    def _is_over(self, client: ConnectedClient) -> bool:
        """Count a message over the limit, readable or not; too many of them end the socket."""
        client.refused += 1
        if client.refused <= MOST_REFUSED:
            return False
        self._outputs.close(client.socket, TOO_MUCH, "rate_limited")
        return True

    def _control(self, client: ConnectedClient, message: ClientMessage, id: bytes) -> None:
        if message.method == "list_extensions":
            self._list(client, id)
        elif message.method == "connect":
            self._connect(client, params_of(message, wire.Connect).extension_id, id)
        elif message.method == "disconnect":
            self._disconnect(client)
            self._outputs.send(client.socket, wire.result(id, {"disconnected": True}))
        else:
            raise BadMessage(_no_method(f"{message.method} again"), id)

    def _list(self, client: ConnectedClient, id: bytes) -> None:
        found = client.room.extensions().values()
        listed = [wire.ExtensionListed(extension.id, extension.name) for _, extension in found]
        self._outputs.send(client.socket, wire.result(id, {"extensions": listed}))

    def _connect(self, client: ConnectedClient, extension: str, id: bytes) -> None:
        if client.connection is not None:
            raise BadMessage(Unavailable(ALREADY_CONNECTED, "already_connected"), id)
        found = client.room.extensions().get(extension)
        if found is None:
            raise BadMessage(NotFound(NOT_FOUND, "extension_not_found"), id)
        node, present = found
        own = Connection(f"conn-{self._new_id()}", extension, present.name, node, id)
        client.connection = own
        self._by_connection[own.id] = client
        name = wire.shown_name(client.identity.client)
        attach = wire.Attach(client.room.name, own.id, extension, name)
        self._outputs.deliver(node, attach)

    def attached(self, connection: str) -> None:
        """The extension knows the client, so `connect` is answered."""
        client, own = self._connected(connection)
        if client is None or own is None or own.asked is None:
            return
        answer = {
            "connection_id": own.id,
            "extension_id": own.extension,
            "extension_name": own.name,
        }
        self._outputs.send(client.socket, wire.result(own.asked, answer))
        own.asked = None

    def _connected(self, connection: str) -> tuple[ConnectedClient | None, Connection | None]:
        client = self._by_connection.get(connection)
        return client, None if client is None else client.connection

    def _disconnect(self, client: ConnectedClient) -> None:
        """End a client's connection from its own side; answers that still come are dropped."""
        own = client.connection
        if own is not None:
            ended = Unavailable(
                "The client has disconnected; whether the extension has done this is unknown.",
                "not_connected",
                effect="unknown",
            )
            self._end(client, own, ended)
            self._outputs.deliver(own.node, wire.Detach(own.id))

    def gone(self, connection: str, reason: str) -> None:
        """The extension of a connection is gone, or was not there."""
        client, own = self._connected(connection)
        if client is None or own is None:
            return
        was_answered = own.asked is None
        lost = Unavailable(
            "The extension is gone; whether it has done this is unknown.", "extension_gone"
        )
        self._end(client, own, lost)
        if was_answered:
            params = {"connection_id": connection, "reason": reason}
            self._outputs.send(client.socket, wire.notification("disconnected", params))
            self._tell(client, 0)

    def lost(self, node: str) -> None:
        """Another node is gone, and the extensions there with it."""
        for client in self.all():
            own = client.connection
            if own is not None and own.node == node:
                self.gone(own.id, "The node of the extension is gone")
                # It may be alive, and only unheard for a moment.
                self._outputs.deliver(node, wire.Detach(own.id))

    def _end(self, client: ConnectedClient, own: Connection, error: Unavailable) -> None:
        """Every request without an answer gets its one end now."""
        client.connection = None
        del self._by_connection[own.id]
        if own.asked is not None:
            missing = NotFound(NOT_FOUND, "extension_not_found")
            self._outputs.send(client.socket, wire.failure(own.asked, missing))
        for id in own.pending:
            self._outputs.send(client.socket, wire.failure(id, error))

    def _forward(self, client: ConnectedClient, message: ClientMessage, id: bytes) -> None:
        own = client.connection
        if own is None:
            raise BadMessage(Unavailable("Connect to an extension first.", "not_connected"), id)
        if message.connection_id not in (None, own.id):
            error = ProtocolError("connectionId is not that of this client.", "invalid_params")
            raise BadMessage(error, id)
        if id in own.pending:
            error = ProtocolError("A request with this id is in flight.", "duplicate_id")
            raise BadMessage(error, id)
        if len(own.pending) >= MOST_REQUESTS:
            sentence = f"{MOST_REQUESTS} requests are in flight; wait for their answers."
            raise BadMessage(Unavailable(sentence, "too_many_calls"), id)
        own.pending.add(id)
        resumes = message.method == TUNNEL
        if resumes:
            own.resuming.add(id)
        self._outputs.counts["forwarded"] += 1
        frame = wire.request(wire.mapped_id(own.id, id), message.method, message.params)
        self._outputs.deliver(own.node, wire.ToExtension(own.id, id, frame, resumes))

    def answered(self, node: str, message: wire.ToClient) -> None:
        """Pass an answer on, to the client that waits for it and to nobody else."""
        client, own = self._connected(message.connection)
        if client is None or own is None:
            # The extension's node has not heard, or has forgotten, that the connection has ended.
            self._outputs.deliver(node, wire.Detach(message.connection))
        if client is None or own is None or message.id not in own.pending:
            self._outputs.counts["dropped"] += 1
            return
        own.pending.discard(message.id)
        own.resuming.discard(message.id)
        self._outputs.counts["answered"] += 1
        self._outputs.send(client.socket, _answer(message))

    def peers(self, message: wire.Peers) -> None:
        client = self._by_connection.get(message.connection)
        if client is not None:
            self._tell(client, message.count)

    def _tell(self, client: ConnectedClient, count: int) -> None:
        status = self._status(client.connection is not None, count)
        self._outputs.send(client.socket, wire.notification("status", status))


def params_of(message: ClientMessage, kind: Any) -> Any:
    try:
        return msgspec.json.decode(message.params or b"null", type=kind)
    except (ValueError, TypeError) as error:
        fault = ProtocolError(f"Wrong params: {error}.", "invalid_params")
        raise BadMessage(fault, message.id or b"null") from None


def _answer(message: wire.ToClient) -> bytes:
    if message.result is not None:
        return wire.result(message.id, Raw(message.result))
    if message.error is not None:
        return wire.failure(message.id, Raw(message.error))
    sentence = "The extension's answer must have either a result or an error."
    return wire.failure(message.id, Unavailable(sentence, "invalid_response"))


def _too_fast(wait: float) -> Unavailable:
    data = {"retryAfterMs": round(wait * 1000)}
    return Unavailable("Too many messages; this one was not passed on.", "rate_limited", data=data)


def _no_method(name: str) -> ProtocolError:
    return ProtocolError(f"A client cannot send {name[:100]}.", "method_not_found")
