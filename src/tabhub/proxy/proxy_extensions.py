"""The extensions of a node. They only answer, and each knows who its clients are."""

from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec import UNSET, Struct

from tabhub.proxy.outputs import REPLACED, TOO_MUCH, Identity, Outputs
from tabhub.proxy.proxy_clients import NOT_FOUND, Status
from tabhub.proxy.rooms import USER_BURST, USER_RATE, UserRoom
from tabhub.rate_limit import Bucket, Clock
from tabhub.wire import proxy as wire

STATUS_SECONDS = 20.0
"""How often an extension hears something: its worker lives only while messages arrive."""
_NAMESPACE = uuid5(NAMESPACE_URL, "tabhub:extension")


class Peer(Struct):
    """A client of an extension."""

    node: str
    name: str
    in_flight: set[bytes] = set()
    """The ids of requests without an answer for which a stop waits."""


class ConnectedExtension(Struct):
    """An extension that has authenticated."""

    socket: int
    id: str
    room: UserRoom
    identity: Identity
    bucket: Bucket
    told_at: float = 0.0
    """When it got its last status."""
    peers: dict[str, Peer] = {}
    """Its clients, by their connections."""

    @property
    def is_busy(self) -> bool:
        """Whether it has not answered a request of one of its clients."""
        return any(peer.in_flight for peer in self.peers.values())


def extension_id(user: str, profile: str) -> str:
    """The same on every node for the same profile of the same user."""
    return f"ext-{uuid5(_NAMESPACE, msgspec.json.encode([user, profile]).decode())}"


class ProxyExtensions:
    """The extensions of this node."""

    def __init__(self, outputs: Outputs, clock: Clock, wall_clock: Clock, status: Status) -> None:
        self._outputs = outputs
        self._clock = clock
        self._wall_clock = wall_clock
        self._status = status
        self._extensions: dict[int, ConnectedExtension] = {}
        self._by_id: dict[str, ConnectedExtension] = {}
        self._by_connection: dict[str, ConnectedExtension] = {}

    def __len__(self) -> int:
        return len(self._extensions)

    def find(self, socket: int) -> ConnectedExtension | None:
        return self._extensions.get(socket)

    def all(self) -> list[ConnectedExtension]:
        return list(self._extensions.values())

    def admit(self, socket: int, room: UserRoom, identity: Identity, id: str, name: str) -> None:
        """Take an extension in; an older socket of the same profile makes room for it."""
        self.replace(id)
        room.add_extension(id, name, self._wall_clock())
        bucket = Bucket(USER_RATE, USER_BURST, self._clock)
        extension = ConnectedExtension(socket, id, room, identity, bucket)
        self._extensions[socket] = self._by_id[id] = extension
        params = {"user_id": identity.user, "extension_id": id}
        self._outputs.send(socket, wire.notification("authenticated", params))
        self._tell(extension)

    def replace(self, id: str) -> None:
        """The profile of an extension has come again, here or on another node."""
        old = self._by_id.get(id)
        if old is not None:
            self._outputs.close(old.socket, REPLACED, "Another socket of this profile has come")

    def remove(self, extension: ConnectedExtension) -> None:
        del self._extensions[extension.socket]
        del self._by_id[extension.id]
        for connection, peer in extension.peers.items():
            del self._by_connection[connection]
            self._outputs.deliver(peer.node, wire.Gone(connection, "Extension closed"))

    def received(self, extension: ConnectedExtension, data: bytes) -> None:
        if extension.bucket.admit():
            self._outputs.close(extension.socket, TOO_MUCH, "rate_limited")
            return
        answer = wire.read_extension(data)
        connection, id = ("", b"") if answer is None else wire.unmapped_id(answer.id)
        peer = extension.peers.get(connection)
        if answer is None or peer is None:
            self._outputs.counts["dropped"] += 1
            return
        # An answer to nothing ends no other request; the client's node drops it.
        peer.in_flight.discard(id)
        passed = wire.ToClient(connection, id)
        if not answer.is_broken and answer.result is not UNSET:
            passed = wire.ToClient(connection, id, result=bytes(answer.result))
        elif not answer.is_broken and answer.error is not UNSET:
            passed = wire.ToClient(connection, id, error=bytes(answer.error))
        self._outputs.deliver(peer.node, passed)

    def attach(self, node: str, message: wire.Attach) -> None:
        """A client, here or on another node, connects to an extension of this node."""
        extension = self._by_id.get(message.extension)
        if extension is None or extension.room.name != message.room:
            self._outputs.deliver(node, wire.Gone(message.connection, NOT_FOUND))
            return
        extension.peers[message.connection] = Peer(node, message.client)
        self._by_connection[message.connection] = extension
        self._tell(extension)
        self._outputs.deliver(node, wire.Attached(message.connection))
        self._tell_peers(extension)

    def detach(self, connection: str) -> None:
        extension = self._by_connection.pop(connection, None)
        if extension is None:
            return
        del extension.peers[connection]
        params = {"connection_id": connection, "reason": "Client disconnected"}
        self._outputs.send(extension.socket, wire.notification("disconnected", params))
        self._tell(extension)
        self._tell_peers(extension)

    def lost(self, node: str) -> None:
        """Another node is gone, and the clients there with it."""
        found = [
            connection
            for connection, extension in self._by_connection.items()
            if extension.peers[connection].node == node
        ]
        for connection in found:
            self.detach(connection)
            # It may be alive, and only unheard for a moment.
            self._outputs.deliver(node, wire.Gone(connection, "The node was not heard any more"))

    def forward(self, node: str, message: wire.ToExtension) -> None:
        extension = self._by_connection.get(message.connection)
        if extension is not None:
            if not message.resumes:
                extension.peers[message.connection].in_flight.add(message.id)
            self._outputs.send(extension.socket, message.frame)
        else:
            # The client's node was taken for dead, or has not heard yet that this has ended.
            self._outputs.deliver(node, wire.Gone(message.connection, "Extension closed"))

    def keep_alive(self, extension: ConnectedExtension) -> float:
        """Say something if it is time; returns when it is time again."""
        if self._clock() >= extension.told_at + STATUS_SECONDS:
            self._tell(extension)
        return extension.told_at + STATUS_SECONDS

    def _tell(self, extension: ConnectedExtension) -> None:
        clients = [wire.ClientListed(id, peer.name) for id, peer in extension.peers.items()]
        status = {**self._status(True, len(clients)), "clients": clients}
        self._outputs.send(extension.socket, wire.notification("status", status))
        extension.told_at = self._clock()

    def _tell_peers(self, extension: ConnectedExtension) -> None:
        count = len(extension.peers)
        for connection, peer in list(extension.peers.items()):
            self._outputs.deliver(peer.node, wire.Peers(connection, count))
