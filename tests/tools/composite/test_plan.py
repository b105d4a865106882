"""`update_plan`: one yes for a plan, no further than its sites, and no yes from nobody."""

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
    given = {"domains": list(domains), "approach": APPROACH, **more}
    return asyncio.create_task(agent.call("update_plan", **given))


def click(agent: Agent, tab_id: int = 1) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(agent.call(CLICK, selector="a", tabId=tab_id))


async def test_a_yes_allows_what_would_be_asked_about_on_the_plans_sites(tmp_path: Path) -> None:
    async with planning(tmp_path) as (server, extension, agent):
        call = plan(agent, "https://A.example/shop?x=1", "a.example")
        told = await question(extension)
        assert told["tool"] == "update_plan" and told["scopes"] == ["session"]
        assert told["parameters"] == {"domains": ["a.example"], "approach": APPROACH}
        assert await respond(extension, told["id"], "allow", scope="session")
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


async def test_a_plan_that_is_rejected_says_so_and_opens_nothing(tmp_path: Path) -> None:
    async with planning(tmp_path) as (server, extension, agent):
        call = plan(agent, "a.example")
        await respond(extension, (await question(extension))["id"], "deny")
        assert (await call)["status"] == "rejected"
        assert server.app.rules.grants.all() == []
        assert await asked_again(extension, click(agent))


async def test_where_nothing_is_asked_about_neither_is_a_plan_and_nothing_is_opened(
    tmp_path: Path,
) -> None:
    async with planning(tmp_path, kind="managed") as (server, _, agent):
        assert (await plan(agent, "a.example"))["status"] == "auto-approved"
        assert server.app.rules.grants.all() == []


async def test_in_a_managed_browser_a_plan_is_asked_about_if_a_rule_asks(tmp_path: Path) -> None:
    async with planning(tmp_path, kind="managed", tools={CLICK: "ask"}) as (_, extension, agent):
        call = plan(agent, "a.example")
        told = await question(extension)
        assert told["parameters"]["alsoAllows"] == [CLICK]
        await respond(extension, told["id"], "allow")
        assert (await call)["status"] == "approved"
        assert not await asked_again(extension, click(agent))


async def test_where_plans_are_asked_about_by_name_the_sites_are_shown_as_they_are(
    tmp_path: Path,
) -> None:
    async with planning(tmp_path, tools={"update_plan": "ask"}) as (_, extension, agent):
        call = plan(agent, "https://a.example@evil.example/")
        told = await question(extension)
        assert told["parameters"]["domains"] == ["evil.example"]
        await respond(extension, told["id"], "allow")
        assert (await call)["granted"] == ["evil.example"]


async def test_a_plan_opens_nothing_that_is_off_or_behind_a_wall(tmp_path: Path) -> None:
    levels: dict[str, Any] = {"tools": {CLICK: "off"}, "domains": {"c.example": "off"}}
    async with planning(tmp_path, **levels) as (_, extension, agent):
        call = plan(agent, "a.example", "bank.example", "c.example")
        told = await question(extension)
        assert told["parameters"]["domains"] == ["a.example"]
        await respond(extension, told["id"], "allow")
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


async def test_what_destroys_something_is_asked_about_in_spite_of_a_plan(tmp_path: Path) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        call = plan(agent, "a.example")
        await respond(extension, (await question(extension))["id"], "allow")
        await call
        clear = agent.call("browser_clear_site_data", origin="https://a.example", cookies=True)
        assert await asked_again(extension, asyncio.create_task(clear))


async def test_with_nobody_there_a_plan_is_what_the_settings_say(tmp_path: Path) -> None:
    async with planning(tmp_path, panels=0) as (server, _, agent):
        with pytest.raises(ToolFailed) as alone:
            await plan(agent, "a.example")
        assert alone.value.reason == "approval_unavailable"
        fresh = Settings(unattended="allow")
        server.app.rules.reload(fresh)
        assert await plan(agent, "a.example") == {
            "status": "approved",
            "granted": [],
            "closed": [],
        }


async def test_nobody_is_asked_twice_where_a_rule_asks_about_plans(tmp_path: Path) -> None:
    async with planning(tmp_path, tools={"update_plan": "ask"}) as (_, extension, agent):
        call = plan(agent, "a.example")
        told = await question(extension)
        assert "update_plan = ask" in told["rule"]
        await respond(extension, told["id"], "allow")
        assert (await call)["granted"] == ["a.example"]


async def test_pausing_the_agent_takes_its_plan_off_the_table(tmp_path: Path) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        call = plan(agent, "a.example")
        told = await question(extension)
        await extension.ask("agent.pause", {"session": told["session"], "paused": True})
        with pytest.raises(ToolFailed) as paused:
            await call
        assert paused.value.reason == "paused_by_person"
        assert not await respond(extension, told["id"], "allow")


@pytest.mark.parametrize(
    "given",
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
    tmp_path: Path, given: dict[str, Any]
) -> None:
    async with planning(tmp_path) as (_, extension, agent):
        told = {"approach": APPROACH, **given}
        with pytest.raises(ToolFailed) as wrong:
            await agent.call("update_plan", **told)
        assert wrong.value.reason == "invalid_arguments"
        assert (await extension.state())["confirmations"] == []


async def test_plan_is_another_word_for_approach(tmp_path: Path) -> None:
    async with planning(tmp_path, kind="managed") as (_, _, agent):
        told = await agent.call("update_plan", domains=["a.example"], plan=APPROACH)
        assert told["status"] == "auto-approved"
