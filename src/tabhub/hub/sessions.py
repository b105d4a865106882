"""Sessions of agents: each has a name, a colour and a current tab; a person can pause it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tabhub.errors import Forbidden, NotFound

COLORS = ("purple", "orange", "cyan", "pink", "yellow", "red", "grey")
"""The colours of sessions and their tab groups, in the order in which sessions get them.

In the panel blue is for buttons and green for what is connected, so neither is an agent's colour.
"""
GROUP_COLORS = (*COLORS, "blue", "green")
"""Chrome's colours for tab groups."""
LONGEST_NAME = 40
COMMON = "token:"
"""Prefix of the key of a session that all calls with one token share."""
HANDLE = "grp_"
"""Prefix of the key of a session that such calls can choose by its group handle."""

PERSON = "person:"
"""Prefix of the key of a session in which the person tries a tool; no client can have one."""
YOU = "you"
"""What the person is called among the agents."""


@dataclass
class Turn:
    """The time in which an agent works on one answer to the person."""

    since: float
    """In seconds since 1970."""
    calls: int = 0
    """How many calls the agent has made in it."""


@dataclass
class AgentSession:
    """One session of an agent."""

    key: str
    client: str
    """The client whose token it uses."""
    name: str
    """Shown to people; unique among sessions."""
    color: str
    used: float
    """Time of its last call, by a monotonic clock: setting the time of day ends no session."""
    current: int | None = None
    """The tab it last opened or acted on."""
    paused: bool = False
    awaited: int | None = None
    """After a restart of the server: the browser's number of the tab that was current."""
    asleep: bool = False
    """Whether it has made no call since the server was restarted."""
    turn: Turn | None = None

    @property
    def shown(self) -> str:
        """Its name, followed by its client where that is named differently."""
        return self.name if self.name == self.client else f"{self.name} ({self.client})"

    @property
    def is_common(self) -> bool:
        return self.key.startswith(COMMON)


class AgentSessions:
    """Every session by its key; a person can pause one, or stop them all."""

    def __init__(self) -> None:
        self._all: dict[str, AgentSession] = {}
        self._barred: set[str] = set()
        self._listeners: list[Callable[[AgentSession], None]] = []
        self._use_listeners: list[Callable[[AgentSession], None]] = []
        self._stop_listeners: list[Callable[[bool], None]] = []
        self.stopped = False

    def all(self) -> list[AgentSession]:
        return list(self._all.values())

    def find(self, key: str) -> AgentSession | None:
        return self._all.get(key)

    def call(self, key: str, client: str, label: str, now: float) -> AgentSession:
        """The session of a call, opened if it is new; the call is counted."""
        session = self.open(key, client, label, now)
        if session.turn is not None:
            session.turn.calls += 1
        return session

    def open(self, key: str, client: str, label: str, now: float) -> AgentSession:
        """The session with a key, new if there is none."""
        session = self._all.get(key)
        if session is None:
            name = self._free_name(readable(label) or readable(client) or "agent")
            session = AgentSession(key, client, name, self._free_color(), now)
            session.paused = client in self._barred
            self.restore(session)
        session.used, session.asleep = now, False
        return session

    def join(self, handle: str, client: str, own: str) -> str:
        """The key of the session that a group handle names; it must be the client's own.

        The keys of other sessions are not handles, so knowing one gives access to nothing.
        """
        if handle == own:
            return own
        session = self._all.get(handle)
        if session is None:
            raise NotFound("There is no such tab group.", "unknown_session")
        if session.client != client or not handle.startswith(HANDLE):
            raise Forbidden("This tab group is not yours.")
        return session.key

    def restore(self, session: AgentSession) -> None:
        if session.paused:
            self._barred.add(session.client)
        self._all[session.key] = session
        self._notify(session)

    def current(self, key: str) -> int | None:
        session = self._all.get(key)
        return session.current if session else None

    def use(self, key: str, tab: int) -> None:
        session = self._all.get(key)
        if session is not None and session.current != tab:
            session.current = tab
            for listener in self._use_listeners:
                listener(session)

    def leave(self, key: str) -> None:
        """Clear the session's current tab."""
        session = self._all.get(key)
        if session is not None:
            session.current = None
            self._notify(session)

    def pause(self, key: str, paused: bool) -> AgentSession | None:
        """Pause or resume a session; new sessions of a paused client start paused."""
        session = self._all.get(key)
        if session is None:
            return None
        session.paused = paused
        (self._barred.add if paused else self._barred.discard)(session.client)
        self._notify(session)
        return session

    def answering(self, key: str, since: float | None) -> Turn | None:
        """Begin a turn, or end it with None; returns the turn that ended."""
        session = self._all.get(key)
        if session is None:
            return None
        before, session.turn = session.turn, None if since is None else Turn(since)
        self._notify(session)
        return before

    def stop(self, stopped: bool) -> None:
        """Stop all agents, also those that connect later, or let them continue."""
        self.stopped = stopped
        for listener in self._stop_listeners:
            listener(stopped)

    def is_halted(self, key: str) -> bool:
        session = self._all.get(key)
        return self.stopped or (session is not None and session.paused)

    def end(self, key: str) -> AgentSession | None:
        session = self._all.pop(key, None)
        if session is not None:
            self._notify(session)
        return session

    def idle(self, before: float) -> list[str]:
        """The sessions that were last used before a time."""
        return [session.key for session in self._all.values() if session.used < before]

    def forget_tab(self, tab: int) -> None:
        """Note that a tab has closed: it is no session's current tab any more."""
        for session in self._all.values():
            if session.current == tab:
                session.current = None

    def on_change(self, listener: Callable[[AgentSession], None]) -> None:
        """Listen to what changes between calls; `on_use` has what calls change."""
        self._listeners.append(listener)

    def on_use(self, listener: Callable[[AgentSession], None]) -> None:
        """Listen to calls that make another tab the current one."""
        self._use_listeners.append(listener)

    def on_stop(self, listener: Callable[[bool], None]) -> None:
        self._stop_listeners.append(listener)

    def _notify(self, session: AgentSession) -> None:
        for listener in self._listeners:
            listener(session)

    def _free_name(self, label: str) -> str:
        taken = {session.name for session in self._all.values()}
        number, name = 1, label
        while name in taken:
            number += 1
            name = f"{label} {number}"
        return name

    def _free_color(self) -> str:
        """The colour that the fewest sessions have."""
        uses = Counter(session.color for session in self._all.values())
        return min(COLORS, key=lambda color: uses[color])


def readable(label: str) -> str:
    """A client's name for itself as one short line of printable characters."""
    printable = "".join(character for character in label if character.isprintable())
    return " ".join(printable.split())[:LONGEST_NAME]
