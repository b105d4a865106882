"""Cancelling a call: the handler is cancelled, and the server goes on."""

import asyncio

import httpx
import pytest

from tabhub.agents.mcp.http import McpEndpoint
from tabhub.config.clients import MAIN
from tests.agents.mcp.clients import (
    LoneClient,
    called,
    connect,
    events,
    messages,
    next_message,
    text_of,
)
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import PATIENCE, eventually


@pytest.mark.requirement("OT-05")
@pytest.mark.parametrize("id", [5, "five"])
async def test_a_cancelled_notification_stops_the_handler(
    http: httpx.AsyncClient, bench: Workbench, endpoint: McpEndpoint, id: int | str
) -> None:
    client = await connect(http)
    call = asyncio.create_task(client.request("tools/call", called("wait"), id=id))
    await bench.started.wait()
    answer = await client.notify("notifications/cancelled", {"requestId": id})
    assert answer.status_code == 202
    assert (await call).json()["error"]["data"]["reason"] == "cancelled"
    assert bench.cancelled.is_set()
    assert not endpoint.sessions.get(client.session, MAIN).busy
    assert text_of((await client.call("echo", text="on")).json()) == "on"


@pytest.mark.requirement("OT-05")
async def test_only_the_named_request_of_a_batch_is_cancelled(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(http, "2025-03-26")
    batch = [
        client.message("tools/call", called("wait"), 1)[0],
        client.message("tools/call", called("echo", text="still"), 2)[0],
    ]
    call = asyncio.create_task(client.send(batch))
    await bench.started.wait()
    await client.notify("notifications/cancelled", {"requestId": 1})
    cancelled, other = (await call).json()
    assert cancelled["error"]["data"]["reason"] == "cancelled"
    assert text_of(other) == "still"


@pytest.mark.parametrize("params", [{}, {"requestId": 99}, {"requestId": []}, {"requestId": "5"}])
async def test_cancelling_an_unknown_request_changes_nothing(
    http: httpx.AsyncClient, bench: Workbench, params: dict[str, object]
) -> None:
    client = await connect(http)
    call = asyncio.create_task(client.request("tools/call", called("wait"), id=5))
    await bench.started.wait()
    assert (await client.notify("notifications/cancelled", params)).status_code == 202
    bench.release.set()
    assert text_of((await call).json()) == "released"


async def test_a_session_cannot_cancel_the_calls_of_another(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    mine, theirs = await connect(http), await connect(http)
    call = asyncio.create_task(mine.request("tools/call", called("wait"), id=5))
    await bench.started.wait()
    await theirs.notify("notifications/cancelled", {"requestId": 5})
    bench.release.set()
    assert text_of((await call).json()) == "released"


@pytest.mark.requirement("OT-05")
async def test_disconnecting_before_the_answer_cancels_a_sessionless_call(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = LoneClient(wire)
    call = asyncio.create_task(client.call("wait"))
    await bench.started.wait()
    call.cancel()
    async with asyncio.timeout(PATIENCE):
        await bench.cancelled.wait()
    assert text_of((await client.call("echo", text="on")).json()) == "on"


@pytest.mark.requirement("OT-05")
async def test_closing_the_stream_cancels_a_sessionless_call(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = LoneClient(wire)
    params = called("progress_then_wait", {"progressToken": 1})
    async with client.streaming("tools/call", params) as response:
        await next_message(events(response))
        await bench.started.wait()
    async with asyncio.timeout(PATIENCE):
        await bench.cancelled.wait()


async def test_a_broken_connection_does_not_cancel_a_sessions_call(
    wire: httpx.AsyncClient, bench: Workbench, endpoint: McpEndpoint
) -> None:
    client = await connect(wire)
    params = called("progress_then_wait", {"progressToken": 1})
    async with client.streaming("tools/call", params) as response:
        stream = events(response)
        primer = await anext(stream)
        await next_message(stream)
    bench.release.set()
    await eventually(lambda: not endpoint.sessions.get(client.session, MAIN).running)
    assert not bench.cancelled.is_set()
    async with client.listening(after=primer.id) as rest:
        assert text_of((await messages(rest))[-1]) == "released"
