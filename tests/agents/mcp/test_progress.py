"""Progress and log lines before the result of a call, and the form of the result."""

import asyncio
from typing import Any

import httpx
import pytest

from tabhub.agents.http.messages import Reply
from tabhub.wire.mcp.messages import LOG_LEVELS
from tests.agents.mcp.clients import (
    PREFIX,
    Client,
    LoneClient,
    called,
    connect,
    messages,
    text_of,
)

LOG_LEVEL = PREFIX + "logLevel"
ERAS = ["handshake", "sessionless"]


async def client_of(era: str, http: httpx.AsyncClient) -> Client:
    return await connect(http) if era == "handshake" else LoneClient(http)


def logged(received: list[dict[str, Any]]) -> list[str]:
    return [
        message["params"]["level"]
        for message in received
        if message.get("method") == "notifications/message"
    ]


@pytest.mark.requirement("OT-04")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("token", ["a word", 7, 0])
async def test_progress_comes_before_the_result_with_the_callers_own_token(
    http: httpx.AsyncClient, era: str, token: str | int
) -> None:
    client = await client_of(era, http)
    received = await messages(await client.call("progress", {"progressToken": token}))
    assert [message["params"] for message in received[:-1]] == [
        {"progressToken": token, "progress": n, "total": 3, "message": f"line {n}"}
        for n in range(3)
    ]
    assert text_of(received[-1]) == "done"


@pytest.mark.document("OT-capabilities-6")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("meta", [None, {"progressToken": {"no": "token"}}])
async def test_nothing_is_reported_without_a_usable_token(
    http: httpx.AsyncClient, era: str, meta: dict[str, Any] | None
) -> None:
    answer = await (await client_of(era, http)).call("progress", meta)
    assert answer.headers["content-type"] == "application/json"
    assert text_of(answer.json()) == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_tasks_of_one_call_may_report_progress_at_once(
    wire: httpx.AsyncClient, era: str
) -> None:
    client = await client_of(era, wire)
    received = await messages(await client.call("crowd", {"progressToken": 1}))
    assert [message["params"]["progress"] for message in received[:-1]] == list(range(20))


async def test_no_message_overtakes_the_delayed_start_of_a_stream() -> None:
    sent: list[Any] = []
    writable = asyncio.Event()

    async def send(event: Any) -> None:
        if event["type"] == "http.response.start":
            await writable.wait()
        sent.append(event.get("body", "start"))

    reply = Reply(send, may_stream=True)
    frames = asyncio.gather(reply.frame(b"1"), reply.frame(b"2"), reply.end(), reply.frame(b"3"))
    await asyncio.sleep(0)
    writable.set()
    await frames
    assert sent == ["start", b"1", b"2", b""]


@pytest.mark.document("OT-capabilities-3")
@pytest.mark.requirement("OT-04")
@pytest.mark.parametrize("level", LOG_LEVELS)
async def test_a_session_gets_log_lines_of_its_level_and_above(
    http: httpx.AsyncClient, level: str
) -> None:
    client = await connect(http)
    assert (await client.request("logging/setLevel", {"level": level})).json()["result"] == {}
    received = await messages(await client.call("log"))
    assert logged(received) == [*LOG_LEVELS[LOG_LEVELS.index(level) :]]


@pytest.mark.requirement("OT-04")
async def test_each_session_has_its_own_level(http: httpx.AsyncClient) -> None:
    quiet, loud = await connect(http), await connect(http)
    await quiet.request("logging/setLevel", {"level": "emergency"})
    assert logged(await messages(await quiet.call("log"))) == ["emergency"]
    assert logged(await messages(await loud.call("log"))) == [*LOG_LEVELS]


@pytest.mark.requirement("OT-04")
async def test_a_sessionless_request_gets_log_lines_of_the_level_it_names(
    http: httpx.AsyncClient,
) -> None:
    client = LoneClient(http)
    received = await messages(await client.call("log", {LOG_LEVEL: "alert"}))
    assert logged(received) == ["alert", "emergency"]
    assert (await client.call("log")).headers["content-type"] == "application/json"


@pytest.mark.parametrize("level", ["loud", 3, {}])
async def test_a_level_that_does_not_exist_is_refused(
    http: httpx.AsyncClient, level: object
) -> None:
    lone = await LoneClient(http).call("log", {LOG_LEVEL: level})
    session = await (await connect(http)).request("logging/setLevel", {"level": level})
    assert lone.json()["error"]["code"] == session.json()["error"]["code"] == -32602


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_accepts_no_streams_gets_only_the_result(
    http: httpx.AsyncClient, era: str
) -> None:
    client = await client_of(era, http)
    client.headers["accept"] = "application/json"
    answer = await client.call("progress", {"progressToken": 1})
    assert answer.headers["content-type"] == "application/json"
    assert text_of(answer.json()) == "done"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("id", [0, "", "0", -5, 2**70])
async def test_an_answer_carries_the_id_in_its_own_type(
    http: httpx.AsyncClient, era: str, id: int | str
) -> None:
    client = await client_of(era, http)
    answer = (await client.request("tools/call", called("echo", text="x"), id=id)).json()
    assert (answer["id"], type(answer["id"])) == (id, type(id))
