"""A source of tools written only against the port: no other code knows it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
import pytest

from tabhub.calls.call import Call, Source
from tabhub.calls.results import done
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import BoundedSchema, Tool
from tabhub.server.serving import Server
from tabhub.wire.mcp.messages import CallResult
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

SITE = "mail.example"
SCHEMA = {
    "type": "object",
    "properties": {
        "words": {"type": "string", "maxLength": 20},
        "tabId": {"type": "string", "description": "A tab of the mail program."},
        "broken": {"pattern": "("},
    },
    "required": ["words"],
}
SEARCH = Tool(
    name="mail_search",
    description="Finds letters.",
    input_schema=BoundedSchema(msgspec.json.encode(SCHEMA)),
    source="mail",
    plugin="mail",
    site=SITE,
    tab_argument="box",
)


class Mailboxes:
    """The router: a mailbox is a tab that no browser reports."""

    def __init__(self, boxes: Mapping[str, Tab]) -> None:
        self._boxes = boxes
        self.asked: list[tuple[str, object]] = []

    async def route(
        self, tool: Tool, session: str, requested: object, arguments: Mapping[str, Any]
    ) -> Tab | None:
        self.asked.append((tool.name, requested))
        return self._boxes.get(str(requested or "inbox"))


class MailSource(Source):
    """Runs the tools of a mail program."""

    def __init__(self, boxes: Mapping[str, Tab], browser: str | None = None) -> None:
        self.router = self.mailboxes = Mailboxes(boxes)
        self.calls: list[Call] = []
        self._browser = browser

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        return self._browser

    async def run(self, call: Call) -> CallResult:
        self.calls.append(call)
        where = "" if call.tab is None else call.tab.url
        return done("Found.", {"where": where, "given": dict(call.arguments)})


INBOX = Tab(7001, "", 0, "https://elsewhere.example/inbox", worker_id="inbox")
SENT = Tab(7002, "", 0, "https://elsewhere.example/sent", worker_id="sent")
Mail = tuple[Server, MailSource, httpx.AsyncClient]
OPEN = Settings(permissions=PermissionSettings(tools={SEARCH.name: "auto"}))


@asynccontextmanager
async def mail(settings: Settings = OPEN, source: MailSource | None = None) -> AsyncIterator[Mail]:
    """The product with one additional source."""
    source = source or MailSource({"inbox": INBOX, "sent": SENT})
    async with served(settings) as server, client(server.port) as http:
        server.app.sources[SEARCH.source] = source
        server.app.hub.tools.add(SEARCH)
        yield server, source, http


async def names(http: httpx.AsyncClient, query: str) -> list[str]:
    return [tool["name"] for tool in (await http.get(f"/tools?{query}")).json()["tools"]]


async def test_its_tools_are_listed_filtered_and_found_in_their_own_name_space() -> None:
    async with mail() as (_, _, http):
        for query in ("plugin=mail", f"domain={SITE}", "query=letters&plugin=mail"):
            assert await names(http, query) == [SEARCH.name]
        assert SEARCH.name not in await names(http, "plugin=browser")
        entry = (await http.get(f"/tools/{SEARCH.name}")).json()
    assert (entry["plugin"], entry["inputSchema"]) == ("mail", SCHEMA)


async def test_its_router_finds_the_tabs_of_its_calls() -> None:
    async with mail() as (server, source, http):
        agent = Agent(http)
        first = await agent.call(SEARCH.name, words="a", tabId="mine")
        second = await agent.call(SEARCH.name, words="b", box="sent")
        audited = [entry["tabId"] for entry in server.app.audit.entries(2)]
    assert source.mailboxes.asked == [(SEARCH.name, None), (SEARCH.name, "sent")]
    assert first == {"where": INBOX.url, "given": {"words": "a", "tabId": "mine"}}
    assert second == {"where": SENT.url, "given": {"words": "b"}}
    assert audited == ["sent", "inbox"]


async def test_its_schema_is_checked_with_bounds_and_only_after_the_decision() -> None:
    long = {"words": "x" * 21}
    async with mail() as (_, source, http):
        agent = Agent(http)
        assert (await agent.call(SEARCH.name, words="a", broken="b"))["given"]["broken"] == "b"
        with pytest.raises(ToolFailed, match="words") as misfit:
            await agent.call(SEARCH.name, **long)
        assert misfit.value.reason == "invalid_arguments" and len(source.calls) == 1
    off = Settings(permissions=PermissionSettings(tools={SEARCH.name: "off"}))
    async with mail(off) as (_, source, http):
        with pytest.raises(ToolFailed) as denied:
            await Agent(http).call(SEARCH.name, **long)
    assert (denied.value.reason, source.calls) == ("permission_off", [])


async def test_calls_are_decided_about_for_its_own_site_and_not_for_that_of_the_tab() -> None:
    closed = Settings(permissions=PermissionSettings(domains={SITE: "off"}))
    async with mail(closed) as (server, source, http):
        with pytest.raises(ToolFailed) as denied:
            await Agent(http).call(SEARCH.name, words="a")
        (entry,) = server.app.audit.entries(1)
    assert (denied.value.reason, source.calls) == ("permission_off", [])
    assert (entry["plugin"], entry["origin"], entry["verdict"]) == ("mail", SITE, "denied")


async def next_request(extension: FakeExtension) -> dict[str, Any]:
    params: dict[str, Any] = (await extension.next("confirmation.request"))["params"]
    return params


@pytest.mark.parametrize(("browser", "decision"), [(None, "allow"), ("", "ask")])
async def test_it_says_which_browser_a_call_without_a_tab_acts_in(
    browser: str | None, decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The browser connected last is managed; the kind of an unknown one is unknown."""
    # Only the tools of pages are left out of the panel.
    monkeypatch.setattr("tabhub.browser.panel.panel_state.MOST_PAGE_TOOLS", 0)
    async with (
        mail(Settings(), MailSource({}, browser)) as (server, source, http),
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1), panels=1)
        agent = Agent(http)
        verdict = await agent.call("permissions_check", tool=SEARCH.name)
        assert verdict["decision"] == decision
        calling = asyncio.create_task(agent.call(SEARCH.name, words="a"))
        if decision == "ask":
            request = await next_request(extension)
            assert (request["origin"], request["plugin"]) == (SITE, "mail")
            assert request["scopes"] == ["once", "session", "domain"]
            yes = {"id": request["id"], "decision": "allow", "scope": "always"}
            await extension.ask("confirmation.response", yes)
        assert (await calling)["where"] == ""
        state = await extension.state()
        (entry,) = [tool for tool in state["tools"] if tool["plugin"] == "mail"]
        granted = [(grant["scope"], grant["site"]) for grant in state["grants"]]
        assert granted == ([("domain", SITE)] if decision == "ask" else [])
    assert (entry["name"], entry["site"], len(source.calls)) == (SEARCH.name, SITE, 1)
