"""The connection recovers after the worker, server or browser dies, and after long silence."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from tests.real.looking import ref
from tests.support.agent import Agent
from tests.support.browsers.cdp import browser_of
from tests.support.eventually import PATIENCE, eventually, eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-25")]
BROWSER = ("--browser", "--headless", "--browser-arg=--remote-debugging-port=0")
IDLE_SECONDS = float(os.environ.get("TABHUB_IDLE_SECONDS", "75"))
"""The browser ends a worker after half a minute of silence; `make idle` waits ten minutes."""


@pytest.fixture
def running(own: Product) -> Iterator[tuple[Product, int]]:
    with own.running("start", "--port", "0", *BROWSER):
        yield own, own.wait_browser()["port"]


async def test_a_killed_service_worker_restarts_and_refs_stay_valid(
    running: tuple[Product, int], site: Site
) -> None:
    product, port = running
    async with product.client(port) as http, browser_of(product.home) as browser:
        agent = Agent(http)
        await agent.call("browser_open_tab", url=site.page("targets"))
        plain = ref(await agent.text("browser_read_page"), "Plain")
        for _ in range(2):
            before = _connected_at(product)
            await browser.kill_worker()
            product.wait_browser(after=before)
            await agent.call("browser_click_element", ref=plain)
        log = await agent.call("browser_execute_script", code="document.body.innerText")
        assert "plain:true plain:true" in log["value"]


async def test_a_worker_killed_during_a_call_fails_that_call_at_once_and_no_other(
    running: tuple[Product, int], site: Site
) -> None:
    product, port = running
    async with product.client(port) as http, browser_of(product.home) as browser:
        agent = Agent(http)
        await agent.call("browser_open_tab", url=site.page("targets"))
        code = "document.title = 'begun'; await new Promise(() => {})"
        pending = asyncio.create_task(agent.result("browser_execute_script", code=code))
        await eventually(
            lambda: agent.text("browser_list_tabs"), until=lambda found: "begun" in found
        )
        before = _connected_at(product)
        await browser.kill_worker()
        error = (await asyncio.wait_for(pending, PATIENCE))["structuredContent"]["error"]
        assert (error["reason"], error["retryable"]) == ("page_may_have_received", True)
        product.wait_browser(after=before)
        assert (await agent.call("browser_execute_script", code="1+1"))["value"] == 2


async def test_a_dialog_can_be_answered_after_a_worker_restart(
    running: tuple[Product, int], site: Site
) -> None:
    product, port = running
    async with product.client(port) as http, browser_of(product.home) as browser:
        agent = Agent(http)
        await agent.call("browser_open_tab", url=site.page("targets"))
        await agent.call("browser_click_element", selector="#asks")
        before = _connected_at(product)
        await browser.kill_worker()
        product.wait_browser(after=before)
        result = await agent.call("browser_handle_dialog", action="accept")
        assert result["answered"]["message"] == "Really?"
        assert (await agent.call("browser_execute_script", code="answer"))["value"] is True


def _connected_at(product: Product) -> int:
    found: int = product.status()["browsers"][0]["connectedAt"]
    return found


async def test_a_browser_reconnects_to_a_restarted_server(own: Product, site: Site) -> None:
    arguments = ("browser", "--headless", "--url", site.page("form"))
    with own.running("start", "--port", "0"):
        port = own.wait_running()
        with own.running(*arguments):
            browser = own.wait_browser()["browsers"][0]["id"]
            assert own.run("stop").returncode == 0
            with own.running("start", "--port", str(port)):
                status = own.wait_browser()
                assert [found["id"] for found in status["browsers"]] == [browser]
                async with own.client(port) as http:
                    listed = (await Agent(http).call("browser_list_tabs"))["tabs"]
                assert [tab["url"] for tab in listed].count(site.page("form")) == 1


async def test_another_program_on_the_servers_port_does_not_get_the_secret(own: Product) -> None:
    received = b""
    requests_seen = asyncio.Queue[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        request = await reader.readuntil(b"\r\n\r\n")
        received += request
        requests_seen.put_nowait(request)
        body = b'{"status": "ok", "proof": "' + b"0" * 64 + b'"}'
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        writer.close()

    with own.running("start", "--port", "0"):
        port = own.wait_running()
        with own.running("browser", "--headless"):
            before = own.wait_browser()["browsers"][0]["connectedAt"]
            assert own.run("stop").returncode == 0
            stranger = await asyncio.start_server(answer, "127.0.0.1", port)
            async with stranger, asyncio.timeout(PATIENCE):
                for _ in range(4):
                    await requests_seen.get()
            assert own.secret.encode() not in received
            with own.running("start", "--port", str(port)):
                own.wait_browser(after=before)


async def test_the_browser_finds_a_server_on_another_port(own: Product) -> None:
    with own.running("start", "--port", "0"), own.running("browser", "--headless"):
        first = own.wait_browser()["port"]
        own.run("stop")
        with own.running("start", "--port", "0"):
            assert own.wait_browser()["port"] != first


async def test_a_restarted_browser_keeps_its_profile_and_reconnects(
    own: Product, site: Site
) -> None:
    with own.running("start", "--port", "0"):
        with own.running("browser", "--headless"):
            first = own.wait_browser()["browsers"]
        eventually_sync(lambda: not own.status()["browsers"], "the browser to have left")
        with own.running("browser", "--headless", "--url", site.page("form")):
            status = own.wait_browser()
            assert [found["id"] for found in status["browsers"]] == [first[0]["id"]]
            async with own.client(status["port"]) as http:
                listed = (await Agent(http).call("browser_list_tabs"))["tabs"]
            assert site.page("form") in {tab["url"] for tab in listed}


async def test_the_start_page_of_a_browser_is_loaded_each_time(own: Product, site: Site) -> None:
    # Browsers sometimes lose the first page when an extension may watch requests.
    with own.running("start", "--port", "0"):
        port = own.wait_running()
        for _ in range(3):
            with own.running("browser", "--headless", "--url", site.page("form")):
                own.wait_browser()
                async with own.client(port) as http:
                    await eventually(
                        lambda: Agent(http).call("browser_list_tabs"),
                        until=lambda found: found["tabs"][0]["title"] == "Form",
                    )
            eventually_sync(lambda: not own.status()["browsers"], "the browser to have left")


@pytest.mark.slow
@pytest.mark.timeout(IDLE_SECONDS + 120)
async def test_after_a_long_silence_the_next_call_works(
    running: tuple[Product, int], site: Site
) -> None:
    product, port = running
    async with product.client(port) as http:
        agent = Agent(http)
        await agent.call("browser_open_tab", url=site.page("targets"))
        await asyncio.sleep(IDLE_SECONDS)
        assert (await agent.call("browser_execute_script", code="1+1"))["value"] == 2
