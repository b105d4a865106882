"""Broken streams: no event is lost, no event arrives twice."""

import httpx
import pytest

from tabhub.agents.mcp.backend import Change
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.streams import KEPT_STREAMS
from tabhub.config.clients import MAIN
from tests.agents.mcp.clients import (
    Event,
    SessionClient,
    called,
    connect,
    events,
    messages,
    next_message,
    text_of,
)
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import eventually


def announce(bench: Workbench, *uris: str) -> None:
    for uri in uris:
        bench.news.announce(Change("resource", uri))


async def subscribed(http: httpx.AsyncClient, *uris: str) -> SessionClient:
    client = await connect(http)
    for uri in uris:
        await client.request("resources/subscribe", {"uri": uri})
    return client


async def read(response: httpx.Response, number: int) -> list[Event]:
    stream = events(response)
    return [await anext(stream) for _ in range(number)]


def uris_of(received: list[Event]) -> list[str]:
    return [event.message["params"]["uri"] for event in received if event.message]


async def test_a_stream_starts_with_an_event_to_resume_from(http: httpx.AsyncClient) -> None:
    client = await connect(http)
    answer = await client.call("progress", {"progressToken": 1})
    event = await anext(events(answer))
    assert (event.id, event.message, event.retry) == ("1_1", None, "500")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_older_revisions_get_no_empty_event(http: httpx.AsyncClient, version: str) -> None:
    client = await connect(http, version)
    answer = await client.call("progress", {"progressToken": 1})
    assert all([event.message async for event in events(answer)])


async def test_a_call_that_closes_its_stream_is_answered_after_the_client_resumes(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(wire)
    params = called("drop_stream", {"progressToken": 1})
    async with client.streaming("tools/call", params, id=9) as response:
        primed = [event async for event in events(response)]
    assert [event.message for event in primed] == [None]
    async with client.listening(after=primed[0].id) as rest:
        stream = events(rest)
        assert (await next_message(stream))["method"] == "notifications/progress"
        bench.release.set()
        last = await next_message(stream)
        assert (last["id"], text_of(last)) == (9, "released")
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_the_stream_of_a_client_that_cannot_resume_stays_open(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(wire, "2025-06-18")
    bench.release.set()
    answer = await client.call("drop_stream")
    assert text_of(answer.json()) == "released"


@pytest.mark.parametrize("seen", [1, 2, 3])
async def test_a_finished_stream_is_replayed_from_where_the_client_was(
    http: httpx.AsyncClient, seen: int
) -> None:
    client = await connect(http)
    answer = await client.call("progress", {"progressToken": 1})
    whole = [event async for event in events(answer)]
    async with client.listening(after=whole[seen - 1].id) as rest:
        replayed = [event async for event in events(rest)]
    assert [event.id for event in replayed] == [event.id for event in whole[seen:]]
    assert [event.message for event in replayed] == [event.message for event in whole[seen:]]


async def test_notifications_resume_after_the_last_one_read(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await subscribed(wire, "a", "b", "c", "d")
    announce(bench, "a", "b", "c")
    async with client.listening() as response:
        seen = await read(response, 1)
    announce(bench, "d")
    async with client.listening(after=seen[0].id) as response:
        assert uris_of(seen) == ["a"]
        assert uris_of(await read(response, 3)) == ["b", "c", "d"]


async def test_notifications_use_the_newest_stream_and_the_older_one_when_it_closes(
    wire: httpx.AsyncClient, bench: Workbench, endpoint: McpEndpoint
) -> None:
    client = await subscribed(wire, "a", "b", "c")
    session = endpoint.sessions.get(client.session, MAIN)
    async with client.listening() as response:
        older = events(response)
        announce(bench, "a")
        first = await anext(older)
        async with client.listening() as newer:
            announce(bench, "b")
            second = await read(newer, 1)
        await eventually(lambda: session.connections == 1)
        announce(bench, "c")
        third = await anext(older)
    assert uris_of([first, *second, third]) == ["a", "b", "c"]


async def test_the_older_stream_gets_notifications_after_the_newer_one_closes(
    wire: httpx.AsyncClient, bench: Workbench, endpoint: McpEndpoint
) -> None:
    client = await subscribed(wire, "a")
    session = endpoint.sessions.get(client.session, MAIN)
    async with client.listening() as older:
        async with client.listening():
            await eventually(lambda: session.connections == 2)
        await eventually(lambda: session.connections == 1)
        announce(bench, "a")
        assert uris_of(await read(older, 1)) == ["a"]


@pytest.mark.parametrize("id", ["", "x", "9_9", "1_", "_1", "1_x", "-1_1", "9" * 5000 + "_1"])
async def test_an_unknown_event_id_is_refused_without_ending_the_session(
    http: httpx.AsyncClient, id: str
) -> None:
    client = await connect(http)
    async with client.listening(after=id) as answer:
        assert answer.status_code == 400
    assert (await client.request("ping")).status_code == 200


async def test_only_the_latest_finished_streams_are_kept(http: httpx.AsyncClient) -> None:
    client = await connect(http)
    for _ in range(KEPT_STREAMS + 2):
        await client.call("progress", {"progressToken": 1})
    async with client.listening(after="1_1") as forgotten:
        assert forgotten.status_code == 400
    async with client.listening(after=f"{KEPT_STREAMS}_1") as kept:
        assert text_of((await messages(kept))[-1]) == "done"


async def test_a_get_must_accept_streams(http: httpx.AsyncClient) -> None:
    client = await connect(http)
    answer = await http.get("/mcp", headers={**client.headers, "accept": "application/json"})
    assert answer.status_code == 406
