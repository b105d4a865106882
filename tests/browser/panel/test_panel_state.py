"""What the panel's state says of agents and tabs."""

import time

from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.serving import client, served


async def test_an_agent_has_when_it_was_seen_last() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        before = int(time.time() * 1000)
        await Agent(http).call("permissions_check", tool="browser_open_tab")
        (agent,) = (await extension.state())["agents"]
        assert agent["connected"] and before - 1000 <= agent["lastSeen"]
        assert agent["lastSeen"] <= int(time.time() * 1000) + 1000


async def test_a_tab_has_its_status_its_tools_and_whether_its_agent_is_paused() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["tabs.open"] = lambda params: tab(5)
        await extension.sync(tab(1, status="loading"), tab(2))
        await extension.publish(2, page_tool("search"), page_tool("buy"))
        await Agent(http).call("browser_open_tab", url="https://example.com/5")
        state = await extension.state()
        tabs = {one["nativeId"]: one for one in state["tabs"]}
        assert [tabs[id]["status"] for id in (1, 2)] == ["loading", "complete"]
        assert [tabs[id]["tools"] for id in (1, 2, 5)] == [0, 2, 0]
        assert not any(one["paused"] for one in state["tabs"])
        session = state["agents"][0]["session"]
        await extension.ask("agent.pause", {"session": session, "paused": True})
        tabs = {one["nativeId"]: one for one in (await extension.state())["tabs"]}
        assert [tabs[id]["paused"] for id in (1, 2, 5)] == [False, False, True]


async def test_titles_and_addresses_of_pages_are_cut() -> None:
    async with served() as server, connected(server.port) as extension:
        odd = tab(1, title="\u202ea\x1b[2J\n" + "x" * 100_000, url="data:text/html," + "y" * 10**6)
        await extension.sync(odd)
        (shown,) = (await extension.state())["tabs"]
        assert len(shown["title"]) <= 200 and shown["title"].isprintable()
        assert len(shown["url"]) <= 2048
