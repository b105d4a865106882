"""Rules that name a page tool apply to that tool under all its names, and to no other tool."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import LevelWord, PermissionSettings, Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.serving import client, served

CHECKOUT = "website_tool_shop_example_checkout"
PAY = "website_tool_shop_co_uk_pay"
Json = dict[str, Any]
Shops = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def shops(
    tools: dict[str, LevelWord], kind: str = "personal", home: Home | None = None, **more: Any
) -> AsyncIterator[Shops]:
    """A browser with tabs of shop.example, shop.co and shop.co.uk; all their tools answer."""
    levels = PermissionSettings(tools=tools, domains=more.pop("domains", {}))
    async with (
        served(Settings(permissions=levels, **more), home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(*(tab(number) for number in (1, 2, 3, 4)), kind=kind)
        for name in ("checkout", "pay", "uk_pay"):
            extension.page_tools[name] = lambda call: {"content": [{"type": "text", "text": "ran"}]}
        yield server, extension, Agent(http)


async def _shop(extension: FakeExtension, number: int, host: str, tool: Json) -> None:
    await extension.publish(number, tool, origin=f"https://{host}", url=f"https://{host}/")


async def _outcomes(server: Server, agent: Agent) -> dict[str, str]:
    """The outcome of a call of each page tool, by its site and its name in the page."""
    outcomes: dict[str, str] = {}
    for tool in [tool for tool in server.app.hub.tools if tool.source == "pages"]:
        try:
            outcome = await agent.text(tool.name, word="x")
        except ToolFailed as failed:
            outcome = failed.reason
        outcomes[f"{tool.site} {tool.page_tool} {tool.name.removeprefix('website_tool_')}"] = (
            outcome
        )
    return outcomes


def _other(name: str) -> Json:
    """The same tool with another schema."""
    return {**page_tool(name), "inputSchema": {"type": "object", "description": "auf deutsch"}}


@pytest.mark.requirement("MB-06")
@pytest.mark.parametrize("exposure", ["merged", "per-tab"])
async def test_a_rule_that_turns_a_tool_off_holds_for_each_of_its_variants(exposure: str) -> None:
    async with shops({CHECKOUT: "off"}, exposure=exposure) as (server, extension, agent):
        await _shop(extension, 1, "shop.example", page_tool("checkout"))
        await _shop(extension, 2, "shop.example", _other("checkout"))
        outcomes = await _outcomes(server, agent)
    assert len(outcomes) == 2 and {*outcomes.values()} == {"permission_off"}


async def test_a_rule_that_allows_a_tool_is_not_inherited_by_another_site() -> None:
    careful = page_tool("uk_pay", annotations={"destructiveHint": True})
    async with shops({PAY: "auto"}, domains={"shop.co": "off"}) as (server, extension, agent):
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        await extension.notify("browser/unregisterTools", {"tabId": 2, "documentId": "doc-2"})
        await _shop(extension, 1, "shop.co", careful)
        assert await _outcomes(server, agent) == {"shop.co uk_pay shop_co_uk_pay": "permission_off"}
        verdict = await agent.call("permissions_check", tool=PAY)
        assert verdict["decision"] == "deny"
        assert "is about pay of shop.co.uk" in verdict["rule"]
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        outcomes = await _outcomes(server, agent)
    assert {key.rpartition(" ")[0]: outcome for key, outcome in outcomes.items()} == {
        "shop.co uk_pay": "permission_off",
        "shop.co.uk pay": "ran",
    }


async def test_a_disabled_site_takes_over_no_rule_unless_the_person_decides_so() -> None:
    async with shops({PAY: "auto"}, domains={"shop.co": "off"}) as (server, extension, agent):
        await _shop(extension, 1, "shop.co", page_tool("uk_pay"))
        assert {*(await _outcomes(server, agent)).values()} == {"permission_off"}
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        outcomes = await _outcomes(server, agent)
        assert {key.rpartition(" ")[0]: outcome for key, outcome in outcomes.items()} == {
            "shop.co uk_pay": "permission_off",
            "shop.co.uk pay": "ran",
        }
        tool = {"plugin": "", "tool": PAY, "permission": "auto"}
        assert "result" in await extension.ask("config.setToolPermission", tool)
        assert (await _outcomes(server, agent))["shop.co uk_pay shop_co_uk_pay"] == "ran"


async def test_a_level_for_a_name_never_allows_more_to_a_site_that_took_the_name() -> None:
    async with shops({PAY: "ask"}, domains={"shop.co": "off"}) as (server, extension, agent):
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        await _shop(extension, 1, "shop.co", page_tool("uk_pay"))
        outcomes = await _outcomes(server, agent)
    assert {key.rpartition(" ")[0]: outcome for key, outcome in outcomes.items()} == {
        "shop.co uk_pay": "permission_off",
        "shop.co.uk pay": "approval_unavailable",
    }


async def test_the_rule_still_applies_to_the_owner_of_a_name_that_another_took() -> None:
    async with shops({PAY: "off"}, kind="managed") as (server, extension, agent):
        await _shop(extension, 1, "shop.co", page_tool("uk_pay"))
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        outcomes = await _outcomes(server, agent)
    assert len(outcomes) == 2 and {*outcomes.values()} == {"permission_off"}


async def test_conditions_by_name_hold_for_each_variant(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    home.policy.write_text(
        f'[[conditions]]\ntools = ["{CHECKOUT}"]\nargument = "word"\none_of = ["ok"]\n'
        'otherwise = "off"\n'
    )
    async with shops({}, kind="managed", home=home) as (server, extension, agent):
        await _shop(extension, 1, "shop.example", page_tool("checkout"))
        await _shop(extension, 2, "shop.example", _other("checkout"))
        outcomes = await _outcomes(server, agent)
    assert len(outcomes) == 2 and {*outcomes.values()} == {"permission_off"}


async def test_the_owner_of_a_name_is_kept_over_a_restart_and_ends_with_the_rule(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = Home(tmp_path / "home").create()
    async with shops({PAY: "auto"}, home=home) as (server, extension, agent):
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        await extension.notify("browser/unregisterTools", {"tabId": 2, "documentId": "doc-2"})
        await extension.settled()
    async with shops({PAY: "auto"}, home=home) as (server, extension, agent):
        for document in ("a", "b"):
            page = {"origin": "https://shop.co", "documentId": document}
            await extension.publish(1, page_tool("uk_pay"), **page)
        assert {*(await _outcomes(server, agent)).values()} == {"approval_unavailable"}
        assert sum("is about pay of shop.co.uk" in line for line in caplog.messages) == 1
        # The person sees which site owns the tool, and sets the level of that one.
        tool = {"plugin": "", "tool": PAY, "permission": "auto"}
        assert "result" in await extension.ask("config.setToolPermission", tool)
        assert {*(await _outcomes(server, agent)).values()} == {"ran"}
        await extension.ask("config.setToolPermission", {**tool, "permission": None})
        assert server.app.store.collection("pins").load() == {}


@pytest.mark.parametrize("scope", ["session", "domain", "always"])
async def test_a_grant_for_the_tool_of_one_site_does_not_cover_another_of_its_name(
    scope: str,
) -> None:
    async with shops({}) as (server, extension, agent):
        await extension.notify("tab.syncAll", {"browser": PANEL, "tabs": [tab(1), tab(2)]})
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        assert await _approved_call(extension, agent, PAY, scope)
        assert await agent.text(PAY, word="x") == "ran"
        (grant,) = server.app.rules.grants.all()
        assert (grant.site, grant.page_tool) == ("shop.co.uk", "pay")
        await extension.notify("browser/unregisterTools", {"tabId": 2, "documentId": "doc-2"})
        await _shop(extension, 1, "shop.co", page_tool("uk_pay"))
        assert await _approved_call(extension, agent, PAY, "once")


async def test_no_approval_offers_to_allow_a_page_tool_everywhere() -> None:
    async with shops({}) as (_, extension, agent):
        await extension.notify("tab.syncAll", {"browser": PANEL, "tabs": [tab(1), tab(2)]})
        await _shop(extension, 2, "shop.co.uk", page_tool("pay"))
        offered = await _approved_call(extension, agent, PAY, "once")
        assert offered == ["once", "session", "domain", "site_session", "site"]


PANEL = {"name": "Fake", "version": "1", "kind": "personal", "panels": 1}


async def _approved_call(
    extension: FakeExtension, agent: Agent, name: str, scope: str
) -> list[str]:
    """Call a tool and approve it with this scope; return the scopes that were offered."""
    calling = asyncio.create_task(agent.text(name, word="x"))
    request = (await extension.next("confirmation.request"))["params"]
    answer = {"id": request["id"], "decision": "allow", "scope": scope}
    assert "result" in await extension.ask("confirmation.response", answer)
    assert await calling == "ran"
    scopes: list[str] = request["scopes"]
    return scopes
