"""Two ends of a tunnel over a line that loses, delays and reorders: each message arrives exactly
once and in order, or the session ends.
"""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, Protocol

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tabhub.errors import TabhubError
from tabhub.wire.tunnel import (
    HOLD_SECONDS,
    RESUME_SECONDS,
    CallingEnd,
    Closed,
    TunnelAnswer,
    TunnelRequest,
)
from tests.proxy.answering_end import Answer, AnsweringTunnels

PICK = st.integers(0, 1000)
TIMES = st.sampled_from([1, 1, 1, 1, 1000, 262_144, 1_500_000, 3_000_000])
MAX_BYTES = 10_000_000


class OnWay(NamedTuple):
    """A request or an answer that has not arrived."""

    connection: str
    id: int
    message: TunnelRequest | TunnelAnswer | TabhubError


class Session(Protocol):
    """The extension's end of a session."""

    messages: list[str]
    closed: int | None
    is_over: bool

    def send(self, text: str) -> None: ...

    def close(self, code: int) -> None: ...


class Tunnels(Protocol):
    """The extension's end of all sessions."""

    on_open: Callable[[Any], None]

    def take(self, connection: str, params: Any, answer: Answer) -> None: ...

    def left(self, connection: str) -> None: ...

    def tick(self) -> None: ...


class TunnelModel(RuleBasedStateMachine):
    """Requests and answers wait until a step lets one of them arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calling = CallingEnd("0123456789abcdef", lambda: self.now, MAX_BYTES)
        self.tunnels = self.extension()
        self.tunnels.on_open = lambda session: setattr(self, "answering", session)
        self.answering: Session | None = None
        self.connections = count(1)
        self.connection: str | None = "conn-1"
        self.requests: list[OnWay] = []
        self.answers: list[OnWay] = []
        self.texts = count(1)
        self.said: tuple[list[str], list[str]] = ([], [])
        """What the server has said, and the extension."""
        self.heard: list[str] = []
        """What the server has heard; the extension's session keeps its own."""
        self.closed: int | None = None
        self.failure: str | None = None
        """Why the session has ended for the server."""

    def extension(self) -> Tunnels:
        """The extension's end."""
        return AnsweringTunnels(lambda: self.now)

    @initialize()
    def a_session_is_opened(self) -> None:
        self.pump()
        self.a_request_arrives(0)
        self.an_answer_arrives(0)
        assert self.calling.is_open

    def pump(self) -> None:
        if self.connection is not None and not self.is_over:
            for id, request in self.calling.requests():
                self.requests.append(OnWay(self.connection, id, request))

    @property
    def is_over(self) -> bool:
        return self.closed is not None or self.failure is not None or self.calling.is_over

    def text(self, times: int) -> str:
        return f"{next(self.texts)}é".ljust(times, "x")

    # What the ends say.

    @precondition(lambda self: not self.is_over)
    @rule(times=TIMES)
    def the_server_says(self, times: int) -> None:
        text = self.text(times)
        self.calling.send(text)
        if not self.calling.is_closing:
            self.said[0].append(text)
        self.pump()

    @rule(times=TIMES)
    def the_extension_says(self, times: int) -> None:
        assert self.answering is not None
        text = self.text(times)
        if self.answering.closed is None:
            self.said[1].append(text)
        self.answering.send(text)

    @rule(which=st.integers(0, 20))
    def an_end_closes(self, which: int) -> None:
        assert self.answering is not None
        if which == 0:
            self.calling.close(4002)
            self.pump()
        elif which == 1:
            self.answering.close(4004)

    # What the line does.

    @rule(pick=PICK)
    def a_request_arrives(self, pick: int) -> None:
        if self.requests:
            self.deliver(self.requests.pop(pick % len(self.requests)))

    @rule()
    def the_oldest_request_arrives(self) -> None:
        self.a_request_arrives(0)

    @rule(pick=PICK)
    def a_request_arrives_twice(self, pick: int) -> None:
        if self.requests:
            on_way = self.requests[pick % len(self.requests)]
            self.deliver(on_way)

    def deliver(self, on_way: OnWay) -> None:
        connection, id, request = on_way
        self.tunnels.take(
            connection,
            msgspec.to_builtins(request),
            lambda said: self.answers.append(OnWay(connection, id, said)),
        )

    @rule(pick=PICK)
    def an_answer_arrives(self, pick: int) -> None:
        if self.answers:
            self.take(self.answers.pop(pick % len(self.answers)))

    @rule()
    def the_oldest_answer_arrives(self) -> None:
        self.an_answer_arrives(0)

    def take(self, on_way: OnWay) -> None:
        if on_way.connection != self.connection or self.is_over:
            return
        message = on_way.message
        if isinstance(message, TunnelAnswer):
            for one in self.calling.answered(on_way.id, message):
                self.hear(one)
        elif isinstance(message, TabhubError):
            self.refused(on_way.id, message.reason)
        self.pump()

    def hear(self, one: str | Closed) -> None:
        if isinstance(one, Closed):
            self.closed = one.code
        elif self.closed is None:
            self.heard.append(one)

    def refused(self, id: int, reason: str) -> None:
        if not self.calling.is_waiting_for(id):
            return
        if reason in ("missing_piece", "not_connected", "rate_limited"):
            self.calling.again()
        else:
            self.failure = reason

    @rule(pick=PICK)
    def a_request_is_refused_on_its_way(self, pick: int) -> None:
        if self.requests:
            on_way = self.requests.pop(pick % len(self.requests))
            error = TabhubError("Too many messages.", "rate_limited")
            self.answers.append(on_way._replace(message=error))

    @rule(pick=PICK)
    def an_answer_is_lost_and_the_client_told(self, pick: int) -> None:
        if self.answers:
            which = pick % len(self.answers)
            error = TabhubError("The answer cannot be read.", "rate_limited")
            self.answers[which] = self.answers[which]._replace(message=error)

    @rule(are_lost=st.booleans())
    def the_connection_is_lost(self, are_lost: bool) -> None:
        if self.connection is not None and not self.is_over:
            self.calling.lost()
            self.tunnels.left(self.connection)
            self.connection = None
        if are_lost:
            self.requests.clear()

    @rule()
    def there_is_a_connection_again(self) -> None:
        if self.connection is None and not self.is_over:
            self.connection = f"conn-{next(self.connections) + 1}"
            self.calling.connected()
            self.pump()

    @rule(seconds=st.sampled_from([0.1, 5.0, 20.0, 25.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.tunnels.tick()

    @invariant()
    def nothing_is_lost_doubled_or_reordered(self) -> None:
        if self.answering is not None:
            by_server, by_extension = self.said
            received = self.answering.messages
            assert received == by_server[: len(received)]
            assert self.heard == by_extension[: len(self.heard)]

    @invariant()
    def a_session_ends_only_by_an_end_or_by_the_clock(self) -> None:
        assert self.failure in (None, "unknown_session")
        if self.failure is not None:
            assert self.answering is not None
            assert self.answering.is_over

    @invariant()
    def two_requests_wait(self) -> None:
        if self.connection is not None and self.calling.is_open and not self.is_over:
            assert self.calling.waiting >= 2

    def everything_arrives(self) -> None:
        while self.requests or self.answers:
            self.a_request_arrives(0)
            self.an_answer_arrives(0)

    def teardown(self) -> None:
        """Once the line is good again everything arrives, unless the session has ended."""
        if self.answering is None:
            return
        self.there_is_a_connection_again()
        for _ in range(3):
            self.everything_arrives()
            # An answer to a request that came twice is lost, and sent again later.
            self.time_passes(HOLD_SECONDS)
        if not self.is_over and self.answering.closed is None:
            assert self.answering.messages == self.said[0]
            assert self.heard == self.said[1]
        self.now += 2 * RESUME_SECONDS
        self.tunnels.tick()
