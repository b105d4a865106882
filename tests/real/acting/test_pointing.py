"""Clicks and drags at points of the latest screenshot, with the tools of the default list."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]
BODY = """
<style>body { margin: 0 } canvas { position: absolute; left: 0; top: 0 }</style>
<canvas id=c width=600 height=400></canvas>
<script>window.seen = [];
for (const type of ['pointerdown', 'pointerup'])
  c.addEventListener(type, (e) => seen.push([type, Math.round(e.clientX), Math.round(e.clientY)]))
</script>
"""


async def scaled(agent: Agent, in_page: Value, x: int, y: int) -> list[float]:
    """A point of the viewport as one of a screenshot at half its size."""
    taken = await agent.call("browser_screenshot_tab", scale=0.5)
    ratio = taken["width"] / await in_page("innerWidth")
    return [x * ratio, y * ratio]


@pytest.fixture
async def page(opened: Opener, site: Site) -> int:
    return await opened(f"{site.url}/html?body={quote(BODY)}")


@pytest.mark.usefixtures("page")
async def test_a_click_goes_to_a_point_of_the_latest_screenshot(
    agent: Agent, in_page: Value
) -> None:
    point = await scaled(agent, in_page, 200, 100)
    text = await agent.text("browser_click_element", coordinate=point)
    assert text.startswith(f"Clicked ({point[0]:g}, {point[1]:g}).")
    assert (await in_page("seen"))[0] == ["pointerdown", 200, 100]


@pytest.mark.usefixtures("page")
async def test_a_drag_goes_from_point_to_point(agent: Agent, in_page: Value) -> None:
    start = await scaled(agent, in_page, 100, 50)
    end = [start[0] * 4, start[1] * 4]
    ends = {"from": {"coordinate": start}, "to": {"coordinate": end}}
    await agent.call("browser_drag", **ends)
    assert await in_page("seen") == [["pointerdown", 100, 50], ["pointerup", 400, 200]]


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("point", [[1], [1, 2, 3], ["a", "b"], [-50, 10], [1e9, 10]])
async def test_a_point_outside_of_the_screenshot_is_refused(
    agent: Agent, in_page: Value, point: list[Any]
) -> None:
    await agent.call("browser_screenshot_tab")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", coordinate=point)
    assert failed.value.reason == "invalid_arguments"
    assert await in_page("seen") == []


async def test_the_error_of_a_covered_element_names_pointing(
    agent: Agent, opened: Opener, site: Site
) -> None:
    body = "<button id=b>Under</button><div style='position: fixed; inset: 0'>Over</div>"
    await opened(f"{site.url}/html?body={quote(body)}")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector="#b")
    assert failed.value.reason == "covered_by"
    assert "coordinate" in failed.value.message
