"""A server that stops and starts again: the client notices as little as possible."""

import asyncio

import pytest

from tabhub.config.paths import Home
from tests.agents.mcp.clients import text_of
from tests.cli.stdio.pipe import Json, Pipe, alone, bench, bridged
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.requirement("OT-09")

CHANGED = "notifications/tools/list_changed"


class Shelf:
    """A session store that outlives its server."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    def load(self) -> dict[str, bytes]:
        return dict(self.bodies)

    def put(self, key: str, body: bytes) -> None:
        self.bodies[key] = body

    def drop(self, key: str) -> None:
        self.bodies.pop(key, None)


async def _set_up_session(pipe: Pipe) -> None:
    """Set the log level and the subscriptions, which a new server must restore."""
    await pipe.request("logging/setLevel", {"level": "error"})
    for uri in ("tab://1", "tab://2"):
        await pipe.request("resources/subscribe", {"uri": uri})
    await pipe.request("resources/unsubscribe", {"uri": "tab://2"})


@pytest.mark.parametrize("is_kept", [True, False], ids=["known session", "unknown session"])
async def test_a_new_server_gets_the_whole_state_of_the_session(home: Home, is_kept: bool) -> None:
    shelf = Shelf()
    async with bridged(home) as pipe:
        async with bench(home, shelf) as first:
            await pipe.initialize("2025-06-18")
            await _set_up_session(pipe)
            (before,) = [session_before.id for session_before in first.endpoint.sessions.all()]
        async with bench(home, shelf if is_kept else None) as second:
            assert text_of(await pipe.call("echo", text="again")) == "again"
            (session,) = second.endpoint.sessions.all()
            assert (session.id == before) is is_kept
            assert (session.version, session.client.name) == ("2025-06-18", "pipe")
            assert (session.log_level, session.subscriptions) == ("error", {"tab://1"})
            await pipe.next(CHANGED)
            assert (await pipe.request("ping"))["result"] == {}
            assert pipe.unread == []


async def test_a_silent_client_is_connected_to_the_new_server_too(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        async with bench(home) as second:
            await pipe.next(CHANGED)
            assert len(second.endpoint.sessions) == 1


async def test_a_session_ended_by_the_same_server_is_created_again(home: Home) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        await pipe.initialize()
        (before,) = [session.id for session in server.endpoint.sessions.all()]
        server.endpoint.sessions.end(before)
        answers = [await pipe.ask("tools/call", {"name": "echo"}) for _ in range(5)]
        for id in answers:
            assert "result" in await pipe.answer(id)
        assert len(server.endpoint.sessions) == 1


@pytest.mark.parametrize("is_alone", [False, True], ids=["session", "sessionless"])
async def test_the_error_of_an_interrupted_call_says_that_it_may_have_run(
    home: Home, is_alone: bool
) -> None:
    called: Json = {"name": "wait", "arguments": {}}
    async with bridged(home) as pipe:
        async with bench(home) as first:
            if not is_alone:
                await pipe.initialize()
            id = await pipe.ask("tools/call", alone(called) if is_alone else called)
            await asyncio.wait_for(first.work.started.wait(), PATIENCE)
        answer = await pipe.answer(id)
        error = (answer.get("error") or {}).get("data") or answer["result"]["structuredContent"][
            "error"
        ]
        assert (error["reason"], error["retryable"]) == ("page_may_have_received", True)
        assert is_alone is ("resultType" in answer.get("result", {}))
        async with bench(home) as second:
            second.work.release.set()
            repeated = await pipe.request("tools/call", alone(called) if is_alone else called)
            assert text_of(repeated) == "released"


async def test_requests_without_effect_are_repeated_silently(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        waiting = [await pipe.ask("tools/list") for _ in range(3)]
        async with bench(home):
            for id in waiting:
                assert (await pipe.answer(id))["result"] == {"tools": []}


async def test_a_session_that_cannot_be_created_again_gets_the_reason_of_the_server(
    home: Home,
) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        await pipe.initialize()
        server.turns_away = "rate_limited"
        server.endpoint.sessions.end(server.endpoint.sessions.all()[0].id)
        refused = (await pipe.request("tools/list"))["error"]
        assert (refused["data"]["reason"], refused["data"]["retryable"]) == ("rate_limited", True)
        server.turns_away = None
        assert "result" in await pipe.request("tools/list")


async def test_a_subscription_continues_with_the_next_server(home: Home) -> None:
    params = alone({"notifications": {"toolsListChanged": True}})
    async with bridged(home) as pipe:
        async with bench(home):
            id = await pipe.ask("subscriptions/listen", params)
            await pipe.next("notifications/subscriptions/acknowledged")
        async with bench(home):
            notification = await pipe.next(CHANGED)
            assert notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
            assert pipe.unread == []
            await pipe.notify("notifications/cancelled", {"requestId": id})
            assert "result" in await pipe.request("server/discover", alone())
            assert pipe.unread == []


async def test_a_request_that_waits_for_a_server_can_be_cancelled(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        id = await pipe.ask("tools/list")
        await pipe.notify("notifications/cancelled", {"requestId": id})
        async with bench(home):
            assert (await pipe.request("ping"))["result"] == {}
            assert [message for message in pipe.unread if message.get("id") == id] == []
