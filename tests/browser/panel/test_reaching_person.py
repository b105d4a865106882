"""A question reaches the person: it waits in their own browser, whether a panel is open or not."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.browser.link import browsers
from tabhub.browser.panel.panel_approvals import MOST_PENDING_OF_ALL, Panels
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest
from tabhub.config.clients import Client
from tabhub.config.settings import Limits, PermissionSettings, Settings
from tabhub.hub.tools import Tool
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

ASK = PermissionSettings(tools={"browser_execute_script": "ask"})
PERSONAL: dict[str, Any] = {"kind": "personal", "panels": 0}


@asynccontextmanager
async def person(**more: Any) -> AsyncIterator[tuple[Server, FakeExtension, Agent]]:
    """A person's own browser without an open panel, and an agent."""
    async with (
        served(Settings(permissions=ASK, **more)) as server,
        connected(server.port, "own") as extension,
        client(server.port) as http,
    ):
        await back(extension)
        yield server, extension, Agent(http)


async def back(extension: FakeExtension, **more: Any) -> None:
    extension.handlers["page.evaluate"] = lambda params: {"value": 42}
    await extension.sync(tab(1), **{**PERSONAL, **more})


def script(agent: Agent) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(agent.call("browser_execute_script", code="1", tabId=1))


async def test_without_a_panel_the_question_waits_and_is_answered() -> None:
    async with person() as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        assert [one["id"] for one in (await extension.state())["confirmations"]] == [id]
        assert await respond(extension, id, "allow")
        assert await call == {"value": 42}


async def test_without_a_panel_a_question_has_its_time_and_no_more() -> None:
    async with person(limits=Limits(approval_seconds=0.2)) as (_, extension, agent):
        with pytest.raises(ToolFailed) as failed:
            await script(agent)
        closed = (await extension.next("confirmation.closed"))["params"]
    assert (failed.value.reason, closed["outcome"]) == ("approval_timeout", "timeout")


async def test_a_panel_may_close_and_open_while_a_question_waits() -> None:
    async with person() as (_, extension, agent):
        await extension.notify("panel.changed", {"open": 1})
        call = script(agent)
        id = (await question(extension))["id"]
        for count in (0, 1, 0):
            await extension.notify("panel.changed", {"open": count})
        await extension.settled()
        assert not call.done()
        await respond(extension, id, "allow")
        assert await call == {"value": 42}


async def test_a_question_survives_a_lost_link_and_is_in_the_state_again() -> None:
    async with person() as (server, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        await extension.socket.close()
        await eventually(lambda: not server.app.browsers.all(), "the link to be lost")
        during = script(agent)
        async with connected(server.port, "own") as again:
            await back(again)
            waiting = [one["id"] for one in (await again.state())["confirmations"]]
            assert waiting[0] == id
            assert not call.done()
            for one in waiting:
                await respond(again, one, "allow")
            assert await call == {"value": 42}
            during.cancel()


async def test_a_browser_that_does_not_come_back_ends_the_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browsers, "FORGET_AFTER_SECONDS", 0.05)
    async with person() as (_, extension, agent):
        call = script(agent)
        await question(extension)
        await extension.socket.close()
        with pytest.raises(ToolFailed) as failed:
            await call
    assert failed.value.reason == "approval_unavailable"
    assert "browser was closed" in failed.value.message


async def test_the_setting_for_no_person_does_not_decide_where_there_is_one() -> None:
    async with person(unattended="allow") as (server, extension, agent):
        call = script(agent)
        await respond(extension, (await question(extension))["id"], "deny")
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "permission_denied"
        async with connected(server.port, "managed") as managed:
            managed.handlers["page.evaluate"] = lambda params: {"value": 1}
            await managed.sync(tab(1, url="https://other.example/"), panels=0)
            call = script(agent)
            request = await question(extension)
            await respond(extension, request["id"], "deny")
            await asyncio.wait({call})
            call.exception()


async def test_only_an_extension_that_shows_questions_counts_as_a_persons_browser() -> None:
    async with person() as (_, extension, agent):
        await back(extension, panels=None)
        with pytest.raises(ToolFailed) as failed:
            await script(agent)
    assert failed.value.reason == "approval_unavailable"
    assert "no browser of their own is connected" in failed.value.message


class PersonsBrowser:
    """The one connected browser, as the approvals see it."""

    has_person = has_panel = True

    def on_panels(self, listener: Callable[[], None]) -> None:
        pass

    def notify_all(self, method: str, params: object) -> None:
        pass


def _request(client: str, number: int) -> ApprovalRequest:
    tool = Tool(name="t", description="", input_schema={}, source="browser")
    place: dict[str, Any] = {"session": client, "tab": None, "site": "a.example", "arguments": {}}
    return ApprovalRequest(f"{client}-{number}", tool, Client(client), agent="", rule="", **place)


async def _ask(panels: Panels, request: ApprovalRequest) -> ApprovalAnswer:
    with panels.place(request.client.name):
        return await panels.ask(request, 60)


async def test_a_thousand_questions_are_bounded_and_each_client_has_a_share() -> None:
    panels = Panels(PersonsBrowser())  # type: ignore[arg-type]
    names = [f"robot{number}" for number in range(40)]
    flood = [_request("greedy", number) for number in range(600)]
    rest = [_request(name, number) for number in range(10) for name in names]
    asked = [asyncio.create_task(_ask(panels, request)) for request in (*flood, *rest)]
    refused, waiting = await asyncio.wait(asked, timeout=0)
    assert len(asked) == 1000
    assert {one.exception().reason for one in refused} == {"too_many_calls"}  # type: ignore[union-attr]
    by_client = Counter(one.client for one in panels.pending())
    assert by_client.keys() == {"greedy", *names}
    assert len(waiting) == by_client.total() <= 2 * MOST_PENDING_OF_ALL
    # The greedy client was there first, and stands before nobody's first question.
    first = [one.client for one in panels.pending()[: len(names) + 1]]
    assert first == ["greedy", *names]
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    assert panels.pending() == []
