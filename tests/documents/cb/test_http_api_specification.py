"""HTTP API specification, error responses: 500 when the server itself fails, on both paths."""

import logging

import httpx
import pytest

from tabhub.server.serving import Server
from tests.agents.mcp.sse_clients import streaming, written
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("CB-03")
SECRET_DETAIL = "the disk at /home/ann is full"


def fail(*_: object) -> None:
    raise RuntimeError(SECRET_DETAIL)


def require_internal(answer: httpx.Response) -> None:
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert (error["code"], error["reason"]) == (-32603, "internal")
    assert error["message"] and SECRET_DETAIL not in answer.text


def break_part(server: Server, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.app.sse, part, fail)


@pytest.mark.document("CB-errors-5", "CB-errors-6")
async def test_a_fault_while_a_stream_is_opened(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server, client(server.port) as http:
        with monkeypatch.context() as broken, caplog.at_level(logging.ERROR):
            break_part(server, "_admit", broken)
            require_internal(await http.get("/sse", headers={"accept": "text/event-stream"}))
        assert SECRET_DETAIL in caplog.text, "the log has the details"
        assert len(server.app.sse.sessions) == 0
        async with streaming(http) as agent:
            assert (await agent.request("ping"))["result"] == {}


@pytest.mark.document("CB-errors-5", "CB-errors-6")
async def test_a_fault_while_a_message_is_accepted_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        with monkeypatch.context() as broken:
            break_part(server, "_throttle", broken)
            require_internal(await agent.send(written("ping", None, 1)))
        assert (await agent.request("ping", id=2))["result"] == {}
