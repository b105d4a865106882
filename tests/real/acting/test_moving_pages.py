"""Pages that move under the mouse: actions wait for animations and move the mouse in steps."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]
BUTTON = "<button id=go onclick='document.title = \"clicked\"'>Go</button>"
COVER = "position: fixed; inset: 0; background: red"
STEPS = """<script>
const step = () => { if (change()) setTimeout(step, 30); };
setTimeout(step, 30);
</script>"""


async def test_a_click_waits_until_the_cover_of_the_element_has_faded(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    fade = (
        "<script>let left = 20; const change = () => { cover.style.opacity = --left / 20; "
        "if (!left) cover.remove(); return left }</script>"
    )
    await opened(html(site, f"{BUTTON}<div id=cover style='{COVER}'></div>{fade}{STEPS}"))
    await agent.call("browser_click_element", selector="#go")
    assert await in_page("document.title") == "clicked"


async def test_a_click_waits_until_an_unfolding_box_shows_the_element(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    unfold = (
        "<script>let height = 0; const change = () => { "
        "panel.style.height = `${++height}px`; return height < 40 }</script>"
    )
    panel = f"<div id=panel style='overflow: clip; height: 0'>{BUTTON}</div>"
    await opened(html(site, f"{panel}{unfold}{STEPS}"))
    await agent.call("browser_click_element", selector="#go")
    assert await in_page("document.title") == "clicked"


async def test_a_permanent_cover_is_reported_without_positions(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, f"{BUTTON}<div style='{COVER}'></div>"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector="#go")
    assert failed.value.reason == "covered_by"
    assert "placed" not in failed.value.error


@pytest.mark.parametrize("tool", ["browser_click_element", "browser_hover_element"])
async def test_a_click_on_a_list_that_opens_under_the_mouse_hits_the_named_item(
    agent: Agent, opened: Opener, in_page: Value, site: Site, tool: str
) -> None:
    """Such lists treat the first movement as one over the item under which they opened."""
    page = """<style>body, ul { margin: 0; padding: 0 } li, #go { display: block; height: 40px }
    li { list-style: none } </style><button id=go>Open</button><script>
    go.onclick = () => {
      go.outerHTML = "<ul><li id=one>One</li><li id=two>Two</li></ul>";
      let first = true;
      for (const item of document.querySelectorAll("li")) item.onmouseenter = () => {
        const take = () => (document.title = item.id);
        if (first) document.addEventListener("mousemove", take, { once: true });
        else take();
        first = false;
      };
    }</script>"""
    await opened(html(site, page))
    await agent.call("browser_click_element", selector="#go")
    await agent.call(tool, selector="#two")
    assert await in_page("document.title") == "two"
