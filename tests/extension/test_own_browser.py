"""The extension in separate browsers: paired by hand, under stress, or on a plain http site."""

import asyncio
from pathlib import Path

import pytest

from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.browsers.extension import connected
from tests.support.browsers.unpacked import DEBUGGED, OPTIONS, browser_with, impatient, unrecorded
from tests.support.eventually import eventually, eventually_sync
from tests.support.product import Product
from tests.support.site import serving

pytestmark = pytest.mark.real_browser


@pytest.fixture
def own(tmp_path: Path) -> Product:
    return Product(tmp_path / "home")


async def shows(cdp: Cdp, page: str, id: str, words: str) -> None:
    """Wait until a paragraph of the options page shows these words."""
    text = f"document.querySelector('#{id}')?.textContent"
    await eventually(lambda: cdp.evaluate(page, text), until=lambda found: words in (found or ""))


async def enter(cdp: Cdp, page: str, port: object, secret: str) -> None:
    code = "const {0} = document.querySelector('form'); {0}.port.value = '{1}';"
    code += "{0}.secret.value = '{2}'; {0}.requestSubmit();"
    await cdp.evaluate(page, "{" + code.format("form", port, secret) + "}")


async def test_a_failed_pairing_shows_its_cause_and_a_new_one_works_at_once(
    tmp_path: Path, own: Product
) -> None:
    other = Product(tmp_path / "other")
    async with browser_with(tmp_path / "browser") as cdp:
        with own.running("start", "--port", "0"), other.running("start", "--port", "0"):
            page = await cdp.open(OPTIONS)
            await shows(cdp, page, "source", "does not know where")
            port = own.wait_running()
            for bad in (("", own.secret), (port, ""), (port, "   ")):
                await enter(cdp, page, *bad)
            await shows(cdp, page, "source", "does not know where")
            await enter(cdp, page, 1, "x")
            await shows(cdp, page, "why", "No server answers on port 1")
            request = f"fetch('http://127.0.0.1:{port}/health').then((answer) => answer.status)"
            assert await cdp.in_worker(request) == 200
            await enter(cdp, page, port, "wrong")
            await shows(cdp, page, "why", "does not know the secret")
            await enter(cdp, page, port, own.secret)
            await shows(cdp, page, "state", "Connected")
            await shows(cdp, page, "source", "entered below")
            await enter(cdp, page, other.wait_running(), other.secret)
            other.wait_browser()
            eventually_sync(lambda: not own.status()["browsers"], "the browser to have left")


HAS_NOTED = "chrome.storage.session.get().then((kept) => 'replacedAt' in kept)"


async def test_a_replaced_browser_does_not_reconnect(own: Product) -> None:
    arguments = ("--browser", "--headless", f"--browser-arg={DEBUGGED}")
    with own.running("start", "--port", "0", *arguments):
        status = own.wait_browser()
        profile = status["browsers"][0]["id"]
        async with browser_of(own.home) as cdp:
            async with connected(status["port"], profile, own.secret) as double:
                await double.sync()
                await eventually(lambda: cdp.in_worker(HAS_NOTED))
                for _ in range(2):
                    await cdp.kill_worker()
                    await cdp.open("about:blank")
                    await cdp.worker()
                await asyncio.sleep(2)  # an extension that reconnects does so within a second
                await double.settled()


@pytest.mark.parametrize("recorded", [False, True])
async def test_a_debugger_that_detaches_all_the_time_attaches_for_every_call(
    tmp_path: Path, own: Product, recorded: bool
) -> None:
    if not recorded:
        unrecorded(own)
    with serving() as site, own.running("start", "--port", "0"):
        async with browser_with(tmp_path / "browser", impatient(own)):
            async with own.client(own.wait_browser()["port"]) as http:
                agent = Agent(http)
                await agent.call("browser_open_tab", url=site.page("targets"))
                for n in range(150):
                    await asyncio.sleep(n % 15 / 1000)
                    await agent.call("browser_execute_script", code="1+1")
                    if n % 10 == 0:
                        await agent.call("browser_click_element", selector="#plain")


async def test_a_recorded_tab_stays_debugged_and_emulates_no_focus_without_commands(
    tmp_path: Path, own: Product
) -> None:
    with serving() as site, own.running("start", "--port", "0"):
        async with browser_with(tmp_path / "browser", impatient(own)) as cdp:
            async with own.client(own.wait_browser()["port"]) as http:
                agent = Agent(http)
                url = site.page("targets")
                await agent.call("browser_open_tab", url=url)
                focus = await agent.call("browser_execute_script", code="document.hasFocus()")
                assert focus["value"] is True
                page = await cdp.page(url)
                await eventually(
                    lambda: cdp.evaluate(page, "document.hasFocus()"), until=lambda found: not found
                )
                await cdp.evaluate(page, "console.log('said in between')")
                entries = (await agent.call("browser_get_console_logs"))["entries"]
                assert "said in between" in [entry["text"] for entry in entries]
                await agent.call("browser_click_element", selector="#plain")


async def test_frames_in_shadow_roots_are_read_on_plain_http_sites(own: Product) -> None:
    rules = "--browser-arg=--host-resolver-rules=MAP insecure.test 127.0.0.1"
    with serving() as site, own.running("start", "--port", "0", "--browser", "--headless", rules):
        async with own.client(own.wait_browser()["port"]) as http:
            agent = Agent(http)
            address = site.page("frames").replace("127.0.0.1", "insecure.test")
            await agent.call("browser_open_tab", url=address)
            secure = await agent.call("browser_execute_script", code="isSecureContext")
            assert secure["value"] is False
            assert 'button "Press shadowed"' in await agent.text("browser_read_page")
