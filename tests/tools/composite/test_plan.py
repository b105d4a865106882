"""`update_plan`: one approval for a plan, limited to its sites, and only by a person."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import asked_again, question, respond
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

CLICK = "browser_click_element"
POLICY = '[sites]\ndeny = ["bank.example"]\n'
APPROACH = ["look", "fill", "send"]
Planning = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def planning(
    folder: Path, kind: str = "personal", panels: int = 1, **levels: Any
) -> AsyncIterator[Planning]:
    home = Home(folder / "home").create()
    home.policy.write_text(POLICY)
    settings = Settings(permissions=PermissionSettings(**levels))
    async with (
        served(settings, home=home) as server,
        connected(server.port) as extension,
        client(server.port, Clients(home).add("ann")) as http,
    ):
        effect = {"effect": {"mutated": True}, "trusted": True}
        extension.handlers["page.click"] = lambda params: effect
        extension.handlers["site.clear"] = lambda params: {"cleared": params["input"]["kinds"]}
        tabs = tab(1, url="https://a.example/"), tab(2, url="https://b.example/")
        await extension.sync(*tabs, kind=kind, panels=panels)
        yield server, extension, Agent(http)


def plan(agent: Agent, *domains: str, **more: Any) -> "asyncio.Task[dict[str, Any]]":
    arguments = {"domains": list(domains), "approach": APPROACH, **more}
    return asyncio.create_task(agent.call("update_plan", **arguments))


def click(agent: Agent, tab_id: int = 1) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(agent.call(CLICK, selector="a", tabId=tab_id))


async def test_an_approved_plan_replaces_later_approvals_on_its_sites(tmp_path: Path) -> None:
    async with planning(tmp_path) as (server, extension, agent):
        call = plan(agent, "https://A.example/shop?x=1", "a.example")
        request = await question(extension)
        assert request["tool"] == "update_plan" and request["scopes"] == ["session"]
        assert request["words"].startswith("Do what its plan says on ")
        assert request["parameters"] == {"domains": ["a.example"], "approach": APPROACH}
        assert await respond(extension, request["id"], "allow", scope="session")
        assert await call == {"status": "approved", "granted": ["a.example"], "closed": []}
        assert not await asked_again(extension, click(agent))
        assert await asked_again(extension, click(agent, 2))
        checked = await agent.call("permissions_check", tool=CLICK, domain="a.example")
        assert (checked["decision"], checked["source"], checked["duration"]) == (
            *("allow", "plan", "session"),
        )
        server.app.session_ends.end_session("token:ann")
        await extension.share_all()
        assert await asked_again(extension, click(agent))


async def test_a_plan_holds_for_its_session_only_and_can_be_revoked(tmp_path: Path) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        call = plan(agent, "a.example")
        await respond(extension, (await question(extension))["id"], "allow")
        await call
        (granted,) = (await extension.state())["grants"]
        assert (granted["tool"], granted["site"], granted["scope"]) == ("*", "a.example", "session")
        assert (await extension.ask("grant.revoke", {"id": granted["id"]}))["result"] == {}
        assert await asked_again(extension, click(agent))


async def test_a_rejected_plan_says_so_and_grants_nothing(tmp_path: Path) -> None:
    async with planning(tmp_path) as (server, extension, agent):
        call = plan(agent, "a.example")
        await respond(extension, (await question(extension))["id"], "deny")
        assert (await call)["status"] == "rejected"
        assert server.app.rules.grants.all() == []
        assert await asked_again(extension, click(agent))


async def test_a_plan_that_needs_no_approval_is_not_asked_about_and_grants_nothing(
    tmp_path: Path,
) -> None:
    async with planning(tmp_path, kind="managed") as (server, _, agent):
        assert (await plan(agent, "a.example"))["status"] == "auto-approved"
        assert server.app.rules.grants.all() == []


async def test_in_a_managed_browser_a_plan_needs_approval_if_a_rule_asks(tmp_path: Path) -> None:
    async with planning(tmp_path, kind="managed", tools={CLICK: "ask"}) as (_, extension, agent):
        call = plan(agent, "a.example")
        request = await question(extension)
        assert request["parameters"]["alsoAllows"] == [CLICK]
        await respond(extension, request["id"], "allow")
        assert (await call)["status"] == "approved"
        assert not await asked_again(extension, click(agent))


async def test_if_a_rule_asks_about_plans_the_request_shows_the_real_hosts(
    tmp_path: Path,
) -> None:
    async with planning(tmp_path, tools={"update_plan": "ask"}) as (_, extension, agent):
        call = plan(agent, "https://a.example@evil.example/")
        request = await question(extension)
        assert request["parameters"]["domains"] == ["evil.example"]
        await respond(extension, request["id"], "allow")
        assert (await call)["granted"] == ["evil.example"]


async def test_a_plan_grants_nothing_that_is_off_or_on_a_denied_site(tmp_path: Path) -> None:
    levels: dict[str, Any] = {"tools": {CLICK: "off"}, "domains": {"c.example": "off"}}
    async with planning(tmp_path, **levels) as (_, extension, agent):
        call = plan(agent, "a.example", "bank.example", "c.example")
        request = await question(extension)
        assert request["parameters"]["domains"] == ["a.example"]
        await respond(extension, request["id"], "allow")
        assert await call == {
            "status": "approved",
            "granted": ["a.example"],
            "closed": ["bank.example", "c.example"],
        }
        with pytest.raises(ToolFailed) as off:
            await click(agent)
        assert off.value.reason == "permission_off"
        with pytest.raises(ToolFailed) as closed:
            await plan(agent, "bank.example")
        assert closed.value.reason == "permission_off"


async def test_destructive_tools_need_approval_in_spite_of_a_plan(tmp_path: Path) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        call = plan(agent, "a.example")
        await respond(extension, (await question(extension))["id"], "allow")
        await call
        clear = agent.call("browser_clear_site_data", origin="https://a.example", cookies=True)
        assert await asked_again(extension, asyncio.create_task(clear))


async def test_without_a_panel_the_settings_decide_about_a_plan(tmp_path: Path) -> None:
    asking = {"a.example": "ask"}
    async with planning(tmp_path, "managed", 0, domains=asking) as (server, _, agent):
        with pytest.raises(ToolFailed) as alone:
            await plan(agent, "a.example")
        assert alone.value.reason == "approval_unavailable"
        levels = PermissionSettings(domains=asking)  # type: ignore[arg-type]
        fresh = Settings(unattended="allow", permissions=levels)
        server.app.rules.reload(fresh)
        assert await plan(agent, "a.example") == {
            "status": "approved",
            "granted": [],
            "closed": [],
        }


async def test_a_person_is_asked_once_if_a_rule_asks_about_plans(tmp_path: Path) -> None:
    async with planning(tmp_path, tools={"update_plan": "ask"}) as (_, extension, agent):
        call = plan(agent, "a.example")
        request = await question(extension)
        assert "update_plan = ask" in request["rule"]
        await respond(extension, request["id"], "allow")
        assert (await call)["granted"] == ["a.example"]


async def test_pausing_the_agent_withdraws_its_plan(tmp_path: Path) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        call = plan(agent, "a.example")
        request = await question(extension)
        await extension.ask("agent.pause", {"session": request["session"], "paused": True})
        with pytest.raises(ToolFailed) as paused:
            await call
        assert paused.value.reason == "paused_by_person"
        assert not await respond(extension, request["id"], "allow")


@pytest.mark.parametrize(
    "changes",
    [
        {"domains": []},
        {"domains": ["a.example"], "approach": []},
        {"domains": ["a.example"], "approach": None},
        {"domains": ["file:///etc/passwd"]},
        {"domains": ["about:blank"]},
        {"domains": ["a b"]},
        {"domains": ["data:text/html,x"]},
        {"domains": ["a.example"] * 21},
    ],
)
async def test_a_plan_without_sites_or_steps_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        arguments = {"approach": APPROACH, **changes}
        with pytest.raises(ToolFailed) as wrong:
            await agent.call("update_plan", **arguments)
        assert wrong.value.reason == "invalid_arguments"
        assert (await extension.state())["confirmations"] == []


async def test_plan_is_an_alias_of_approach(tmp_path: Path) -> None:
    async with planning(tmp_path, kind="managed") as (_, _, agent):
        result = await agent.call("update_plan", domains=["a.example"], plan=APPROACH)
        assert result["status"] == "auto-approved"
