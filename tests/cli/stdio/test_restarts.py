"""A server that goes away and comes back: the client hears of it as little as can be."""

import asyncio

import pytest

from tabhub.config.paths import Home
from tests.agents.mcp.clients import text_of
from tests.cli.stdio.pipe import Json, Pipe, alone, bench, bridged
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.requirement("OT-09")

CHANGED = "notifications/tools/list_changed"


class Shelf:
    """Sessions outlive a server that has this."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    def load(self) -> dict[str, bytes]:
        return dict(self.bodies)

    def put(self, key: str, body: bytes) -> None:
        self.bodies[key] = body

    def drop(self, key: str) -> None:
        self.bodies.pop(key, None)


async def _told(pipe: Pipe) -> None:
    """What a server must know of its client besides the handshake."""
    await pipe.request("logging/setLevel", {"level": "error"})
    for uri in ("tab://1", "tab://2"):
        await pipe.request("resources/subscribe", {"uri": uri})
    await pipe.request("resources/unsubscribe", {"uri": "tab://2"})


@pytest.mark.parametrize("is_kept", [True, False], ids=["known session", "unknown session"])
async def test_another_server_is_told_all_that_the_first_one_knew(
    home: Home, is_kept: bool
) -> None:
    shelf = Shelf()
    async with bridged(home) as pipe:
        async with bench(home, shelf) as first:
            await pipe.initialize("2025-06-18")
            await _told(pipe)
            (before,) = [one.id for one in first.endpoint.sessions.all()]
        async with bench(home, shelf if is_kept else None) as second:
            assert text_of(await pipe.call("echo", text="again")) == "again"
            (session,) = second.endpoint.sessions.all()
            assert (session.id == before) is is_kept
            assert (session.version, session.client.name) == ("2025-06-18", "pipe")
            assert (session.log_level, session.subscriptions) == ("error", {"tab://1"})
            await pipe.next(CHANGED)
            assert (await pipe.request("ping"))["result"] == {}
            assert pipe.heard == []


async def test_a_client_that_says_nothing_hears_of_the_new_server_all_the_same(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        async with bench(home) as second:
            await pipe.next(CHANGED)
            assert len(second.endpoint.sessions) == 1


async def test_a_session_that_the_same_server_has_ended_is_made_anew(home: Home) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        await pipe.initialize()
        (before,) = [one.id for one in server.endpoint.sessions.all()]
        server.endpoint.sessions.end(before)
        answers = [await pipe.ask("tools/call", {"name": "echo"}) for _ in range(5)]
        for id in answers:
            assert "result" in await pipe.answer(id)
        assert len(server.endpoint.sessions) == 1


@pytest.mark.parametrize("is_alone", [False, True], ids=["session", "sessionless"])
async def test_a_call_that_was_under_way_may_have_been_done_and_says_so(
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
            again = await pipe.request("tools/call", alone(called) if is_alone else called)
            assert text_of(again) == "released"


async def test_what_changes_nothing_is_asked_again_without_a_word(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        waiting = [await pipe.ask("tools/list") for _ in range(3)]
        async with bench(home):
            for id in waiting:
                assert (await pipe.answer(id))["result"] == {"tools": []}


async def test_a_session_that_cannot_be_made_anew_is_told_with_the_servers_own_reason(
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


async def test_a_subscription_goes_on_with_the_next_server(home: Home) -> None:
    wanted = alone({"notifications": {"toolsListChanged": True}})
    async with bridged(home) as pipe:
        async with bench(home):
            id = await pipe.ask("subscriptions/listen", wanted)
            await pipe.next("notifications/subscriptions/acknowledged")
        async with bench(home):
            told = await pipe.next(CHANGED)
            assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
            assert pipe.heard == []
            await pipe.notify("notifications/cancelled", {"requestId": id})
            assert "result" in await pipe.request("server/discover", alone())
            assert pipe.heard == []


async def test_a_request_that_waits_for_a_server_can_be_taken_back(home: Home) -> None:
    async with bridged(home) as pipe:
        async with bench(home):
            await pipe.initialize()
        id = await pipe.ask("tools/list")
        await pipe.notify("notifications/cancelled", {"requestId": id})
        async with bench(home):
            assert (await pipe.request("ping"))["result"] == {}
            assert [message for message in pipe.heard if message.get("id") == id] == []
