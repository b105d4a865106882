"""Shortcuts: recorded calls that a client can repeat. They belong to the client and are saved."""

from typing import Any, Literal

import msgspec

from tabhub.store.store import Store, decoded

SHORTCUTS = "shortcuts"
State = Literal["running", "done", "failed", "stopped", "interrupted"]


class SavedElement(msgspec.Struct, frozen=True, omit_defaults=True):
    """What identifies an element."""

    role: str
    name: str
    selector: str | None = None


class SavedView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The picture that points refer to, the part of the page it showed, and the viewport then.

    The size is 0 where points refer to the viewport itself.
    """

    width: int
    height: int
    shown: dict[str, float]
    viewport: dict[str, float]
    corner: tuple[float, float] | None = None


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call, without what differs from run to run."""

    tool: str
    arguments: dict[str, Any]
    tab: int | None = None
    """The tab, by its order in the recording; 0 is the one it started in."""
    opens: int | None = None
    """The number of the tab that this step opens."""
    targets: dict[str, SavedElement] = {}
    """The elements that refs meant, by argument; under an empty key that of the call's own ref."""
    view: SavedView | None = None
    parameters: dict[str, str] = {}
    """Arguments that are not saved, and the parameters that replace them."""


class LastRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of the last run."""

    id: str
    state: State
    step: int
    """How many steps were completed."""
    error: str = ""
    reason: str = ""


class Shortcut(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recording with a name."""

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
    """All shortcuts, by id."""

    def __init__(self, store: Store) -> None:
        self._collection = store.collection(SHORTCUTS)
        self._all = dict(decoded(self._collection, Shortcut))

    def of(self, client: str) -> list[Shortcut]:
        return [shortcut for shortcut in self._all.values() if shortcut.client == client]

    def size(self, client: str) -> int:
        """How many bytes a client's shortcuts take."""
        return sum(len(msgspec.json.encode(shortcut)) for shortcut in self.of(client))

    def find(self, client: str, *, id: str | None = None, command: str | None = None) -> Shortcut:
        """The shortcut with that id or command; KeyError if the client has none."""
        for shortcut in self.of(client):
            if shortcut.id == id or shortcut.command == command:
                return shortcut
        raise KeyError(id or command)

    def put(self, shortcut: Shortcut) -> None:
        self._all[shortcut.id] = shortcut
        self._collection.put(shortcut.id, msgspec.json.encode(shortcut))

    def drop(self, shortcut: Shortcut) -> None:
        self._all.pop(shortcut.id, None)
        self._collection.drop(shortcut.id)

    def ran(self, id: str, last: LastRun) -> None:
        """Save the outcome of a run, unless the shortcut has been deleted."""
        known = self._all.get(id)
        if known is not None:
            self.put(msgspec.structs.replace(known, last=last))

    def keep_only(self, clients: set[str]) -> None:
        """Delete the shortcuts of other clients: later clients may get their names."""
        for shortcut in list(self._all.values()):
            if shortcut.client not in clients:
                self.drop(shortcut)
