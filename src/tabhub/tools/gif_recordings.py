"""What agents do, frame by frame, for those who want to show it. Bounded, and in memory only."""

from collections.abc import Callable
from dataclasses import dataclass, field

MOST_FRAMES = 50
Point = tuple[float, float]


@dataclass(frozen=True)
class Frame:
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
    frames: list[Frame] = field(default_factory=list)
    left_out: int = 0

    def add(self, frame: Frame) -> None:
        """The first frames stay; what comes when there is no room is counted."""
        if len(self.frames) < MOST_FRAMES:
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
