"""What a person can do about agents at any moment: pause, stop, share a tab, take one back."""

from collections.abc import Callable

from tabhub.calls.runner import paused
from tabhub.calls.running import RunningCall, RunningCalls
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab

MAY_HAVE_HAPPENED = "The page may have received this call."


class Control:
    """Acts on the hub, and ends the calls under way that it concerns."""

    def __init__(self, hub: Hub, running: RunningCalls) -> None:
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._running = running
        self._listeners: list[Callable[[], None]] = []

    def pause(self, session: str, is_paused: bool) -> None:
        if self._sessions.pause(session, is_paused) is None:
            raise NotFound("There is no such agent any more.", "unknown_session")
        if is_paused:
            self._end("The person has paused you.", lambda running: running.call.session == session)
        self._tell()

    def stop(self, is_stopped: bool) -> None:
        self._sessions.stop(is_stopped)
        if is_stopped:
            self._end("The person has stopped all agents.", lambda running: True)
        self._tell()

    def share(self, tab_id: int, shared: bool) -> Tab:
        """Let all agents use a tab of the person's, or no longer."""
        tab = self._tabs.get(tab_id)
        if self._ownership.owner(tab.id) is not None:
            raise InvalidArguments(f"Tab {tab.id} belongs to an agent; take it back first.")
        self._ownership.share(tab.id, shared)
        if not shared:
            self._end_in(tab, "The person no longer shares this tab.")
        self._tell()
        return tab

    def take_back(self, tab_id: int) -> Tab:
        """An agent's tab becomes the person's own."""
        tab = self._tabs.get(tab_id)
        self._ownership.free(tab.id)
        self._sessions.forget_tab(tab.id)
        self._end_in(tab, "The person has taken this tab back.")
        self._tell()
        return tab

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _end_in(self, tab: Tab, sentence: str) -> None:
        self._end(sentence, lambda running: running.is_in(tab.id))

    def _end(self, sentence: str, which: Callable[[RunningCall], bool]) -> None:
        self._running.end(paused(f"{sentence} {MAY_HAVE_HAPPENED}"), which)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()
