"""HTTP authentication in a real browser: a client answers the prompt like a dialog."""

from pathlib import Path
from typing import Any

import pytest

from tests.real.looking import html
from tests.real.reasons import reason
from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
HANDLE = "browser_handle_dialog"
TITLE = "document.title"


@pytest.fixture
async def here(tmp_path: Path) -> Any:
    # A separate browser, since a browser remembers passwords until it ends.
    async with rig(tmp_path, {}) as found:
        yield found


async def test_a_page_that_requires_a_login_is_opened_with_one(here: Rig, site: Site) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        result = await ann.call("browser_open_tab", url=url)
        dialog = result["dialog"]
        assert (dialog["type"], dialog["origin"], dialog["realm"]) == (
            "http_auth",
            site.url,
            "the cave",
        )
        assert (await ann.call("browser_get_tab_info"))["dialog"] == dialog
        for bad in ({}, {"promptText": "no colon"}):
            assert await reason(ann, HANDLE, action="accept", **bad) == "invalid_arguments"
        wrong = await ann.call(HANDLE, action="accept", promptText="ann:wrong-4711")
        assert wrong["effect"]["dialog"]["type"] == "http_auth"
        right = await ann.call(HANDLE, action="accept", promptText="ann:open sesame")
        assert right["effect"]["navigated"] == url and right["answered"] == dialog
        assert await here.cdp.evaluate(await here.cdp.page(url), TITLE) == "inside"
        assert await reason(ann, HANDLE, action="accept") == "no_dialog"
        assert "dialog" not in await ann.call("browser_get_tab_info")
    written = (here.product.home / "audit.log").read_text()
    assert "open sesame" not in written and "wrong-4711" not in written


async def test_a_dismissed_login_shows_the_servers_page_for_unauthorized_users(
    here: Rig, site: Site
) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        await ann.call("browser_open_tab", url=html(site, f"<a href='{url}'>in</a>"))
        result = await ann.call("browser_navigate_tab", url=url)
        assert result["dialog"]["type"] == "http_auth" and result["status"] == "loading"
        assert "http_auth" in await ann.text("browser_list_tabs")
        dismissed = await ann.call(HANDLE, action="dismiss")
        assert dismissed["effect"]["navigated"] == url
        assert await here.cdp.evaluate(await here.cdp.page(url), TITLE) == "outside"


async def test_a_click_that_leads_to_a_login_reports_it(here: Rig, site: Site) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        start = html(site, f"<title>start</title><a href='{url}'>in</a>")
        await ann.call("browser_open_tab", url=start)
        clicked = await ann.call("browser_click_element", selector="a")
        assert clicked["effect"]["dialog"]["type"] == "http_auth"
        assert "start" in (await ann.call("browser_get_tab_info"))["title"]
        assert "in" in await ann.text("browser_get_tab_content")
        result = await ann.call(HANDLE, action="accept", promptText="ann:open sesame")
        assert result["effect"]["navigated"] == url


async def test_navigating_to_another_page_dismisses_the_login(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        await ann.call("browser_open_tab", url=f"{site.url}/secret")
        result = await ann.call("browser_navigate_tab", url=site.page("form"))
        assert result["status"] == "complete" and "dialog" not in result
        assert await reason(ann, HANDLE, action="dismiss") == "no_dialog"


async def test_a_fetch_of_a_script_may_require_a_login_too(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        fetch = "fetch('/secret').then(async (found) => (document.title = found.status))"
        url = html(site, f'<title>waits</title><button onclick="{fetch}">go</button>')
        await ann.call("browser_open_tab", url=url)
        clicked = await ann.call("browser_click_element", selector="button")
        assert clicked["effect"]["dialog"]["type"] == "http_auth"
        await ann.call(HANDLE, action="accept", promptText="ann:open sesame")
        page = await here.cdp.page(url)
        code = """new Promise((done) => {
          const look = () => (document.title === "waits" ? setTimeout(look, 20) : done());
          look();
        }).then(() => document.title)"""
        assert await here.cdp.evaluate(page, code) == "200"


BLOCKED = {"permissions": {"domains": {"localhost": "off"}}}


async def test_no_password_is_sent_to_a_blocked_site(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, BLOCKED) as here, here.agent("ann") as ann:
        url = html(site, f"<a href='{site.other}/secret'>there</a>")
        await ann.call("browser_open_tab", url=url)
        clicked = await ann.call("browser_click_element", selector="a")
        assert clicked["effect"]["dialog"]["origin"] == "walled"
        answer = {"action": "accept", "promptText": "ann:open sesame"}
        assert await reason(ann, HANDLE, **answer) == "permission_off"
        assert (await ann.call("browser_get_tab_info"))["dialog"]["origin"] == "walled"
