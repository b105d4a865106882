"""The settings as they hold: those of the running server, else those of the file."""

from collections.abc import Sequence
from typing import Any

from tabhub.cli import running
from tabhub.config import settings
from tabhub.config.keys import HIDDEN, names, plain, value_of
from tabhub.config.paths import Home

Facts = dict[str, Any]


class View:
    """Both at once, key by key."""

    def __init__(self, home: Home) -> None:
        self._file = plain(settings.load(home))
        told = running.in_force(home)
        self._server: Facts | None = None if told is None else told["settings"]
        self._differs: list[str] = [] if told is None else told["differs"]
        self.facts: Facts = self._merged(self._file, "")

    @property
    def waiting(self) -> Facts:
        """What the file says and the server has not taken."""
        return {key: value_of(self._file, key) for key in self._differs}

    def value(self, keys: Sequence[str]) -> Any:
        return at(self.facts, keys)

    def is_flag(self, key: str) -> bool:
        """Whether the server has this from a flag or the environment, and not from the file."""
        if key not in names() or key in self._differs:
            return False
        return bool(value_of(self.facts, key) != value_of(self._file, key))

    def _merged(self, told: Facts, prefix: str) -> Facts:
        return {key: self._held(prefix + key, value) for key, value in told.items()}

    def _held(self, key: str, value: Any) -> Any:
        if isinstance(value, dict) and key not in names():
            return self._merged(value, f"{key}.")
        if self._server is None:
            return value
        held = value_of(self._server, key)
        is_same = held == HIDDEN and value is not None and key not in self._differs
        return value if is_same else held


def at(facts: Any, keys: Sequence[str]) -> Any:
    """What is at a path; None where nothing is."""
    for key in keys:
        facts = facts.get(key) if isinstance(facts, dict) else None
    return facts
