"""Calls over the link: answers, progress, cancellation, and a broken link."""

import asyncio
import json
from typing import Any

import pytest

from tabhub.browser.link.connection import LinkConnection
from tabhub.config.settings import Limits, Settings
from tabhub.errors import Unavailable
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.eventually import PATIENCE
from tests.support.serving import client, served


@pytest.mark.requirement("OT-24")
async def test_running_calls_fail_at_once_when_the_link_drops_with_their_possible_effect() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            calls = [
                asyncio.create_task(Agent(http).result("browser_execute_script", code="1", tabId=1))
                for _ in range(3)
            ]
            for _ in calls:
                await extension.next("tool.dispatch")
            extension.socket.transport.abort()
            results = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
    errors = [result["structuredContent"]["error"] for result in results]
    assert {error["reason"] for error in errors} == {"page_may_have_received"}
    assert all(error["retryable"] for error in errors)


@pytest.mark.requirement("OT-24")
async def test_without_a_browser_a_call_gets_a_retryable_error() -> None:
    async with served() as server, client(server.port) as http:
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_list_tabs")
    assert failed.value.reason == "extension_disconnected"
    assert failed.value.error["retryable"] is True


@pytest.mark.requirement("TH-41")
async def test_a_reason_from_the_page_reaches_the_agent_and_an_unknown_one_is_internal() -> None:
    def refuse(reason: str) -> Any:
        def answer(params: dict[str, Any]) -> Any:
            raise Refusal(reason, "the button is covered")

        return answer

    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.click"] = refuse("covered_by")
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_click_element", ref="ref_1", tabId=1)
        assert failed.value.reason == "covered_by"
        extension.handlers["page.click"] = refuse("because")
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_click_element", ref="ref_1", tabId=1)
    assert failed.value.reason == "internal"
    assert "covered" not in failed.value.message


async def _progressing(extension: FakeExtension) -> None:
    dispatch = await extension.next("tool.dispatch")
    id = dispatch["params"]["dispatchId"]
    for step in (1, 2):
        await extension.notify("tool.progress", {"dispatchId": id, "progress": step, "total": 2})
    await extension.send({"id": dispatch["id"], "result": {"output": {"value": 1}}})


@pytest.mark.document("OT-server-2", "OT-capabilities-5", "OT-received-4")
@pytest.mark.document("CB-changes-2")
@pytest.mark.requirement("OT-04")
async def test_progress_from_the_browser_reaches_the_caller_with_its_token() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        answering = asyncio.create_task(_progressing(extension))
        response = await Agent(http).post(
            "tools/call",
            {
                "name": "browser_execute_script",
                "arguments": {"code": "1", "tabId": 1},
                "_meta": {"progressToken": "mine"},
            },
        )
        await answering
    events = [
        json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")
    ]
    updates = [
        event["params"] for event in events if event.get("method") == "notifications/progress"
    ]
    assert [(t["progressToken"], t["progress"], t["total"]) for t in updates] == [
        ("mine", 1, 2),
        ("mine", 2, 2),
    ]
    assert events[-1]["result"]["structuredContent"] == {"value": 1}


@pytest.mark.requirement("OT-05")
async def test_a_client_that_disconnects_cancels_the_call_in_the_browser() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            call = asyncio.create_task(
                Agent(http).call("browser_execute_script", code="1", tabId=1)
            )
            dispatch = await extension.next("tool.dispatch")
            call.cancel()
        cancelled = await extension.next("tool.cancel")
    assert cancelled["params"]["dispatchId"] == dispatch["params"]["dispatchId"]


async def test_an_answer_to_an_earlier_connection_never_reaches_a_new_call() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            first = asyncio.create_task(
                Agent(http).result("browser_execute_script", code="1", tabId=1)
            )
            old = await extension.next("tool.dispatch")
        await first
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            second = asyncio.create_task(
                Agent(http).call("browser_execute_script", code="2", tabId=1)
            )
            new = await extension.next("tool.dispatch")
            assert new["params"]["dispatchId"] != old["params"]["dispatchId"]
            await extension.send({"id": old["id"], "result": {"output": {"value": "old"}}})
            await extension.send({"id": new["id"], "result": {"output": {"value": "new"}}})
            assert (await second)["value"] == "new"


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "rest", ['"result":{"output":{"value":"\\ud83d"}}}', '"result":7}', '"result":' + "[" * 9000]
)
async def test_an_unreadable_answer_fails_its_call_at_once(rest: str) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        call = asyncio.create_task(Agent(http).call("browser_execute_script", code="1", tabId=1))
        dispatch = await extension.next("tool.dispatch")
        await extension.socket.send(f'{{"jsonrpc":"2.0","id":"{dispatch["id"]}",{rest}')
        with pytest.raises(ToolFailed) as failed:
            await asyncio.wait_for(call, PATIENCE)
        assert failed.value.reason == "invalid_response"
        await extension.settled()


async def test_a_link_with_smaller_messages_says_so_and_refuses_larger_calls() -> None:
    settings = Settings(limits=Limits(ws_bytes=1000))
    async with served(settings) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).call("browser_execute_script", code="x" * 2000, tabId=1)
    assert failed.value.reason == "too_large"


async def test_a_dead_socket_is_not_an_internal_error() -> None:
    async def broken(text: str) -> None:
        raise ConnectionResetError

    connection = LinkConnection(broken, lambda sender, method, params: None, 1000)
    with pytest.raises(Unavailable) as refused:
        await connection.dispatch("page.read", {}, 1, _silent)
    assert refused.value.reason == "extension_disconnected"
    connection.close()
    with pytest.raises(Unavailable):
        await connection.dispatch("page.read", {}, 1, _silent)


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None
