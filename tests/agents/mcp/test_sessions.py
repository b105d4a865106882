"""Sessions: several at once, each separate, ended by DELETE or when idle."""

import asyncio
from uuid import UUID

import httpx
import pytest

from tabhub.agents.mcp.http import McpEndpoint
from tabhub.config.clients import MAIN
from tests.agents.mcp.clients import Client, connect, events, text_of
from tests.agents.mcp.conftest import Clock
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import eventually


@pytest.mark.document("OT-mcp-3", "OT-mcp-5")
@pytest.mark.requirement("OT-02")
async def test_several_clients_work_at_once_with_one_uuid_each(http: httpx.AsyncClient) -> None:
    clients = [await connect(http) for _ in range(3)]
    assert len({UUID(client.session) for client in clients}) == 3
    answers = await asyncio.gather(*(c.call("echo", text=c.session) for c in clients))
    assert [text_of(a.json()) for a in answers] == [c.session for c in clients]


@pytest.mark.document("OT-mcp-6", "OT-endpoints-2")
@pytest.mark.requirement("OT-02")
async def test_delete_ends_one_session_and_only_that(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    leaving, staying = await connect(http), await connect(http)
    assert (await leaving.end()).status_code == 200
    assert bench.ended == [leaving.session]
    assert len(bench.news) == 1
    assert (await leaving.request("ping")).status_code == 404
    assert (await staying.request("ping")).json()["result"] == {}


@pytest.mark.document("OT-mcp-4")
@pytest.mark.requirement("OT-02")
async def test_an_unknown_session_is_not_found(http: httpx.AsyncClient) -> None:
    client = await connect(http)
    client.headers["mcp-session-id"] = "no-such-session"
    for answer in (await client.request("ping"), await client.end()):
        assert answer.status_code == 404
        assert answer.json()["error"]["data"]["reason"] == "unknown_session"


@pytest.mark.document("OT-mcp-4")
async def test_a_request_without_a_session_gets_the_advice_to_initialize(
    http: httpx.AsyncClient,
) -> None:
    answer = await Client(http, {}).request("tools/list")
    assert answer.status_code == 400
    assert "initialize" in answer.json()["error"]["message"]


@pytest.mark.requirement("OT-02")
async def test_an_idle_session_is_ended_and_the_backend_is_notified(
    http: httpx.AsyncClient, endpoint: McpEndpoint, bench: Workbench, clock: Clock
) -> None:
    idle, active = await connect(http), await connect(http)
    clock.now += 59
    await active.request("ping")
    assert endpoint.sessions.reap() == []
    clock.now += 2
    assert endpoint.sessions.reap() == [idle.session] == bench.ended
    assert (await idle.request("ping")).status_code == 404
    assert (await active.request("ping")).status_code == 200


async def test_a_session_with_a_running_call_is_not_idle(
    http: httpx.AsyncClient, endpoint: McpEndpoint, bench: Workbench, clock: Clock
) -> None:
    client = await connect(http)
    call = asyncio.create_task(client.call("wait"))
    await bench.started.wait()
    clock.now += 600
    assert endpoint.sessions.reap() == []
    bench.release.set()
    assert text_of((await call).json()) == "released"
    clock.now += 59
    assert endpoint.sessions.reap() == []
    clock.now += 2
    assert endpoint.sessions.reap() == [client.session]


async def test_a_session_with_an_open_stream_is_not_idle(
    wire: httpx.AsyncClient, endpoint: McpEndpoint, clock: Clock
) -> None:
    client = await connect(wire)
    session = endpoint.sessions.get(client.session, MAIN)
    async with client.listening():
        clock.now += 600
        assert endpoint.sessions.reap() == []
    await eventually(lambda: not session.busy)
    clock.now += 61
    assert endpoint.sessions.reap() == [client.session]


async def test_deleting_a_session_ends_its_stream_and_its_calls(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(wire)
    call = asyncio.create_task(client.call("wait"))
    await bench.started.wait()
    async with client.listening() as stream:
        await client.end()
        assert [event async for event in events(stream)] == []
    await bench.cancelled.wait()
    assert (await call).json()["error"]["data"]["reason"] == "cancelled"


async def test_the_same_request_id_cannot_run_twice_in_one_session(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    client, other = await connect(http), await connect(http)
    call = asyncio.create_task(client.request("tools/call", {"name": "wait"}, id=7))
    await bench.started.wait()
    duplicate = await client.request("ping", id=7)
    assert duplicate.json()["error"]["code"] == -32600
    assert (await other.request("ping", id=7)).json()["result"] == {}
    bench.release.set()
    assert (await call).json()["id"] == 7


async def test_closing_the_endpoint_ends_every_session(
    http: httpx.AsyncClient, endpoint: McpEndpoint, bench: Workbench
) -> None:
    clients = [await connect(http), await connect(http)]
    endpoint.close()
    assert len(endpoint.sessions) == 0
    assert bench.ended == [client.session for client in clients]
