"""Screenshots of the last minutes, so that later calls can name them by their ids."""

import secrets
import string
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


KEPT = 500


class Closings:
    """By browser, and the name under which the browser can bring a tab back."""

    def __init__(self) -> None:
        self._closed: OrderedDict[tuple[str, str], str] = OrderedDict()

    def note(self, browser: str, name: str, session: str) -> None:
        self._closed[browser, name] = session
        if len(self._closed) > KEPT:
            self._closed.popitem(last=False)

    def by(self, browser: str, name: str) -> str | None:
        """The session that has closed it."""
        return self._closed.get((browser, name))


MOST_RECORDED_FRAMES = 50
Point = tuple[float, float]


@dataclass(frozen=True)
class RecordedFrame:
    """A picture of a viewport after something was done in it."""

    picture: bytes
    viewport: tuple[float, float]
    """Its size, in the pixels of the points."""
    label: str
    delay_ms: int
    click: Point | None = None
    drag: tuple[Point, Point] | None = None


@dataclass
class Recording:
    """The frames of one session."""

    running: bool = True
    frames: list[RecordedFrame] = field(default_factory=list)
    left_out: int = 0

    def add(self, frame: RecordedFrame) -> None:
        """The first frames stay; what comes when there is no room is counted."""
        if len(self.frames) < MOST_RECORDED_FRAMES:
            self.frames.append(frame)
        else:
            self.left_out += 1


class Recordings:
    """One for each session that has begun one, for as long as the session lasts."""

    def __init__(self, is_there: Callable[[str], bool]) -> None:
        self._is_there = is_there
        self._all: dict[str, Recording] = {}

    def find(self, session: str) -> Recording | None:
        return self._all.get(session)

    def running(self, session: str) -> Recording | None:
        found = self._all.get(session)
        return found if found is not None and found.running else None

    def start(self, session: str) -> Recording:
        """A new one, in the place of an older."""
        self._all[session] = recording = Recording()
        return recording

    def drop(self, session: str) -> None:
        self._all.pop(session, None)

    def drop_ended(self) -> None:
        for session in [key for key in self._all if not self._is_there(key)]:
            self.drop(session)
