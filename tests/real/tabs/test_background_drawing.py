"""Pages in the background draw as if a person looked at them, while an agent uses them."""

from collections.abc import Awaitable, Callable

import pytest

from tests.real.cancelling import press_cancel
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.page_tools import tool, tool_name
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-22")]

Opener = Callable[[str], Awaitable[int]]
MARK = "const mark = (word) => document.body.append(Object.assign(new Image(), {id: word}));"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
DRAWS = {
    "animation frames": "requestAnimationFrame(() => requestAnimationFrame(() => mark('drawn')));",
    "a ResizeObserver": "new ResizeObserver(() => mark('drawn')).observe(document.body);",
    "an IntersectionObserver": """
        new IntersectionObserver(([{isIntersecting}]) => isIntersecting && mark('drawn'))
          .observe(document.querySelector('p'));""",
    "a lazy image": f"""
        const image = Object.assign(new Image(), {{loading: 'lazy', onload: () => mark('drawn')}});
        document.body.append(image);
        image.src = '{PIXEL}';""",
    "a virtual list": """
        const list = document.createElement('ul');
        list.style.height = '200px';
        document.body.append(list);
        new ResizeObserver(([{contentRect}]) => requestAnimationFrame(() => {
          const count = Math.ceil(contentRect.height / 20);
          list.replaceChildren(...Array.from({length: count}, (_, i) =>
            Object.assign(document.createElement('li'), {textContent: `row ${i}`})));
          if (count === 10) list.lastChild.id = 'drawn';
        })).observe(list);""",
}


@pytest.mark.parametrize("how", DRAWS)
async def test_a_page_opened_in_the_background_draws(
    agent: Agent, opened: Opener, site: Site, how: str
) -> None:
    tab = await opened(html(site, f"<p>page</p><script>{MARK}{DRAWS[how]}</script>"))
    found = await agent.call(
        "browser_wait_for_element", selector="#drawn", visible=False, timeout=5000, tabId=tab
    )
    assert found["tabId"] == tab
    info = await agent.call("browser_get_tab_info", tabId=tab)
    assert not info["active"], "it was brought to the front"


async def test_a_page_is_visible_before_its_first_script_runs(
    opened: Opener, site: Site, by_tool: Callable[..., Awaitable[object]]
) -> None:
    script = "<script>window.first = document.visibilityState;</script><p>page</p>"
    tab = await opened(html(site, script))
    assert await by_tool("window.first", tabId=tab) == "visible"


SLEEPS = 3
COUNTED = """<p>0</p><script>
  let awake = 0;
  document.addEventListener('visibilitychange', () => {
    document.title = document.visibilityState;
    if (document.hidden) return;
    awake += 1;
    // What comes while nobody looks is drawn in the next frames.
    const draw = (left) => {
      if (left) requestAnimationFrame(() => draw(left - 1));
      else document.querySelector('p').textContent = `awake ${awake}`;
    };
    draw(3);
  });</script>"""


async def asleep(agent: Agent, tab: int) -> None:
    async def sleeps() -> bool:
        tabs = (await agent.call("browser_list_tabs"))["tabs"]
        return any(one["tabId"] == tab and one["title"] == "hidden" for one in tabs)

    await eventually(sleeps, "the page to sleep")


async def test_a_page_that_was_quiet_sleeps_and_draws_again_before_each_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, COUNTED))
    for awake in range(1, SLEEPS + 1):
        await asleep(agent, tab)
        assert f"awake {awake}" in await agent.text("browser_read_page", tabId=tab)


DRAWING_TOOL = """<script>
  document.modelContext.registerTool({
    name: "draw", description: "Draws.", inputSchema: { type: "object" },
    async execute() {
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
      return { content: [{ type: "text", text: "drawn" }] };
    },
  });</script>"""


async def test_a_page_that_sleeps_draws_again_for_its_own_tool(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, COUNTED + DRAWING_TOOL))
    await tool(agent, site.url, "draw")
    await asleep(agent, tab)
    assert "drawn" in await agent.text(tool_name(site.url, "draw"))


async def test_a_time_out_says_that_a_tab_without_a_debugger_is_not_drawn(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(html(site, "<p>page</p>"))
    await press_cancel(cdp, tab)
    with pytest.raises(ToolFailed, match="has no debugger attached") as failed:
        await agent.call("browser_wait_for_element", selector="#no", timeout=100, tabId=tab)
    assert failed.value.reason == "timeout"


async def test_a_time_out_in_a_tab_that_draws_says_no_more_than_that(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, "<p>page</p>"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_wait_for_element", selector="#no", timeout=100, tabId=tab)
    assert "debugger" not in failed.value.message
