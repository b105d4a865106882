"""MCP capabilities: logging. What is logged reaches the client that called, at its level."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tabhub.calls.time_limit import Limit
from tabhub.config.settings import Limits
from tabhub.server.serving import Server
from tests.agents.mcp.clients import (
    PREFIX,
    LoneClient,
    SessionClient,
    called,
    connect,
    events,
    messages,
    next_message,
)
from tests.agents.mcp.sse_clients import streaming
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.serving import client, served

Json = dict[str, Any]
SEARCH = "website_tool_shop_example_search"
SCRIPT = called("browser_execute_script", code="1", tabId=1)
pytestmark = pytest.mark.requirement("OT-03")


@asynccontextmanager
async def at_work() -> AsyncIterator[tuple[Server, FakeExtension, httpx.AsyncClient]]:
    async with (
        served() as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        yield server, extension, http


async def level(session: SessionClient, name: str) -> None:
    answer = await session.request("logging/setLevel", {"level": name})
    assert answer.json()["result"] == {}


def logged(found: list[Json]) -> list[tuple[str, str]]:
    """Level and event of each log message."""
    params = [one["params"] for one in found if one.get("method") == "notifications/message"]
    assert all(one["logger"] == "tabhub" and one["data"]["message"] for one in params)
    return [(one["level"], one["data"]["event"]) for one in params]


async def heard(session: SessionClient | LoneClient, params: Json) -> list[Json]:
    """All messages of a call."""
    async with session.streaming("tools/call", params) as response:
        return await messages(response)


async def asked(
    session: SessionClient | LoneClient, extension: FakeExtension, params: Json
) -> list[Json]:
    """All messages of a call that a person allows."""
    hearing = asyncio.create_task(heard(session, params))
    await respond(extension, (await question(extension))["id"], "allow")
    return await hearing


async def personal(extension: FakeExtension) -> None:
    extension.handlers["page.evaluate"] = lambda params: {"value": 1}
    await extension.sync(tab(1), kind="personal", panels=1)


@pytest.mark.document("OT-capabilities-logging")
async def test_logging_is_declared() -> None:
    async with served() as server, client(server.port) as http:
        found = await LoneClient(http).request("server/discover")
        assert found.json()["result"]["capabilities"]["logging"] == {}


@pytest.mark.document("OT-capabilities-3", "OT-capabilities-logging")
@pytest.mark.parametrize(
    ("chosen", "is_sent"), [("info", True), ("notice", True), ("error", False)]
)
async def test_an_approval_that_waits_is_logged_at_or_above_the_chosen_level(
    chosen: str, is_sent: bool
) -> None:
    async with at_work() as (_, extension, http):
        await personal(extension)
        session = await connect(http)
        await level(session, chosen)
        if not is_sent:
            calling = asyncio.create_task(session.request("tools/call", SCRIPT))
            await respond(extension, (await question(extension))["id"], "allow")
            assert (await calling).headers["content-type"] == "application/json"
            return
        found = await asked(session, extension, SCRIPT)
        assert logged(found) == [("notice", "approval_waiting")]
        assert "browser_execute_script" in found[0]["params"]["data"]["message"]


@pytest.mark.document("OT-capabilities-3")
async def test_a_client_without_a_session_chooses_its_level_in_each_request() -> None:
    async with at_work() as (_, extension, http):
        await personal(extension)
        chosen = {**SCRIPT, "_meta": {f"{PREFIX}logLevel": "debug"}}
        found = await asked(LoneClient(http), extension, chosen)
        assert logged(found) == [("notice", "approval_waiting")]
        plain = asyncio.create_task(LoneClient(http).request("tools/call", SCRIPT))
        await respond(extension, (await question(extension))["id"], "allow")
        assert (await plain).headers["content-type"] == "application/json", "it chose no level"


@pytest.mark.document("OT-capabilities-logging")
async def test_each_call_of_a_batch_logs_for_its_caller() -> None:
    async with at_work() as (_, extension, http):
        await personal(extension)
        action = {"name": "browser_execute_script", "input": SCRIPT["arguments"]}
        found = await asked(
            await connect(http), extension, called("browser_batch", actions=[action])
        )
        assert logged(found) == [("notice", "approval_waiting")]


@pytest.mark.document("CB-lifecycle-3", "OT-capabilities-logging")
async def test_over_sse_and_the_gateway_too() -> None:
    async with at_work() as (_, extension, http):
        await personal(extension)
        async with streaming(http, "/sse?toolsets=core") as sse:
            await sse.initialize()
            calling = asyncio.create_task(sse.request("tools/call", SCRIPT))
            await respond(extension, (await question(extension))["id"], "allow")
            await calling
            assert logged(sse.others) == [("notice", "approval_waiting")]
        gateway = await connect(http, path="/mcp/gateway")
        found = await asked(gateway, extension, called("tabhub_call", **SCRIPT))
        assert logged(found) == [("notice", "approval_waiting")]


@pytest.mark.document("OT-capabilities-logging")
async def test_a_call_that_goes_on_beyond_its_limit_logs_that_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with at_work() as (_, extension, http):
        await extension.sync(tab(1))
        hearing = asyncio.create_task(heard(await connect(http), SCRIPT))
        dispatch = await extension.command("page.evaluate")
        report = {"dispatchId": dispatch["params"]["dispatchId"], "total": 9}
        await extension.notify("tool.progress", {**report, "progress": 1})
        await extension.settled()
        monkeypatch.setattr(Limit, "is_over", property(lambda limit: True))
        for step in (2, 3):
            await extension.notify("tool.progress", {**report, "progress": step})
        await extension.send({"id": dispatch["id"], "result": {"output": {"value": 1}}})
        found = await hearing
        assert logged(found) == [("info", "limit_extended")]
        assert found[0]["params"]["data"]["seconds"] == Limits().max_call_seconds


@pytest.mark.document("OT-capabilities-logging")
async def test_a_wait_that_is_longer_than_a_call_usually_takes_logs_its_limit() -> None:
    async with at_work() as (_, extension, http):
        await extension.sync(tab(1))
        wait = called("browser_wait_for_element", selector="p", timeout=60_000, tabId=1)
        hearing = asyncio.create_task(heard(await connect(http), wait))
        dispatch = await extension.command("page.wait")
        assert dispatch["params"]["input"]["timeoutMs"] == 60_000
        refused = {"code": -32000, "message": "no", "data": {"reason": "timeout"}}
        await extension.send({"id": dispatch["id"], "error": refused})
        assert logged(await hearing) == [("info", "limit_extended")]


@pytest.mark.document("OT-capabilities-logging")
async def test_a_tool_of_a_page_that_goes_to_another_tab_logs_the_retry() -> None:
    async with at_work() as (_, extension, http):
        await extension.sync(tab(1), tab(2))
        for id in (1, 2):
            await extension.publish(id, page_tool("search"))
        hearing = asyncio.create_task(heard(await connect(http), called(SEARCH)))
        sent = await extension.next("browser/executeTool")
        first = sent["params"]["tabId"]
        extension.page_tools["search"] = lambda params: {
            "content": [{"type": "text", "text": "found"}]
        }
        await extension.notify("tab.stateChanged", {"tabId": first, "state": "closed"})
        gone = {"tabId": first, "frameId": 0, "documentId": f"doc-{first}"}
        await extension.notify("browser/unregisterTools", gone)
        refused = {"code": -32001, "message": "gone", "data": {"reason": "tab_not_found"}}
        await extension.send({"id": sent["id"], "error": refused})
        found = await hearing
        assert ("warning", "retry") in logged(found)
        assert found[-1]["result"]["content"][0]["text"] == "found"


@pytest.mark.document("OT-capabilities-logging")
async def test_a_call_whose_tab_closes_logs_that_and_then_fails() -> None:
    async with at_work() as (_, extension, http):
        await extension.sync(tab(1))
        hearing = asyncio.create_task(heard(await connect(http), SCRIPT))
        dispatch = await extension.command("page.evaluate")
        await extension.ask("tab.stateChanged", {"tabId": 1, "state": "closed"})
        refused = {"code": -32001, "message": "gone", "data": {"reason": "tab_not_found"}}
        await extension.send({"id": dispatch["id"], "error": refused})
        found = await hearing
        assert logged(found) == [("notice", "tab_closed")]
        assert found[-1]["result"]["isError"]


@pytest.mark.document("OT-capabilities-logging")
async def test_a_session_is_told_of_its_tabs_that_close_between_its_calls() -> None:
    async with at_work() as (_, extension, http):
        await extension.sync()
        extension.handlers["tabs.open"] = lambda params: tab(5)
        session, other = await connect(http), await connect(http)
        opened = await session.call("browser_open_tab", url="https://example.com/5")
        assert not opened.json()["result"].get("isError"), opened.text
        async with session.listening() as mine, other.listening() as theirs:
            stream, elsewhere = events(mine), events(theirs)
            await extension.notify("tab.stateChanged", {"tabId": 5, "state": "closed"})
            params: Json = {}
            while params.get("logger") is None:
                params = (await next_message(stream))["params"]
            assert params["level"] == "notice" and params["data"]["tabId"] == 5
            unheard = await next_message(elsewhere)
            assert unheard["method"] == "notifications/resources/list_changed"
            assert "tab_closed" not in json.dumps(unheard)
