"""Forgetting a client whose token was revoked: another may have its name one day."""

from typing import Any

from tabhub.store.grants import GRANTS
from tabhub.store.saved_shortcuts import SHORTCUTS
from tabhub.store.store import Store, decoded

_OWNERS = {GRANTS: "client", SHORTCUTS: "client", "agents": "client", "sessions": "caller"}
"""The shelves that belong to clients, and where their bodies say to whom."""


def forget_client(store: Store, client: str) -> None:
    """Drop what was granted to a client, its sessions, and what tabs they had."""
    for name, member in _OWNERS.items():
        shelf = store.shelf(name)
        for key, body in decoded(shelf, dict[str, Any]):
            if body.get(member) == client:
                shelf.drop(key)
