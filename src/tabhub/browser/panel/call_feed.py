"""What the panel shows of calls: each start and each end, the last hundred, and how to end one.

Two more messages would make a quick call half as long again: where no panel is open, none is sent.
"""

import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.call import Call
from tabhub.calls.ports import AuditEvent, is_denied_by_person, outcome_of
from tabhub.calls.running import RunningCalls, cancelled_by_person
from tabhub.errors import NotFound
from tabhub.hub.texts import LONGEST_AGENT, one_line
from tabhub.hub.tools import LONGEST_NAME
from tabhub.rate_limit import Bucket
from tabhub.wire.link import CallOutcome, LinkStruct, Nothing
from tabhub.wire.panel_calls import CallCancel, InvocationEnd, InvocationStart, RecentCalls

MOST_RECENT = 100
REFUSALS_PER_SECOND = 50
"""How many ends without a start are sent; all are among the recent calls."""


Listener = Callable[[Literal["start", "end"], InvocationStart], None]


class _Known(Struct, frozen=True):
    """What is known of a call when its source receives it, in short texts only."""

    number: int
    name: str
    title: str
    plugin: str
    session: str
    client: str
    agent: str
    arrived: float

    def facts(self, tab: int | None) -> dict[str, Any]:
        """What its start and its end have in common."""
        return {
            "id": str(self.number),
            "tool": self.name,
            "title": self.title or self.name,
            "plugin": self.plugin,
            "session": self.session,
            "client": self.client,
            "agent": self.agent,
            "tab_id": tab,
            "started_at": int(self.arrived * 1000),
        }


class _Running(NamedTuple):
    """A call that its source has received, and what the panels know of it."""

    call: Call
    known: _Known
    tab: int | None

    @property
    def start(self) -> InvocationStart:
        return InvocationStart(**self.known.facts(self.tab))


class _Ended(Struct, frozen=True):
    """How a call ended. It is made a message only if a panel wants it: most ends are never seen."""

    known: _Known
    tab: int | None
    outcome: CallOutcome
    reason: str | None = None
    rule: str = ""
    duration_ms: float = 0
    bytes: int | None = None

    @property
    def message(self) -> InvocationEnd:
        return InvocationEnd(
            **self.known.facts(self.tab),
            outcome=self.outcome,
            reason=self.reason,
            denied=is_denied_by_person(self.rule),
            duration_ms=round(self.duration_ms, 1),
            bytes=self.bytes or 0,
        )


class CallFeed:
    """Tells the panels when a call begins and how it ends."""

    def __init__(self, browsers: Browsers, running: RunningCalls) -> None:
        self._browsers = browsers
        self._calls = running
        self._numbers = count(1)
        self._running: dict[int, _Running] = {}
        """By the identity of the call, which has no id of its own while it only reads."""
        self._recent: deque[_Ended] = deque(maxlen=MOST_RECENT)
        self._listeners: list[Listener] = []
        self._refusals = Bucket(REFUSALS_PER_SECOND, 2 * REFUSALS_PER_SECOND, time.monotonic)
        running.observe(self)
        browsers.on_panels(self._panels_changed)

    @property
    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {"calls.recent": self.recent, "call.cancel": self.cancel}

    def recent(self, params: Nothing) -> RecentCalls:
        return RecentCalls(calls=self.ended_lately())

    def cancel(self, params: CallCancel) -> Nothing:
        for running in self._running.values():
            is_meant = str(running.known.number) == params.id
            if is_meant and self._calls.cancel(running.call, cancelled_by_person()):
                return Nothing()
        raise NotFound("This call has ended.")

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Report each start and end from now on; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def running(self) -> list[InvocationStart]:
        return [running.start for running in self._running.values()]

    def ended_lately(self) -> list[InvocationEnd]:
        """At most 100, the newest last."""
        return [ended.message for ended in self._recent]

    def find(self, id: str) -> InvocationStart | None:
        """A running call by its id in the panels."""
        found = (running for running in self._running.values() if str(running.known.number) == id)
        return next((running.start for running in found), None)

    def started(self, call: Call) -> None:
        before = self._running.get(id(call))
        known = self._known(call) if before is None else before.known
        self._running[id(call)] = running = _Running(call, known, _tab(call))
        if self._is_followed:
            self._report("start", running.start)

    def ended(self, call: Call, event: AuditEvent | None) -> None:
        running = self._running.pop(id(call), None)
        if running is None and event is None:
            return
        end = _end(running or _Running(call, self._known(call), _tab(call)), event)
        self._recent.append(end)
        # A refusal costs an agent nothing, so it could keep the panel busy with them.
        if (running is not None or not self._refusals.admit()) and self._is_followed:
            self._report("end", end.message)

    def _known(self, call: Call) -> _Known:
        return _Known(
            next(self._numbers),
            one_line(call.name, LONGEST_NAME),
            one_line(call.tool.title) if call.tool.title else "",
            call.tool.plugin,
            call.session,
            call.client.name,
            one_line(call.agent, LONGEST_AGENT),
            call.arrived,
        )

    @property
    def _is_followed(self) -> bool:
        return bool(self._listeners or self._browsers.watched)

    def _report(self, name: Literal["start", "end"], call: InvocationStart) -> None:
        self._notify("tool.invocationStart" if name == "start" else "tool.invocationEnd", call)
        for listener in self._listeners:
            listener(name, call)

    def _notify(self, method: str, params: LinkStruct) -> None:
        for browser in self._browsers.watched:
            browser.connection.notify(method, params)

    def _panels_changed(self) -> None:
        """A panel that has opened learns what is running; others know these calls by their ids."""
        for running in self._running.values():
            self._notify("tool.invocationStart", running.start)


def _tab(call: Call) -> int | None:
    return None if call.tab is None else call.tab.id


def _end(running: _Running, event: AuditEvent | None) -> _Ended:
    used = running.call.tab_key
    tab = used if isinstance(used, int) else running.tab
    if event is None:
        return _Ended(running.known, tab, "cancelled")
    reason = None if event.error is None else event.error.reason
    return _Ended(
        running.known,
        tab,
        outcome_of(event.verdict, reason),
        reason,
        event.rule,
        event.duration_ms,
        event.result_bytes,
    )
