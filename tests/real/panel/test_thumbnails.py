"""Small pictures for the person change nothing for agents, and none is taken unseen."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageSequence

from tests.support.agent import Agent
from tests.support.browsers.managed import Rig
from tests.support.browsers.panel import Panel, panel_of
from tests.support.browsers.sample_panel import sample_panel
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-43")]

GIF = "gif_creator"
PICTURE = "document.querySelector('#strip img')?.src"
REGION = {"x": 10, "y": 10, "width": 600, "height": 350}
MIDDLE = """(() => {
  const { x, y, width, height } = order.getBoundingClientRect();
  return [x + width / 2 - 10, y + height / 2 - 10];
})()"""
ROUNDS = """(() => {
  const original = globalThis.setTimeout;
  globalThis.rounds = 0;
  globalThis.setTimeout = (act, ms, ...more) =>
    original(() => { if (ms === 2000) rounds++; act(); }, ms, ...more);
})()"""
TAKEN = "sample.asked.filter(([method]) => method === 'thumbnail.take').length"


async def new_picture(panel: Panel | None, agent: Agent, before: Any) -> Any:
    """Wait until the panel, if there is one, shows another picture of the tab."""
    if panel is None:
        return None

    async def look() -> Any:
        # A tab that is not used falls asleep, and nothing wakes it for a picture.
        await agent.call("browser_read_page")
        found = await panel.value(PICTURE)
        return found if found != before else None

    return await eventually(look, "another picture")


async def recorded(here: Rig, agent: Agent, site: Site, panel: Panel | None) -> list[Image.Image]:
    """A recording of two clicks in a fresh tab, with a picture in the panel after each step."""
    tab = (await agent.call("browser_open_tab", url=site.page("asked")))["tabId"]
    await agent.call(GIF, action="start_recording")
    picture = await new_picture(panel, agent, None)
    await agent.call("browser_click_element", selector="#gift")
    picture = await new_picture(panel, agent, picture)
    await agent.call("browser_screenshot_tab", region=REGION)
    await agent.call("browser_select_option", selector="#size", value="l")
    await new_picture(panel, agent, picture)
    # A point means what it meant in the agent's last screenshot.
    page = await here.cdp.page_of(tab)
    point = await here.cdp.evaluate(page, MIDDLE)
    await agent.call("browser_click_element", coordinate=point)
    assert await here.cdp.evaluate(page, "done") == ["ordered"]
    assert await agent.call(GIF, action="stop_recording") == {"recording": False, "frames": 4}
    made = await agent.call(GIF, action="export", download=True, filename=f"recording-{tab}")
    with Image.open(io.BytesIO(Path(made["path"]).read_bytes())) as image:
        frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
    await agent.call("browser_close_tab", tabId=tab)
    return frames


async def test_pictures_for_the_person_leave_a_recording_and_the_last_screenshot_alone(
    here: Rig, site: Site
) -> None:
    async with here.agent("recorder") as agent, panel_of(here.cdp) as panel:
        # The browser's own bar about the debugger makes pages lower.
        await agent.call("browser_open_tab", url=site.page("asked"))
        await agent.call("browser_screenshot_tab")
        await panel.view("settings")
        without = await recorded(here, agent, site, None)
        await panel.view("now")
        seen = await recorded(here, agent, site, panel)
    assert len(seen) == len(without) == 4
    for one, other in zip(seen, without, strict=True):
        assert one.size == other.size and ImageChops.difference(one, other).getbbox() is None


async def test_no_picture_is_taken_while_the_panel_is_hidden(here: Rig) -> None:
    async with sample_panel(here.cdp) as panel:
        await panel.until(f"{TAKEN} > 0", "a picture")
        await panel.value(ROUNDS)
        await here.cdp.open("about:blank")
        await panel.until("document.visibilityState === 'hidden'", "the panel to be hidden")
        await panel.until("rounds >= 1", "the round that had begun")
        before = await panel.value(TAKEN)
        await panel.until("rounds >= 3", "two rounds")
        assert await panel.value(TAKEN) == before
        await here.cdp.send("Target.activateTarget", targetId=panel.target)
        await panel.until(f"{TAKEN} > {before}", "pictures again")
