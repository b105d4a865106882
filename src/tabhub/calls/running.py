"""Running calls, and what a person does that ends them: cancel, pause, stop, take a tab back."""

import asyncio
from collections.abc import Callable
from itertools import chain
from types import TracebackType
from typing import Protocol

from tabhub.calls.call import Call
from tabhub.calls.ports import AuditEvent
from tabhub.errors import Forbidden, InvalidArguments, NotFound, TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab

MAY_HAVE_HAPPENED = "The page may have received this call."


class RunningCall:
    """One call while it runs; if a person ends it, it fails with the error given."""

    __slots__ = ("_error", "_running", "_task", "call", "session", "tab")

    def __init__(self, running: set["RunningCall"], call: Call) -> None:
        self.call = call
        self.session = call.session
        self.tab = None if call.tab is None else call.tab.id
        self._running = running
        self._error: TabhubError | None = None

    def __enter__(self) -> "RunningCall":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._running.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.discard(self)
        if self._error is None:
            return
        # The call may have finished before the cancellation arrived; it still counts as ended.
        others = self._task.uncancel()
        if kind is None or (kind is asyncio.CancelledError and others == 0):
            raise self._error from None

    def end(self, error: TabhubError) -> None:
        if self._error is None:
            self._error = error
            self._task.cancel()


class CallObserver(Protocol):
    """Learns of every call that is run."""

    def started(self, call: Call) -> None:
        """A source receives the call now; again if it goes to another tab."""

    def ended(self, call: Call, event: AuditEvent | None) -> None:
        """The call has ended as its entry says; without one its client will send it again."""


class RunningCalls:
    """Every running call."""

    def __init__(self) -> None:
        self._all: set[RunningCall] = set()
        self._containers: set[RunningCall] = set()
        """Calls that make calls: where those are ended, it stays to report how."""
        self._observers: list[CallObserver] = []

    def __len__(self) -> int:
        return len(self._all)

    def has(self, session: str) -> bool:
        return self.count(session) > 0

    def count(self, session: str) -> int:
        return sum(running.session == session for running in self._all)

    def is_in(self, tab: int, session: str) -> bool:
        """Whether a call of the session runs in that tab."""
        return any(running.tab == tab and running.session == session for running in self._all)

    def observe(self, observer: CallObserver) -> None:
        self._observers.append(observer)

    def started(self, call: Call) -> None:
        for observer in self._observers:
            observer.started(call)

    def ended(self, call: Call, event: AuditEvent | None) -> None:
        for observer in self._observers:
            observer.ended(call, event)

    def begin(self, call: Call) -> RunningCall:
        return RunningCall(self._all, call)

    def begin_container(self, call: Call) -> RunningCall:
        """Begin a call that reports how its own calls ended: only `cancel` ends it."""
        return RunningCall(self._containers, call)

    def cancel(self, call: Call, error: TabhubError) -> bool:
        """End one call, also a container as a whole; returns whether it was running."""
        found = (running for running in chain(self._all, self._containers) if running.call is call)
        running = next(found, None)
        if running is not None:
            running.end(error)
        return running is not None

    def end(self, error: TabhubError, which: Callable[[RunningCall], bool]) -> int:
        """End the calls that `which` selects; returns how many."""
        ended = [running for running in self._all if which(running)]
        for running in ended:
            running.end(error)
        return len(ended)


class Control:
    """What a person can do with agents and tabs; it ends the running calls concerned."""

    def __init__(self, hub: Hub, running: RunningCalls) -> None:
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._running = running
        self._listeners: list[Callable[[], None]] = []

    def pause(self, session: str, is_paused: bool) -> None:
        if self._sessions.pause(session, is_paused) is None:
            raise NotFound("This agent's session has ended.", "unknown_session")
        if is_paused:
            self._end("The person has paused you.", lambda running: running.session == session)
        self._notify()

    def stop(self, is_stopped: bool) -> None:
        self._sessions.stop(is_stopped)
        if is_stopped:
            self._end("The person has stopped all agents.", lambda running: True)
        self._notify()

    def share(self, tab_id: int, shared: bool) -> Tab:
        """Share one of the person's tabs with all agents, or stop sharing it."""
        tab = self._tabs.get(tab_id)
        if self._ownership.owner(tab.id) is not None:
            raise InvalidArguments(f"Tab {tab.id} belongs to an agent; take it back first.")
        self._ownership.share(tab.id, shared)
        if not shared:
            self._end_in(tab, "The person no longer shares this tab.")
        self._notify()
        return tab

    def take_back(self, tab_id: int) -> Tab:
        """Make an agent's tab the person's own."""
        tab = self._tabs.get(tab_id)
        self._ownership.free(tab.id)
        self._sessions.forget_tab(tab.id)
        self._end_in(tab, "The person has taken this tab back.")
        self._notify()
        return tab

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _end_in(self, tab: Tab, sentence: str) -> None:
        self._end(sentence, lambda running: running.tab == tab.id)

    def _end(self, sentence: str, which: Callable[[RunningCall], bool]) -> None:
        self._running.end(paused(f"{sentence} {MAY_HAVE_HAPPENED}"), which)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


def cancelled_by_person() -> Forbidden:
    return Forbidden(
        f"The person has cancelled this call. {MAY_HAVE_HAPPENED} Do not repeat it or try another "
        "way; ask the person what they want.",
        "cancelled_by_person",
    )


def paused(sentence: str) -> Forbidden:
    return Forbidden(
        f"{sentence} Wait until the person lets you go on, and do not try another way.",
        "paused_by_person",
    )
