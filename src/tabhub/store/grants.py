"""What people have granted, kept beyond the end of the server."""

from collections.abc import Callable

import msgspec

from tabhub.permissions.grants import Grant, Grants
from tabhub.store.store import Shelf, decoded

GRANTS = "grants"


class KeptGrants(Grants):
    """Grants that outlive the server; those for one session do not."""

    def __init__(self, shelf: Shelf, changed: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._shelf = shelf
        self._changed = changed
        self.reload()

    def reload(self) -> None:
        """Take what the shelf has: another process may have changed it."""
        for grant in self.all():
            if grant.scope != "session":
                super().remove(grant.id)
        for _, kept in decoded(self._shelf, Grant):
            super().add(kept)

    def add(self, grant: Grant) -> Grant | None:
        older = super().add(grant)
        if older is not None:
            self._shelf.drop(older.id)
        if grant.scope != "session":
            self._shelf.put(grant.id, msgspec.json.encode(grant))
        self._changed()
        return older

    def remove(self, id: str) -> bool:
        self._shelf.drop(id)
        removed = super().remove(id)
        self._changed()
        return removed
