"""The memory of recent screenshots."""

import re
from dataclasses import replace

from tabhub.tools.state import (
    MAX_FRAMES,
    MAX_SCREENSHOT_CHARS,
    MAX_SCREENSHOTS,
    SCREENSHOT_SECONDS,
    Frame,
    Screenshot,
    Screenshots,
)


def shot(data: str = "AAAA") -> Screenshot:
    region = {"x": 0.0, "y": 0.0, "width": 10.0, "height": 5.0}
    return Screenshot("ann", 5, data, "image/png", 10, 5, 1.0, region)


def test_a_screenshot_is_found_by_its_id_and_only_by_its_own_session() -> None:
    shots = Screenshots(lambda: 0.0)
    first, second = shots.keep(shot()), shots.keep(shot())
    assert first != second and re.fullmatch(r"ss_\d{4}[0-9a-z]{5}", first)
    assert shots.find("ann", first) == shot()
    assert shots.find("bob", first) is None
    assert shots.find("ann", "ss_0000aaaaa") is None


def test_screenshots_are_forgotten_after_a_while_and_beyond_a_number() -> None:
    now = [0.0]
    shots = Screenshots(lambda: now[0])
    ids = [shots.keep(shot()) for _ in range(MAX_SCREENSHOTS + 1)]
    assert shots.find("ann", ids[0]) is None
    assert shots.find("ann", ids[1]) is not None
    now[0] = SCREENSHOT_SECONDS + 1
    assert shots.find("ann", ids[1]) is None


def test_many_screenshots_of_one_session_do_not_push_out_those_of_another() -> None:
    shots = Screenshots(lambda: 0.0)
    first = shots.keep(replace(shot(), session="bob"))
    for _ in range(MAX_SCREENSHOTS + 1):
        shots.keep(shot())
    assert shots.find("bob", first) is not None and len(shots.ids_of("ann")) == MAX_SCREENSHOTS


def test_large_screenshots_leave_less_room_for_others() -> None:
    shots = Screenshots(lambda: 0.0)
    ids = [shots.keep(shot("A" * (MAX_SCREENSHOT_CHARS // 2))) for _ in range(3)]
    assert [shots.find("ann", id) is not None for id in ids] == [False, True, True]


def test_the_frame_of_the_latest_screenshot_of_a_tab_outlives_the_image() -> None:
    now = [0.0]
    shots = Screenshots(lambda: now[0])
    first = replace(shot(), frame=Frame(10, 5, {"width": 20, "height": 10}))
    shots.keep(first)
    shots.keep(shot())
    assert shots.frame("ann", 5) == first.frame
    assert shots.frame("ann", 6) is None and shots.frame("bob", 5) is None
    latest = replace(first, frame=Frame(40, 20, {"width": 20, "height": 10}))
    shots.keep(latest)
    now[0] = SCREENSHOT_SECONDS + 1
    assert shots.frame("ann", 5) == latest.frame


def test_frames_of_very_many_tabs_are_not_kept() -> None:
    shots = Screenshots(lambda: 0.0)
    frame = Frame(10, 5, {"width": 20, "height": 10})
    for tab in range(MAX_FRAMES + 1):
        shots.keep(replace(shot(), tab=tab, frame=frame))
    assert shots.frame("ann", 0) is None and shots.frame("ann", 1) == frame
