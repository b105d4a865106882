"""Recorded calls that a client can run again. They belong to the client and outlive the server."""

from typing import Any, Literal

import msgspec

from tabhub.store.store import Store, decoded

SHORTCUTS = "shortcuts"
State = Literal["running", "done", "failed", "stopped", "interrupted"]


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an element is known by."""

    role: str
    name: str
    selector: str | None = None


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """The picture in which points were named, what it showed, and the viewport of that time.

    Without size where points were of the viewport itself.
    """

    width: int
    height: int
    shown: dict[str, float]
    viewport: dict[str, float]
    corner: tuple[float, float] | None = None


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call, without what will be different next time."""

    tool: str
    arguments: dict[str, Any]
    tab: int | None = None
    """Which of the tabs met in the recording; 0 is the one it began in."""
    opens: int | None = None
    """Under which number the tab goes on that this step opens."""
    targets: dict[str, Target] = {}
    """The elements that refs meant, by the argument that held the ref; empty for the call's own."""
    view: View | None = None
    parameters: dict[str, str] = {}
    """Arguments that are not kept, and the parameters that take their place."""


class LastRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far the last run came."""

    id: str
    state: State
    step: int
    """How many steps were done."""
    error: str = ""
    reason: str = ""


class Shortcut(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recording under a name."""

    id: str
    client: str
    command: str
    description: str
    steps: list[Step]
    created: float
    last: LastRun | None = None

    @property
    def parameters(self) -> list[str]:
        names = (name for step in self.steps for name in step.parameters.values())
        return list(dict.fromkeys(names))


class Shortcuts:
    """All that there are, by id."""

    def __init__(self, store: Store) -> None:
        self._shelf = store.shelf(SHORTCUTS)
        self._all = dict(decoded(self._shelf, Shortcut))

    def of(self, client: str) -> list[Shortcut]:
        return [shortcut for shortcut in self._all.values() if shortcut.client == client]

    def size(self, client: str) -> int:
        """Of a client's, in bytes."""
        return sum(len(msgspec.json.encode(shortcut)) for shortcut in self.of(client))

    def find(self, client: str, *, id: str | None = None, command: str | None = None) -> Shortcut:
        """The one of that id or that command; KeyError if the client has none."""
        for shortcut in self.of(client):
            if shortcut.id == id or shortcut.command == command:
                return shortcut
        raise KeyError(id or command)

    def put(self, shortcut: Shortcut) -> None:
        self._all[shortcut.id] = shortcut
        self._shelf.put(shortcut.id, msgspec.json.encode(shortcut))

    def drop(self, shortcut: Shortcut) -> None:
        self._all.pop(shortcut.id, None)
        self._shelf.drop(shortcut.id)

    def ran(self, id: str, last: LastRun) -> None:
        """Keep how a run went, unless the shortcut has been deleted meanwhile."""
        known = self._all.get(id)
        if known is not None:
            self.put(msgspec.structs.replace(known, last=last))

    def keep_only(self, clients: set[str]) -> None:
        """Other clients are gone, and others may have their names one day."""
        for shortcut in list(self._all.values()):
            if shortcut.client not in clients:
                self.drop(shortcut)
