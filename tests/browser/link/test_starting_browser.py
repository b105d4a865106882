"""A call while a browser connects: nobody knows yet whose it is, so the call waits for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tabhub.browser.link import browsers
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

SEARCH = "website_tool_shop_example_search"
ADDRESS = "https://example.com/"


def opens_tabs(extension: FakeExtension) -> FakeExtension:
    extension.handlers["tabs.open"] = lambda params: tab(7)
    return extension


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsers, "READY_SECONDS", 0.05)


@asynccontextmanager
async def waiting(http: httpx.AsyncClient, server: Server) -> AsyncIterator["asyncio.Task[int]"]:
    """A call that opens a tab, and waits for a browser."""

    async def opened() -> int:
        id: int = (await Agent(http).call("browser_open_tab", url=ADDRESS))["tabId"]
        return id

    call = asyncio.create_task(opened())
    await eventually(lambda: server.app.hub.sessions.all(), "the call to arrive")
    assert not call.done()
    yield call
    call.cancel()


async def refusal(http: httpx.AsyncClient, tool: str = "browser_open_tab", **more: object) -> str:
    arguments = {"url": ADDRESS, **more} if tool == "browser_open_tab" else more
    with pytest.raises(ToolFailed) as failed:
        await Agent(http).call(tool, **arguments)
    return failed.value.reason


@pytest.mark.requirement("OT-24")
async def test_a_call_waits_until_a_connected_browser_has_said_whose_it_is() -> None:
    async with served() as server, client(server.port) as http, connected(server.port) as late:
        opens_tabs(late)
        assert (await http.get("/health")).json()["extensionConnected"]
        async with waiting(http, server) as call:
            await late.sync(tab(1))
            assert await call == 7


async def test_a_browser_that_turns_out_to_be_a_persons_own_is_judged_as_that() -> None:
    async with served() as server, client(server.port) as http, connected(server.port) as late:
        async with waiting(http, server) as call:
            await late.sync(tab(1), kind="personal")
            with pytest.raises(ToolFailed, match="approval_unavailable"):
                await call


async def test_a_call_waits_for_the_browser_that_the_server_is_starting() -> None:
    async with served() as server, client(server.port) as http:
        server.app.browsers.keeps_own = lambda: True
        async with waiting(http, server) as call, connected(server.port) as started:
            await opens_tabs(started).sync(tab(1))
            assert await call == 7


@pytest.mark.usefixtures("short_wait")
async def test_a_browser_that_does_not_connect_in_time_may_be_tried_again() -> None:
    async with served() as server, client(server.port) as http:
        server.app.browsers.keeps_own = lambda: True
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_open_tab", url=ADDRESS)
        assert failed.value.reason == "extension_disconnected"
        assert failed.value.error["retryable"] and "nothing was done" in failed.value.message
        async with connected(server.port):
            assert await refusal(http) == "extension_disconnected", "it never says whose it is"


@pytest.mark.usefixtures("short_wait")
async def test_a_persons_browser_beside_a_starting_one_is_used_only_by_its_name() -> None:
    async with served() as server, client(server.port) as http:
        server.app.browsers.keeps_own = lambda: True
        async with connected(server.port, "own") as own:
            await own.sync(tab(1), kind="personal")
            assert await refusal(http) == "extension_disconnected"
            assert await refusal(http, connectionId="own") == "approval_unavailable"
            script = await refusal(http, "browser_execute_script", code="1", tabId=1)
            assert script == "approval_unavailable"
            asked = [own.received.get_nowait()["method"] for _ in range(own.received.qsize())]
            assert "tool.dispatch" not in asked


async def test_a_persons_browser_that_connects_later_does_not_take_the_agents_calls() -> None:
    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port, "started") as started,
        connected(server.port, "own") as own,
    ):
        server.app.browsers.keeps_own = lambda: True
        await opens_tabs(started).sync(tab(1))
        await own.sync(tab(1), kind="personal")
        assert (await Agent(http).call("browser_open_tab", url=ADDRESS))["tabId"] == 7
        server.app.browsers.keeps_own = lambda: False
        assert await refusal(http) == "approval_unavailable", "the person closed the other one"


async def test_a_browser_that_was_restarted_after_a_crash_is_not_taken_for_a_persons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browsers, "FORGET_AFTER_SECONDS", 0.0)
    async with served() as server, client(server.port) as http:
        server.app.browsers.keeps_own = lambda: True
        async with connected(server.port) as crashed:
            await crashed.sync(tab(1))
        await eventually(lambda: not len(server.app.hub.tabs), "its tabs to be forgotten")
        async with waiting(http, server) as call, connected(server.port) as restarted:
            assert not call.done()
            await opens_tabs(restarted).sync(tab(1))
            assert await call == 7


async def test_a_tool_of_a_page_that_opens_its_tab_waits_too() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as before:
            await before.sync(tab(1))
            await before.publish(1, page_tool("search", annotations={"cache": True}))
            await before.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
            await before.settled()
        await eventually(lambda: not server.app.browsers.all(), "the browser to be gone")
        async with connected(server.port) as late:
            calling = asyncio.create_task(Agent(http).text(SEARCH))
            await eventually(lambda: server.app.hub.sessions.all(), "the call to arrive")
            assert late.received.empty()
            await late.sync(kind="personal")
            with pytest.raises(ToolFailed, match="approval_unavailable"):
                await calling


async def test_what_needs_no_browser_does_not_wait_and_expects_the_agents_own() -> None:
    async with served() as server, client(server.port) as http:
        server.app.browsers.keeps_own = lambda: True
        agent = Agent(http)
        found = await agent.call("permissions_check", tool="browser_open_tab", url=ADDRESS)
        assert found["decision"] == "allow"
        planned = await agent.call("update_plan", domains=["example.com"], approach=["look"])
        assert planned["status"] == "auto-approved"
