"""The core of the proxy: takes what sockets, nodes and the clock bring, and says what to do.

It does no I/O and never waits. Whoever runs it passes events in (`opened`, `received`,
`identified`, `closed`, `members`, `heard`, `lost`, `tick`) and carries out what `take` returns, in
order. An extension is served by the node that has its socket, a client by its own; they need not
be the same node.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec import Struct

from tabhub.errors import AccessError, TabhubError, Unavailable
from tabhub.proxy.outputs import (
    BAD_TOKEN,
    TOO_LATE,
    TOO_MUCH,
    TRY_LATER,
    AskRoom,
    Identity,
    Leave,
    Output,
    Outputs,
    Tell,
    Verify,
)
from tabhub.proxy.proxy_clients import ConnectedClient, ProxyClients, params_of
from tabhub.proxy.proxy_extensions import ConnectedExtension, ProxyExtensions, extension_id
from tabhub.proxy.rooms import MOST_CLIENTS, UserRoom, room_of
from tabhub.rate_limit import Clock
from tabhub.wire import proxy as wire
from tabhub.wire.proxy import BadMessage

Side = Literal["extension", "client"]
Due = Literal["authentication", "expiry", "status"]

AUTHENTICATION_SECONDS = 10.0
MOST_OF_STRANGER = 20
"""Messages before authentication, for which one is enough."""
MOST_DUE = 4
"""Times that are kept for each socket before those of closed ones are dropped; one has up to 3."""
_FAILED = -32000
"""The code for a failed authentication."""


class Stranger(Struct):
    """A socket that has not authenticated."""

    socket: int
    side: Side
    credentials: wire.Credentials | None = None
    handshake: bytes | None = None
    """The id of the handshake, while its token is checked."""
    identity: Identity | None = None
    """Set while its room is asked for."""
    room: UserRoom | None = None
    messages: int = 0
    """How many it has sent."""


class Switchboard:
    """One node."""

    def __init__(
        self,
        node: str,
        clock: Clock,
        wall_clock: Clock,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self._clock = clock
        self._wall_clock = wall_clock
        self._new_id = new_id
        self._outputs = outputs = Outputs(node, self.heard, self.closed)
        self._clients = ProxyClients(outputs, clock, new_id, self._status)
        self._extensions = ProxyExtensions(outputs, clock, wall_clock, self._status)
        self._rooms: dict[str, UserRoom] = {}
        self._strangers: dict[int, Stranger] = {}
        self._due: list[tuple[float, int, Due]] = []
        """When something about a socket is due, as a heap."""

    @property
    def counts(self) -> Counter[str]:
        """What happened to messages, for metrics."""
        return self._outputs.counts

    @property
    def times(self) -> int:
        """How many times are kept at which something is due."""
        return len(self._due)

    def sockets(self) -> dict[str, int]:
        """How many sockets there are of each kind."""
        return {
            "strangers": len(self._strangers),
            "clients": len(self._clients),
            "extensions": len(self._extensions),
        }

    def is_busy(self, socket: int) -> bool:
        """Whether a call that goes through a socket has not ended."""
        client, extension = self._clients.find(socket), self._extensions.find(socket)
        return (client is not None and client.is_busy) or (
            extension is not None and extension.is_busy
        )

    def take(self) -> list[Output]:
        """What is to be done now, in this order."""
        return self._outputs.take()

    def opened(self, socket: int, side: Side) -> None:
        self._strangers[socket] = Stranger(socket, side)
        self._at(self._clock() + AUTHENTICATION_SECONDS, socket, "authentication")
        if side == "extension":
            request = wire.request(wire.AUTHENTICATE_ID, "authenticate", {})
            self._outputs.send(socket, request)

    def received(self, socket: int, data: bytes) -> None:
        try:
            self._received(socket, data)
        except BadMessage as bad:
            self.counts["refused"] += 1
            self._outputs.send(socket, wire.failure(bad.id, bad.error))

    def _received(self, socket: int, data: bytes) -> None:
        client = self._clients.find(socket)
        extension = self._extensions.find(socket)
        stranger = self._strangers.get(socket)
        if client is not None:
            self._clients.received(client, data)
        elif extension is not None:
            self._extensions.received(extension, data)
        elif stranger is not None:
            self._received_of(stranger, data)

    def _received_of(self, stranger: Stranger, data: bytes) -> None:
        stranger.messages += 1
        if stranger.messages > MOST_OF_STRANGER:
            self._outputs.close(stranger.socket, TOO_MUCH, "rate_limited")
        elif stranger.side == "extension":
            self._credentials(stranger, data)
        else:
            self._handshake(stranger, data)

    def identified(self, socket: int, identity: Identity | TabhubError) -> None:
        """The token of a socket was checked."""
        stranger = self._strangers.get(socket)
        if stranger is None:
            return
        if isinstance(identity, TabhubError):
            # A token that could not be checked may be good, so its holder comes again.
            is_bad = isinstance(identity, AccessError)
            self._refuse(stranger, identity, BAD_TOKEN if is_bad else TRY_LATER)
            return
        stranger.identity = identity
        stranger.room = room = self._room(room_of(identity.user))
        room.waiting.append(socket)
        if room.is_known:
            self._admit_waiting(room)

    def closed(self, socket: int) -> None:
        """A socket is closed, by either side."""
        stranger = self._strangers.pop(socket, None)
        client, extension = self._clients.find(socket), self._extensions.find(socket)
        if stranger is not None and stranger.room is not None:
            if socket in stranger.room.waiting:
                stranger.room.waiting.remove(socket)
            self._leave_if_empty(stranger.room)
        if client is not None:
            self._clients.remove(client)
            self._changed(client.room)
        if extension is not None:
            self._extensions.remove(extension)
            self._extension_left(extension)

    def _extension_left(self, extension: ConnectedExtension) -> None:
        extension.room.remove_extension(extension.id)
        self._changed(extension.room)

    def members(self, room: str, present: tuple[wire.NodePresence, ...]) -> None:
        """The others in a room have answered; with nothing, if there are none."""
        found = self._rooms.get(room)
        if found is None:
            return
        for presence in present:
            found.take(presence)
        found.is_known = True
        self._admit_waiting(found)

    def asked(self, room: str) -> wire.Members | None:
        """The answer to another node that asks who is in a room; None if nobody is here."""
        found = self._rooms.get(room)
        if found is None or not found.is_known:
            return None
        return wire.Members(room, found.present())

    def heard(self, node: str, message: wire.NodeMessage) -> None:
        """A message of another node, or of this one to itself."""
        match message:
            case wire.NodePresence():
                self._heard_presence(message)
            case wire.Attach():
                self._extensions.attach(node, message)
            case wire.Attached():
                self._clients.attached(message.connection)
            case wire.Detach():
                self._extensions.detach(message.connection)
            case wire.Gone():
                self._clients.gone(message.connection, message.reason)
            case wire.Peers():
                self._clients.peers(message)
            case wire.ToExtension():
                self._extensions.forward(node, message)
            case wire.ToClient():
                self._clients.answered(node, message)

    def lost(self, node: str) -> None:
        """Another node no longer answers."""
        self._clients.lost(node)
        self._extensions.lost(node)
        for room in self._rooms.values():
            room.lose(node)

    def found(self, node: str) -> None:
        """A node has come, or has come back: it learns what this one has in each room."""
        for room in self._rooms.values():
            self._outputs.deliver(node, room.own)

    def revoke(self, is_revoked: Callable[[Identity], bool]) -> None:
        """Close the sockets whose tokens no longer count."""
        holders: list[ConnectedClient | ConnectedExtension]
        holders = [*self._clients.all(), *self._extensions.all()]
        for holder in holders:
            if is_revoked(holder.identity):
                self._outputs.close(holder.socket, BAD_TOKEN, "not_authenticated")
        # A token that was good when it was checked waits while its room is asked for.
        for stranger in list(self._strangers.values()):
            if stranger.identity is not None and is_revoked(stranger.identity):
                error = AccessError("Authentication failed: Token was revoked")
                self._refuse(stranger, error, BAD_TOKEN)

    def tick(self) -> None:
        """Do what is due by the clock."""
        while self._due and self._due[0][0] <= self._clock():
            _, socket, what = heapq.heappop(self._due)
            if what == "authentication":
                self._check_authentication(socket)
            elif what == "expiry":
                self._check_expiry(socket)
            else:
                self._keep_alive(socket)

    # Authentication.

    def _credentials(self, stranger: Stranger, data: bytes) -> None:
        answer = wire.read_extension(data)
        if answer is None or answer.id != wire.AUTHENTICATE_ID or stranger.credentials is not None:
            self.counts["dropped"] += 1
            return
        try:
            credentials = msgspec.json.decode(answer.result or b"null", type=wire.Credentials)
        except (ValueError, TypeError):
            error = AccessError("Authentication failed: name and accessToken are needed")
            self._refuse(stranger, error, BAD_TOKEN)
            return
        stranger.credentials = credentials
        self._outputs.add(Verify(stranger.socket, credentials.access_token))

    def _handshake(self, stranger: Stranger, data: bytes) -> None:
        message = wire.read_client(data)
        if message.method != "mcp_handshake" or message.id is None or stranger.handshake:
            error = AccessError("Send mcp_handshake first, and wait for its answer.")
            stranger.handshake = message.id or b"null"
            self._refuse(stranger, error, BAD_TOKEN)
            return
        stranger.handshake = message.id
        token = params_of(message, wire.ProxyHandshake).access_token
        self._outputs.add(Verify(stranger.socket, token))

    def _refuse(self, stranger: Stranger, error: TabhubError, code: int) -> None:
        own = b'"%s"' % wire.AUTHENTICATE_ID.encode()
        id = own if stranger.side == "extension" else stranger.handshake or b"null"
        error.code = _FAILED
        self._outputs.send(stranger.socket, wire.failure(id, error))
        self._outputs.close(stranger.socket, code, error.reason)

    def _admit_waiting(self, room: UserRoom) -> None:
        while room.waiting:
            stranger = self._strangers[room.waiting[0]]
            if stranger.credentials is not None:
                self._admit_extension(stranger, room, stranger.credentials)
            else:
                self._admit_client(stranger, room)

    def _admit_client(self, stranger: Stranger, room: UserRoom) -> None:
        if not room.has_room_for_client:
            self._refuse(stranger, _too_many("clients", MOST_CLIENTS), TOO_MUCH)
            return
        identity = self._let_in(stranger)
        self._clients.admit(stranger.socket, room, identity, stranger.handshake or b"null")
        room.waiting.remove(stranger.socket)
        self._changed(room)

    def _admit_extension(
        self, stranger: Stranger, room: UserRoom, credentials: wire.Credentials
    ) -> None:
        identity, socket = stranger.identity, stranger.socket
        assert identity is not None
        profile = credentials.profile_id
        id = f"ext-{self._new_id()}" if profile is None else extension_id(identity.user, profile)
        if not room.has_room_for(id):
            self._refuse(stranger, _too_many("extensions", wire.MOST_EXTENSIONS), TOO_MUCH)
            return
        self._let_in(stranger)
        name = wire.shown_name(credentials.name)
        self._extensions.admit(socket, room, identity, id, name)
        room.waiting.remove(socket)
        self._keep_alive(socket)
        self._changed(room)

    def _let_in(self, stranger: Stranger) -> Identity:
        assert stranger.identity is not None
        del self._strangers[stranger.socket]
        self._at_expiry(stranger.socket, stranger.identity)
        return stranger.identity

    def _check_authentication(self, socket: int) -> None:
        if socket in self._strangers:
            self._outputs.close(socket, TOO_LATE, "not_authenticated")

    def _at_expiry(self, socket: int, identity: Identity) -> None:
        left = identity.expires - self._wall_clock()
        self._at(self._clock() + left, socket, "expiry")

    def _check_expiry(self, socket: int) -> None:
        holder = self._clients.find(socket) or self._extensions.find(socket)
        if holder is None:
            return
        if holder.identity.expires <= self._wall_clock():
            self._outputs.close(socket, BAD_TOKEN, "token_expired")
        else:
            # The clock of the wall was set back.
            self._at_expiry(socket, holder.identity)

    # Rooms.

    def _room(self, name: str) -> UserRoom:
        room = self._rooms.get(name)
        if room is None:
            node = self._outputs.node
            room = self._rooms[name] = UserRoom(name, node, self._clock)
            self._outputs.add(AskRoom(name))
        return room

    def _changed(self, room: UserRoom) -> None:
        """Tell the others what this node has now, and leave if that is nothing."""
        self._outputs.add(Tell(room.own))
        self._leave_if_empty(room)

    def _leave_if_empty(self, room: UserRoom) -> None:
        if room.is_left and self._rooms.get(room.name) is room:
            del self._rooms[room.name]
            self._outputs.add(Leave(room.name))

    def _heard_presence(self, presence: wire.NodePresence) -> None:
        room = self._rooms.get(presence.room)
        if room is None or not room.is_known:
            return
        if room.take(presence):
            # It may have come before it could hear of us.
            self._outputs.deliver(presence.node, room.own)
        for id in room.replaced():
            self._extensions.replace(id)

    # The clock.

    def _at(self, time: float, socket: int, what: Due) -> None:
        if len(self._due) > MOST_DUE * (1 + sum(self.sockets().values())):
            self._forget_closed()
        heapq.heappush(self._due, (time, socket, what))

    def _forget_closed(self) -> None:
        """Whoever connects again and again would leave the end of a token behind each time."""
        self._due = [due for due in self._due if self._is_open(due[1])]
        heapq.heapify(self._due)

    def _is_open(self, socket: int) -> bool:
        is_admitted = self._clients.find(socket) or self._extensions.find(socket)
        return socket in self._strangers or is_admitted is not None

    def _keep_alive(self, socket: int) -> None:
        extension = self._extensions.find(socket)
        if extension is not None:
            self._at(self._extensions.keep_alive(extension), socket, "status")

    def _status(self, connected: bool, count: int) -> dict[str, Any]:
        now = datetime.fromtimestamp(self._wall_clock(), UTC)
        timestamp = now.isoformat(timespec="milliseconds")
        return {"connected": connected, "peer_count": count, "timestamp": timestamp}


def _too_many(what: str, most: int) -> Unavailable:
    return Unavailable(f"This user has {most} {what} already.", "rate_limited")
