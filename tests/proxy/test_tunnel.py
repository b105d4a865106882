"""The tunnel's two ends: the table that both languages share, and the server's own end."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabhub.errors import ProtocolError, TabhubError
from tabhub.wire.tunnel import (
    CallingEnd,
    Closed,
    Piece,
    TunnelAnswer,
    TunnelRequest,
    cut,
)
from tests.proxy.answering_end import AnsweringEnd, AnsweringTunnels

pytestmark = pytest.mark.requirement("PX-08")
VECTORS = json.loads(Path(__file__).with_name("tunnel_vectors.json").read_text())
MAX_BYTES = 10_000_000


def expanded(text: Any) -> str:
    """Long texts are written as units and how often they come."""
    return text if isinstance(text, str) else "".join(unit * times for unit, times in text)


@pytest.mark.parametrize("vector", VECTORS["cuts"], ids=str)
def test_a_message_is_cut_between_characters(vector: Any) -> None:
    text = expanded(vector["text"])
    parts = cut(text)
    assert [len(part.encode()) for part in parts] == vector["sizes"]
    assert "".join(parts) == text


class AnsweringWalk:
    """Does the steps of one vector."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tunnels = AnsweringTunnels(lambda: self.now)
        self.tunnels.on_open = self._opened
        self.session: AnsweringEnd | None = None
        self.opened = 0
        self.seen: dict[str, TunnelAnswer | TabhubError] = {}

    @property
    def known(self) -> AnsweringEnd:
        assert self.session is not None
        return self.session

    def _opened(self, session: AnsweringEnd) -> None:
        self.session = self.session or session

    def do(self, step: dict[str, Any]) -> None:
        kind = next(iter(step))
        getattr(self, kind)(step[kind], step)

    def open(self, _: Any, step: Any) -> None:
        self.opened, self.session = self.opened + 1, None
        self.take({"turn": 0, "ack": 0, "pieces": []}, {"as": "open"})
        del self.seen["open"]

    def take(self, given: Any, step: Any) -> None:
        params = {"session": f"session-number-{self.opened}", **given}
        for piece in given["pieces"] or []:
            if isinstance(piece.get("text"), list):
                piece["text"] = expanded(piece["text"])
        name = step["as"]
        take = self.tunnels.take
        take(step.get("connection", "own"), params, lambda said: self.seen.update({name: said}))

    def send(self, text: Any, _: Any) -> None:
        self.known.send(expanded(text))

    def close(self, code: int, _: Any) -> None:
        self.known.close(code)

    def wait(self, seconds: float, _: Any) -> None:
        self.now += seconds
        self.tunnels.tick()

    def answers(self, wanted: Any, _: Any) -> None:
        assert msgspec.to_builtins(self._taken(TunnelAnswer)) == wanted

    def sizes(self, wanted: Any, _: Any) -> None:
        taken = self._taken(TunnelAnswer).items()
        assert {name: [piece.size for piece in one.pieces] for name, one in taken} == wanted

    def errors(self, wanted: Any, _: Any) -> None:
        taken = self._taken(TabhubError).items()
        assert {name: error.reason for name, error in taken} == wanted

    def _taken(self, kind: Any) -> dict[str, Any]:
        found = {name: one for name, one in self.seen.items() if isinstance(one, kind)}
        for name in found:
            del self.seen[name]
        return found

    def messages(self, wanted: Any, _: Any) -> None:
        assert self.known.messages == [expanded(text) for text in wanted]

    def closed(self, wanted: Any, _: Any) -> None:
        assert self.known.closed == wanted


@pytest.mark.parametrize("vector", VECTORS["sessions"], ids=lambda one: str(one["name"]))
def test_an_answering_end_does_what_the_table_says(vector: Any) -> None:
    walk = AnsweringWalk()
    for step in vector["steps"]:
        walk.do(step)


class Calling:
    """The server's end, with a clock of its own, opened."""

    def __init__(self) -> None:
        self.now = 0.0
        self.end = CallingEnd("0123456789abcdef", lambda: self.now, MAX_BYTES)
        [(id, opening)] = self.end.requests()
        assert opening == TunnelRequest("0123456789abcdef", 0, 0, [])
        assert self.end.answered(id, TunnelAnswer(0, [], "v1-0.1.0")) == []
        self.polls = self.end.requests()

    def answer(self, ack: int = 0, *pieces: Piece) -> list[str | Closed]:
        return self.end.answered(self.polls.pop(0)[0], TunnelAnswer(ack, list(pieces)))

    def sent(self) -> list[tuple[int, list[str]]]:
        """The turn and the texts of what it sends now."""
        found = self.end.requests()
        self.polls += found
        return [(one.turn, [piece.text for piece in one.pieces]) for _, one in found]


def test_two_requests_wait_and_one_that_is_answered_is_replaced() -> None:
    calling = Calling()
    assert len(calling.polls) == 2
    assert calling.sent() == []
    assert calling.answer(0, Piece(1, "news")) == ["news"]
    assert calling.sent() == [(1, [])]
    assert calling.polls[-1][1].ack == 1


def test_a_message_goes_out_at_once_beside_the_two_that_wait() -> None:
    calling = Calling()
    calling.end.send("click")
    calling.end.send("type")
    assert calling.sent() == [(1, ["click", "type"])]
    assert calling.answer(2, Piece(1, "clicked")) == ["clicked"]
    assert calling.sent() == []


def test_after_a_loss_a_new_turn_sends_what_was_not_acknowledged() -> None:
    calling = Calling()
    calling.end.send("one")
    calling.end.send("two")
    calling.sent()
    calling.answer(1)
    late = calling.polls[0][0]
    calling.end.lost()
    calling.end.send("three")
    assert calling.sent() == []
    calling.end.connected()
    assert calling.sent() == [(2, ["two", "three"]), (2, [])]
    assert calling.end.answered(late, TunnelAnswer(2, [Piece(1, "x")])) == []


def test_a_gap_in_answers_begins_a_new_turn_and_nothing_is_taken_twice() -> None:
    calling = Calling()
    assert calling.answer(0, Piece(2, "b")) == []
    assert calling.sent() == [(2, []), (2, [])]
    calling.polls = calling.polls[-2:]
    assert calling.answer(0, Piece(1, "a"), Piece(2, "b")) == ["a", "b"]
    assert calling.answer(0, Piece(2, "b"), Piece(3, "c")) == ["c"]


def test_an_answer_that_acknowledges_what_was_not_sent_ends_the_session() -> None:
    calling = Calling()
    calling.end.send("one")
    with pytest.raises(ProtocolError) as refused:
        calling.answer(1)
    assert refused.value.reason == "invalid_params"


def test_a_message_larger_than_the_link_ends_the_session() -> None:
    calling = Calling()
    piece = "x" * 262_144
    with pytest.raises(ProtocolError) as refused:
        for number in range(1, 60):
            calling.sent()
            calling.answer(0, Piece(number, piece, more=True))
    assert refused.value.reason == "too_large"


def test_a_session_is_over_when_nothing_was_heard_for_a_minute() -> None:
    calling = Calling()
    calling.now = 50.0
    calling.answer()
    calling.now = 109.0
    assert not calling.end.is_over
    calling.end.lost()
    calling.now = 168.0
    assert not calling.end.is_over
    calling.now = 169.0
    assert calling.end.is_over


def test_the_other_end_closes_after_its_last_message() -> None:
    calling = Calling()
    assert calling.answer(0, Piece(1, "last"), Piece(2, close=4004)) == ["last", Closed(4004)]


def test_much_to_say_waits_for_acknowledgements() -> None:
    calling = Calling()
    calling.end.send("x" * 5_000_000)
    first = calling.sent()
    assert [len(texts) for _, texts in first] == [4, 4]
    calling.answer(4)
    assert [len(texts) for _, texts in calling.sent()] == [4]
