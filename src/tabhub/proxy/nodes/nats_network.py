"""The other nodes, over core NATS.

| subject | what |
|---|---|
| `room.<hash of the user>` | subscribed while a node has sockets of the user; questions and news |
| `node.<id>` | parts of streams to a node, and its acknowledgements |
| `beat` | each node, each second |
| `unheard.<id>.<other id>` | where the server says that nobody listens to the other node |

What a node has in a room goes only over the room's subject, so that it arrives in order.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from tabhub.proxy.nodes.node_streams import NodeStream, TooSlow
from tabhub.rate_limit import Clock
from tabhub.wire import nodes, proxy
from tabhub.wire.nodes import NodeBeat, RoomNews, RoomQuestion, StreamAck, StreamPart

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
LOST_SECONDS = 3.0
"""A node that was not heard for so long is lost."""
ANSWER_SECONDS = 1.0
"""How long a room may take to say who is in it."""
ACK_SECONDS = 0.02
TELL_SECONDS = 0.05
"""Nodes that come back come together, and all of them are told at once."""
SLOW_READER = "slow_reader"


class NodeService(Protocol):
    """What the network reports to."""

    node: str

    def members(self, room: str, present: tuple[proxy.NodePresence, ...]) -> None: ...

    def asked(self, room: str) -> proxy.Members | None: ...

    def heard(self, node: str, message: proxy.NodeMessage) -> None: ...

    def lost(self, node: str) -> None: ...

    def found(self, node: str) -> None: ...


class NatsNetwork:
    """One node's part in it."""

    def __init__(
        self,
        service: NodeService,
        client: Client,
        met_again: Callable[[], None],
        clock: Clock = time.monotonic,
    ) -> None:
        self._service = service
        self._met_again = met_again
        """Called when a node was out of reach, and is not any more."""
        self._own = service.node
        self._client = client
        self._clock = clock
        self._outgoing: asyncio.Queue[tuple[str, bytes, str]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._rooms: dict[str, Subscription | None] = {}
        """The subscription of each room, None while the others are asked who is in it."""
        self._streams: dict[str, NodeStream] = {}
        self._heard_at: dict[str, float] = {}
        self._last_beats: dict[str, int] = {}
        """Of nodes whose beat was heard since they were lost."""
        self._beats = 0
        self._checked_at = clock()
        self._owed: set[str] = set()
        """Nodes whose parts have to be acknowledged."""
        self._returned: str | None = None
        """One of the nodes that have come back, for which all rooms are told again."""

    async def start(self) -> None:
        own = self._own
        await self._client.subscribe(f"node.{own}", cb=_guarded(self._on_stream))
        await self._client.subscribe(f"unheard.{own}.*", cb=_guarded(self._on_unheard))
        await self._client.subscribe("beat", cb=_guarded(self._on_beat))
        await self._client.flush()
        self._spawn(self._write())
        self._spawn(self._keep_beating())

    async def stop(self) -> None:
        """Leave, so that the others need not wait for beats that do not come."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        leaving = NodeBeat(self._own, self._beats, is_leaving=True)
        self._publish("beat", nodes.encode(leaving))
        try:
            while not self._outgoing.empty():
                await self._client.publish(*self._outgoing.get_nowait())
            await self._client.flush(1)
        except (NatsError, OSError, RuntimeError):
            # RuntimeError: uvloop says so of a socket that is closed.
            log.info("left without a word, as NATS is not there")

    def returned(self) -> None:
        """The connection to NATS was broken, and stands again: both sides may miss something."""
        self._beat(is_back=True)
        # That nobody was heard says nothing about the others.
        self._heard_at = dict.fromkeys(self._heard_at, self._clock())
        for node, stream in self._streams.items():
            self._send(node, stream.unacknowledged())
            self._tell_again(node)

    # What the service calls.

    def ask(self, room: str) -> None:
        self._rooms[room] = None
        self._spawn(self._join(room))

    def leave(self, room: str) -> None:
        subscription = self._rooms.pop(room, None)
        if subscription is not None:
            self._spawn(_unsubscribe(subscription))

    def tell(self, presence: proxy.NodePresence) -> None:
        self._publish(f"room.{presence.room}", nodes.encode(RoomNews(presence)))

    def deliver(self, node: str, message: proxy.NodeMessage) -> None:
        if isinstance(message, proxy.NodePresence):
            self.tell(message)
            return
        part_bytes = self._client.max_payload // 2
        stream, connection = self._stream(node), message.connection
        try:
            self._send(node, stream.send(connection, nodes.encode(message), part_bytes))
        except TooSlow:
            self._end_slow(node, stream, message)

    def _end_slow(self, node: str, stream: NodeStream, message: proxy.NodeMessage) -> None:
        """End a connection on both sides, since the network cannot carry what it sends."""
        assert not isinstance(message, proxy.NodePresence)
        log.warning("a connection has more on its way than may wait; it is ended")
        connection = message.connection
        stream.forget(connection)
        gone, detach = proxy.Gone(connection, SLOW_READER), proxy.Detach(connection)
        is_from_client = isinstance(message, proxy.ToExtension)
        self.deliver(node, detach if is_from_client else gone)
        self._service.heard(node, gone if is_from_client else detach)

    # Rooms.

    async def _join(self, room: str) -> None:
        present = await self._who_is_in(room)
        if not self._is_joining(room):
            return
        subscription = await self._client.subscribe(f"room.{room}", cb=_guarded(self._on_room))
        if not self._is_joining(room):
            await _unsubscribe(subscription)
            return
        self._rooms[room] = subscription
        for one in present:
            self._heard_at.setdefault(one.node, self._clock())
        self._heard_at.pop(self._own, None)
        self._service.members(room, present)

    def _is_joining(self, room: str) -> bool:
        return room in self._rooms and self._rooms[room] is None

    async def _who_is_in(self, room: str) -> tuple[proxy.NodePresence, ...]:
        question = nodes.encode(RoomQuestion(self._own))
        try:
            answer = await self._client.request(f"room.{room}", question, timeout=ANSWER_SECONDS)
            return nodes.read_members(answer.data).present
        except (NatsError, ValueError):
            # Nobody is there. Whoever does not answer will hear our news, and then tell its own.
            return ()

    async def _on_room(self, message: Msg) -> None:
        found = nodes.read_room(message.data)
        if isinstance(found, RoomNews):
            self._hear(found.presence.node)
            self._service.heard(found.presence.node, found.presence)
            return
        members = self._service.asked(message.subject.removeprefix("room."))
        if members is not None:
            self._publish(message.reply, nodes.encode(members))

    # Streams.

    def _stream(self, node: str) -> NodeStream:
        stream = self._streams.get(node)
        if stream is None:
            stream = self._streams[node] = NodeStream(self._own, self._clock)
        return stream

    def _send(self, node: str, parts: list[StreamPart]) -> None:
        for part in parts:
            self._publish(f"node.{node}", nodes.encode(part), f"unheard.{self._own}.{node}")

    async def _on_stream(self, message: Msg) -> None:
        found = nodes.read_stream(message.data)
        self._hear(found.sender)
        if isinstance(found, StreamAck):
            self._send(found.sender, self._stream(found.sender).acknowledged(found))
        else:
            self._on_part(found)

    def _on_part(self, part: StreamPart) -> None:
        node, stream = part.sender, self._stream(part.sender)
        if part.generation > stream.generation:
            self._given_up(node, stream, part.generation)
        if part.generation < stream.generation:
            return
        message = stream.received(part)
        self._owe(node, stream)
        if message is not None and part.connection:
            self._service.heard(node, nodes.read_message(message))
        elif not part.connection:
            self._tell_again(node)

    def _given_up(self, node: str, stream: NodeStream, generation: int) -> None:
        """The other node has lost this one, and has ended what was between them."""
        stream.restart(generation)
        self._service.lost(node)
        self._greet(node)

    def _greet(self, node: str) -> None:
        """Let a node learn the generation, and tell again what it has in each room."""
        self._send(node, self._stream(node).send("", b"", 1))

    def _owe(self, node: str, stream: NodeStream) -> None:
        if stream.owes_much:
            self._acknowledge(node)
            return
        if not self._owed:
            asyncio.get_running_loop().call_later(ACK_SECONDS, self._acknowledge_all)
        self._owed.add(node)

    def _acknowledge_all(self) -> None:
        owed, self._owed = self._owed, set()
        for node in owed:
            self._acknowledge(node)

    def _acknowledge(self, node: str) -> None:
        self._publish(f"node.{node}", nodes.encode(self._stream(node).ack()))

    # Who is alive.

    def _hear(self, node: str) -> None:
        self._heard_at[node] = self._clock()

    async def _on_unheard(self, message: Msg) -> None:
        """Nobody listens to a node that something was sent to."""
        node = message.subject.rpartition(".")[2]
        if node in self._heard_at:
            log.info("a node is gone: %s", node)
            self._lose(node)
        else:
            stream = self._stream(node)
            stream.restart(stream.generation + 1)

    async def _on_beat(self, message: Msg) -> None:
        beat = nodes.read_beat(message.data)
        if beat.is_leaving:
            self._lose(beat.node)
            return
        self._hear(beat.node)
        # Where a beat was lost, something else may be lost as well.
        has_gap = beat.number != self._last_beats.get(beat.node, 0) + 1
        self._last_beats[beat.node] = beat.number
        if beat.is_back or has_gap:
            log.info("a node is here again: %s", beat.node)
            self._find(beat.node)

    def _find(self, node: str) -> None:
        self._send(node, self._stream(node).unacknowledged())
        self._greet(node)
        self._tell_again(node)

    def _tell_again(self, node: str) -> None:
        if self._returned is None:
            asyncio.get_running_loop().call_later(TELL_SECONDS, self._tell_all)
        self._returned = node

    def _tell_all(self) -> None:
        node, self._returned = self._returned, None
        if node is not None:
            self._service.found(node)
            self._met_again()

    def _lose(self, node: str) -> None:
        self._heard_at.pop(node, None)
        self._last_beats.pop(node, None)
        stream = self._stream(node)
        stream.restart(stream.generation + 1)
        self._service.lost(node)

    async def _keep_beating(self) -> None:
        while True:
            self._beat()
            await asyncio.sleep(BEAT_SECONDS)
            try:
                self._check_others()
            except Exception:
                # Without beats the others would take this node for dead.
                log.exception("the other nodes were not checked")

    def _check_others(self) -> None:
        now, checked_at = self._clock(), self._checked_at
        self._checked_at = now
        # If this process has stood still, what the others sent waits to be read.
        if now < checked_at + 2 * BEAT_SECONDS:
            self._lose_unheard(now - LOST_SECONDS)

    def _beat(self, is_back: bool = False) -> None:
        self._beats += 1
        self._publish("beat", nodes.encode(NodeBeat(self._own, self._beats, is_back)))

    def _lose_unheard(self, limit: float) -> None:
        for node in [node for node, at in self._heard_at.items() if at <= limit]:
            log.warning("a node was not heard for %.0f s: %s", LOST_SECONDS, node)
            self._lose(node)
        for node in list(self._heard_at):
            since = self._stream(node).waits_since
            if since is not None and since <= limit:
                log.warning("a node has not acknowledged for %.0f s: %s", LOST_SECONDS, node)
                self._lose(node)
                self._hear(node)
                self._find(node)

    # Writing.

    def _publish(self, subject: str, data: bytes, reply: str = "") -> None:
        self._outgoing.put_nowait((subject, data, reply))

    async def _write(self) -> None:
        while True:
            subject, data, reply = await self._outgoing.get()
            try:
                await self._client.publish(subject, data, reply)
            except (NatsError, OSError) as error:
                # Not connected: what counts is sent again, or given up by both sides.
                log.debug("not published: %s", error)
            except Exception:
                log.exception("something was not published")

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task of the network has failed", exc_info=error)


async def _unsubscribe(subscription: Subscription) -> None:
    try:
        await subscription.unsubscribe()
    except (NatsError, OSError) as error:
        log.debug("not unsubscribed: %s", error)


def _guarded(handle: Callable[[Msg], Awaitable[None]]) -> Callable[[Msg], Awaitable[None]]:
    """A message that cannot be read is reported, and the next one read."""

    async def handle_guarded(message: Msg) -> None:
        try:
            await handle(message)
        except ValueError as error:
            log.warning("a message on %s cannot be read: %s", message.subject, error)
        except Exception:
            log.exception("a message on %s was not handled", message.subject)

    return handle_guarded
