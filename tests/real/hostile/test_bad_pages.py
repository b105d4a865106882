"""Documents that are not HTML, never load, close during a call or have a strict policy."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

PIXEL = (
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
PDF = (
    b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]"
    b"/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF"
).hex()
NO_PAGES = {
    "image/png": PIXEL,
    "image/svg+xml": b"<svg xmlns='http://www.w3.org/2000/svg'><text y='9'>hi</text></svg>".hex(),
    "application/pdf": PDF,
    "application/json": b'{"a": [1, 2]}'.hex(),
    "application/xml": b"<a><b>".hex(),
    "video/mp4": b"\x00\x00\x00\x18ftypmp42".hex(),
}
EVERY_TOUCH: tuple[tuple[str, dict[str, Any]], ...] = (
    ("browser_find", {"query": "anything"}),
    ("browser_query_elements", {"selector": "*"}),
    ("browser_execute_script", {"code": "1 + 1"}),
    ("browser_screenshot_tab", {}),
    ("browser_click_element", {"selector": "body, svg"}),
    ("browser_press_key", {"key": "a"}),
    ("browser_scroll", {"direction": "down"}),
)


@pytest.mark.parametrize("kind", NO_PAGES)
async def test_a_document_that_is_not_html_is_named_and_every_tool_gives_a_result_or_a_reason(
    agent: Agent, opened: Opener, site: Site, kind: str
) -> None:
    tab = await opened(f"{site.url}/raw?type={quote(kind)}&hex={NO_PAGES[kind]}")
    for tool in ("browser_read_page", "browser_get_tab_content", "browser_get_page_html"):
        result = await agent.result(tool, tabId=tab)
        assert result["structuredContent"]["contentType"] == kind
        named = "This is a PDF" if kind == "application/pdf" else f" {kind} [end "
        assert named in result["content"][0]["text"]
    for tool, arguments in EVERY_TOUCH:
        result = await agent.result(tool, tabId=tab, **arguments)
        if result.get("isError"):
            assert result["structuredContent"]["error"]["reason"] in (
                "not_visible",
                "element_not_found",
                "page_may_have_received",
            ), (tool, result)


async def test_binary_data_served_as_html_is_read_as_far_as_possible(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(f"{site.url}/raw?type=text/html&hex={bytes(range(256)).hex()}")
    assert "ABCDEFG" in await agent.text("browser_read_page")


async def test_navigating_to_a_silent_server_times_out_and_the_tab_can_navigate_again(
    own_limits: tuple[Agent, str], site: Site
) -> None:
    agent, _ = own_limits
    opened = await agent.call("browser_open_tab", url=f"{site.url}/hang")
    assert opened["status"] == "loading"
    tab = opened["tabId"]
    stuck = await agent.call("browser_navigate_tab", url=f"{site.url}/hang", tabId=tab)
    assert stuck["status"] == "loading"
    result = await agent.call("browser_navigate_tab", url=site.page("form"), tabId=tab)
    assert (result["title"], result["status"]) == ("Form", "complete")


@pytest.mark.parametrize("own_limits", [4], indirect=True)
async def test_a_navigation_can_be_repeated_while_it_is_loading(
    own_limits: tuple[Agent, str], site: Site
) -> None:
    agent, _ = own_limits
    url = f"{site.url}/hang"
    tab = (await agent.call("browser_open_tab", url=url))["tabId"]
    # The browser refuses to start a navigation that it has just started.
    for _ in range(2):
        again = await agent.call("browser_navigate_tab", url=url, tabId=tab)
        assert again["status"] == "loading"


@pytest.mark.parametrize("own_limits", [4], indirect=True)
async def test_a_page_that_never_answers_is_opened_all_the_same(
    own_limits: tuple[Agent, str], site: Site
) -> None:
    agent, _ = own_limits
    opened = await agent.call("browser_open_tab", url=html(site, "<script>for (;;);</script>"))
    assert opened["status"] == "loading"
    await agent.call("browser_close_tab", tabId=opened["tabId"])


@pytest.fixture
async def own_limits(
    tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[Agent, str]]:
    """A product with a short time limit."""
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    limits = {"callSeconds": getattr(request, "param", 8)}
    (product.home / "config.json").write_text(json.dumps({"limits": limits}))
    with product.running("start", "--port", "0", "--browser", "--headless"):
        port = product.wait_browser()["port"]
        async with product.client(port) as http:
            yield Agent(http), str(port)


async def test_closing_a_tab_during_a_call_ends_the_call_with_a_reason(
    agent: Agent, cdp: Cdp, site: Site
) -> None:
    address = f"{site.page('form')}?closed-meanwhile"
    tab = (await agent.call("browser_open_tab", url=address))["tabId"]
    page = await cdp.page(address)
    code = "document.title = 'begun'; await new Promise(() => {})"
    call = asyncio.create_task(agent.result("browser_execute_script", tabId=tab, code=code))
    await eventually(
        lambda: cdp.evaluate(page, "document.title"), until=lambda found: found == "begun"
    )
    await cdp.send("Target.closeTarget", targetId=page)
    result = await call
    reason = result["structuredContent"]["error"]["reason"]
    assert reason in ("tab_not_found", "navigated_away"), result


FRAMES_THAT_GO = """<iframe id=f src="{other}/inner.html"></iframe><button id=gone>Remove</button>
<script>gone.onclick = () => f.remove()</script>"""


async def test_a_removed_frame_of_another_site_leaves_a_stale_ref(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, FRAMES_THAT_GO.replace("{other}", site.other)))
    found = await agent.call("browser_query_elements", selector="button, input")
    inner = next(e["ref"] for e in found["elements"] if e["attributes"].get("id") != "gone")
    await agent.call("browser_click_element", selector="#gone")
    for tool, more in (("browser_click_element", {}), ("browser_type_text", {"text": "x"})):
        with pytest.raises(ToolFailed) as failed:
            await agent.call(tool, ref=inner, **more)
        # The frame's process may still be going while it is asked.
        assert failed.value.reason in ("stale_ref", "detached", "navigated_away")


RESTLESS = """<div id=q></div><button>Stay</button><script>setInterval(() => {
const f = document.createElement('iframe'); f.src = '{other}/inner.html';
q.replaceChildren(f); }, 30)</script>"""


async def test_a_page_can_be_read_while_frames_of_another_site_come_and_go(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, RESTLESS.replace("{other}", site.other)))
    for _ in range(10):
        assert '"Stay"' in await agent.text("browser_read_page")
        assert "Stay" in await agent.text("browser_get_tab_content")
        assert (await agent.call("browser_find", query="stay"))["matches"]
        assert (await agent.call("browser_click_element", selector="button"))["trusted"]


NOTHING_ALLOWED = "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


async def test_reading_finding_filling_and_clicking_work_under_a_strict_policy(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    body = "<input id=name aria-label=Name><input id=c type=checkbox><p>Words</p>"
    address = f"{html(site, body)}&policy={quote(NOTHING_ALLOWED)}"
    await opened(address)
    assert 'textbox "Name"' in await agent.text("browser_read_page")
    assert "Words" in await agent.text("browser_get_tab_content")
    assert (await agent.call("browser_find", query="name field"))["matches"]
    typed = await agent.call("browser_type_text", selector="#name", text="Ada")
    assert typed["effect"]["value"] == "Ada"
    await agent.call("browser_click_element", selector="#c")
    assert (await agent.call("browser_execute_script", code="6 * 7"))["value"] == 42
    assert (await agent.call("browser_wait_for_element", selector="p"))["found"]
    assert (await agent.call("browser_screenshot_tab"))["mimeType"] == "image/jpeg"
    page = await cdp.page(address)
    seen = await cdp.evaluate(page, "[document.querySelector('#name').value, c.checked].join()")
    assert seen == "Ada,true"
