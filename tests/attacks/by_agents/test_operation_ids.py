"""An operation id belongs to a session: no other session gets its result, and none runs twice."""

import asyncio
from typing import Any

from tests.agents.mcp.clients import SessionClient, connect
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

SCRIPT = "browser_execute_script"


async def _evaluate(session: SessionClient, tab_id: int | None = None) -> Any:
    """The value of a script that has the same operation id in every session."""
    arguments: dict[str, Any] = {"code": "1"} if tab_id is None else {"code": "1", "tabId": tab_id}
    answer = (await session.call(SCRIPT, {"tabhub/operationId": "pay"}, **arguments)).json()
    return answer["result"]["structuredContent"]


async def test_sessions_side_by_side_do_not_get_each_others_page() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        extension.handlers["page.evaluate"] = lambda params: {"value": params["tabId"]}
        sessions = await connect(http), await connect(http)
        for session, id in zip(sessions, (1, 2), strict=True):
            await session.call(SCRIPT, code="0", tabId=id)
        results = [await _evaluate(session) for session in sessions]
        assert results == [{"value": 1}, {"value": 2}]
        assert await asyncio.gather(*map(_evaluate, sessions)) == results


async def test_sessions_that_begin_at_the_same_moment_run_their_own_calls() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        runs = iter(range(9))
        extension.handlers["page.evaluate"] = lambda params: {"value": next(runs)}
        sessions = [await connect(http) for _ in range(5)]
        results = await asyncio.gather(*(_evaluate(session, 1) for session in sessions))
    assert sorted(result["value"] for result in results) == [0, 1, 2, 3, 4]


async def test_a_client_that_reconnects_does_nothing_twice() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        runs = iter(range(9))
        extension.handlers["page.evaluate"] = lambda params: {"value": next(runs)}
        first = await connect(http)
        assert await _evaluate(first, 1) == {"value": 0}
        await first.end()
        for _ in range(2):
            assert await _evaluate(await connect(http), 1) == {"value": 0}


async def test_a_call_that_still_runs_when_its_session_ends_does_not_run_again() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        first = await connect(http)
        running = asyncio.create_task(_evaluate(first, 1))
        await extension.command("page.evaluate")
        await first.end()
        second = asyncio.create_task(_evaluate(await connect(http), 1))
        error = (await second)["error"]
        assert error["reason"] == "cancelled"
        running.cancel()


async def test_a_replayed_result_has_its_line_in_the_audit_without_secrets() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.fill"] = lambda params: {"sensitive": True}
        agent = Agent(http)
        arguments = {"selector": "input", "text": "correct horse", "tabId": 1}
        for _ in range(2):
            await agent.result("browser_type_text", {"tabhub/operationId": "once"}, **arguments)
        newest, before = server.app.audit.entries(limit=2)
    assert (newest["verdict"], newest["operationId"]) == ("replayed", "once")
    assert before["verdict"] == "allowed" and newest["tool"] == before["tool"]
    assert "correct horse" not in str(newest)


async def test_another_call_with_the_same_id_is_refused_and_recorded() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        agent = Agent(http)
        for code in ("1", "2"):
            result = await agent.result(SCRIPT, {"tabhub/operationId": "one"}, code=code, tabId=1)
        assert result["structuredContent"]["error"]["reason"] == "invalid_arguments"
        newest, before = server.app.audit.entries(limit=2)
    assert (newest["success"], newest["verdict"], before["success"]) == (False, "replayed", True)
