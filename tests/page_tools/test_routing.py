"""Which tab gets a call when several have the tool."""

import asyncio
import json
from typing import Any

import pytest

from tests.page_tools.shop import SEARCH, answering
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.browsers.worker import ONE, OTHER, admitted, tool
from tests.support.serving import client, served


@pytest.mark.requirement("MT-04")
async def test_tabs_with_tools_are_listed_and_the_page_never_sees_the_tab_id() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1, active=True, focusedWindow=True), tab(2), tab(3))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))
        listed = (await agent.result("list_browser_tabs"))["structuredContent"]
        assert [entry["tabId"] for entry in listed] == [1, 2]
        assert [entry["isActive"] for entry in listed] == [True, False]
        assert listed[0]["url"] == "https://example.com/1" and listed[0]["title"] == "Tab 1"
        assert listed[0]["lastSeen"].endswith("Z")
        extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)
        assert await agent.text(SEARCH, word="x") == "1"
        assert await agent.text(SEARCH, word="x", tabId=2) == "2"
        sent = [await extension.next("browser/executeTool") for _ in range(2)]
        assert [call["params"]["args"] for call in sent] == [{"word": "x"}, {"word": "x"}]


@pytest.mark.requirement("MB-08")
@pytest.mark.document("MB-execution-16")
async def test_the_call_to_a_tab_that_has_closed_goes_to_another() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))

        def answer(call: dict[str, Any]) -> Any:
            if call["tabId"] == 2:
                raise Refusal("tab_not_found")
            return answering(call["tabId"])(call)

        extension.page_tools["search"] = answer
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        await extension.next("browser/executeTool")
        await extension.notify("tab.stateChanged", {"tabId": 2, "state": "closed"})
        assert await calling == "1"


@pytest.mark.requirement("MT-06")
async def test_without_an_active_tab_the_latest_runs_the_call_and_the_result_says_so() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2), shared=False)
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))
        extension.page_tools["search"] = answering("done")
        result = await Agent(http).result(SEARCH)
        assert result["_meta"]["tabhub/tabId"] == 2
        assert "No tab is active" in result["_meta"]["tabhub/warning"]
        missing = await Agent(http).result(SEARCH, tabId=99)
        assert missing["content"][0]["text"] == (
            f"Tool '{SEARCH}' not available in tab '99'. Available tabs: 1, 2"
        )


@pytest.mark.requirement("MT-03")
async def test_the_active_tab_is_the_one_activated_last_in_any_browser() -> None:
    async with (
        served() as server,
        connected(server.port, "a") as first,
        connected(server.port, "b") as second,
        client(server.port) as http,
    ):
        agent = Agent(http)
        front = {"active": True, "focusedWindow": True}
        for extension, number in ((first, 1), (second, 2)):
            await extension.sync(tab(number, **front), shared=False)
            await extension.publish(number, page_tool("search"))
            extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)

        async def turned(extension: FakeExtension, number: int, state: str) -> str:
            state_of_tab = tab(number, title="new", **front)
            news = {"tabId": number, "state": state, "tab": state_of_tab}
            await extension.ask("tab.stateChanged", news)
            return await agent.text(SEARCH)

        assert await turned(second, 2, "updated") == "1"
        assert await turned(second, 2, "activated") == "2"
        assert await turned(first, 1, "updated") == "2"
        assert await turned(first, 1, "activated") == "1"


@pytest.mark.document("MT-discovery-4")
@pytest.mark.requirement("MT-04")
async def test_at_most_one_tab_is_active_in_the_list() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)

        async def active() -> list[int | str]:
            rows = json.loads(await agent.text("list_browser_tabs"))
            return [row["tabId"] for row in rows if row["isActive"]]

        async with admitted(server) as shop, admitted(server, "https://bank.example") as bank:
            for worker, id in ((shop, ONE), (bank, OTHER)):
                await worker.register(id, tool("search"))
                await worker.ask("browser/activeTab", tabId=id)
                assert await active() == [id]
            await bank.ask("browser/activeTab", tabId=None)
            assert await active() == [ONE]
            async with connected(server.port) as extension:
                await extension.sync(tab(1, active=True, focusedWindow=True))
                assert await active() == [ONE], "the browser's tab has no tools"
                await extension.publish(1, page_tool("search"))
                assert await active() == [1]


async def test_a_tab_of_a_disconnected_browser_gets_no_call_that_another_can_run() -> None:
    async with (
        served() as server,
        connected(server.port, "here") as here,
        client(server.port) as http,
    ):
        agent = Agent(http)
        await here.sync(tab(1))
        await here.publish(1, page_tool("search"))
        here.page_tools["search"] = answering("here")
        async with connected(server.port, "there") as extension:
            await extension.sync(tab(2, active=True, focusedWindow=True))
            await extension.publish(2, page_tool("search"))
            extension.page_tools["search"] = answering("there")
            assert await agent.text(SEARCH) == "there"
        assert await agent.text(SEARCH) == "here"


async def test_the_last_seen_time_of_a_tab_never_goes_back() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        front = {"active": True, "focusedWindow": True}
        await extension.sync(tab(1, **front), tab(2))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))

        async def seen(number: int) -> str:
            tabs = json.loads(await agent.text("list_browser_tabs"))
            time: str = next(entry["lastSeen"] for entry in tabs if entry["tabId"] == number)
            return time

        at_first = await seen(1)
        news = {"tabId": 2, "state": "activated", "tab": tab(2, **front)}
        await extension.ask("tab.stateChanged", news)
        assert await seen(1) >= at_first
