"""One yes for a site, and what it leaves to a question of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import asked_again, question, respond
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.serving import client, served

SHOP = "https://shop.example/"
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("browser_navigate_tab", {"url": f"{SHOP}list"}),
    ("browser_read_page", {}),
    ("browser_type_text", {"ref": "ref_1", "text": "lamp"}),
    ("browser_press_key", {"key": "Enter"}),
    ("browser_hover_element", {"ref": "ref_1"}),
    ("browser_click_element", {"ref": "ref_1"}),
    ("browser_select_option", {"ref": "ref_1", "value": "2"}),
    ("browser_scroll", {"direction": "down"}),
    ("browser_drag", {"from": {"ref": "ref_1"}, "to": {"ref": "ref_2"}}),
    ("browser_handle_dialog", {"action": "accept"}),
    ("browser_screenshot_tab", {}),
    ("browser_close_tab", {}),
]
Shopping = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def shopping(settings: Settings | None = None) -> AsyncIterator[Shopping]:
    """A person's own browser with a panel, and an agent."""
    async with (
        served(settings or Settings()) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        opened = iter(range(100, 200))
        extension.handlers["tabs.open"] = lambda params: tab(
            next(opened), url=params["input"]["url"]
        )
        extension.handlers["tabs.navigate"] = lambda params: tab(
            params["tabId"], url=params["input"]["url"]
        )
        extension.handlers["page.read"] = lambda params: {"text": "button"}
        for command in ("click", "hover", "fill", "select", "press", "scroll", "drag", "dialog"):
            extension.handlers[f"page.{command}"] = lambda params: {"trusted": True}
        for command in ("page.capture", "tabs.close", "page.evaluate"):
            extension.handlers[command] = lambda params: {}
        tabs = (tab(1, url=SHOP), tab(2, url="https://bank.example/"), tab(3, url=SHOP))
        await extension.sync(*tabs, kind="personal", panels=1)
        yield server, extension, Agent(http)


async def opened(extension: FakeExtension, agent: Agent, scope: str) -> int:
    """Open the shop; the person answers with this scope."""
    call = asyncio.create_task(agent.call("browser_open_tab", url=SHOP))
    request = await question(extension)
    assert request["scopes"][-2:] == ["site_session", "site"]
    assert await respond(extension, request["id"], "allow", scope=scope)
    found: int = (await call)["tabId"]
    return found


@pytest.mark.parametrize("scope", ["site_session", "site"])
async def test_after_one_yes_for_the_site_twelve_more_actions_ask_nothing(scope: str) -> None:
    async with shopping() as (server, extension, agent):
        tab_id = await opened(extension, agent, scope)
        for tool, arguments in ACTIONS:
            result = await agent.result(tool, tabId=tab_id, **arguments)
            assert (result.get("isError"), tool) != (True, tool), result
        entries = server.app.audit.entries(20)
    verdicts = [entry["verdict"] for entry in entries if entry["plugin"] == "browser"]
    assert sorted(verdicts) == ["allowed"] * 12 + ["asked"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_execute_script", {"code": "1"}),
        ("browser_get_storage", {}),
        ("browser_intercept_requests", {}),
        ("browser_set_permission", {"permission": "camera", "setting": "allow"}),
    ],
)
async def test_what_asks_on_its_own_still_asks_and_offers_no_yes_for_the_site(
    tool: str, arguments: dict[str, Any]
) -> None:
    async with shopping() as (_, extension, agent):
        tab_id = await opened(extension, agent, "site")
        call = asyncio.create_task(agent.result(tool, tabId=tab_id, **arguments))
        request = await question(extension)
        assert request["tool"] == tool
        assert not {"site", "site_session"} & {*request["scopes"]}
        # A panel that asks for more gets what is possible.
        await respond(extension, request["id"], "deny")
        await call


async def test_a_yes_for_the_site_also_answers_what_already_waits_there() -> None:
    async with shopping() as (server, extension, agent):
        calls = {
            name: asyncio.create_task(agent.call(name, tabId=tab_id, **arguments))
            for name, tab_id, arguments in (
                ("browser_click_element", 1, {"ref": "ref_1"}),
                ("browser_press_key", 1, {"key": "Enter"}),
                ("browser_execute_script", 1, {"code": "1"}),
                ("browser_hover_element", 2, {"ref": "ref_1"}),
            )
        }
        asked = {found["tool"]: found["id"] for found in [await question(extension) for _ in calls]}
        assert await respond(extension, asked["browser_click_element"], "allow", scope="site")
        await asyncio.gather(calls["browser_click_element"], calls["browser_press_key"])
        closed = [(await extension.next("confirmation.closed"))["params"] for _ in range(2)]
        assert {one["id"] for one in closed} == {
            asked["browser_click_element"],
            asked["browser_press_key"],
        }
        assert {one["outcome"] for one in closed} == {"allowed"}
        # A script asks on its own, and so does another site.
        waiting = {one["tool"] for one in (await extension.state())["confirmations"]}
        assert waiting == {"browser_execute_script", "browser_hover_element"}
        assert not await respond(extension, asked["browser_press_key"], "deny")
        entries = {entry["tool"]: entry for entry in server.app.audit.entries(20)}
        assert entries["browser_click_element"]["verdict"] == "asked"
        assert entries["browser_press_key"]["verdict"] == "allowed"
        assert "site" in entries["browser_press_key"]["rule"]
        for tool in waiting:
            await respond(extension, asked[tool], "deny")
            with pytest.raises(ToolFailed):
                await calls[tool]


async def test_a_call_that_waits_is_made_when_the_person_sets_its_level() -> None:
    async with shopping() as (server, extension, agent):
        call = asyncio.create_task(agent.call("browser_press_key", tabId=1, key="Enter"))
        await question(extension)
        server.app.rules.set_level("tools", "browser_press_key", "auto")
        await call
        assert (await extension.state())["confirmations"] == []


async def test_a_question_that_a_yes_has_answered_does_nothing_on_another_page() -> None:
    async with shopping() as (_, extension, agent):
        click = asyncio.create_task(agent.call("browser_click_element", tabId=1, ref="ref_1"))
        request = await question(extension)
        press = asyncio.create_task(agent.call("browser_press_key", tabId=3, key="Enter"))
        await question(extension)
        moved = {"tabId": 3, "state": "updated", "tab": tab(3, url=f"{SHOP}basket")}
        await extension.ask("tab.stateChanged", moved)
        assert await respond(extension, request["id"], "allow", scope="site")
        await click
        with pytest.raises(ToolFailed) as failed:
            await press
    assert failed.value.reason == "navigated_away"


async def test_a_yes_for_the_site_is_for_this_client_and_this_site() -> None:
    async with shopping() as (server, extension, agent):
        await opened(extension, agent, "site")
        elsewhere = agent.call("browser_open_tab", url="https://bank.example/")
        assert await asked_again(extension, asyncio.create_task(elsewhere))
        here = agent.call("browser_open_tab", url=SHOP)
        assert not await asked_again(extension, asyncio.create_task(here))
        server.app.session_ends.release("token:main")
        again = agent.call("browser_open_tab", url=SHOP)
        assert not await asked_again(extension, asyncio.create_task(again))


async def test_a_yes_for_the_site_this_session_ends_with_the_session() -> None:
    async with shopping() as (server, extension, agent):
        await opened(extension, agent, "site_session")
        (grant,) = (await extension.state())["grants"]
        assert (grant["scope"], grant["tool"], grant["site"]) == (
            "site_session",
            "*",
            "shop.example",
        )
        server.app.session_ends.release("token:main")
        again = agent.call("browser_open_tab", url=SHOP)
        assert await asked_again(extension, asyncio.create_task(again))


async def test_a_revoked_yes_for_the_site_asks_again() -> None:
    async with shopping() as (_, extension, agent):
        await opened(extension, agent, "site")
        (grant,) = (await extension.state())["grants"]
        await extension.ask("grant.revoke", {"id": grant["id"]})
        again = agent.call("browser_open_tab", url=SHOP)
        assert await asked_again(extension, asyncio.create_task(again))


async def test_walls_and_levels_of_the_site_are_stronger_than_a_yes() -> None:
    settings = Settings(permissions=PermissionSettings(tools={"browser_press_key": "ask"}))
    async with shopping(settings) as (server, extension, agent):
        tab_id = await opened(extension, agent, "site")
        named = agent.call("browser_press_key", tabId=tab_id, key="Enter")
        assert await asked_again(extension, asyncio.create_task(named))
        server.app.rules.set_level("domains", "shop.example", "off")
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_click_element", tabId=tab_id, ref="ref_1")
    assert failed.value.reason == "permission_off"


async def test_tools_of_the_sites_pages_are_covered_unless_they_call_themselves_destructive() -> (
    None
):
    async with shopping() as (_, extension, agent):
        tab_id = await opened(extension, agent, "site")
        destroys = page_tool("order", annotations={"destructiveHint": True})
        extension.page_tools["add"] = lambda params: {"content": []}
        await extension.publish(tab_id, page_tool("add"), destroys)
        add = agent.result("website_tool_shop_example_add")
        assert not await asked_again(extension, asyncio.create_task(add))
        order = agent.result("website_tool_shop_example_order")
        assert await asked_again(extension, asyncio.create_task(order))


async def test_scrolling_hovering_and_closing_an_own_tab_are_not_asked_about() -> None:
    minor: list[tuple[str, dict[str, Any]]] = [
        ("browser_scroll", {"direction": "down"}),
        ("browser_hover_element", {"ref": "ref_1"}),
        ("computer", {"action": "scroll_to", "ref": "ref_1"}),
        ("browser_close_tab", {}),
    ]
    async with shopping() as (_, extension, agent):
        own = await opened(extension, agent, "once")
        checked = await agent.call("permissions_check", tool="browser_scroll", tabId=own)
        assert checked["decision"] == "allow"
        for tool, arguments in minor:
            call = agent.result(tool, tabId=own, **arguments)
            assert not await asked_again(extension, asyncio.create_task(call)), tool


async def test_they_are_asked_about_in_a_tab_that_the_person_shares() -> None:
    async with shopping() as (_, extension, agent):
        shared = {"tabId": 7, "state": "opened", "tab": tab(7, url=SHOP)}
        await extension.ask("tab.stateChanged", shared)
        await extension.share_all()
        for tool in ("browser_scroll", "browser_close_tab"):
            call = agent.result(tool, tabId=7)
            assert await asked_again(extension, asyncio.create_task(call)), tool
