"""Several browsers, and their reports about tabs."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served


@pytest.mark.document("OT-ws-2")
@pytest.mark.requirement("OT-23")
async def test_the_same_profile_replaces_its_connection_and_other_profiles_stay() -> None:
    async with (
        served() as server,
        connected(server.port, "a") as first,
        connected(server.port, "b"),
    ):
        async with connected(server.port, "a") as second:
            await first.socket.wait_closed()
            assert first.socket.close_code == 4001
            await second.sync(tab(1))
            async with client(server.port) as http:
                health = (await http.get("/health")).json()
    assert sorted(browser["id"] for browser in health["browsers"]) == ["a", "b"]
    assert "Fake" in {browser["name"] for browser in health["browsers"]}


@pytest.mark.document("OT-ws-2")
@pytest.mark.requirement("OT-23")
async def test_a_connection_without_a_profile_id_counts_as_one_profile() -> None:
    async with (
        served() as server,
        connected(server.port, None) as first,
        connected(server.port, None),
    ):
        await first.socket.wait_closed()
        assert first.socket.close_code == 4001


@pytest.mark.requirement("OT-23")
async def test_two_browsers_with_the_same_tab_number_get_different_ids_and_each_its_call() -> None:
    calls: list[tuple[str, Any]] = []

    def answering(name: str) -> Any:
        def answer(params: dict[str, Any]) -> dict[str, Any]:
            calls.append((name, params["tabId"]))
            return {"value": name}

        return answer

    async with (
        served() as server,
        connected(server.port, "a") as a,
        connected(server.port, "b") as b,
    ):
        for name, extension in (("a", a), ("b", b)):
            extension.handlers["page.evaluate"] = answering(name)
            extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(5)]}
            await extension.sync(tab(5))
        async with client(server.port) as http:
            agent = Agent(http)
            tabs = (await agent.call("browser_list_tabs"))["tabs"]
            ids = {entry["browser"]: entry["tabId"] for entry in tabs}
            values = {
                name: (await agent.call("browser_execute_script", code="1", tabId=id))["value"]
                for name, id in ids.items()
            }
    assert len({*ids.values()}) == 2
    assert values == {"a": "a", "b": "b"}
    assert calls == [("a", 5), ("b", 5)]


@pytest.mark.requirement("OT-24")
@pytest.mark.parametrize("closed_first", [True, False])
async def test_a_reconnected_browser_keeps_its_kind_until_it_lists_its_tabs(
    closed_first: bool,
) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        if closed_first:
            await extension.socket.close()
            await eventually(lambda: not server.app.browsers.all(), "the browser to be gone")
        async with connected(server.port):
            assert server.app.browsers.is_managed("profile-a")
        async with connected(server.port, "another"):
            assert not server.app.browsers.is_managed("another")


@pytest.mark.requirement("OT-24")
async def test_a_reconnected_browser_is_synced_and_no_tab_is_listed_twice() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1), tab(2))
        async with connected(server.port) as extension:
            await extension.sync(tab(2), tab(3))
            extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(2), tab(3)]}
            listed = (await Agent(http).call("browser_list_tabs"))["tabs"]
            assert sorted(entry["tabId"] for entry in listed) == [2, 3]
            assert len(server.app.hub.tabs) == 2


async def _tabs_after(*changes: dict[str, Any]) -> list[int]:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        for change in changes:
            assert await extension.ask("tab.stateChanged", change) == {
                "jsonrpc": "2.0",
                "id": "x",
                "result": {},
            }
        return [entry.id for entry in server.app.hub.tabs.all()]


async def test_a_list_of_tabs_is_applied_in_the_order_of_the_messages() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        listing = asyncio.create_task(Agent(http).call("browser_list_tabs"))
        dispatch = await extension.next("tool.dispatch")
        await extension.send(
            {"id": dispatch["id"], "result": {"output": {"tabs": [tab(1), tab(2)]}}}
        )
        await extension.ask("tab.stateChanged", {"tabId": 2, "state": "closed"})
        await extension.ask("tab.stateChanged", {"tabId": 3, "state": "opened", "tab": tab(3)})
        assert [entry["tabId"] for entry in (await listing)["tabs"]] == [1, 2]
        assert [entry.id for entry in server.app.hub.tabs.all()] == [1, 3]


async def test_messages_of_a_replaced_connection_are_ignored() -> None:
    async with served() as server:
        browsers = server.app.browsers
        news = Raw(b'{"tabs": [{"tabId": 9}]}')
        async with connected(server.port, "a") as extension:
            replaced = browsers.get("a").connection
            await extension.sync(tab(1))
            async with connected(server.port, "a") as second:
                browsers.handle("a", replaced, "tab.syncAll", news)
                assert not browsers.get("a").ready
                await second.sync(tab(2))
        browsers.handle("a", replaced, "tab.syncAll", news)
        assert [entry.id for entry in server.app.hub.tabs.all()] == [2]


async def test_reconnecting_stops_the_timer_that_would_forget_the_tabs() -> None:
    async with served() as server:
        browsers = server.app.browsers
        clocks = []
        for _ in range(2):
            async with connected(server.port) as extension:
                await extension.sync(tab(1))
            await eventually(lambda: not browsers.all())
            clocks.append(browsers._leaving["profile-a"][1])
        assert [clock.cancelled() for clock in clocks] == [True, False]
        assert len(server.app.hub.tabs) == 1
        browsers._forget("profile-a")
        assert len(server.app.hub.tabs) == 0


async def test_the_error_for_an_unknown_browser_names_the_connected_ones() -> None:
    async with served() as server, connected(server.port, "here") as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            with pytest.raises(ToolFailed, match="Connected: here") as failed:
                await Agent(http).call("browser_open_tab", url="x.org", connectionId="there")
    assert failed.value.reason == "invalid_arguments"


async def test_tabs_that_open_close_and_are_renumbered_are_followed() -> None:
    assert await _tabs_after({"tabId": 2, "state": "opened", "tab": tab(2)}) == [1, 2]
    assert await _tabs_after({"tabId": 1, "state": "closed"}) == []
    assert await _tabs_after({"tabId": 7, "state": "closed"}) == [1]
    assert await _tabs_after({"tabId": 1, "state": "replaced", "replacedBy": 9, "tab": tab(9)}) == [
        1
    ]
