"""Which frames of a recording are kept, and how they are drawn."""

import io
import subprocess
import sys

import pytest
from PIL import Image, ImageSequence

from tabhub.tools.capture.gif import Options, drawn, encoded, size_of
from tabhub.tools.capture.gif_creator import ACTIONS, ActionLog
from tabhub.tools.state import MAX_GIF_FRAMES, GifFrame, GifRecordings

NOTHING = Options(clicks=False, drags=False, labels=False, progress=False, watermark=False)
Rgb = tuple[int, int, int]


def picture(color: Rgb = (255, 255, 255), size: tuple[int, int] = (400, 300)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, color).save(target, "JPEG", quality=95)
    return target.getvalue()


def frame(color: Rgb = (255, 255, 255), delay: int = 800, **more: object) -> GifFrame:
    return GifFrame(picture(color), (400, 300), "Click", delay, **more)  # type: ignore[arg-type]


def has(image: Image.Image, kind: str) -> bool:
    """Whether a kind of colour is anywhere in a picture."""
    rgb = image.convert("RGB")
    tests = {
        "orange": lambda r, g, b: r > 220 and 100 < g < 180 and b < 60,
        "red": lambda r, g, b: r > 180 and g < 80 and b < 80,
        "dark": lambda r, g, b: r < 60 and g < 60 and b < 60,
    }
    colors = rgb.getcolors(maxcolors=rgb.width * rgb.height) or []
    return any(tests[kind](*color) for _, color in colors)  # type: ignore[misc]


def test_the_first_frames_stay_and_later_ones_are_counted() -> None:
    recordings = GifRecordings(lambda _: True)
    recording = recordings.start("ann")
    frames = [frame((index, 0, 0)) for index in range(MAX_GIF_FRAMES + 3)]
    for item in frames:
        recording.add(item)
    assert recording.frames == frames[:MAX_GIF_FRAMES] and recording.left_out == 3


def test_each_session_has_its_own_recording_which_ends_with_it() -> None:
    open_sessions = {"ann", "bob"}
    recordings = GifRecordings(open_sessions.__contains__)
    first, second = recordings.start("ann"), recordings.start("bob")
    second.running = False
    assert recordings.running("ann") is first and recordings.running("bob") is None
    assert recordings.find("bob") is second and recordings.find("eve") is None
    open_sessions.remove("ann")
    recordings.drop_ended()
    assert recordings.find("ann") is None and recordings.find("bob") is second


def test_the_most_specific_of_several_commands_is_shown() -> None:
    log = ActionLog()
    for command in ("page.capture", "page.click", "page.capture"):
        log.add(command, {"point": {"x": 3, "y": 4}})
    assert (log.action, log.click) == (ACTIONS["page.click"], (3, 4))
    reading = ActionLog()
    reading.add("page.read", {})
    assert reading.action is None


def test_a_drag_is_shown_with_its_path() -> None:
    log = ActionLog()
    log.add("page.drag", {"path": {"start": {"x": 1, "y": 2}, "end": {"x": 3, "y": 4}}})
    assert (log.drag, log.click) == (((1, 2), (3, 4)), None)


def test_a_gif_has_the_frames_their_delays_and_repeats_endlessly() -> None:
    frames = [frame((200, 0, 0), 300), frame((0, 200, 0), 800), frame((0, 0, 200), 1500)]
    size = size_of(frames[0])
    images = [drawn(item, size, 1, NOTHING) for item in frames]
    with Image.open(io.BytesIO(encoded(images, [item.delay_ms for item in frames]))) as made:
        assert (made.format, made.size, made.info["loop"]) == ("GIF", (400, 300), 0)
        delays = [part.info["duration"] for part in ImageSequence.Iterator(made)]
    assert delays == [300, 800, 1500]


@pytest.mark.parametrize("color", [(255, 255, 255), (0, 0, 0)])
def test_frames_that_look_the_same_stay_several(color: Rgb) -> None:
    images = [drawn(frame(color), (400, 300), 1, NOTHING) for _ in range(4)]
    with Image.open(io.BytesIO(encoded(images, [300, 800, 1500, 300]))) as made:
        delays = [part.info["duration"] for part in ImageSequence.Iterator(made)]
    assert delays == [300, 800, 1500, 300]


@pytest.mark.parametrize(
    ("option", "color"),
    [("clicks", "orange"), ("drags", "red"), ("labels", "dark"), ("progress", "orange")],
)
def test_each_option_draws_its_mark_and_no_other_does(option: str, color: str) -> None:
    clicked = frame(click=(100, 100), drag=((50, 50), (200, 150)))
    options = Options(**{**vars(NOTHING), option: True})
    assert not has(drawn(clicked, (400, 300), 0.5, NOTHING), color)
    assert has(drawn(clicked, (400, 300), 0.5, options), color)


def test_rings_are_around_the_point_that_was_clicked() -> None:
    only = Options(drags=False, labels=False, progress=False, watermark=False)
    image = drawn(frame(click=(300, 200)), (200, 150), 1, only).convert("RGB")
    assert has(image.crop((150 - 30, 100 - 30, 150 + 30, 100 + 30)), "orange")
    assert not has(image.crop((0, 0, 100, 60)), "orange")


def test_large_viewports_are_scaled_down_and_frames_of_other_sizes_fit() -> None:
    large = GifFrame(picture(size=(2048, 1024)), (2048, 1024), "", 800)
    assert size_of(large) == (1024, 512)
    assert drawn(frame(), (1024, 512), 1, Options()).size == (1024, 512)


def test_the_library_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, tabhub.server.app; print('PIL' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "False"


def test_a_lower_number_is_a_finer_picture() -> None:
    counts = [Options(quality=quality).colors for quality in (1, 10, 30)]
    assert counts[0] == 256 and counts == sorted(counts, reverse=True) and counts[2] >= 16
