"""What the browser tools remember between calls: screenshots, closed tabs, downloads, GIFs.

All of it is in memory and bounded. What a tool keeps in the browser is not here.
"""

import secrets
import string
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tabhub.errors import InvalidArguments

MAX_SCREENSHOTS = 20
"""For each session, so that no session pushes out another's."""
MAX_SCREENSHOT_CHARS = 40_000_000
SCREENSHOT_SECONDS = 600.0
MAX_FRAMES = 1000
EDGE_PIXELS = 2
"""A point this far outside a screenshot counts as its edge."""
MAX_CLOSED_TABS = 500
MAX_DOWNLOADS = 500
MAX_GIF_FRAMES = 50

_DIGITS = string.digits
_LETTERS = string.digits + string.ascii_lowercase

Point = tuple[float, float]


class Frame(NamedTuple):
    """Maps the pixels of a screenshot, in which an agent names points, to CSS pixels."""

    width: int
    height: int
    viewport: dict[str, float]
    """Size of what the screenshot shows, in CSS pixels."""
    corner: tuple[float, float] | None = None
    """Top left corner on the page, if the screenshot shows a part of the page."""

    def place(self, point: Sequence[float]) -> dict[str, Any]:
        """A point of the screenshot as the target of a command.

        It is a point of the viewport, or of the page if the screenshot shows a part of the page:
        that part stays where it is when the page scrolls.
        """
        x, y = self._inside(point)
        across = self._across(min(x, self.width - 1))
        down = self._down(min(y, self.height - 1))
        if self.corner is None:
            return {"x": across, "y": down}
        return {"pageX": self.corner[0] + across, "pageY": self.corner[1] + down}

    def region(self, corners: Sequence[float]) -> dict[str, Any]:
        """The part of the screenshot between two corners as the input of a capture."""
        left, top = self._inside(corners[:2])
        right, bottom = self._inside(corners[2:])
        if right - left < 1 or bottom - top < 1:
            raise InvalidArguments("A region is [x0, y0, x1, y1] with x0 < x1 and y0 < y1.")
        origin_x, origin_y = self.corner or (0, 0)
        region = {
            "x": self._across(left) + origin_x,
            "y": self._down(top) + origin_y,
            "width": self._across(right - left),
            "height": self._down(bottom - top),
        }
        return {"region": region} if self.corner is None else {"region": region, "fullPage": True}

    def _inside(self, point: Sequence[float]) -> Point:
        x, y = point
        if not (_is_within(x, self.width) and _is_within(y, self.height)):
            raise InvalidArguments(
                f"The point ({x:g}, {y:g}) is outside the screenshot, which is "
                f"{self.width}x{self.height}."
            )
        return min(max(x, 0), self.width), min(max(y, 0), self.height)

    def _across(self, pixels: float) -> float:
        return pixels * self.viewport["width"] / self.width

    def _down(self, pixels: float) -> float:
        return pixels * self.viewport["height"] / self.height


def _is_within(value: float, size: int) -> bool:
    return -EDGE_PIXELS <= value <= size + EDGE_PIXELS


@dataclass(frozen=True)
class Screenshot:
    """A picture of a tab, the session that took it, and the region of the page that it shows."""

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
    """What later coordinates refer to; None if they keep referring to an earlier screenshot."""


class Screenshots:
    """The latest screenshots, by id, and the latest frame of each tab."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Screenshot]] = {}
        self._frames: dict[tuple[str, int], Frame] = {}
        self._frozen: dict[str, dict[tuple[str, int], Frame]] = {}

    def keep(self, screenshot: Screenshot) -> str:
        """Keep a screenshot and return its id."""
        id = f"ss_{_random(_DIGITS, 4)}{_random(_LETTERS, 5)}"
        self._kept[id] = (self._clock() + SCREENSHOT_SECONDS, screenshot)
        own = [id for id, (_, kept) in self._kept.items() if kept.session == screenshot.session]
        for old in own[:-MAX_SCREENSHOTS]:
            del self._kept[old]
        while self._chars() > MAX_SCREENSHOT_CHARS:
            del self._kept[next(iter(self._kept))]
        if screenshot.frame is not None:
            self.set_frame(screenshot.session, screenshot.tab, screenshot.frame)
        return id

    def _chars(self) -> int:
        return sum(len(screenshot.data) for _, screenshot in self._kept.values())

    def find(self, session: str, id: str) -> Screenshot | None:
        """A screenshot that this session took and that has not expired."""
        expires, screenshot = self._kept.get(id, (0.0, None))
        if screenshot is None or screenshot.session != session or expires < self._clock():
            return None
        return screenshot

    def ids_of(self, session: str) -> list[str]:
        return [id for id in self._kept if self.find(session, id) is not None]

    def set_frame(self, session: str, tab: int, frame: Frame) -> None:
        """Set what coordinates refer to; it outlives the screenshot, which the agent remembers."""
        self._frames.pop((session, tab), None)
        self._frames[session, tab] = frame
        if len(self._frames) > MAX_FRAMES:
            del self._frames[next(iter(self._frames))]

    def frame(self, session: str, tab: int) -> Frame | None:
        """The frame of the latest screenshot that this session took of a tab."""
        return self._frozen.get(session, self._frames).get((session, tab))

    def required_frame(self, session: str, tab: int) -> Frame:
        """The frame that a coordinate needs."""
        frame = self.frame(session, tab)
        if frame is None:
            raise InvalidArguments(
                f"A coordinate is a point of a screenshot, and you have none of tab {tab} yet. "
                "Take one first, or name the element by ref."
            )
        return frame

    @contextmanager
    def freeze_frames(self, session: str) -> Iterator[None]:
        """Within this context, coordinates keep referring to the screenshots taken before it."""
        self._frozen[session] = dict(self._frames)
        try:
            yield
        finally:
            self._frozen.pop(session, None)

    def forget(self, session: str) -> None:
        """Drop the screenshots and frames of a session."""
        self._kept = {id: kept for id, kept in self._kept.items() if kept[1].session != session}
        self._frames = {key: frame for key, frame in self._frames.items() if key[0] != session}


def _random(characters: str, length: int) -> str:
    return "".join(secrets.choice(characters) for _ in range(length))


class ClosedTabs:
    """Which session closed a tab, by browser and the id by which the browser can restore it."""

    def __init__(self) -> None:
        self._closed: OrderedDict[tuple[str, str], str] = OrderedDict()

    def add(self, browser: str, restore_id: str, session: str) -> None:
        self._closed[browser, restore_id] = session
        if len(self._closed) > MAX_CLOSED_TABS:
            self._closed.popitem(last=False)

    def closed_by(self, browser: str, restore_id: str) -> str | None:
        return self._closed.get((browser, restore_id))


class SavedDownloads:
    """Where the files of downloads that clients started belong, by browser and number."""

    def __init__(self) -> None:
        self._names: OrderedDict[tuple[str, int], tuple[str, str]] = OrderedDict()
        self._paths: dict[tuple[str, int], str] = {}
        self._expected: OrderedDict[tuple[str, str], str] = OrderedDict()

    def begin(self, browser: str, id: int, name: str, client: str) -> None:
        self._names[browser, id] = (client, name)
        if len(self._names) > MAX_DOWNLOADS:
            oldest, _ = self._names.popitem(last=False)
            self._paths.pop(oldest, None)

    def expect(self, browser: str, url: str, client: str) -> None:
        """Note that a page starts a download because of what a client did."""
        self._expected[browser, url] = client
        if len(self._expected) > MAX_DOWNLOADS:
            self._expected.popitem(last=False)

    def claim(self, browser: str, id: int, url: str, name: str, client: str) -> None:
        """Take a download of a page as the client's, if it is the one that was expected."""
        if (browser, id) not in self._names and self._expected.get((browser, url)) == client:
            del self._expected[browser, url]
            self.begin(browser, id, name, client)

    def name(self, browser: str, id: int, client: str) -> str | None:
        """The name that a file is to have below the folder; None if it is not the client's."""
        owner, name = self._names.get((browser, id), ("", None))
        return name if owner == client else None

    def moved(self, browser: str, id: int, path: str) -> None:
        self._paths[browser, id] = path

    def path(self, browser: str, id: int) -> str | None:
        """Where a file was moved to."""
        return self._paths.get((browser, id))


@dataclass(frozen=True)
class GifFrame:
    """A picture of a viewport after an action, and what to draw on it."""

    picture: bytes
    viewport: tuple[float, float]
    """Its size, in the pixels of the points."""
    label: str
    delay_ms: int
    click: Point | None = None
    drag: tuple[Point, Point] | None = None


@dataclass
class GifRecording:
    """The frames of one session."""

    running: bool = True
    frames: list[GifFrame] = field(default_factory=list)
    left_out: int = 0

    def add(self, frame: GifFrame) -> None:
        """Keep a frame, or count it as left out if the recording is full."""
        if len(self.frames) < MAX_GIF_FRAMES:
            self.frames.append(frame)
        else:
            self.left_out += 1


class GifRecordings:
    """At most one recording for each session, dropped when the session ends."""

    def __init__(self, is_open: Callable[[str], bool]) -> None:
        self._is_open = is_open
        self._all: dict[str, GifRecording] = {}
        self.sessions = self._all.keys()

    def find(self, session: str) -> GifRecording | None:
        return self._all.get(session)

    def running(self, session: str) -> GifRecording | None:
        recording = self._all.get(session)
        return recording if recording is not None and recording.running else None

    def start(self, session: str) -> GifRecording:
        """Start a new recording, which replaces an older one."""
        self._all[session] = recording = GifRecording()
        return recording

    def drop(self, session: str) -> None:
        self._all.pop(session, None)

    def drop_ended(self) -> None:
        for session in [key for key in self._all if not self._is_open(key)]:
            self.drop(session)
