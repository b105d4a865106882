"""Nodes of the proxy in memory: sockets, the messages between nodes, and losses, step by step."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

from msgspec import msgpack

from tabhub.errors import AccessError
from tabhub.proxy.outputs import (
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
from tabhub.proxy.switchboard import Side, Switchboard
from tabhub.wire.proxy import NodeMessage

Json = dict[str, Any]
FAR = 4_000_000_000.0
_decode = msgpack.Decoder(NodeMessage).decode


class Peer:
    """One side of a socket, as a client or an extension has it."""

    def __init__(self, network: "Network", node: str, side: Side) -> None:
        self.network = network
        self.node = node
        self.socket = network.new_socket(self)
        self.received: list[Json] = []
        self.raw: list[bytes] = []
        self.closed: tuple[int, str] | None = None
        network.do(node, lambda board: board.opened(self.socket, side))

    def is_open(self) -> bool:
        return self.closed is None

    def send(self, message: Json | str | bytes) -> None:
        data = message if isinstance(message, str | bytes) else json.dumps(message)
        encoded = data if isinstance(data, bytes) else data.encode()
        self.network.do(self.node, lambda board: board.received(self.socket, encoded))

    def ask(self, id: Any, method: str, params: Json | None = None, **more: Any) -> Json:
        """Send a request, and return what came with its id."""
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}, **more}
        self.send(request)
        return self.answer(id)

    def answer(self, id: Any) -> Json:
        """The newest message with an id, of the same type."""
        found = [m for m in self.received if "id" in m and m["id"] == id]
        assert found, (id, self.received)
        assert type(found[-1]["id"]) is type(id)
        return found[-1]

    def told(self, method: str) -> list[Json]:
        """The params of the notifications of this name."""
        return [m["params"] for m in self.received if m.get("method") == method and "id" not in m]

    def close(self) -> None:
        self.network.do(self.node, lambda board: board.closed(self.socket))


class Network:
    """Some nodes; what they send each other arrives when `settle` is called, in order."""

    def __init__(self, *nodes: str) -> None:
        self.time = 1000.0
        self._numbers = iter(range(1, 10**9))
        self.boards = {node: self._board(node) for node in nodes or ("one",)}
        self.peers: dict[int, Peer] = {}
        self.queues: dict[tuple[str, str], deque[bytes]] = {}
        """What is on the way, by sender and receiver."""
        self.rooms: dict[str, set[str]] = {}
        self.is_held = False
        """Whether messages wait until `settle`."""
        self.are_rooms_silent = False
        """Whether who asks for a room waits until `answer_rooms`."""
        self.asked: list[tuple[str, str]] = []
        """The nodes that wait for an answer, and the rooms."""

    def _board(self, node: str) -> Switchboard:
        new_id = (f"{node}-{number}" for number in self._numbers)
        return Switchboard(node, lambda: self.time, lambda: self.time, lambda: next(new_id))

    def new_socket(self, peer: Peer) -> int:
        socket = next(self._numbers)
        self.peers[socket] = peer
        return socket

    def do(self, node: str, event: Any) -> None:
        board = self.boards.get(node)
        if board is not None:
            event(board)
            self._carry_out(node)
        if not self.is_held:
            self.settle()

    def tick(self, seconds: float) -> None:
        self.time += seconds
        for node in list(self.boards):
            self.do(node, Switchboard.tick)

    def settle(self) -> None:
        while any(self.queues.values()):
            for pair in [pair for pair, queue in self.queues.items() if queue]:
                self.arrive(*pair)

    def arrive(self, sender: str, receiver: str) -> None:
        """One message on the way from one node to another arrives."""
        message = _decode(self.queues[sender, receiver].popleft())
        if receiver in self.boards:
            self.boards[receiver].heard(sender, message)
            self._carry_out(receiver)

    def add(self, node: str) -> None:
        """A node comes."""
        others = list(self.boards)
        self.boards[node] = self._board(node)
        for other in others:
            self.do(other, lambda board: board.found(node))

    def kill(self, node: str) -> None:
        """A node dies with its sockets; the others learn of it."""
        del self.boards[node]
        for members in self.rooms.values():
            members.discard(node)
        for peer in self.peers.values():
            if peer.node == node:
                peer.closed = (1006, "")
        self.queues = {pair: queue for pair, queue in self.queues.items() if node not in pair}
        for other in list(self.boards):
            self.do(other, lambda board: board.lost(node))

    def _carry_out(self, node: str) -> None:
        board = self.boards[node]
        while outputs := board.take():
            for output in outputs:
                self._one(node, board, output)

    def _one(self, node: str, board: Switchboard, output: Output) -> None:
        match output:
            case Send(socket, frame):
                peer = self.peers[socket]
                assert peer.closed is None, "sent to a socket that was closed"
                peer.raw.append(frame)
                peer.received.append(json.loads(frame))
            case Close(socket, code, reason):
                self.peers[socket].closed = (code, reason)
            case Verify(socket, token):
                board.identified(socket, identity(token, self.time))
            case AskRoom(room):
                self.asked.append((node, room))
                if not self.are_rooms_silent:
                    self._answer(board)
            case Leave(room):
                self.rooms.get(room, set()).discard(node)
            case Tell(presence):
                for other in self.rooms.get(presence.room, set()) - {node}:
                    self._queue(node, other, presence)
            case Deliver(other, message):
                self._queue(node, other, message)

    def answer_rooms(self) -> None:
        """Who has asked for a room hears who is in it."""
        self.are_rooms_silent = False
        while self.asked:
            node = self.asked[-1][0]
            self.do(node, self._answer)

    def _answer(self, board: Switchboard) -> None:
        node, room = self.asked.pop()
        board.members(room, self._ask(node, room))

    def _ask(self, node: str, room: str) -> Any:
        members = self.rooms.setdefault(room, set())
        answers = (self.boards[other].asked(room) for other in sorted(members))
        found = next((answer.present for answer in answers if answer is not None), ())
        members.add(node)
        return found

    def _queue(self, sender: str, receiver: str, message: NodeMessage) -> None:
        self.queues.setdefault((sender, receiver), deque()).append(msgpack.encode(message))


def identity(token: str, now: float) -> Identity | AccessError:
    """Tokens of the tests are `user`, `user/client` or `user/client/seconds`."""
    if token == "bad":
        return AccessError("Authentication failed: Invalid token")
    user, client, seconds = (*token.split("/"), "", "")[:3]
    expires = now + float(seconds) if seconds else FAR
    return Identity(user, expires, token_id=token, client=client)


def extension(
    network: Network, node: str = "one", token: str = "ann", profile: str | None = None
) -> Peer:
    """An extension that has authenticated."""
    peer = Peer(network, node, "extension")
    more = {} if profile is None else {"profile_id": profile}
    credentials = {"name": "Chrome 141", "accessToken": token, **more}
    peer.send({"jsonrpc": "2.0", "id": "proxy:1", "result": credentials})
    return peer


def extension_id(peer: Peer) -> str:
    found: str = peer.told("authenticated")[-1]["extension_id"]
    return found


def client(network: Network, node: str = "one", token: str = "ann") -> Peer:
    """A client that has authenticated."""
    peer = Peer(network, node, "client")
    peer.ask("hello", "mcp_handshake", {"accessToken": token})
    return peer


def connected(
    network: Network, browser: Peer, node: str = "one", token: str = "ann"
) -> tuple[Peer, str]:
    """A client that is connected to an extension, and the name of its connection."""
    peer = client(network, node, token)
    answer = peer.ask("go", "connect", {"extension_id": extension_id(browser)})
    return peer, answer["result"]["connection_id"]


def requests(browser: Peer) -> Iterator[Json]:
    """The requests that an extension has got from clients."""
    return (m for m in browser.received if "method" in m and "id" in m and m["id"] != "proxy:1")
