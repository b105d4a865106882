"""Scrolling real pages: the reported position is the actual one."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import ref
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("arguments", "page", "box"),
    [
        ({"distance": 300}, [0, 1300], [0, 0]),
        ({"direction": "up", "distance": 400}, [0, 600], [0, 0]),
        ({"direction": "right", "distance": 250}, [250, 1000], [0, 0]),
        ({"direction": "up", "distance": 99_999}, [0, 0], [0, 0]),
        ({"position": {"x": 40, "y": 70}}, [40, 70], [0, 0]),
        ({"position": {"y": 70}}, [0, 70], [0, 0]),
        ({"container": "#box", "distance": 120}, [0, 1000], [0, 120]),
        ({"container": "#box", "position": {"x": 11, "y": 22}}, [0, 1000], [11, 22]),
        ({"selector": "#inside", "direction": "right", "distance": 33}, [0, 1000], [33, 0]),
    ],
)
async def test_the_page_or_a_container_is_scrolled_exactly_and_gets_scroll_events(
    agent: Agent,
    opened: Opener,
    by_tool: Value,
    in_page: Value,
    site: Site,
    arguments: Any,
    page: Any,
    box: Any,
) -> None:
    await opened(site.page("scroll"))
    # A background tab has frames only while an agent works in it.
    await by_tool(
        "scrollTo(0, 1000); await new Promise(requestAnimationFrame); scrolled.length = 0"
    )
    effect = (await agent.call("browser_scroll", **arguments))["effect"]
    assert await in_page("[scrollX, scrollY]") == page
    assert await in_page("[box.scrollLeft, box.scrollTop]") == box
    scrolled = page if box == [0, 0] else box
    assert [effect["position"]["x"], effect["position"]["y"]] == scrolled
    assert effect["moved"] is True
    assert await in_page("scrolled") == ["page" if box == [0, 0] else "box"]


async def test_without_a_distance_part_of_the_page_stays_in_view(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("scroll"))
    await agent.call("browser_scroll")
    assert 0 < await in_page("scrollY") < await in_page("innerHeight")


async def test_scrolling_at_the_end_moves_nothing_and_says_so(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("scroll"))
    await agent.call("browser_scroll", position={"y": 1_000_000})
    result = await agent.result("browser_scroll", direction="down")
    position = result["structuredContent"]["effect"]["position"]
    assert position["y"] == position["maxY"] == await in_page("Math.round(scrollY)")
    assert "stays" in result["content"][0]["text"]


async def test_an_element_is_scrolled_into_view(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("scroll"))
    below = ref(await agent.text("browser_read_page"), "Below")
    await agent.call("browser_scroll", ref=below)
    top = await in_page("document.querySelector('#below').getBoundingClientRect().top")
    assert 0 <= top < await in_page("innerHeight")


async def test_the_container_that_fills_a_fixed_page_is_scrolled(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    page = (
        "<!doctype html><body style='margin:0'><main id=main style='height:100vh;overflow:auto'>"
        "<div style='height:3000px'></div></main>"
    )
    await opened(f"{site.url}/html?body={quote(page)}")
    await agent.call("browser_scroll", distance=210)
    assert await in_page("main.scrollTop") == 210


async def test_an_element_with_its_own_scrolling_gets_the_wheel(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("scroll"))
    await in_page("scrollTo(0, 2000)")
    result = await agent.call("browser_scroll", container="#map", distance=70)
    assert result["trusted"] is True
    assert result["effect"]["mutated"] is True
    assert await in_page("map.textContent") == "wheel 70 true"


async def test_pages_and_containers_in_frames_are_scrolled(
    agent: Agent, opened: Opener, site: Site
) -> None:
    frame = f"<iframe width=600 height=300 src='{site.other}/scroll.html'></iframe>"
    await opened(f"{site.url}/html?body={quote(frame)}")
    for arguments in ({"container": "#box", "distance": 90}, {"selector": "#below"}):
        effect = (await agent.call("browser_scroll", **arguments))["effect"]
        assert effect["moved"] is True
        assert (await agent.call("browser_scroll", **arguments))["effect"]["position"]["y"] > 0
    await agent.call("browser_scroll", container="#map", distance=70)
    assert "wheel 70 true" in await agent.text("browser_read_page")


async def test_scrolling_waits_for_content_that_it_loads(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    page = """<!doctype html><div style="height:3000px"></div><p id=end></p><script>
    new IntersectionObserver(([seen]) => seen.isIntersecting &&
      fetch('/slow?seconds=0.2').then((a) => a.text()).then(() => { end.textContent = 'loaded' })
    ).observe(end);
    </script>"""
    await opened(f"{site.url}/html?body={quote(page)}")
    result = await agent.call("browser_scroll", position={"y": 9999}, settle=10_000)
    assert result["effect"]["mutated"] is True
    assert await in_page("end.textContent") == "loaded"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"direction": "sideways"}, "invalid_arguments"),
        ({"distance": 0}, "invalid_arguments"),
        ({"direction": "up", "position": {"y": 1}}, "invalid_arguments"),
        ({"selector": "#box", "container": "#box"}, "invalid_arguments"),
        ({"position": {"x": "1"}}, "invalid_arguments"),
        ({"container": "#nothing"}, "element_not_found"),
        ({"container": "[["}, "invalid_arguments"),
        ({"ref": "ref_99"}, "stale_ref"),
    ],
)
async def test_scrolling_with_invalid_arguments_is_refused(
    agent: Agent, opened: Opener, in_page: Value, site: Site, arguments: Any, reason: str
) -> None:
    await opened(site.page("scroll"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_scroll", **arguments)
    assert failed.value.reason == reason
    assert await in_page("scrolled") == []
