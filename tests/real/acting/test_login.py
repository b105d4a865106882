"""HTTP authentication in a real browser: a question that is answered like a dialog."""

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
    # A browser of its own: it remembers passwords as long as it lives.
    async with rig(tmp_path, {}) as found:
        yield found


async def test_a_page_that_asks_for_a_login_is_opened_with_one(here: Rig, site: Site) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        told = await ann.call("browser_open_tab", url=url)
        dialog = told["dialog"]
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


async def test_a_login_that_is_dismissed_shows_what_the_server_says_without_it(
    here: Rig, site: Site
) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        await ann.call("browser_open_tab", url=html(site, f"<a href='{url}'>in</a>"))
        told = await ann.call("browser_navigate_tab", url=url)
        assert told["dialog"]["type"] == "http_auth" and told["status"] == "loading"
        assert "http_auth" in await ann.text("browser_list_tabs")
        dismissed = await ann.call(HANDLE, action="dismiss")
        assert dismissed["effect"]["navigated"] == url
        assert await here.cdp.evaluate(await here.cdp.page(url), TITLE) == "outside"


async def test_a_click_that_leads_to_a_login_tells_of_it(here: Rig, site: Site) -> None:
    url = f"{site.url}/secret"
    async with here.agent("ann") as ann:
        start = html(site, f"<title>start</title><a href='{url}'>in</a>")
        await ann.call("browser_open_tab", url=start)
        clicked = await ann.call("browser_click_element", selector="a")
        assert clicked["effect"]["dialog"]["type"] == "http_auth"
        assert "start" in (await ann.call("browser_get_tab_info"))["title"]
        assert "in" in await ann.text("browser_get_tab_content")
        told = await ann.call(HANDLE, action="accept", promptText="ann:open sesame")
        assert told["effect"]["navigated"] == url


async def test_leaving_for_another_page_gives_the_login_up(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        await ann.call("browser_open_tab", url=f"{site.url}/secret")
        told = await ann.call("browser_navigate_tab", url=site.page("form"))
        assert told["status"] == "complete" and "dialog" not in told
        assert await reason(ann, HANDLE, action="dismiss") == "no_dialog"


async def test_what_a_script_fetches_may_ask_for_a_login_too(here: Rig, site: Site) -> None:
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


WALLS = {"permissions": {"domains": {"localhost": "off"}}}


async def test_no_password_is_given_to_a_walled_site(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, WALLS) as here, here.agent("ann") as ann:
        url = html(site, f"<a href='{site.other}/secret'>there</a>")
        await ann.call("browser_open_tab", url=url)
        clicked = await ann.call("browser_click_element", selector="a")
        assert clicked["effect"]["dialog"]["origin"] == site.other
        given = {"action": "accept", "promptText": "ann:open sesame"}
        assert await reason(ann, HANDLE, **given) == "permission_off"
        assert (await ann.call("browser_get_tab_info"))["dialog"]["origin"] == site.other
