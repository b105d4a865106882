"""Screenshots of the last minutes, so that later calls can name them by their ids."""

import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass

MOST = 20
MOST_CHARACTERS = 40_000_000
SECONDS = 600.0
_DIGITS = string.digits
_LETTERS = string.digits + string.ascii_lowercase


@dataclass(frozen=True)
class Shot:
    """A picture, whose it is, and which part of the page it shows at what scale."""

    session: str
    tab: int
    data: str
    """In base64."""
    mime: str
    width: int
    height: int
    scale: float
    region: dict[str, float]


class Shots:
    """The latest, for a while."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Shot]] = {}

    def keep(self, shot: Shot) -> str:
        """Remember a picture; its id."""
        id = f"ss_{_random(_DIGITS, 4)}{_random(_LETTERS, 5)}"
        self._kept[id] = (self._clock() + SECONDS, shot)
        while len(self._kept) > MOST or self._size() > MOST_CHARACTERS:
            del self._kept[next(iter(self._kept))]
        return id

    def _size(self) -> int:
        return sum(len(shot.data) for _, shot in self._kept.values())

    def find(self, session: str, id: str) -> Shot | None:
        """A picture that this session took."""
        until, shot = self._kept.get(id, (0.0, None))
        if shot is None or shot.session != session or until < self._clock():
            return None
        return shot


def _random(characters: str, length: int) -> str:
    return "".join(secrets.choice(characters) for _ in range(length))
