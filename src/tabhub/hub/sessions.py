"""Agents as the hub knows them: each session has a name, a colour, a current tab."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tabhub.errors import Forbidden, NotFound

COLORS = ("blue", "green", "purple", "orange", "cyan", "pink", "yellow", "red", "grey")
"""Chrome's colours for tab groups, in the order we hand them out."""
LONGEST_NAME = 40
COMMON = "token:"
"""What the key of a session begins with that all calls of one token share."""
HANDLE = "grp_"
"""What the key of a group begins with that such calls can name."""


@dataclass
class Turn:
    """An answer to the person that an agent is about to give."""

    since: float
    """In seconds since 1970."""
    calls: int = 0
    """How many it has made meanwhile."""


@dataclass
class AgentSession:
    """One agent at work."""

    key: str
    client: str
    """Whose token it came with."""
    name: str
    """What people see: unique among sessions."""
    color: str
    used: float
    """When it last called, in seconds since 1970."""
    current: int | None = None
    """The tab it last opened or acted on."""
    paused: bool = False
    awaited: int | None = None
    """After a restart of the server: the browser's number of the tab that was current."""
    asleep: bool = False
    """After a restart of the server: whether nothing has been heard of it since."""

    turn: Turn | None = None

    @property
    def shown(self) -> str:
        """Its name, and whose token it came with where that is not the same."""
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
        self._stop_listeners: list[Callable[[bool], None]] = []
        self.stopped = False

    def all(self) -> list[AgentSession]:
        return list(self._all.values())

    def find(self, key: str) -> AgentSession | None:
        return self._all.get(key)

    def call(self, key: str, client: str, label: str, now: float) -> AgentSession:
        """A call has come: its session, as it is or new."""
        session = self.open(key, client, label, now)
        if session.turn is not None:
            session.turn.calls += 1
        return session

    def open(self, key: str, client: str, label: str, now: float) -> AgentSession:
        """The session of that key, as it is or new."""
        session = self._all.get(key)
        if session is None:
            name = self._free_name(readable(label) or readable(client) or "agent")
            session = AgentSession(key, client, name, self._free_color(), now)
            session.paused = client in self._barred
            self.restore(session)
        session.used, session.asleep = now, False
        return session

    def join(self, handle: str, client: str, own: str) -> str:
        """The session that a group handle names, which must be the client's.

        Other sessions have no handle: who knows their keys reaches nothing by them.
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
        self._tell(session)

    def current(self, key: str) -> int | None:
        session = self._all.get(key)
        return session.current if session else None

    def use(self, key: str, tab: int) -> None:
        session = self._all.get(key)
        if session is not None and session.current != tab:
            session.current = tab
            self._tell(session)

    def leave(self, key: str) -> None:
        """From now on the session has no current tab."""
        session = self._all.get(key)
        if session is not None:
            session.current = None
            self._tell(session)

    def pause(self, key: str, paused: bool) -> AgentSession | None:
        """Pause or resume; sessions that its client opens while it is paused begin paused."""
        session = self._all.get(key)
        if session is None:
            return None
        session.paused = paused
        (self._barred.add if paused else self._barred.discard)(session.client)
        self._tell(session)
        return session

    def answering(self, key: str, since: float | None) -> Turn | None:
        """An answer begins, or with None it ends; the turn that was open until now."""
        session = self._all.get(key)
        if session is None:
            return None
        before, session.turn = session.turn, None if since is None else Turn(since)
        self._tell(session)
        return before

    def stop(self, stopped: bool) -> None:
        """Stop all agents, those to come too, or let them go on."""
        self.stopped = stopped
        for listener in self._stop_listeners:
            listener(stopped)

    def is_halted(self, key: str) -> bool:
        session = self._all.get(key)
        return self.stopped or (session is not None and session.paused)

    def end(self, key: str) -> AgentSession | None:
        session = self._all.pop(key, None)
        if session is not None:
            self._tell(session)
        return session

    def idle(self, before: float) -> list[str]:
        """The sessions that were not used since then."""
        return [session.key for session in self._all.values() if session.used < before]

    def forget_tab(self, tab: int) -> None:
        """A tab has closed: nobody's current tab any more."""
        for session in self._all.values():
            if session.current == tab:
                session.current = None

    def on_change(self, listener: Callable[[AgentSession], None]) -> None:
        self._listeners.append(listener)

    def on_stop(self, listener: Callable[[bool], None]) -> None:
        self._stop_listeners.append(listener)

    def _tell(self, session: AgentSession) -> None:
        for listener in self._listeners:
            listener(session)

    def _free_name(self, wanted: str) -> str:
        taken = {session.name for session in self._all.values()}
        number, name = 1, wanted
        while name in taken:
            number += 1
            name = f"{wanted} {number}"
        return name

    def _free_color(self) -> str:
        """The one that the fewest have."""
        worn = Counter(session.color for session in self._all.values())
        return min(COLORS, key=lambda color: worn[color])


def readable(label: str) -> str:
    """What a client calls itself, fit to be shown: one short line that hides nothing."""
    shown = "".join(character for character in label if character.isprintable())
    return " ".join(shown.split())[:LONGEST_NAME]
