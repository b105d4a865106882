"""What a node does in answer to an event: the outputs of the switchboard, in order."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from tabhub.wire import proxy as wire

REPLACED, BAD_TOKEN, TOO_LATE, TOO_LARGE, TOO_MUCH = 4001, 4401, 4408, 4413, 4429
GOING_DOWN, TRY_LATER = 1012, 1013
"""Codes with which sockets are closed."""


class Identity(Struct, frozen=True):
    """Who holds a socket, as its token says."""

    user: str
    expires: float
    """In seconds since 1970."""
    issued: float = 0.0
    token_id: str = ""
    client: str = ""
    """The name that the person has given to this client."""


class Send(NamedTuple):
    socket: int
    frame: bytes


class Close(NamedTuple):
    socket: int
    code: int
    reason: str


class Verify(NamedTuple):
    """Check a token, then call `identified`."""

    socket: int
    token: str


class AskRoom(NamedTuple):
    """Ask who is in a room, join it, then call `members`."""

    room: str


class Leave(NamedTuple):
    room: str


class Tell(NamedTuple):
    """Tell all nodes in a room."""

    presence: wire.NodePresence


class Deliver(NamedTuple):
    node: str
    message: wire.NodeMessage


Output = Send | Close | Verify | AskRoom | Leave | Tell | Deliver


class Outputs:
    """Collects outputs. What a node has to tell itself is heard at once."""

    def __init__(
        self,
        node: str,
        hear: Callable[[str, wire.NodeMessage], None],
        forget: Callable[[int], None],
    ) -> None:
        self.node = node
        self.counts: Counter[str] = Counter()
        """What happened to messages, for metrics."""
        self._hear = hear
        self._forget = forget
        self._all: list[Output] = []

    def take(self) -> list[Output]:
        taken, self._all = self._all, []
        return taken

    def add(self, output: Output) -> None:
        self._all.append(output)

    def send(self, socket: int, frame: bytes) -> None:
        self._all.append(Send(socket, frame))

    def deliver(self, node: str, message: wire.NodeMessage) -> None:
        if node == self.node:
            self._hear(node, message)
        else:
            self._all.append(Deliver(node, message))

    def close(self, socket: int, code: int, reason: str) -> None:
        """Close a socket, and forget it at once: nothing of it counts any longer."""
        self._all.append(Close(socket, code, reason))
        self._forget(socket)
