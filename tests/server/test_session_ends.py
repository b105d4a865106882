"""Effects of the end of a session: revoked clients, dead sessions, restarts, failing disks."""

import asyncio
import sqlite3
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.server.app import App
from tabhub.store.saved_state import forget_client
from tests.agents.mcp.clients import LoneClient, connect, events
from tests.agents.mcp.sse_clients import streaming
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import Refusal, connected, tab
from tests.support.browsers.window import browser, opened, outcome
from tests.support.eventually import eventually
from tests.support.serving import client, served

ASK = Settings(permissions=PermissionSettings(tools={"browser_execute_script": "ask"}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def revoke(server: Any, home: Home, name: str) -> None:
    """Revoke a client as `tabhub client revoke` does."""
    Clients(home).revoke(name)
    forget_client(server.app.store, name)
    server.app.reload()


async def test_a_revoked_clients_calls_questions_grants_and_tabs_end_with_it(home: Home) -> None:
    async with served(ASK, home=home) as server, browser(server, panels=1) as window:
        async with client(server.port, Clients(home).add("laptop")) as http:
            agent = Agent(http)
            id = (await agent.call("browser_open_tab", url="https://example.com/"))["tabId"]
            allowed = asyncio.create_task(agent.call("browser_execute_script", code="1"))
            request = (await window.extension.next("confirmation.request"))["params"]
            answer = {"id": request["id"], "decision": "allow", "scope": "session"}
            await window.extension.ask("confirmation.response", answer)
            await allowed
            await window.extension.command("page.evaluate")
            del window.extension.handlers["page.evaluate"]
            running = asyncio.create_task(agent.result("browser_execute_script", code="2"))
            await window.extension.command("page.evaluate")
            session = await connect(http)
            waiting = asyncio.create_task(session.call("browser_open_tab", url="https://a.example"))
            revoke(server, home, "laptop")
            error = (await running)["structuredContent"]["error"]
            assert error["reason"] == "not_authenticated"
            await asyncio.wait({waiting})
        assert server.app.hub.sessions.all() == [] and server.app.rules.grants.all() == []
        assert server.app.hub.ownership.owner(id) is None
        async with client(server.port, Clients(home).add("laptop")) as http:
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).call("browser_execute_script", code="1", tabId=id)
            assert failed.value.reason in ("foreign_tab", "tab_not_found")


async def test_a_token_that_is_revoked_without_notice_ends_its_streams_too(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabhub.server.app.REVOCATION_CHECK_SECONDS", 0.05)
    monkeypatch.setattr("tabhub.server.session_ends.GRACE_SECONDS", 0.05)
    guest, other = Clients(home).add("guest"), Clients(home).add("other")
    async with (
        served(home=home) as server,
        client(server.port, guest) as http,
        client(server.port, other) as others,
        streaming(http) as agent,
        listening(http) as news,
        listening(others),
    ):
        session, lasting = await connect(http), await connect(others)
        Clients(home).revoke("guest")
        Clients(home).add("guest")
        event = await agent.next()
        assert event is not None and event.kind == "error"
        with suppress(httpx.RemoteProtocolError):
            async for _ in events(news):
                pass
        assert session.session not in server.app.mcp.sessions
        assert (await lasting.request("ping")).status_code == 200
        assert len(server.app.connections.of(lambda name: name == "guest")) == 0
        assert len(server.app.connections.of(lambda name: name == "other")) == 2


def listening(http: httpx.AsyncClient) -> AbstractAsyncContextManager[httpx.Response]:
    """A stream of notifications without a session."""
    subscription = {"notifications": {"toolsListChanged": True}}
    return LoneClient(http).streaming("subscriptions/listen", subscription)


async def test_pausing_and_stopping_outlive_the_server(home: Home) -> None:
    async with served(home=home) as server, browser(server) as window, client(server.port) as http:
        ann = await connect(http)
        await opened(ann)
        pause = {"session": ann.session, "paused": True}
        await window.extension.ask("agent.pause", pause)
    async with served(home=home) as server, browser(server) as window, client(server.port) as http:
        assert await outcome(await connect(http)) == "paused_by_person"
        await window.extension.ask("agents.stop", {"stopped": True})
    async with served(home=home) as server, browser(server) as window, client(server.port) as http:
        assert (await window.extension.state())["stopped"] is True


async def test_the_time_without_a_server_does_not_make_agents_idle(home: Home) -> None:
    async with served(home=home) as server, browser(server, instance="r") as window:
        async with client(server.port) as http:
            id = (await Agent(http).call("browser_open_tab", url="https://example.com/"))["tabId"]
        tabs = list(window.tabs.values())
        server.app.hub.sessions.all()[0].used -= 3600
    async with served(home=home) as server, browser(server, *tabs, instance="r"):
        server.app.tidy(server.app.hub.sessions.all()[0].used + 60)
        assert server.app.hub.ownership.owner(id) == "token:main"


async def test_tabs_of_a_session_that_ended_without_its_browser_are_closed_later() -> None:
    async with served() as server, client(server.port) as http:
        ann = await connect(http)
        async with browser(server, instance="r") as window:
            id = await opened(ann)
            tabs = list(window.tabs.values())
        await ann.end()
        async with browser(server, *tabs, instance="r") as window:
            await eventually(lambda: id not in window.tabs)


async def test_a_tab_that_opens_for_a_session_that_has_ended_is_closed_again() -> None:
    async with served() as server, browser(server) as window, client(server.port) as http:
        answer = window.extension.handlers.pop("tabs.open")
        agent = Agent(http)
        meta = {"tabhub/operationId": "one"}
        opening = asyncio.create_task(
            agent.result("browser_open_tab", _meta=meta, url="https://example.com/")
        )
        sent = await window.extension.next("tool.dispatch")
        server.app.hub.sessions.end("token:main")
        await window.extension.send(
            {"id": sent["id"], "result": {"output": answer(sent["params"])}}
        )
        error = (await opening)["structuredContent"]["error"]
        assert error["reason"] == "unknown_session"
        assert (await window.extension.next("tool.dispatch"))["params"]["tool"] == "tabs.close"


async def test_an_extension_that_was_reloaded_keeps_its_tabs_and_a_restarted_browser_does_not() -> (
    None
):
    async with served() as server, client(server.port) as http:
        ann = await connect(http)
        async with browser(server, instance="one") as window:
            id = await opened(ann)
            tabs = list(window.tabs.values())
            assert (await http.post("/extension/reload")).status_code == 200
        async with browser(server, *tabs, instance="two"):
            assert await outcome(ann, id) == id
        async with browser(server, *tabs, instance="three"):
            assert await outcome(ann, id) == "foreign_tab"


async def test_a_tab_that_reuses_a_number_does_not_inherit_its_owner() -> None:
    async with served() as server, client(server.port) as http:
        ann = await connect(http)
        async with browser(server, tab(3)) as window:
            id = await opened(ann)
            news = {"tabId": 3, "state": "replaced", "replacedBy": id, "tab": tab(id)}
            await window.extension.ask("tab.stateChanged", news)
            assert await outcome(ann, 3) == "foreign_tab"
            async with connected(server.port, "other") as other:
                await other.sync(tab(id), shared=False)
                assert await outcome(ann, id) == "foreign_tab"


async def test_a_full_disk_does_not_close_the_link(home: Home) -> None:
    async with served(home=home) as server, browser(server) as window, client(server.port) as http:
        ann = await connect(http)
        server.app.store._database.execute("PRAGMA query_only = 1")
        id = await opened(ann)
        assert await outcome(ann) == id
        home.config.mkdir()
        params = {"plugin": "browser", "tool": "browser_read_page", "permission": "off"}
        failed = await window.extension.ask("config.setToolPermission", params)
        assert failed["error"]["data"]["reason"] == "internal"
        await window.extension.settled()
        assert server.app.audit.entries(1, plugin="panel")[0]["success"] is False
        server.app.store._database.execute("PRAGMA query_only = 0")


def test_rows_that_cannot_be_read_are_dropped_and_the_rest_is_kept(home: Home) -> None:
    App(Settings(), "5e" * 32, home=home).close()
    with sqlite3.connect(home.db) as database:
        for shelf in ("grants", "agents", "sessions"):
            database.execute("INSERT INTO shelves VALUES (?, 'x', ?)", (shelf, b"{"))
    database.close()
    app = App(Settings(), "5e" * 32, home=home)
    assert app.rules.grants.all() == [] and app.hub.sessions.all() == []
    app.close()


async def test_an_operation_that_was_refused_may_be_tried_again_under_its_id() -> None:
    async with served(ASK) as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1))
        async with client(server.port) as http:
            arguments: dict[str, Any] = {"code": "1", "tabId": 1}
            meta = {"tabhub/operationId": "one"}
            refused = await Agent(http).result("browser_execute_script", _meta=meta, **arguments)
            assert refused["structuredContent"]["error"]["reason"] == "approval_unavailable"
            await extension.ask("config.setSkipPermissions", {"skip": True})
            repeated = await Agent(http).result("browser_execute_script", _meta=meta, **arguments)
            assert repeated["structuredContent"] == {"value": 1}


async def test_a_person_is_not_asked_again_about_the_same_site() -> None:
    async with served(ASK) as server, connected(server.port) as extension:

        def elsewhere(params: Any) -> Any:
            raise Refusal("tab_url_mismatch")

        extension.handlers["page.evaluate"] = elsewhere
        await extension.sync(tab(1), panels=1)
        async with client(server.port) as http:
            call = asyncio.create_task(
                Agent(http).result("browser_execute_script", code="1", tabId=1)
            )
            id = (await extension.next("confirmation.request"))["params"]["id"]
            await extension.ask("confirmation.response", {"id": id, "decision": "allow"})
            error = (await call)["structuredContent"]["error"]
        assert error["reason"] == "tab_url_mismatch"
        assert (await extension.state())["confirmations"] == []
