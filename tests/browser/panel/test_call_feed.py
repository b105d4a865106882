"""The stream of calls in the panel: what each start and end says, the last ones, ending one."""

import asyncio
import time
from typing import Any

import pytest

from tabhub.browser.panel import panel_state
from tabhub.browser.panel.call_feed import MOST_RECENT
from tabhub.rate_limit import Bucket
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.eventually import PATIENCE
from tests.support.serving import client, served

Json = dict[str, Any]
START, END = "tool.invocationStart", "tool.invocationEnd"
SCRIPT = "browser_execute_script"


async def ended(extension: FakeExtension) -> Json:
    found: Json = (await extension.next(END))["params"]
    return found


async def recent(extension: FakeExtension) -> list[Json]:
    found: list[Json] = (await extension.ask("calls.recent", {}))["result"]["calls"]
    return found


async def running(extension: FakeExtension, tool: str) -> tuple[Json, Json]:
    """The start of the next call of a tool, and the next command, which may come before it."""
    start: Json = {}
    command: Json = {}
    while not (start and command):
        message = await extension.received.get()
        if message["method"] == START and message["params"]["tool"] == tool:
            start = message["params"]
        elif message["method"] == "tool.dispatch":
            command = message
    return start, command


def script(agent: Agent, code: str = "1", id: int = 1) -> "asyncio.Task[Json]":
    return asyncio.create_task(agent.call(SCRIPT, code=code, tabId=id))


@pytest.mark.requirement("OT-21")
async def test_an_end_says_who_called_what_where_and_how_it_went() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = lambda params: {"value": "x" * 500}
        await extension.sync(tab(1), panels=1)
        before = time.time() * 1000
        await Agent(http).call(SCRIPT, code="secret()", tabId=1)
        start, end = (await extension.next(START))["params"], await ended(extension)
        assert (start["client"], start["tabId"]) == ("main", 1)
        assert before - 1000 <= start["startedAt"] <= time.time() * 1000
        assert {**end, **start} == end, "it has all that the start has"
        assert (end["outcome"], end["reason"]) == ("done", None)
        assert end["durationMs"] >= 0 and 500 <= end["bytes"] < 2000
        assert "secret" not in str((start, end))
        assert (await recent(extension))[-1] == end


def fail(params: Json) -> None:
    raise Refusal("script_error")


async def test_a_failed_call_has_its_reason_and_a_refused_one_has_no_start() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = fail
        await extension.sync(tab(1), panels=1)
        agent = Agent(http)
        with pytest.raises(ToolFailed):
            await agent.call(SCRIPT, code="1", tabId=1)
        failed = await ended(extension)
        assert (failed["outcome"], failed["reason"]) == ("failed", "script_error")
        with pytest.raises(ToolFailed):
            await agent.call(SCRIPT, code="1", tabId=77)
        await extension.settled()
        refused = (await recent(extension))[-1]
        assert (refused["outcome"], refused["reason"]) == ("refused", "tab_not_found")
        assert refused["tabId"] == 77 and not refused["denied"]


async def test_a_denied_call_ends_as_refused() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), kind="personal", panels=1)
        calling = script(Agent(http))
        await respond(extension, (await question(extension))["id"], "deny")
        end = await ended(extension)
        assert (end["outcome"], end["reason"]) == ("refused", "permission_denied")
        assert end["denied"]
        await asyncio.wait({calling})
        calling.exception()


async def test_a_call_that_its_client_cancels_ends_as_cancelled() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=1)
        calling = script(Agent(http))
        await extension.command("page.evaluate")
        calling.cancel()
        end = await ended(extension)
        assert (end["outcome"], end["reason"]) == ("cancelled", "cancelled")


async def test_the_person_ends_one_call_and_no_other() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2), panels=1)
        agent = Agent(http)
        first = script(agent, id=1)
        start, _ = await running(extension, SCRIPT)
        second = script(agent, id=2)
        _, dispatched = await running(extension, SCRIPT)
        assert "result" in await extension.ask("call.cancel", {"id": start["id"]})
        with pytest.raises(ToolFailed) as told:
            await first
        assert told.value.reason == "cancelled_by_person"
        end = await ended(extension)
        assert (end["id"], end["outcome"]) == (start["id"], "cancelled")
        await extension.send({"id": dispatched["id"], "result": {"output": {"value": 1}}})
        await second
        assert (await ended(extension))["outcome"] == "done"
        again = await extension.ask("call.cancel", {"id": start["id"]})
        assert again["error"]["data"]["reason"] == "not_found"
        entries = (await http.get("/audit", params={"plugin": "panel"})).json()
        cancels = [entry for entry in entries if entry["tool"] == "call.cancel"]
        assert [entry["success"] for entry in cancels] == [False, True], "newest first"


async def test_a_cancelled_batch_begins_no_other_of_its_calls() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=1)
        item = {"name": SCRIPT, "input": {"code": "1", "tabId": 1}}
        calling = asyncio.create_task(Agent(http).call("browser_batch", actions=[item, item]))
        start, _ = await running(extension, "browser_batch")
        assert "result" in await extension.ask("call.cancel", {"id": start["id"]})
        with pytest.raises(ToolFailed) as told:
            await calling
        assert told.value.reason == "cancelled_by_person"
        inner, outer = await ended(extension), await ended(extension)
        assert (inner["tool"], inner["outcome"]) == (SCRIPT, "cancelled")
        assert (outer["id"], outer["outcome"]) == (start["id"], "cancelled")
        assert [call["tool"] for call in await recent(extension)] == [inner["tool"], outer["tool"]]


async def test_the_last_hundred_are_kept_also_while_no_panel_is_open() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=0)
        agent = Agent(http)
        for _ in range(MOST_RECENT + 3):
            await agent.result(SCRIPT, code="1", tabId=77)
        calls = await recent(extension)
        ids = [int(call["id"]) for call in calls]
        assert len(ids) == MOST_RECENT and ids == sorted(ids)


async def test_names_that_an_agent_makes_up_are_cut_and_have_no_control_characters() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=1)
        await http.post(f"/tools/a%1b%5b2J{'x' * 900}/call", json={})
        await http.post(f"/tools/%E2%80%AEb{'y' * 900}/call", json={})
        calls = await recent(extension)
        assert len(calls) == 2 and all(len(call["tool"]) <= 128 for call in calls)
        assert all(call["tool"].isprintable() for call in calls)


async def test_a_stream_of_calls_causes_no_change_of_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Changes are told at once, so that none of an earlier one comes during the stream.
    monkeypatch.setattr(panel_state, "GATHER_SECONDS", 0)
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1), tab(2), panels=1)
        agent = Agent(http)
        await agent.call(SCRIPT, code="1", tabId=1)
        await extension.next(END)
        await extension.settled()
        for number in range(20):
            await agent.call(SCRIPT, code="1", tabId=number % 2 + 1)
        messages: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while messages.count(END) < 20:
                messages.append((await extension.received.get())["method"])
        await extension.notify("ping", {})
        while (message := await extension.received.get())["method"] != "pong":
            messages.append(message["method"])
        assert messages.count(START) == messages.count(END) == 20
        assert "state.changed" not in messages


async def test_an_agent_cannot_flood_the_panel_with_refused_calls() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=1)
        feed, frozen = server.app.call_feed, time.monotonic()
        feed._refusals = Bucket(50, 100, lambda: frozen)
        agent = Agent(http)
        for _ in range(150):
            await agent.result(SCRIPT, code="1", tabId=77)
        await extension.notify("ping", {})
        ends = 0
        while (message := await extension.received.get())["method"] != "pong":
            ends += message["method"] == END
        assert ends == 100
        assert len(await recent(extension)) == MOST_RECENT
