"""Agents and their tabs over every endpoint: own, foreign, paused, ended and restored tabs."""

import asyncio
import random
from pathlib import Path

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import SessionSettings, Settings
from tests.agents.mcp.clients import SessionClient, connect
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import tab
from tests.support.browsers.window import Json, browser, opened, outcome
from tests.support.serving import client, served


@pytest.mark.requirement("TH-23")
async def test_two_agents_have_groups_of_their_own_and_do_not_reach_each_others_tabs() -> None:
    async with served() as server, browser(server, tab(1)) as window, client(server.port) as http:
        ann, bob = await connect(http), await connect(http)
        anns, bobs = await opened(ann), await opened(bob)
        titles = [group["title"] for group in window.groups]
        assert titles == ["test", "test 2"]
        assert window.groups[0]["color"] != window.groups[1]["color"]
        assert await outcome(ann) == await outcome(ann, anns) == anns
        assert await outcome(ann, bobs) == await outcome(bob, anns) == "foreign_tab"
        assert await outcome(bob, 1) == "foreign_tab"
        listed = (await ann.call("browser_list_tabs")).json()["result"]
        tabs = {entry["tabId"]: entry for entry in listed["structuredContent"]["tabs"]}
        assert [tabs[id]["usable"] for id in (1, anns, bobs)] == [False, True, False]
        assert "owner" not in tabs[1] and tabs[bobs]["owner"].startswith("test 2 (")
        assert "(the person's)" in listed["content"][0]["text"]
        assert window.groups[0].get("groupId") is None
        await opened(ann)
        assert window.groups[2]["groupId"] == 7


@pytest.mark.requirement("TH-23")
@pytest.mark.requirement("OT-02")
@pytest.mark.parametrize(("closes", "command"), [(True, "tabs.close"), (False, "tabs.ungroup")])
async def test_the_tabs_of_a_session_that_ends_are_closed_or_kept(
    closes: bool, command: str
) -> None:
    settings = Settings(sessions=SessionSettings(close_tabs_on_end=closes))
    async with served(settings) as server, browser(server) as window, client(server.port) as http:
        ann, bob = await connect(http), await connect(http)
        anns, bobs = await opened(ann), await opened(bob)
        await ann.end()
        sent = await window.extension.command(command)
        assert sent["params"]["tabId"] == anns
        assert await outcome(bob, anns) in ("foreign_tab", "tab_not_found")
        assert await outcome(bob) == bobs


@pytest.mark.requirement("OT-02")
async def test_an_idle_session_without_a_handshake_is_released_too() -> None:
    async with served() as server, browser(server) as window, client(server.port) as http:
        agent = Agent(http)
        opened_tab = (await agent.call("browser_open_tab", url="https://example.com/"))["tabId"]
        now = server.app.hub.sessions.all()[0].used
        server.app.tidy(now + 29 * 60)
        assert server.app.hub.ownership.owner(opened_tab) == "token:main"
        server.app.tidy(now + 31 * 60)
        assert server.app.hub.sessions.all() == []
        await window.extension.command("tabs.close")


async def test_a_tab_that_an_agents_page_opens_is_the_agents_and_joins_its_group() -> None:
    async with served() as server, browser(server) as window, client(server.port) as http:
        ann, bob = await connect(http), await connect(http)
        anns = await opened(ann)
        news = {"tabId": 300, "state": "opened", "tab": tab(300), "openedBy": anns}
        await window.extension.ask("tab.stateChanged", news)
        assert await outcome(ann, 300) == 300
        assert await outcome(bob, 300) == "foreign_tab"
        grouped = await window.extension.command("tabs.group")
        assert grouped["params"]["tabId"] == 300
        assert grouped["params"]["input"]["group"]["title"] == "test"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("agent.pause", {"session": None, "paused": True}),
        ("agents.stop", {"stopped": True}),
        ("tab.takeBack", {"tabId": None}),
    ],
)
async def test_a_person_ends_running_calls_and_blocks_later_ones(method: str, params: Json) -> None:
    async with served() as server, browser(server) as window, client(server.port) as http:
        ann, bob = await connect(http), await connect(http)
        anns, bobs = await opened(ann), await opened(bob)
        del window.extension.handlers["page.evaluate"]
        calls = [asyncio.create_task(outcome(agent)) for agent in (ann, bob)]
        for _ in calls:
            await window.extension.command("page.evaluate")
        filled = {"session": ann.session, "tabId": anns}
        message = {key: filled[key] if value is None else value for key, value in params.items()}
        assert "result" in await window.extension.ask(method, message)
        assert await calls[0] == "paused_by_person"
        cancelled = await window.extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"]
        window.extension.handlers["page.evaluate"] = lambda params_sent: {
            "value": params_sent["tabId"]
        }
        if method == "tab.takeBack":
            assert await outcome(ann) == "no_current_tab"
        result = await outcome(ann, anns)
        assert result == ("foreign_tab" if method == "tab.takeBack" else "paused_by_person")
        if method == "agents.stop":
            assert await calls[1] == "paused_by_person"
        else:
            calls[1].cancel()
            assert await outcome(bob) == bobs
        undo = {**message, **({"paused": False} if "paused" in message else {"stopped": False})}
        if method != "tab.takeBack":
            await window.extension.ask(method, undo)
            assert await outcome(ann) == anns


async def test_a_shared_tab_is_usable_until_the_person_no_longer_shares_it() -> None:
    async with served() as server, browser(server, tab(1)) as window, client(server.port) as http:
        ann = await connect(http)
        await window.extension.ask("tab.share", {"tabId": 1, "shared": True})
        assert await outcome(ann, 1) == 1
        del window.extension.handlers["page.evaluate"]
        call = asyncio.create_task(outcome(ann, 1))
        await window.extension.next("tool.dispatch")
        await window.extension.next("tool.dispatch")
        await window.extension.ask("tab.share", {"tabId": 1, "shared": False})
        assert await call == "paused_by_person"
        assert await outcome(ann, 1) == "foreign_tab"
        anns = await opened(ann)
        refused = await window.extension.ask("tab.share", {"tabId": anns, "shared": True})
        assert refused["error"]["data"]["reason"] == "invalid_arguments"


async def test_the_active_tab_of_a_person_can_be_shared() -> None:
    active_tab = tab(1, active=True, focusedWindow=True)
    async with (
        served(share_active_tab=True) as server,
        browser(server, active_tab, tab(2)) as window,
        client(server.port) as http,
    ):
        agent = Agent(http)
        assert await agent.call("browser_execute_script", code="1") == {"value": 1}
        news = {"tabId": 2, "state": "activated"}
        looked_at = tab(2, active=True, focusedWindow=True)
        await window.extension.ask("tab.stateChanged", {**news, "tab": looked_at})
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_execute_script", code="1", tabId=1)
        assert failed.value.reason == "foreign_tab"


async def test_clients_without_a_session_get_separate_tabs_by_a_group_handle() -> None:
    async with served() as server, browser(server), client(server.port) as http:
        agent = Agent(http)
        empty = await agent.result("tabs_context_mcp")
        assert not empty.get("isError") and "createIfEmpty" in empty["content"][0]["text"]
        groups = [await agent.call("tabs_context_mcp", createIfEmpty=True) for _ in range(2)]
        metas = [{"tabhub/group": group["groupHandle"]} for group in groups]
        ids = [group["availableTabs"][0]["tabId"] for group in groups]
        assert ids[0] != ids[1] and groups[0]["selectedTabId"] == ids[0]
        for meta, own, other in ((metas[0], *ids), (metas[1], *reversed(ids))):
            ran = await agent.result("browser_execute_script", _meta=meta, code="1")
            assert ran["structuredContent"] == {"value": own}
            foreign = await agent.result(
                "browser_execute_script", _meta=meta, code="1", tabId=other
            )
            assert foreign["structuredContent"]["error"]["reason"] == "foreign_tab"
        context = await agent.result("tabs_context_mcp", _meta=metas[0], createIfEmpty=True)
        assert context["structuredContent"]["groupHandle"] == groups[0]["groupHandle"]


async def test_a_session_and_a_group_find_their_tabs_again_after_a_restart_of_the_server(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        async with browser(server, tab(1), instance="run") as window:
            ann, bob = await connect(http), await connect(http)
            first, second, bobs = await opened(ann), await opened(ann), await opened(bob)
            group = await Agent(http).call("tabs_context_mcp", createIfEmpty=True)
            tabs = list(window.tabs.values())
    async with served(home=home) as server, client(server.port) as http:
        ann.http = bob.http = http
        async with browser(server, *tabs, instance="run"):
            assert await outcome(ann) == second
            assert await outcome(ann, first) == first
            assert await outcome(ann, bobs) == "foreign_tab"
            assert await outcome(bob) == bobs
            meta = {"tabhub/group": group["groupHandle"]}
            ran = await Agent(http).result("browser_execute_script", _meta=meta, code="1")
            assert ran["structuredContent"] == {"value": group["availableTabs"][0]["tabId"]}
        async with browser(server, *tabs, instance="another run"):
            assert await outcome(ann, first) == "foreign_tab"


async def test_an_ended_session_is_not_restored_with_the_server(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        ann = await connect(http)
        await ann.end()
    async with served(home=home) as server, client(server.port) as http:
        ann.http = http
        assert (await ann.request("ping")).status_code == 404


@pytest.mark.slow
@pytest.mark.requirement("TH-23")
async def test_twenty_agents_with_ten_tabs_each_never_reach_a_foreign_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    tokens = [Clients(home).add(f"agent-{number}") for number in range(20)]
    async with served(home=home) as server, browser(server, tab(1)) as window:
        clients = [client(server.port, token) for token in tokens]
        agents = [await connect(http) for http in clients]

        async def open_ten(agent: SessionClient) -> list[int]:
            return [await opened(agent) for _ in range(10)]

        owned = await asyncio.gather(*map(open_ten, agents))
        everything = [1, *(id for tabs in owned for id in tabs)]

        async def work(number: int) -> None:
            rolled = random.Random(number)
            for _ in range(30):
                id = rolled.choice(everything)
                expected = id if id in owned[number] else "foreign_tab"
                assert await outcome(agents[number], id) == expected

        await asyncio.gather(*(work(number) for number in range(20)))
        assert len(window.groups) == 200
        for http in clients:
            await http.aclose()
