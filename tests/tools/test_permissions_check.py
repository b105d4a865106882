"""`permissions_check`: the decision and its rule, without asking a person."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.permissions.grants import Grant
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.browsers.worker import ONE, SHOP, admitted, tool
from tests.support.serving import client, served

Json = dict[str, Any]
SCRIPT, CLICK, OPEN = "browser_execute_script", "browser_click_element", "browser_open_tab"
READ = "browser_read_page"
POLICY = """
[sites]
deny = ["bank.example"]
[[conditions]]
tools = ["browser_open_tab"]
argument = "url"
hosts = ["a.example", "b.example"]
otherwise = "off"
"""
TOOLS = {"cart": "allow", "pay": "ask", "buy": "allow"}
"""In a managed browser, in a person's own, and by a worker that was paired."""
Checking = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def checking(folder: Path, kind: str = "personal", **token: Any) -> AsyncIterator[Checking]:
    """A policy, levels, grants, and a browser with an open panel and two tabs."""
    home = Home(folder / "home").create()
    home.policy.write_text(POLICY)
    levels = PermissionSettings(tools={SCRIPT: "ask", CLICK: "ask"}, domains={"c.example": "off"})
    async with (
        served(Settings(permissions=levels), home=home) as server,
        connected(server.port) as extension,
        client(server.port, Clients(home).add("ann", **token)) as http,
    ):
        tabs = tab(1, url="https://a.example/"), tab(2, url="https://bank.example/")
        await extension.sync(*tabs, kind=kind, panels=1, shared=False)
        grants = server.app.rules.grants
        grants.add(Grant("g1", "domain", CLICK, "ann", None, "b.example", None, 0))
        grants.add(Grant("g2", "session", CLICK, "ann", "token:ann", "a.example", None, 0))
        yield server, extension, Agent(http)


@pytest.mark.document("CB-tools-23")
@pytest.mark.parametrize(
    ("arguments", "decision", "source", "rule", "duration"),
    [
        ({"tool": SCRIPT}, "ask", "policy", f"permissions.tools.{SCRIPT} = ask", None),
        ({"action": SCRIPT}, "ask", "policy", f"permissions.tools.{SCRIPT} = ask", None),
        ({"tool": SCRIPT, "url": "https://bank.example/x"}, "deny", "policy", "sites.deny", None),
        ({"tool": SCRIPT, "url": "BANK.example"}, "deny", "policy", "sites.deny", None),
        ({"tool": SCRIPT, "domain": "bank.example"}, "deny", "policy", "sites.deny", None),
        ({"tool": SCRIPT, "tabId": 2}, "deny", "policy", "sites.deny", None),
        ({"tool": READ, "domain": "c.example"}, "deny", "policy", "domains", None),
        ({"tool": READ, "tabId": 1}, "allow", "default", "only reads", None),
        ({"tool": READ}, "allow", "default", "only reads", None),
        ({"tool": "browser_close_tab"}, "ask", "default", "person's own browser", None),
        ({"tool": CLICK, "domain": "b.example"}, "allow", "grant", "g1", "always"),
        ({"tool": CLICK, "tabId": 1}, "allow", "grant", "g2", "session"),
        ({"tool": CLICK, "domain": "d.example"}, "ask", "policy", CLICK, None),
        ({"tool": OPEN, "url": "https://a.example/"}, "ask", "default", "person's own", None),
        ({"tool": OPEN, "url": "https://d.example/"}, "deny", "policy", "conditions", None),
    ],
)
async def test_it_reports_the_decision_and_the_rule(
    tmp_path: Path, arguments: Json, decision: str, source: str, rule: str, duration: str | None
) -> None:
    async with checking(tmp_path) as (_, _, agent):
        data = await agent.call("permissions_check", **arguments)
    assert (data["decision"], data["source"], data["duration"]) == (decision, source, duration)
    assert rule in data["rule"]
    assert data["needsPrompt"] is (decision == "ask")


async def test_the_kind_of_the_browser_counts(tmp_path: Path) -> None:
    async with checking(tmp_path, kind="managed") as (_, _, agent):
        data = await agent.call("permissions_check", tool="browser_close_tab", tabId=1)
    assert (data["decision"], data["source"]) == ("allow", "default")


async def test_the_limits_of_the_callers_token_count(tmp_path: Path) -> None:
    async with checking(tmp_path, read_only=True) as (_, _, agent):
        data = await agent.call("permissions_check", tool=CLICK, domain="b.example")
        assert (data["decision"], data["rule"]) == ("deny", "client ann: only reading")
        assert (await agent.call("permissions_check", tool=READ))["decision"] == "allow"


async def test_skipping_turns_ask_into_allow_and_does_not_change_deny(tmp_path: Path) -> None:
    async with checking(tmp_path) as (_, extension, agent):
        await extension.ask("config.setSkipPermissions", {"skip": True})
        data = await agent.call("permissions_check", tool=SCRIPT)
        assert (data["decision"], data["source"]) == ("allow", "policy")
        walled = await agent.call("permissions_check", tool=SCRIPT, domain="bank.example")
        assert walled["decision"] == "deny"


async def test_without_a_tool_it_reports_all_of_them_with_the_strictest_decision(
    tmp_path: Path,
) -> None:
    async with checking(tmp_path) as (server, _, agent):
        data = await agent.call("permissions_check", tabId=1)
        names = {tool.name for tool in server.app.hub.tools}
        text = await agent.text("permissions_check", tabId=1)
    assert data["tools"].keys() == names
    assert data["tools"][CLICK]["decision"] == "allow"
    assert (data["tool"], data["domain"], data["decision"]) == (None, "a.example", "ask")
    assert data["tools"][OPEN]["decision"] == "ask"
    assert f"{READ}: allow" in text and "a.example" in text


async def test_its_decision_is_the_decision_about_a_call(tmp_path: Path) -> None:
    async with checking(tmp_path) as (_, extension, agent):
        extension.handlers["page.click"] = lambda params: {
            "effect": {"mutated": True},
            "trusted": True,
        }
        for number in (1, 2):
            await extension.ask("tab.share", {"tabId": number, "shared": True})
        assert (await agent.call("permissions_check", tool=CLICK, tabId=1))["decision"] == "allow"
        assert (await agent.call(CLICK, ref="ref_1", tabId=1))["trusted"] is True
        with pytest.raises(ToolFailed) as failed:
            await agent.call(CLICK, ref="ref_1", tabId=2)
    assert failed.value.reason == "permission_off"


async def test_for_a_page_tool_it_reports_the_decision_in_the_browser_of_the_page(
    tmp_path: Path,
) -> None:
    async with (
        checking(tmp_path, kind="managed") as (server, extension, agent),
        connected(server.port, "another") as newest,
        connected(server.port, "third") as third,
    ):
        await extension.publish(1, page_tool("cart"))
        await newest.sync(tab(7), kind="personal")
        await newest.publish(7, page_tool("pay"))
        await third.sync(tab(9), kind="managed")
        server.app.pairing.take([SHOP])
        async with admitted(server) as worker:
            await worker.register(ONE, tool("buy"))
            data = await agent.call("permissions_check")
            entries = {name: data["tools"][f"website_tool_shop_example_{name}"] for name in TOOLS}
    assert {name: entry["decision"] for name, entry in entries.items()} == TOOLS


async def test_it_never_asks_a_person_and_leaves_no_grant(tmp_path: Path) -> None:
    async with checking(tmp_path) as (server, extension, agent):
        before = server.app.rules.grants.all()
        for arguments in ({"tool": SCRIPT}, {"tool": CLICK, "tabId": 1}, {"domain": "d.example"}):
            await agent.call("permissions_check", **arguments)
        assert server.app.panels.pending() == []
        assert server.app.rules.grants.all() == before
        await extension.notify("ping", {})
        methods = []
        while (data := await extension.received.get())["method"] != "pong":
            methods.append(data["method"])
    assert [method for method in methods if method.startswith("confirmation")] == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"url": "https://a.example/", "domain": "a.example"}, "invalid_arguments"),
        ({"tabId": 1, "url": "https://a.example/"}, "invalid_arguments"),
        ({"tabId": 1, "domain": "a.example"}, "invalid_arguments"),
        ({"url": "javascript:alert(1)"}, "invalid_arguments"),
        ({"url": "data:text/html,x"}, "invalid_arguments"),
        ({"domain": "a b"}, "invalid_arguments"),
        ({"tool": 7}, "invalid_arguments"),
        ({"tools": SCRIPT}, "invalid_arguments"),
        ({"tabId": 77}, "tab_not_found"),
        ({"tool": "browser_clik"}, "unknown_tool"),
    ],
)
async def test_an_invalid_question_is_refused(tmp_path: Path, arguments: Json, reason: str) -> None:
    async with checking(tmp_path) as (_, _, agent):
        with pytest.raises(ToolFailed) as failed:
            await agent.call("permissions_check", **arguments)
    assert failed.value.reason == reason
