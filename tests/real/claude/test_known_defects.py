"""Thirteen known defects of other implementations of this vocabulary, which tabhub avoids."""

import asyncio

import pytest

from tests.real.claude_calls import Seen, computer, seen_by, texts
from tests.real.conftest import Opener
from tests.real.looking import html, page_lines, ref
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]


async def test_defect_1_a_click_by_ref_reaches_its_element_or_fails(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    """Other products report success without an event on off-screen, replaced or stale elements."""
    await opened(site.page("points"))
    seen = seen_by(cdp, site.page("points"))
    page = await agent.text("read_page")
    await computer(agent, "left_click", ref=ref(page, "Low"))
    assert await seen("log") == ["click low 1 true"]
    await seen("document.querySelector('#low').outerHTML = '<button id=low>Low</button>'")
    failed = await failure(agent, "computer", action="left_click", ref=ref(page, "Low"))
    assert failed.reason == "stale_ref"
    await seen("document.querySelector('#one').style.display = 'none'")
    failed = await failure(agent, "computer", action="left_click", ref=ref(page, "One"))
    assert failed.reason == "not_visible"
    assert await seen("log.length") == 1


async def test_defect_2_a_tab_without_the_focus_gets_text_and_keys_and_tab_moves_on(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("form"))
    await opened(site.page("targets"))
    page = await agent.text("read_page", tabId=tab)
    await computer(agent, "left_click", ref=ref(page, "Full name"), tabId=tab)
    await computer(agent, "type", text="Ada", tabId=tab)
    result = await computer(agent, "key", text="Tab", tabId=tab)
    assert "mail" in result["effect"]["focused"]
    await computer(agent, "type", text="a@b.c", tabId=tab)
    seen = seen_by(cdp, site.page("form"))
    values = "['full', 'mail'].map((name) => document.querySelector(`[name=${name}]`).value)"
    assert await seen(values) == ["Ada", "a@b.c"]
    tabs = (await agent.call("browser_list_tabs"))["tabs"]
    assert tab not in [listed["tabId"] for listed in tabs if listed["active"]]


async def test_defect_3_every_screenshot_of_a_background_tab_succeeds(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """In other products a third of them time out, and always the first after a pause."""
    tabs = [await opened(site.page("points")), await opened(site.page("tall"))]
    for _ in range(10):
        for tab in tabs:
            assert (await computer(agent, "screenshot", tabId=tab))["width"] > 0
    for tab in tabs:
        await agent.call("navigate", url="reload", tabId=tab)
        assert (await computer(agent, "screenshot", tabId=tab))["width"] > 0


ASKING = """<title>Asking</title><p id=out></p>
<button onclick="out.textContent = confirm('Sure?')">Ask</button>"""


async def test_defect_4_a_dialog_is_reported_answered_and_blocks_no_call(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    """In other products alert, confirm and prompt freeze the tab."""
    url = html(site, ASKING)
    tab = await opened(url)
    other = await opened(site.page("form"))
    result = await computer(agent, "left_click", tabId=tab, ref=await _ref(agent, tab, "Ask"))
    assert result["effect"]["dialog"] == {"type": "confirm", "message": "Sure?"}
    assert (await failure(agent, "read_page", tabId=tab)).reason == "dialog_open"
    assert "Registration" in await agent.text("get_page_text", tabId=other)
    await agent.call("browser_handle_dialog", tabId=tab, action="accept")
    assert await seen_by(cdp, url)("out.textContent") == "true"


async def _ref(agent: Agent, tab: int, name: str) -> str:
    return ref(await agent.text("read_page", tabId=tab), name)


async def test_defect_5_the_interactive_filter_keeps_off_screen_elements(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """Other products silently drop all but a few of thousands of elements."""
    buttons = "<script>for (let i = 0; i < 3000; i++) document.write(`<p><button>B${i}</button>`)"
    await opened(html(site, f"{buttons}</script><h1>Words</h1>"))
    text = await agent.text("read_page", filter="interactive", max_chars=500_000)
    lines = page_lines(text)
    assert lines.count("button ") == 3000 and "Words" not in lines
    await computer(agent, "left_click", ref=ref(text, "B2999"))


async def test_defect_6_shadow_roots_and_frames_are_read_and_acted_in(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    """In other products the tree stops at every shadow root and iframe."""
    shadows = "open closed".split()
    roots = "".join(
        f"<div id={mode}></div><script>{mode}Root = document.querySelector('#{mode}')"
        f".attachShadow({{mode: '{mode}'}}); {mode}Root.innerHTML = '<button>In {mode}</button>';"
        f"{mode}Root.firstChild.onclick = () => log.push('{mode}')</script>"
        for mode in shadows
    )
    frame = f"<iframe src='{site.other}/form.html' height=900></iframe>"
    url = html(site, f"<script>log = []</script>{roots}{frame}")
    tab = await opened(url)
    page = await agent.text("read_page", tabId=tab)
    for mode in shadows:
        await computer(agent, "left_click", tabId=tab, ref=ref(page, f"In {mode}"))
    assert await seen_by(cdp, url)("log") == shadows
    result = await agent.call("form_input", tabId=tab, ref=ref(page, "Full name"), value="Ada")
    assert result["effect"]["value"] == "Ada"


CONTROLLED = """<title>Controlled</title><input aria-label=Name id=name><script>
const field = document.querySelector("#name"), log = [];
const plain = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
let tracked = "", state = "";
Object.defineProperty(field, "value", {
  get: () => plain.get.call(field),
  set(value) { tracked = value; plain.set.call(field, value); },
});
field.addEventListener("input", () => {
  log.push("input");
  if (plain.get.call(field) !== tracked) state = tracked = plain.get.call(field);
});
field.addEventListener("change", () => log.push(`change ${state}`));
</script>"""


async def test_defect_7_fields_controlled_by_frameworks_change_and_locked_ones_stay(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, CONTROLLED)
    await opened(url)
    name = ref(await agent.text("read_page"), "Name")
    await agent.call("form_input", ref=name, value="Ada")
    seen = seen_by(cdp, url)
    await seen("document.activeElement.blur()")
    assert await seen("[state, log[0], log.at(-1)]") == ["Ada", "input", "change Ada"]
    for attribute, reason in (("readonly", "readonly"), ("disabled", "disabled")):
        await seen(f"field.removeAttribute('readonly'); field.toggleAttribute('{attribute}', true)")
        failed = await failure(agent, "form_input", ref=name, value="Eve")
        assert failed.reason == reason
    assert await seen("plain.get.call(field)") == "Ada"


LOUD = """<title>Loud</title><script>console.error("at birth"); fetch("/form.html?first")
</script>"""


async def test_defect_8_console_and_network_are_recorded_before_the_first_call(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """In other products recording begins with the first query, and another host clears it."""
    tab = await opened(html(site, LOUD))
    await agent.call("navigate", url=f"{site.other}/form.html", tabId=tab)
    assert "at birth" in await agent.text("read_console_messages", tabId=tab, onlyErrors=True)
    requests = await agent.text("read_network_requests", tabId=tab)
    for address in ("/html?body=", "/form.html?first", f"{site.other}/form.html"):
        assert address in requests


async def test_defect_9_navigation_ends_with_the_load_and_reports_the_final_address(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    """In other products it may end before, and reports the requested address."""
    tab = await opened(site.page("targets"))
    slow = f"{site.url}/slow?seconds=0.5"
    requested = f"{site.url}/redirect?to={slow}"
    result = await agent.result("navigate", url=requested, tabId=tab)
    data = result["structuredContent"]
    assert (data["url"], data["title"], data["status"]) == (slow, "slow", "complete")
    assert data["requestedUrl"] == requested
    assert f"redirected there from {requested}" in texts(result)[0]
    assert await seen_by(cdp, slow)("document.readyState") == "complete"
    assert "at last" in await agent.text("get_page_text", tabId=tab)


async def test_defect_10_the_rest_of_an_ended_batch_never_runs(
    product: tuple[Product, int], opened: Opener, cdp: Cdp, site: Site
) -> None:
    """In other products a batch may time out while its actions go on, and is sent again."""
    running, port = product
    url = site.page("points") + "?batch"
    async with running.client(port) as http:
        agent = Agent(http)
        tab = await opened(url)
        page = await agent.text("read_page", tabId=tab)
        click = {"action": "left_click", "ref": ref(page, "One"), "tabId": tab}
        wait = {"action": "wait", "duration": 1, "tabId": tab}
        actions = [{"name": "computer", "input": action} for action in (click, wait, click)]
        batch = asyncio.create_task(agent.result("browser_batch", actions=actions))
        seen = seen_by(cdp, url)
        await eventually(lambda: seen("log.length"), until=lambda found: found != 0)
        batch.cancel()
        await asyncio.gather(batch, return_exceptions=True)
    await _clicked_once_only(seen)


async def _clicked_once_only(seen: Seen) -> None:
    """If the rest had run, the second click would have happened by now."""
    for _ in range(40):
        await asyncio.sleep(0.05)
        assert len(await seen("log")) == 1


async def test_defect_11_the_first_resize_takes_effect_and_both_sizes_are_reported(
    agent: Agent, cdp: Cdp, site: Site
) -> None:
    url = site.page("shadow") + "?resized"
    made = await agent.call("browser_create_window", url=url, width=500, height=400)
    seen = seen_by(cdp, url)
    for width, height in ((701, 503), (640, 480)):
        result = await agent.call("resize_window", width=width, height=height)
        assert result["requested"] == result["window"] == {"width": width, "height": height}
        sizes = await seen("[outerWidth, outerHeight, innerWidth, innerHeight]")
        assert sizes == [width, height, *result["viewport"].values()]
    await agent.call("browser_close_window", windowId=made["windowId"])


@pytest.mark.parametrize(
    "code",
    [
        "'x'.repeat(20000)",
        "document.documentElement.outerHTML",
        "'?token=abc&user=ada&session=123'",
        "'a=1; b=2; c=3'",
        "btoa('words '.repeat(100))",
    ],
)
async def test_defect_12_no_result_is_withheld_because_of_its_content(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, code: str
) -> None:
    await opened(site.page("shadow"))
    text = await agent.text("javascript_tool", action="javascript_exec", text=code)
    assert page_lines(text) == await seen_by(cdp, site.page("shadow"))(code)


async def test_defect_12_tabs_open_in_the_background_and_can_be_brought_to_the_front(
    agent: Agent, site: Site
) -> None:
    tab = (await agent.call("tabs_create_mcp", url=site.page("shadow")))["tabId"]

    async def in_front() -> bool:
        tabs = (await agent.call("browser_list_tabs"))["tabs"]
        return any(listed["active"] for listed in tabs if listed["tabId"] == tab)

    assert not await in_front()
    await agent.call("browser_focus_tab", tabId=tab)
    assert await in_front()
    await agent.call("tabs_close_mcp", tabId=tab)


async def test_defect_13_missing_content_is_not_found(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """Other products invent matches for invisible content."""
    await opened(html(site, "<button>Save</button><canvas></canvas><p>Prices on request</p>"))
    for query in ("checkout basket", "delete account link", "captcha image"):
        result = await agent.result("find", query=query)
        assert not result.get("isError") and result["structuredContent"]["matches"] == []
        assert "Nothing on the page matches" in texts(result)[0]
    assert (await agent.call("find", query="save button"))["matches"][0]["name"] == "Save"
