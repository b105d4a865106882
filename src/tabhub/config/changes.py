"""What has changed in the files of a home since they were read last; never the values."""

from collections.abc import Iterable
from copy import deepcopy

from tabhub.config.clients import CLI, PRINTED
from tabhub.config.keys import differing
from tabhub.config.settings import Settings


class Changes:
    """Remembers what was read, and tells what is other this time."""

    def __init__(self, settings: Settings) -> None:
        # The server changes its own as it goes.
        self._settings = deepcopy(settings)
        self._clients: frozenset[str] | None = None
        self._news: dict[str, list[str]] = {}

    def see_clients(self, names: Iterable[str]) -> None:
        now = frozenset(names)
        before = now if self._clients is None else self._clients
        self._note("added", sorted(now - before - {PRINTED, CLI}))
        self._note("revoked", sorted(before - now))
        self._clients = now

    def see_settings(self, fresh: Settings) -> None:
        self._note("changed", differing(fresh, self._settings))
        self._settings = deepcopy(fresh)

    def see_secret(self) -> None:
        self._note("changed", ["secret"])

    def told(self) -> dict[str, list[str]]:
        """What was new, once."""
        news, self._news = self._news, {}
        return news

    def _note(self, what: str, names: list[str]) -> None:
        if names:
            self._news.setdefault(what, []).extend(names)
