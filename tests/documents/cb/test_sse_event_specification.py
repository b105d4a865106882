"""SSE event specification: the error event, on the way that a real fault takes."""

import json
import logging

import pytest

from tests.agents.mcp.sse_clients import streaming, written
from tests.support.eventually import eventually
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("CB-02")
SECRET_DETAIL = "the disk at /home/ann is full"


async def fail(*_: object) -> bytes:
    raise RuntimeError(SECRET_DETAIL)


@pytest.mark.document("CB-events-6", "CB-manager-2")
async def test_a_fault_of_the_server_is_an_error_event_and_ends_the_session(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        await agent.initialize()
        with caplog.at_level(logging.ERROR):
            monkeypatch.setattr(server.app.sse._responder, "respond", fail)
            assert (await agent.send(written("tools/list", None, 7))).status_code == 202
            event = await agent.next()
        assert event is not None and event.kind == "error"
        error = json.loads(event.data)
        assert (error["code"], error["reason"]) == (-32603, "internal")
        assert error["message"] and SECRET_DETAIL not in event.data
        assert SECRET_DETAIL in caplog.text
        assert await agent.next() is None, "the stream ends"
        await eventually(lambda: not len(server.app.sse.sessions), "the session to end")
        late = await agent.send(written("ping", None, 8))
        assert (late.status_code, late.json()["error"]["reason"]) == (404, "unknown_session")


@pytest.mark.document("CB-events-6")
async def test_a_fault_in_one_session_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        served() as server,
        client(server.port) as http,
        streaming(http) as broken,
        streaming(http) as other,
    ):
        with monkeypatch.context() as patched:
            patched.setattr(server.app.sse._responder, "respond", fail)
            await broken.send(written("ping", None, 1))
            event = await broken.next()
        assert event is not None and event.kind == "error"
        assert (await other.request("ping"))["result"] == {}
