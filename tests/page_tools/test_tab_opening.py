"""Opening a tab for a tool: in which browser, how long the call waits, which decision is first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.server.serving import Server
from tests.page_tools.shop import SEARCH, answer_open, answering
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.serving import client, served

CACHED = page_tool("search", annotations={"cache": True, "readOnlyHint": True})


async def _left_behind(extension: FakeExtension) -> None:
    """Publish a cached tool and close its tab."""
    await extension.publish(1, CACHED)
    await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
    await extension.settled()


@pytest.mark.document("MB-execution-18")
async def test_changes_of_other_pages_do_not_shorten_the_wait_for_an_opened_tab() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        await _left_behind(extension)
        extension.page_tools["search"] = answering("found")
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        await answer_open(extension, 5)
        for number in range(6):
            await extension.publish(2, page_tool(f"noise{number}"), origin="https://other.example")
            await asyncio.sleep(0.02)
        await extension.publish(5, CACHED)
        assert await calling == "found"


@asynccontextmanager
async def _kept_tab_by_tab() -> AsyncIterator[tuple[FakeExtension, httpx.AsyncClient]]:
    """A server that lists tools per tab, with a cached one whose tab has closed."""
    async with (
        served(Settings(exposure="per-tab")) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        await _left_behind(extension)
        yield extension, http


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-disconnect-4")
async def test_listed_per_tab_a_cached_tool_runs_in_the_tab_opened_for_it() -> None:
    async with _kept_tab_by_tab() as (extension, http):
        extension.page_tools["search"] = answering("found")
        calling = asyncio.create_task(Agent(http).text(SEARCH, word="tea"))
        await answer_open(extension, 5, CACHED)
        assert await calling == "found"
        assert await Agent(http).text("website_tool_shop_example_tab1_search") == "found"


@pytest.mark.requirement("MB-09")
async def test_listed_per_tab_a_page_that_changed_a_cached_tool_gets_no_call() -> None:
    other = page_tool("search", annotations={"cache": True, "destructiveHint": True})
    async with _kept_tab_by_tab() as (extension, http):
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        await answer_open(extension, 5, other)
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "no_tab_for_tool" and "changed" in failed.value.message


@pytest.mark.document("MB-execution-18")
async def test_a_page_that_no_longer_publishes_the_tool_is_opened_once() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        await _left_behind(extension)
        calling = asyncio.create_task(agent.text(SEARCH))
        await answer_open(extension, 5)
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "no_tab_for_tool"
        assert "Tab 5 was opened" in failed.value.message and "login" in failed.value.message
        extension.page_tools["search"] = answering("at last")
        second_call = asyncio.create_task(agent.text(SEARCH))
        await asyncio.sleep(0.05)
        await extension.publish(5, CACHED)
        assert await second_call == "at last"
        messages = [extension.received.get_nowait() for _ in range(extension.received.qsize())]
        assert not [message for message in messages if message["method"] == "tool.dispatch"]


async def test_a_tab_is_opened_in_the_browser_of_the_tool_which_counts_for_the_decision() -> None:
    async with (
        served() as server,
        connected(server.port, "person") as personal,
        client(server.port) as http,
    ):
        agent = Agent(http)
        await personal.sync(tab(1), kind="personal")
        await personal.publish(1, page_tool("search", annotations={"cache": True}))
        await personal.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await personal.settled()
        async with connected(server.port, "own") as managed:
            await managed.sync(tab(7), kind="managed")
            with pytest.raises(ToolFailed) as failed:
                await agent.text(SEARCH)
            # The tool has no hints: in a person's own browser that person is asked.
            assert failed.value.reason == "approval_unavailable"
            server.app.rules.permissions.skip = True
            personal.page_tools["search"] = answering("in my own browser")
            calling = asyncio.create_task(agent.text(SEARCH))
            await answer_open(personal, 5, page_tool("search", annotations={"cache": True}))
            assert await calling == "in my own browser"


async def test_a_disconnected_browser_is_named_and_no_other_opens_the_tab() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port, "gone") as extension:
            await extension.sync(tab(1))
            await _left_behind(extension)
        async with connected(server.port, "other") as other:
            await other.sync(tab(2))
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).text(SEARCH)
            assert failed.value.reason in ("not_connected", "extension_disconnected")


@pytest.mark.document("MB-testing-4")
async def test_after_a_restart_a_call_waits_for_the_page_before_the_decision(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    tool = page_tool("search")
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        await extension.publish(1, tool)
    async with served(home=home) as server, client(server.port) as http:
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        await asyncio.sleep(0.1)
        assert not calling.done()
        async with connected(server.port) as extension:
            extension.page_tools["search"] = answering("still there")
            await extension.sync(tab(1))
            await extension.publish(1, tool)
            assert await calling == "still there"


@pytest.mark.requirement("MB-10")
async def test_after_a_restart_of_the_browser_tools_of_missing_tabs_are_dropped_at_once(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1), tab(2))
        await extension.publish(1, page_tool("search"))
        await extension.publish(2, page_tool("pay"))
    async with served(home=home) as server:
        listed = partial(_page_tools, server)
        async with connected(server.port, "another") as extension:
            await extension.sync(tab(7))
            assert listed() == {"search", "pay"}
        async with connected(server.port) as extension:
            await extension.sync(tab(1), tab(8))
            assert listed() == {"search"}
            await extension.publish(1, page_tool("search"))
            assert listed() == {"search"}


def _page_tools(server: Server) -> set[str]:
    found = (tool.name for tool in server.app.hub.tools if tool.source == "pages")
    return {name.rpartition("_")[2] for name in found}


@pytest.mark.document("MB-messages-2")
async def test_an_address_may_be_sent_under_its_name_in_mcp_b() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        params: dict[str, Any] = {
            "tabId": 1,
            "documentId": "doc-1",
            "origin": "https://shop.example",
            "tabUrl": "https://shop.example/cart",
            "tools": [CACHED],
        }
        await extension.notify("browser/registerTools", params)
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await extension.settled()
        extension.page_tools["search"] = answering("in the cart")
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        assert await answer_open(extension, 5, CACHED) == "https://shop.example/cart"
        assert await calling == "in the cart"


@pytest.mark.document("MB-testing-4")
@pytest.mark.parametrize("named", [True, False])
async def test_a_call_right_after_a_tab_was_opened_waits_for_its_page(named: bool) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1, url="https://shop.example/1"))
        await extension.publish(1, CACHED)
        extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)
        opening = asyncio.create_task(agent.call("browser_open_tab", url="https://shop.example/5"))
        request = await extension.next("tool.dispatch")
        result = {"output": tab(5, url="https://shop.example/5")}
        await extension.send({"id": request["id"], "result": result})
        await opening
        calling = asyncio.create_task(agent.text(SEARCH, **({"tabId": 5} if named else {})))
        await asyncio.sleep(0.1)
        await extension.publish(5, CACHED)
        assert await calling == "5"


async def test_a_call_waits_once_for_a_tab_of_the_site_without_tools() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        about = tab(2, url="https://shop.example/about")
        await extension.sync(tab(1, url="https://shop.example/1"), about)
        await extension.publish(1, CACHED)
        for _ in range(2):
            with pytest.raises(ToolFailed) as failed:
                await agent.text(SEARCH, tabId=2)
            assert failed.value.reason == "no_tab_for_tool"
        router = server.app.sources["pages"].router
        assert list(router._silent) == [2]  # type: ignore[union-attr]


async def test_a_number_written_as_text_names_a_tab_too() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, CACHED)
        extension.page_tools["search"] = answering("found")
        assert await Agent(http).text(SEARCH, tabId="1") == "found"
