"""Elicitation in both eras."""

import asyncio
from typing import Any

import httpx
import pytest

from tabhub.agents.mcp.elicitation import Sealer
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.errors import ProtocolError
from tests.agents.mcp.clients import (
    LoneClient,
    SessionClient,
    called,
    connect,
    events,
    next_message,
    text_of,
)

Json = dict[str, Any]
CAPABLE: Json = {"elicitation": {}, "sampling": {}}
ALICE: Json = {"action": "accept", "content": {"name": "Alice"}}


async def answer(client: SessionClient, question: Json, **outcome: Any) -> None:
    reply = {"jsonrpc": "2.0", "id": question["id"], **outcome}
    assert (await client.send(reply)).status_code == 202


async def test_a_session_is_asked_on_the_calls_own_stream(wire: httpx.AsyncClient) -> None:
    client = await connect(wire, capabilities=CAPABLE)
    async with client.streaming("tools/call", called("ask")) as response:
        stream = events(response)
        question = await next_message(stream)
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"] == "Name?"
        await answer(client, question, result=ALICE)
        assert "Alice" in text_of(await next_message(stream))


async def test_several_questions_go_out_together(wire: httpx.AsyncClient) -> None:
    client = await connect(wire, capabilities=CAPABLE)
    async with client.streaming("tools/call", called("ask_both")) as response:
        stream = events(response)
        questions = [await next_message(stream) for _ in range(2)]
        assert [q["method"] for q in questions] == ["elicitation/create", "sampling/createMessage"]
        for question in reversed(questions):
            await answer(client, question, result={})
        assert text_of(await next_message(stream)) == "['what', 'who']"


@pytest.mark.parametrize(
    "refusal", [{"code": -1, "message": "No."}, {"code": "no"}, "no", [], None]
)
async def test_a_refusal_ends_the_call_with_an_error(
    wire: httpx.AsyncClient, refusal: object
) -> None:
    client = await connect(wire, capabilities=CAPABLE)
    async with client.streaming("tools/call", called("ask_both")) as response:
        stream = events(response)
        questions = [await next_message(stream) for _ in range(2)]
        await answer(client, questions[0], error=refusal)
        assert "error" in await next_message(stream)
    await answer(client, questions[1], result={})
    assert (await client.request("ping")).json()["result"] == {}


async def test_an_unexpected_answer_is_dropped(http: httpx.AsyncClient) -> None:
    client = await connect(http, capabilities=CAPABLE)
    for id in ("ask-1", 5, None):
        await answer(client, {"id": id}, result={})


async def test_a_session_may_end_while_it_is_asked(
    wire: httpx.AsyncClient, endpoint: McpEndpoint
) -> None:
    client = await connect(wire, capabilities=CAPABLE)
    async with client.streaming("tools/call", called("ask")) as response:
        stream = events(response)
        await next_message(stream)
        assert (await client.end()).status_code == 200
        assert (await next_message(stream))["error"]["data"]["reason"] == "cancelled"


async def test_a_client_that_takes_no_streams_cannot_be_asked(http: httpx.AsyncClient) -> None:
    client = await connect(http, capabilities=CAPABLE)
    client.headers["accept"] = "application/json"
    assert (await client.call("ask")).json()["error"]["code"] == -32600


@pytest.mark.parametrize("era", ["handshake", "sessionless"])
async def test_a_client_without_elicitation_is_not_asked(http: httpx.AsyncClient, era: str) -> None:
    capabilities: Json = {"sampling": {}}
    client = (
        await connect(http, capabilities=capabilities)
        if era == "handshake"
        else LoneClient(http, capabilities)
    )
    error = (await client.call("ask_both")).json()["error"]
    assert error["code"] == -32021
    assert error["data"]["requiredCapabilities"] == {"elicitation": {}}


async def test_a_sessionless_call_ends_as_input_required_and_is_sent_again(
    http: httpx.AsyncClient,
) -> None:
    client = LoneClient(http, CAPABLE)
    result = (await client.call("ask")).json()["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"]["who"]["method"] == "elicitation/create"
    assert "requestState" not in result
    params = {**called("ask"), "inputResponses": {"who": ALICE, "more": {}}}
    assert "Alice" in text_of((await client.request("tools/call", params)).json())


@pytest.mark.parametrize("responses", [None, {}, {"other": ALICE}])
async def test_a_missing_answer_is_requested_again(
    http: httpx.AsyncClient, responses: object
) -> None:
    params = {**called("ask"), "inputResponses": responses}
    result = (await LoneClient(http, CAPABLE).request("tools/call", params)).json()["result"]
    assert result["resultType"] == "input_required"


@pytest.mark.parametrize("responses", [5, [], {"who": 5}, {"who": None}])
async def test_answers_of_the_wrong_type_are_refused(
    http: httpx.AsyncClient, responses: object
) -> None:
    params = {**called("ask"), "inputResponses": responses}
    answer = await LoneClient(http, CAPABLE).request("tools/call", params)
    assert answer.json()["error"]["data"]["reason"] == "invalid_params"


async def second_round(client: LoneClient, state: object, **arguments: Any) -> Json:
    params = called("ask_with_state", **arguments)
    sent = {**params, "inputResponses": {"who": ALICE}, "requestState": state}
    response: Json = (await client.request("tools/call", sent)).json()
    return response


async def test_the_state_reaches_the_handler_again(http: httpx.AsyncClient) -> None:
    client = LoneClient(http, CAPABLE)
    state = (await client.call("ask_with_state", a=1, b=2)).json()["result"]["requestState"]
    assert text_of(await second_round(client, state, b=2, a=1)) == "{'seen': 1}"


async def test_a_state_does_not_open_for_other_arguments(http: httpx.AsyncClient) -> None:
    client = LoneClient(http, CAPABLE)
    state = (await client.call("ask_with_state", a=1)).json()["result"]["requestState"]
    assert (await second_round(client, state, a=2))["error"]["code"] == -32602


@pytest.mark.parametrize("alter", [lambda s: s + "-TAMPERED", lambda s: "A" + s[1:], lambda s: ""])
async def test_an_altered_state_is_refused(http: httpx.AsyncClient, alter: Any) -> None:
    client = LoneClient(http, CAPABLE)
    state = (await client.call("ask_with_state")).json()["result"]["requestState"]
    if alter(state) != state:
        assert (await second_round(client, alter(state)))["error"]["code"] == -32602


@pytest.mark.parametrize("extra", ["", "=", "AAAA", "-TAMPERED", " ", "é"])
@pytest.mark.parametrize("size", range(4))
def test_no_suffix_to_a_sealed_state_is_accepted(extra: str, size: int) -> None:
    sealer = Sealer()
    sealed = sealer.seal("x" * size, b"request")
    assert sealer.open(sealed, b"request") == "x" * size
    if extra:
        with pytest.raises(ProtocolError):
            sealer.open(sealed + extra, b"request")


async def test_questions_of_two_sessions_do_not_mix(wire: httpx.AsyncClient) -> None:
    session, other_session = [await connect(wire, capabilities=CAPABLE) for _ in range(2)]

    async def asked(client: SessionClient, name: str, both: asyncio.Barrier) -> str:
        async with client.streaming("tools/call", called("ask")) as response:
            stream = events(response)
            question = await next_message(stream)
            await both.wait()
            await answer(client, question, result={"content": name})
            return text_of(await next_message(stream))

    both = asyncio.Barrier(2)
    first_answer, second_answer = await asyncio.gather(
        asked(session, "One", both), asked(other_session, "Two", both)
    )
    assert ("One" in first_answer, "Two" in second_answer) == (True, True)
