"""A room: everything of one user, on this node and on all others. No I/O.

Every node keeps what the others have told of themselves. Who comes asks once, and the first answer
names all; after that each node tells its own part as a whole whenever it changes.
"""

from collections.abc import Iterator
from hashlib import sha256

from tabhub.rate_limit import Bucket, Clock
from tabhub.wire.proxy import MOST_EXTENSIONS, ExtensionPresent, NodePresence

MOST_CLIENTS = 64
"""Of one user."""
USER_RATE, USER_BURST = 1000.0, 2000.0
"""Messages a second."""


def room_of(user: str) -> str:
    """The name of a user's room: a user id may have any characters and any length."""
    return sha256(user.encode()).hexdigest()


class UserRoom:
    """Who is there, by node."""

    def __init__(self, name: str, node: str, clock: Clock) -> None:
        self.name = name
        self.is_known = False
        """Whether the others have answered, or there are none."""
        self.waiting: list[int] = []
        """Sockets that can be admitted only when the room is known."""
        self.bucket = Bucket(USER_RATE, USER_BURST, clock)
        self._node = node
        self._extensions: dict[str, ExtensionPresent] = {}
        self._clients = 0
        self._others: dict[str, NodePresence] = {}

    @property
    def own(self) -> NodePresence:
        """What this node has."""
        extensions = tuple(self._extensions.values())
        return NodePresence(self._node, self.name, extensions, self._clients)

    @property
    def is_left(self) -> bool:
        """Whether this node has nobody in it."""
        return not (self._extensions or self._clients or self.waiting)

    @property
    def has_room_for_client(self) -> bool:
        others = sum(presence.clients for presence in self._others.values())
        return self._clients + others < MOST_CLIENTS

    def has_room_for(self, extension: str) -> bool:
        known = self.extensions()
        return extension in known or len(known) < MOST_EXTENSIONS

    def present(self) -> tuple[NodePresence, ...]:
        return (self.own, *self._others.values())

    def extensions(self) -> dict[str, tuple[str, ExtensionPresent]]:
        """The extensions by id, each with its node; of two the newer."""
        found: dict[str, tuple[str, ExtensionPresent]] = {}
        for node, extension in self._all():
            known = found.get(extension.id)
            if known is None or (known[1].turn, known[0]) < (extension.turn, node):
                found[extension.id] = (node, extension)
        return found

    def add_extension(self, id: str, name: str, now: float = 0.0) -> None:
        """An extension has come to this node, as the newest of its id.

        By the clock of the wall it is the newest also for nodes that this one has not heard yet.
        """
        known = max((one.turn for _, one in self._all() if one.id == id), default=0)
        turn = max(known + 1, int(now * 1000))
        self._extensions[id] = ExtensionPresent(id, name, turn)

    def remove_extension(self, id: str) -> None:
        self._extensions.pop(id, None)

    def add_client(self) -> None:
        self._clients += 1

    def remove_client(self) -> None:
        self._clients -= 1

    def take(self, presence: NodePresence) -> bool:
        """Take what another node says; returns whether that node was not known before."""
        if presence.node == self._node:
            return False
        is_new = presence.node not in self._others
        if presence.extensions or presence.clients:
            self._others[presence.node] = presence
        else:
            self._others.pop(presence.node, None)
        return is_new

    def lose(self, node: str) -> None:
        """Forget a node that no longer answers."""
        self._others.pop(node, None)

    def replaced(self) -> list[str]:
        """The extensions of this node that have come again on another one."""
        newest = self.extensions()
        return [id for id in self._extensions if newest[id][0] != self._node]

    def _all(self) -> Iterator[tuple[str, ExtensionPresent]]:
        for extension in self._extensions.values():
            yield self._node, extension
        for presence in self._others.values():
            for extension in presence.extensions:
                yield presence.node, extension
