"""Screenshots of the last minutes, so that later calls can name them by their ids."""

import secrets
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

MOST = 20
"""Of one session, so that no other loses any by it."""
MOST_FRAMES = 1000
MOST_CHARACTERS = 40_000_000
SECONDS = 600.0
_DIGITS = string.digits
_LETTERS = string.digits + string.ascii_lowercase


class Frame(NamedTuple):
    """The pixels in which an agent names points of a viewport, which is so large itself."""

    width: int
    height: int
    viewport: dict[str, float]
    corner: tuple[float, float] | None = None
    """Of a picture of a part of the page instead: where on the page that part begins."""


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
    frame: Frame | None = None
    """What later points refer to; none for a picture that is only looked at."""


class Shots:
    """The latest, for a while."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Shot]] = {}
        self._frames: dict[tuple[str, int], Frame] = {}
        self._held: dict[str, dict[tuple[str, int], Frame]] = {}

    def keep(self, shot: Shot) -> str:
        """Remember a picture; its id."""
        id = f"ss_{_random(_DIGITS, 4)}{_random(_LETTERS, 5)}"
        self._kept[id] = (self._clock() + SECONDS, shot)
        own = [id for id, (_, kept) in self._kept.items() if kept.session == shot.session]
        for old in own[:-MOST]:
            del self._kept[old]
        while self._size() > MOST_CHARACTERS:
            del self._kept[next(iter(self._kept))]
        self._note(shot)
        return id

    def _note(self, shot: Shot) -> None:
        if shot.frame is not None:
            self.show(shot.session, shot.tab, shot.frame)

    def show(self, session: str, tab: int, frame: Frame) -> None:
        """Points outlive the picture: an agent still has it in mind."""
        self._frames.pop((session, tab), None)
        self._frames[session, tab] = frame
        if len(self._frames) > MOST_FRAMES:
            del self._frames[next(iter(self._frames))]

    def frame(self, session: str, tab: int) -> Frame | None:
        """The frame of the latest picture that this session took of a tab."""
        return self._held.get(session, self._frames).get((session, tab))

    def of(self, session: str) -> list[str]:
        """The ids of a session's pictures that are still there."""
        return [id for id in self._kept if self.find(session, id) is not None]

    def forget(self, session: str) -> None:
        """All that a session has taken, and where its points are."""
        self._kept = {id: kept for id, kept in self._kept.items() if kept[1].session != session}
        self._frames = {key: frame for key, frame in self._frames.items() if key[0] != session}

    @contextmanager
    def holding(self, session: str) -> Iterator[None]:
        """While it lasts, points are those of the pictures that there were before."""
        self._held[session] = dict(self._frames)
        try:
            yield
        finally:
            self._held.pop(session, None)

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
