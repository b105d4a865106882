"""Recordings of real pages as GIFs, checked with a different decoder."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageSequence

from tests.real.conftest import Log, Opener, Value
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.managed import rig
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]
GIF = "gif_creator"
PLAIN = {
    "showClickIndicators": False,
    "showDragPaths": False,
    "showActionLabels": False,
    "showProgressBar": False,
    "showWatermark": False,
}


@pytest.fixture(autouse=True)
async def cleared(agent: Agent, opened: Opener, site: Site) -> AsyncIterator[None]:
    """Recordings belong to the session, and so outlive a test."""
    yield
    await agent.result(GIF, action="clear")


async def act(agent: Agent, site: Site) -> None:
    """A screenshot, typing, a click and a navigation: four frames."""
    await agent.call("browser_screenshot_tab")
    await agent.call("browser_type_text", selector="#text", text="words")
    await agent.call("browser_click_element", selector="#makes")
    await agent.call("browser_navigate_tab", url=site.page("tall"))


def has_orange(image: Image.Image) -> bool:
    found = image.convert("RGB")
    colors = found.getcolors(maxcolors=found.width * found.height) or []
    near: Any = [c for _, c in colors]
    return any(r > 220 and 100 < g < 180 and b < 60 for r, g, b in near)


def has_red(image: Image.Image) -> bool:
    colors: Any = image.getcolors(maxcolors=image.width * image.height) or []
    return any(r > 180 and g < 80 and b < 80 for _, (r, g, b) in colors)


@pytest.mark.document("CB-tools-15")
async def test_actions_become_the_frames_of_a_file(
    agent: Agent, opened: Opener, site: Site, saved: Path
) -> None:
    await opened(site.page("upload"))
    assert (await agent.call(GIF, action="start_recording"))["recording"] is True
    await act(agent, site)
    await agent.text("browser_read_page")
    stopped = await agent.call(GIF, action="stop_recording")
    assert stopped == {"recording": False, "frames": 4}
    await agent.call("browser_screenshot_tab")
    made = await agent.call(GIF, action="export", download=True, filename="four")
    path = Path(made["path"])
    assert path == (saved / "four.gif").resolve() and path.stat().st_size == made["bytes"]
    with Image.open(path) as image:
        assert image.size == (made["width"], made["height"])
        delays = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
    assert delays == [300, 800, 1500, 800] and made["frames"] == 4
    empty = await failure(agent, GIF, action="export", download=True)
    assert empty.reason == "not_found"


@pytest.mark.parametrize("visible", [True, False])
async def test_claude_tools_are_recorded_too_with_the_path_of_a_drag(
    agent: Agent, opened: Opener, in_page: Value, site: Site, saved: Path, visible: bool
) -> None:
    await opened(site.page("upload"))
    await agent.call("computer", action="screenshot")
    await agent.call(GIF, action="start_recording")
    await agent.call("computer", action="screenshot")
    await agent.call("computer", action="left_click", coordinate=[100, 100])
    ends = {"start_coordinate": [100, 200], "coordinate": [400, 300]}
    await agent.call("computer", action="left_click_drag", **ends)
    await agent.call("computer", action="scroll", coordinate=[50, 50], scroll_direction="down")
    await agent.call("navigate", url=site.page("form"))
    options = {**PLAIN, "showDragPaths": visible}
    name = f"way-{visible}.gif"
    made = await agent.call(GIF, action="export", download=True, filename=name, options=options)
    wide = await in_page("innerWidth")
    part = made["width"] / wide
    with Image.open(saved / name) as image:
        frames = [frame.convert("RGB").copy() for frame in ImageSequence.Iterator(image)]
        delays = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
    assert delays == [300, 1500, 1500, 800, 800]
    box = (round(240 * part), round(240 * part), round(260 * part), round(260 * part))
    assert any(has_red(frame.crop(box)) for frame in frames) is visible


@pytest.mark.parametrize("visible", [True, False])
async def test_rings_mark_clicks_if_they_are_requested(
    agent: Agent, opened: Opener, in_page: Value, site: Site, saved: Path, visible: bool
) -> None:
    await opened(site.page("upload"))
    await agent.call(GIF, action="start_recording")
    await agent.call("browser_click_element", selector="#text")
    code = "const b = document.querySelector('#text').getBoundingClientRect();"
    x, y, wide = await in_page(f"{code} [b.x + b.width / 2, b.y + b.height / 2, innerWidth]")
    options = {**PLAIN, "showClickIndicators": visible, "quality": 1}
    name = f"rings-{visible}.gif"
    made = await agent.call(GIF, action="export", download=True, filename=name, options=options)
    part = made["width"] / wide
    with Image.open(saved / name) as image:
        box = (x * part - 30, y * part - 30, x * part + 30, y * part + 30)
        assert has_orange(image.convert("RGB").crop(tuple(map(round, box)))) is visible


async def test_a_gif_is_dropped_on_a_page_that_counts_its_bytes(
    agent: Agent, opened: Opener, in_page: Value, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    await agent.call(GIF, action="start_recording")
    await agent.call("browser_screenshot_tab")
    code = "const b = document.querySelector('#zone').getBoundingClientRect(); [b.x + 9, b.y + 9]"
    zone = await in_page(code)
    made = await agent.call(GIF, action="export", coordinate=zone, filename="d.gif")
    assert made["effect"]["files"] == [{"name": "d.gif", "size": made["bytes"]}]
    (entry,) = await log(1)
    assert entry["files"][0][:3] == ["d.gif", "image/gif", made["bytes"]]


async def test_notices_are_no_errors_and_a_new_start_discards_old_frames(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("upload"))
    assert "No recording" in await agent.text(GIF, action="stop_recording")
    await agent.call(GIF, action="start_recording")
    await agent.call("browser_screenshot_tab")
    assert "already" in await agent.text(GIF, action="start_recording")
    assert (await agent.call(GIF, action="stop_recording"))["frames"] == 1
    assert (await agent.call(GIF, action="start_recording"))["frames"] == 0
    await agent.call("browser_screenshot_tab")
    assert await agent.call(GIF, action="clear") == {"recording": False, "frames": 0}
    await agent.call("browser_screenshot_tab")
    assert (await agent.call(GIF, action="stop_recording"))["frames"] == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"action": "export", "download": True}, "not_found"),
        ({"action": "export"}, "invalid_arguments"),
        ({"action": "export", "download": True, "coordinate": [1, 1]}, "invalid_arguments"),
        ({"action": "play"}, "invalid_arguments"),
        ({"action": "export", "download": True, "options": {"quality": 31}}, "invalid_arguments"),
        ({"action": "start_recording", "tabId": 1}, "tab_not_found"),
    ],
)
async def test_an_impossible_recording_is_refused(
    agent: Agent, opened: Opener, site: Site, arguments: dict[str, Any], word: str
) -> None:
    await opened(site.page("upload"))
    assert (await failure(agent, GIF, **arguments)).reason == word


async def test_frames_are_kept_when_an_export_fails(
    agent: Agent, opened: Opener, site: Site, saved: Path
) -> None:
    await opened(site.page("upload"))
    await agent.call(GIF, action="start_recording")
    await agent.call("browser_screenshot_tab")
    for name in ("../out.gif", "a/b.gif"):
        failed = await failure(agent, GIF, action="export", download=True, filename=name)
        assert failed.reason == "invalid_arguments"
    saved.mkdir(exist_ok=True)
    (saved / "taken.gif").write_bytes(b"")
    failed = await failure(agent, GIF, action="export", download=True, filename="taken")
    assert failed.reason == "invalid_arguments"
    assert (await agent.call(GIF, action="export", download=True))["frames"] == 1


async def test_no_frame_is_taken_on_a_forbidden_site(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as robot:
        await robot.call("browser_open_tab", url=site.page("form"))
        await robot.call(GIF, action="start_recording")
        await robot.call("browser_screenshot_tab")
        here.product.run("permissions", "set", GIF, "off")
        await robot.call("browser_screenshot_tab")
        here.product.run("permissions", "set", GIF, "auto")
        assert (await robot.call(GIF, action="stop_recording"))["frames"] == 1


async def test_no_frame_is_taken_on_a_site_that_needs_approval(tmp_path: Path, site: Site) -> None:
    levels = {"tools": {"browser_navigate_tab": "auto"}}
    rules = {site.other.removeprefix("http://"): "ask"}
    config = {"permissions": {**levels, "domains": rules}}
    async with rig(tmp_path, config) as here, here.agent("robot") as robot:
        await robot.call("browser_open_tab", url=site.page("form"))
        await robot.call(GIF, action="start_recording")
        await robot.call("browser_navigate_tab", url=site.page("form"))
        await robot.call("browser_navigate_tab", url=f"{site.other}/form.html")
        await robot.call("browser_navigate_tab", url=site.page("form"))
        assert (await robot.call(GIF, action="stop_recording"))["frames"] == 2


async def test_a_session_does_not_record_the_calls_of_another(
    agent: Agent, another: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("upload"))
    tab = (await another.call("browser_open_tab", url=site.page("tall")))["tabId"]
    await another.call(GIF, action="start_recording")
    await agent.call("browser_screenshot_tab")
    assert (await another.call(GIF, action="stop_recording"))["frames"] == 0
    await another.call("browser_close_tab", tabId=tab)


async def test_without_a_folder_the_browser_downloads_the_gif(tmp_path: Path, site: Site) -> None:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text('{"downloads": {"folder": null}}')
    arguments = ("start", "--port", "0", "--browser", "--headless")
    with product.running(*arguments):
        port = product.wait_browser()["port"]
        async with product.client(port) as http:
            agent = Agent(http)
            await agent.call("browser_open_tab", url=site.page("tall"))
            await agent.call(GIF, action="start_recording")
            await agent.call("browser_screenshot_tab")
            await agent.call("browser_scroll", direction="down")
            made = await agent.call(GIF, action="export", download=True, filename="kept.gif")
    path = Path(made["path"])
    data = path.read_bytes()
    path.unlink()
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "GIF" and len(data) == made["bytes"]
