"""WebSocket protocol, server to extension: a call is announced when it begins and when it ends."""

import asyncio
from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

START, END = "tool.invocationStart", "tool.invocationEnd"


async def announced(extension: FakeExtension, method: str) -> dict[str, Any]:
    found: dict[str, Any] = (await extension.next(method))["params"]
    return found


def queued(extension: FakeExtension) -> list[str]:
    """Takes what has arrived."""
    waiting = [extension.received.get_nowait() for _ in range(extension.received.qsize())]
    return [message["method"] for message in waiting]


def seen(extension: FakeExtension) -> list[str]:
    """What has arrived and stays."""
    arrived = [extension.received.get_nowait() for _ in range(extension.received.qsize())]
    for message in arrived:
        extension.received.put_nowait(message)
    return [message["method"] for message in arrived]


@pytest.mark.document("OT-tosend-invocation")
@pytest.mark.requirement("OT-21")
async def test_every_extension_learns_that_a_call_begins_and_ends() -> None:
    async with (
        served() as server,
        connected(server.port, "a") as here,
        connected(server.port, "b") as elsewhere,
        client(server.port) as http,
    ):
        here.handlers["page.evaluate"] = lambda params: {"value": 1}
        await here.sync(tab(1))
        await Agent(http).call("browser_execute_script", code="secret()", tabId=1)
        for extension in (here, elsewhere):
            start, end = await announced(extension, START), await announced(extension, END)
            assert start == {
                "id": start["id"],
                "tool": "browser_execute_script",
                "plugin": "browser",
                "title": "Execute JavaScript",
                "session": start["session"],
                "client": "main",
                "agent": start["agent"],
                "tabId": 1,
                "startedAt": start["startedAt"],
            }, "and nothing of the arguments"
            assert {key: end[key] for key in start} == start


@pytest.mark.document("OT-tosend-invocation")
async def test_a_call_begins_when_the_person_has_allowed_it_and_a_denied_one_never() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1), kind="personal", panels=1)
        agent = Agent(http)
        for decision, methods in (("deny", {END}), ("allow", {START, END})):
            calling = asyncio.create_task(agent.call("browser_execute_script", code="1", tabId=1))
            request = await question(extension)
            assert START not in queued(extension)
            await respond(extension, request["id"], decision)
            await asyncio.wait({calling})
            await extension.notify("ping", {})
            await eventually(lambda: "pong" in seen(extension), "all messages before")
            assert {START, END} & set(queued(extension)) == methods


@pytest.mark.document("OT-tosend-invocation")
async def test_a_call_that_fails_or_is_cancelled_has_ended_too() -> None:
    def fail(params: dict[str, Any]) -> None:
        raise Refusal("script_error")

    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        agent = Agent(http)
        waiting = [
            asyncio.create_task(agent.call("browser_execute_script", code="1", tabId=id))
            for id in (1, 2)
        ]
        starts = {(await announced(extension, START))["id"] for _ in waiting}
        for call in waiting:
            call.cancel()
        assert {(await announced(extension, END))["id"] for _ in waiting} == starts
        assert len(starts) == 2
        extension.handlers["page.evaluate"] = fail
        with pytest.raises(ToolFailed):
            await agent.call("browser_execute_script", code="1", tabId=1)
        assert (await announced(extension, END))["id"] not in starts


@pytest.mark.document("OT-tosend-invocation")
async def test_tools_of_pages_and_each_call_of_a_batch_are_announced() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        extension.page_tools["search"] = lambda params: {"content": []}
        name = "website_tool_shop_example_search"
        await Agent(http).call("browser_batch", actions=[{"name": name, "input": {"tabId": 1}}])
        starts = [await announced(extension, START) for _ in range(2)]
        assert [start["tool"] for start in starts] == ["browser_batch", name]
        assert [(await announced(extension, END))["tool"] for _ in range(2)] == [
            name,
            "browser_batch",
        ]


@pytest.mark.document("OT-tosend-invocation")
async def test_a_browser_without_an_open_panel_gets_no_announcement_until_one_opens() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=0)
        agent = Agent(http)
        calling = asyncio.create_task(agent.call("browser_execute_script", code="1", tabId=1))
        dispatch = await extension.command("page.evaluate")
        await extension.notify("ping", {})
        await eventually(lambda: "pong" in seen(extension), "all messages before")
        assert START not in queued(extension)
        await extension.notify("panel.changed", {"open": 1})
        start = await announced(extension, START)
        await extension.send({"id": dispatch["id"], "result": {"output": {"value": 1}}})
        await calling
        assert (await announced(extension, END))["id"] == start["id"]
