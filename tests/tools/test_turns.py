"""An agent's turn: its start, its end, and what the panel shows of it."""

import pytest

from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served


@pytest.mark.document("CB-tools-20", "CB-tools-21")
async def test_an_answer_is_shown_while_it_is_written_and_its_calls_are_counted() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        agent = Agent(http)
        assert await agent.call("turn_answer_start") == {"started": True}
        (agent_entry,) = (await extension.state())["agents"]
        assert agent_entry["answering"] is True
        for _ in range(3):
            await agent.call("browser_execute_script", code="1", tabId=1)
        data = await agent.call("turn_answer_complete", summary="Three scripts.")
        assert data["calls"] == 3 and data["durationMs"] >= 0
        (agent_entry,) = (await extension.state())["agents"]
        assert agent_entry["answering"] is False
        entry = server.app.audit.entries(10, None, "turn_answer_complete", None)[0]
        assert entry["arguments"] == {"summary": "Three scripts."}


async def test_completing_an_answer_that_was_not_started_says_so() -> None:
    async with served() as server, client(server.port) as http:
        result = await Agent(http).result("turn_answer_complete")
    assert not result.get("isError")
    assert result["structuredContent"] == {"started": False}
    assert "no turn_answer_start" in result["content"][0]["text"]


async def test_a_second_start_replaces_the_first() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        await agent.call("turn_answer_start")
        await agent.call("permissions_check")
        await agent.call("turn_answer_start")
        assert (await agent.call("turn_answer_complete"))["calls"] == 0
