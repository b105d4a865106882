"""Streams between nodes: any message arrives once and whole, although parts get lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.proxy.nodes.node_streams import MOST_WAITING, NodeStream, TooSlow
from tabhub.wire.nodes import StreamPart


class Pair:
    """A stream, and what the other side makes of its parts."""

    def __init__(self) -> None:
        self.time = 0.0
        self.one = NodeStream("one", lambda: self.time)
        self.two = NodeStream("two", lambda: self.time)
        self.messages: list[tuple[str, bytes]] = []

    def arrive(self, parts: list[StreamPart]) -> None:
        for part in parts:
            message = self.two.received(part)
            if message is not None:
                self.messages.append((part.connection, message))

    def acknowledge(self) -> list[StreamPart]:
        return self.one.acknowledged(self.two.ack())


def test_a_small_message_is_one_part() -> None:
    pair = Pair()
    pair.arrive(pair.one.send("c", b"hello", 100))
    assert pair.messages == [("c", b"hello")]
    assert pair.one.waits_since == 0.0
    assert pair.acknowledge() == []
    assert pair.one.waits_since is None


def test_a_large_message_waits_for_acknowledgements_and_others_pass_it() -> None:
    pair = Pair()
    large = bytes(9_000_000)
    first = pair.one.send("c", large, 500_000)
    assert sum(len(part.body) for part in first) <= 2_000_000
    pair.arrive(first)
    pair.arrive(pair.one.send("d", b"small", 500_000))
    assert pair.messages == [("d", b"small")]
    while parts := pair.acknowledge():
        pair.arrive(parts)
    assert pair.messages[1:] == [("c", large)]


def test_a_connection_with_too_much_on_its_way_is_refused_alone() -> None:
    pair = Pair()
    pair.arrive(pair.one.send("c", bytes(9_000_000), 500_000))
    with pytest.raises(TooSlow):
        for _ in range(MOST_WAITING // 9_000_000 + 1):
            pair.one.send("c", bytes(9_000_000), 500_000)
    pair.arrive(pair.one.send("d", b"small", 500_000))
    pair.one.forget("c")
    pair.arrive(pair.one.send("c", b"end", 500_000))
    assert pair.acknowledge() == []
    assert pair.messages == [("d", b"small"), ("c", b"end")]


def test_a_new_generation_forgets_what_was_on_its_way() -> None:
    pair = Pair()
    lost = pair.one.send("c", bytes(1000), 600)
    pair.arrive(lost[:1])
    late = pair.two.ack()
    pair.one.restart(1)
    pair.two.restart(1)
    assert pair.one.acknowledged(late) == []
    assert pair.one.unacknowledged() == []
    pair.arrive(pair.one.send("c", b"new", 600))
    assert pair.messages == [("c", b"new")]


@given(
    messages=st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=40)), max_size=20),
    losses=st.lists(st.booleans(), min_size=20),
)
def test_parts_that_are_sent_again_arrive_once(
    messages: list[tuple[str, bytes]], losses: list[bool]
) -> None:
    pair, fates = Pair(), iter(losses)
    for connection, message in messages:
        parts = pair.one.send(connection, message, 10)
        pair.arrive([part for part in parts if next(fates, False)])
    pair.arrive(pair.one.unacknowledged())
    pair.arrive(pair.one.unacknowledged())
    for name in "abc":
        mine = [message for connection, message in messages if connection == name]
        assert [message for connection, message in pair.messages if connection == name] == mine
    pair.acknowledge()
    assert pair.one.unacknowledged() == []
