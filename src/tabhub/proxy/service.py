"""One node of the proxy as a service: its sockets, its tokens and its network, around the core."""

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from itertools import count
from typing import Protocol

from websockets.http11 import Request

from tabhub.errors import AccessError, TabhubError, Unavailable
from tabhub.hub.texts import one_line
from tabhub.proxy.addresses import source_of
from tabhub.proxy.outputs import (
    GOING_DOWN,
    AskRoom,
    Close,
    Deliver,
    Identity,
    Leave,
    Output,
    Send,
    Tell,
    Verify,
)
from tabhub.proxy.sockets import ProxySocket, Refusal
from tabhub.proxy.switchboard import Side, Switchboard
from tabhub.wire import proxy as wire

log = logging.getLogger(__name__)

SIDES: dict[str, Side] = {"/extension": "extension", "/mcp": "client"}
MOST_STRANGERS = 1000
MOST_STRANGERS_OF_ADDRESS = 20
"""Sockets that have not authenticated."""
TICK_SECONDS = 1.0
CLOSING_SHARE = 0.8
"""Of the time for draining; in the rest of it the last calls may end."""
LONGEST_PAUSE = 0.25
"""Seconds between two sockets while draining: a few that come back at once burden nobody."""
EXTENSION_ORIGIN = "chrome-extension://"
LONGEST_NAME = 200
"""Of a name that is shown to whoever has sent it."""

CheckToken = Callable[[str], Awaitable[Identity]]


class Network(Protocol):
    """The other nodes."""

    def ask(self, room: str) -> None:
        """Ask who is in a room, join it, then call the service's `members`."""

    def leave(self, room: str) -> None: ...

    def tell(self, presence: wire.NodePresence) -> None: ...

    def deliver(self, node: str, message: wire.NodeMessage) -> None: ...


class NoNetwork:
    """There is one node, so nobody else is in any room."""

    def __init__(self, service: "ProxyService") -> None:
        self._service = service

    def ask(self, room: str) -> None:
        self._service.members(room, ())

    def leave(self, room: str) -> None:
        return

    def tell(self, presence: wire.NodePresence) -> None:
        return

    def deliver(self, node: str, message: wire.NodeMessage) -> None:
        raise AssertionError(f"there is no node {node}")


class ProxyService:
    """Carries out what the core says."""

    def __init__(self, check_token: CheckToken, hosts: Collection[str]) -> None:
        self.node = secrets.token_hex(8)
        self.board = Switchboard(self.node, time.monotonic, time.time)
        self.is_draining = False
        self.is_joined = True
        """Whether this node knows what the others know, such as what was revoked."""
        self.network: Network = NoNetwork(self)
        self._check_token = check_token
        self._hosts = hosts
        """Values of the Host header under which this service may be reached; any if empty."""
        self._numbers = count(1)
        self._sockets: dict[int, ProxySocket] = {}
        self._strangers: dict[int, str] = {}
        """Where the sockets come from that have not authenticated."""
        self._of_address: Counter[str] = Counter()
        self._checking: set[asyncio.Task[None]] = set()
        self._is_pumping = False
        self._leaving: set[int] = set()
        """Sockets that are closed as soon as their calls have ended."""
        self._left = asyncio.Event()

    # What sockets report.

    def side_of(self, request: Request, address: str) -> Side | Refusal:
        side = SIDES.get(request.path.partition("?")[0])
        if side is None:
            return 404, "There is no such WebSocket here.\n"
        try:
            headers = request.headers
            self.require_welcome(headers.get_all("Host"), headers.get_all("Origin"))
        except TabhubError as error:
            return error.status, f"{error.message}\n"
        if self._is_crowded(address):
            return 429, "Too many sockets have not authenticated.\n"
        return side

    def require_welcome(self, hosts: list[str], origins: list[str]) -> None:
        """Whether a request may come in, whatever it asks for; raises if not."""
        if any(not origin.startswith(EXTENSION_ORIGIN) for origin in origins):
            raise AccessError("Pages may not connect.", "foreign_origin")
        names = {host.lower() for host in hosts}
        if self._hosts and not (len(names) == 1 and names <= set(self._hosts)):
            raise _misdirected(names)
        if self.is_draining:
            raise Unavailable("Going down: connect again.", "server_unavailable")
        if not self.is_joined:
            sentence = "This node is not ready yet: try again in a moment."
            raise Unavailable(sentence, "server_unavailable")

    def _is_crowded(self, address: str) -> bool:
        is_full = len(self._strangers) >= MOST_STRANGERS
        return is_full or self._of_address[source_of(address)] >= MOST_STRANGERS_OF_ADDRESS

    def opened(self, socket: ProxySocket, side: Side) -> None:
        socket.number = next(self._numbers)
        self._sockets[socket.number] = socket
        source = self._strangers[socket.number] = source_of(socket.address)
        self._of_address[source] += 1
        self.board.opened(socket.number, side)
        self.pump()

    def received(self, socket: ProxySocket, data: bytes) -> None:
        self.board.received(socket.number, data)
        self.pump()

    def closed(self, socket: ProxySocket) -> None:
        self._sockets.pop(socket.number, None)
        self._no_stranger(socket.number)
        self.board.closed(socket.number)
        self.pump()

    # What the network reports.

    def members(self, room: str, present: tuple[wire.NodePresence, ...]) -> None:
        self.board.members(room, present)
        self.pump()

    def asked(self, room: str) -> wire.Members | None:
        return self.board.asked(room)

    def heard(self, node: str, message: wire.NodeMessage) -> None:
        self.board.heard(node, message)
        self.pump()

    def lost(self, node: str) -> None:
        self.board.lost(node)
        self.pump()

    def found(self, node: str) -> None:
        self.board.found(node)
        self.pump()

    def revoke(self, is_revoked: Callable[[Identity], bool]) -> None:
        self.board.revoke(is_revoked)
        self.pump()

    async def keep_time(self) -> None:
        """Loop: do what is due by the clock."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            try:
                self.board.tick()
                self.pump()
            except Exception:
                # Without a clock no token would expire, and no extension be kept awake.
                log.exception("what was due was not done")

    async def drain(self, seconds: float) -> None:
        """Take no more sockets, and close those that there are, spread over some seconds.

        A socket with calls in flight stays until they have ended, or until the time is up.
        """
        self.is_draining = True
        waiting = list(self._sockets)
        pause = min(LONGEST_PAUSE, seconds * CLOSING_SHARE / max(1, len(waiting)))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for number in waiting:
                    await asyncio.sleep(pause)
                    self._leaving.add(number)
                    self._close_leaving()
                while self._leaving:
                    self._left.clear()
                    await self._left.wait()
        for socket in list(self._sockets.values()):
            socket.close(GOING_DOWN, "Going down")

    def _close_leaving(self) -> None:
        """Close the sockets whose turn has come, but not in the middle of a call."""
        for number in list(self._leaving):
            if not self.board.is_busy(number):
                self._leaving.discard(number)
                if number in self._sockets:
                    self._sockets[number].close(GOING_DOWN, "Going down")
        if not self._leaving:
            self._left.set()

    # Carrying out.

    def pump(self) -> None:
        """Carry out everything, also what comes of it."""
        if self._is_pumping:
            return
        self._is_pumping = True
        try:
            while outputs := self.board.take():
                for output in outputs:
                    self._carry_out(output)
        finally:
            self._is_pumping = False
        if self._leaving:
            self._close_leaving()

    def _carry_out(self, output: Output) -> None:
        match output:
            case Send(number, frame):
                socket = self._sockets.get(number)
                if socket is not None:
                    socket.send(frame)
            case Close(number, code, reason):
                socket = self._sockets.pop(number, None)
                if socket is not None:
                    self._no_stranger(number)
                    socket.close(code, reason)
            case Verify(number, token):
                self._verify(number, token)
            case AskRoom(room):
                self.network.ask(room)
            case Leave(room):
                self.network.leave(room)
            case Tell(presence):
                self.network.tell(presence)
            case Deliver(node, message):
                self.network.deliver(node, message)

    def _verify(self, number: int, token: str) -> None:
        task = asyncio.ensure_future(self._verified(number, token))
        self._checking.add(task)
        task.add_done_callback(self._checking.discard)

    async def _verified(self, number: int, token: str) -> None:
        identity: Identity | TabhubError
        try:
            identity = await self._check_token(token)
            # Its room may be asked for a while, but who it is, is known.
            self._no_stranger(number)
            if number in self._sockets:
                self._sockets[number].authenticated()
        except TabhubError as error:
            identity = error
        self.board.identified(number, identity)
        self.pump()

    def _no_stranger(self, number: int) -> None:
        address = self._strangers.pop(number, None)
        if address is not None:
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]


def _misdirected(names: set[str]) -> AccessError:
    name = one_line(", ".join(sorted(names)), LONGEST_NAME) or "no name"
    return AccessError(
        f"This proxy does not go by the name {name}. Use the address that its operator gave you; "
        f"its operator can allow this name too: --allowed-host {name}",
        "misdirected",
    )
