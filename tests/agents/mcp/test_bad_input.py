"""Bad input of every kind: a precise error, and the next request is answered."""

import json
import logging
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.agents.mcp.http import McpEndpoint
from tests.agents.mcp.clients import (
    PREFIX,
    Client,
    LoneClient,
    called,
    connect,
    in_process,
    text_of,
)
from tests.agents.mcp.conftest import Clock
from tests.agents.mcp.workbench import Workbench
from tests.support.examples import examples

DEEP = b'{"a":' * 10_000
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def raw(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


UNREADABLE = {
    "nothing": b"",
    "half a message": b'{"jsonrpc": "2.0", "id": 1',
    "no JSON": b"hello",
    "no UTF-8 in a name": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    "no UTF-8 in the parameters": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}',
    "half a surrogate pair": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "not a number": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    "two messages": b'{"jsonrpc":"2.0"}{"jsonrpc":"2.0"}',
    "a byte order mark": b"\xef\xbb\xbf" + raw(id=1, method="ping"),
}
INVALID = {
    "a number": b"7",
    "null": b"null",
    "an empty object": b"{}",
    "an empty batch": b"[]",
    "a batch of numbers": b"[1, 2]",
    "an array of arrays": b"[[[]]]",
    "no version of JSON-RPC": b'{"id": 1, "method": "ping"}',
    "another version": b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    "a null id": raw(id=None, method="ping"),
    "a boolean id": raw(id=True, method="ping"),
    "a float id": raw(id=1.5, method="ping"),
    "an object for an id": raw(id={}, method="ping"),
    "an id of 5000 digits": b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    "a number for a method": raw(id=1, method=5),
    "neither method nor result": raw(id=1),
    "deep nesting": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + DEEP,
}
WRONG_PARAMS: dict[str, Any] = {
    "an array": [],
    "a string": "x",
    "null": None,
    "a number": 5,
    "no name": {"arguments": {}},
    "a number for a name": {"name": 5},
    "an array for _meta": {"name": "echo", "_meta": []},
}


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_body_that_is_not_json_is_a_parse_error(
    http: httpx.AsyncClient, body: bytes
) -> None:
    client = await connect(http)
    answer = await client.send(body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32700)
    assert (error["data"]["reason"], error["data"]["retryable"]) == ("parse_error", False)
    assert (await client.request("ping")).json()["result"] == {}


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("body", INVALID.values(), ids=INVALID)
async def test_json_that_is_not_a_message_is_an_invalid_request(
    http: httpx.AsyncClient, body: bytes
) -> None:
    client = await connect(http, "2025-03-26")
    answer = await client.send(body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32600)
    assert error["data"]["reason"] == "invalid_request"
    assert (await client.request("ping")).json()["result"] == {}


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("params", WRONG_PARAMS.values(), ids=WRONG_PARAMS)
async def test_parameters_of_the_wrong_type_are_named(
    http: httpx.AsyncClient, params: object
) -> None:
    client = await connect(http)
    answer = await client.send(raw(id=4, method="tools/call", params=params))
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["code"]) == (200, 4, -32602)
    assert error["data"]["reason"] == "invalid_params"
    lone = await LoneClient(http).send(raw(id=4, method="tools/call", params=params))
    assert (lone.status_code, lone.json()["error"]["code"]) == (400, -32602)


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("method", ["no/such", "", "tools/", "completion/complete"])
async def test_an_unknown_method_is_named(http: httpx.AsyncClient, method: str) -> None:
    session = await (await connect(http)).request(method)
    lone = await LoneClient(http).request(method)
    for answer, status in ((session, 200), (lone, 404)):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (status, -32601)
        assert error["data"]["reason"] == "method_not_found"


@pytest.mark.requirement("TH-41")
async def test_an_unknown_tool_is_named(http: httpx.AsyncClient) -> None:
    for client in (await connect(http), LoneClient(http)):
        error = (await client.call("nothing")).json()["error"]
        assert (error["code"], error["data"]["reason"]) == (-32602, "unknown_tool")


@pytest.mark.parametrize("params", [[], "x", None, 5, {"requestId": {}}])
async def test_a_notification_with_wrong_parameters_is_accepted_and_dropped(
    http: httpx.AsyncClient, params: object
) -> None:
    client = await connect(http)
    for method in ("notifications/cancelled", "notifications/unheard_of"):
        answer = await client.send(raw(method=method, params=params))
        assert (answer.status_code, answer.content) == (202, b"")


async def test_nesting_that_a_handler_cannot_read_is_an_error_of_its_call(
    http: httpx.AsyncClient,
) -> None:
    nested: Any = []
    for _ in range(600):
        nested = [nested]
    client = await connect(http)
    body = json.dumps(client.message("tools/call", called("echo", text=nested), 1)[0])
    answer = await client.send(body.encode())
    assert answer.status_code in (200, 400)
    assert (await client.request("ping")).json()["result"] == {}


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("era", ["handshake", "sessionless"])
async def test_an_internal_error_is_logged_and_not_revealed(
    http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, era: str
) -> None:
    client = await connect(http) if era == "handshake" else LoneClient(http)
    with caplog.at_level(logging.ERROR):
        answer = await client.call("boom")
    error = answer.json()["error"]
    assert (answer.status_code, error["data"]["reason"]) == (200, "internal")
    assert "secret" not in answer.text
    assert "secret" in caplog.text
    assert text_of((await client.call("echo", text="on")).json()) == "on"


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_large_is_refused(
    http: httpx.AsyncClient, announced: bool
) -> None:
    client = await connect(http)

    async def chunks() -> Any:
        for _ in range(3):
            yield b" " * 50_000

    content = b" " * 150_000 if announced else chunks()
    answer = await http.post("/mcp", content=content, headers=client.headers)
    assert (answer.status_code, answer.json()["error"]["data"]["reason"]) == (413, "too_large")
    assert (await client.request("ping")).json()["result"] == {}


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonp"])
async def test_a_body_that_is_not_declared_as_json_is_refused(
    http: httpx.AsyncClient, kind: str
) -> None:
    client = await connect(http)
    answer = await client.send(PING, **{"content-type": kind})
    assert answer.status_code == 415
    assert answer.json()["error"]["data"]["reason"] == "unsupported_media_type"


async def test_the_charset_may_be_named(http: httpx.AsyncClient) -> None:
    client = await connect(http)
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert (await client.send(PING, **kind)).json()["result"] == {}


@pytest.mark.document("OT-endpoints-2")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD"])
async def test_other_http_methods_get_the_allowed_ones(
    http: httpx.AsyncClient, method: str
) -> None:
    answer = await http.request(method, "/mcp")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE")


async def test_a_sessionless_client_sends_no_responses(http: httpx.AsyncClient) -> None:
    answer = await LoneClient(http).send(raw(id=1, result={}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


async def test_a_sessionless_notification_is_accepted(http: httpx.AsyncClient) -> None:
    answer = await LoneClient(http).notify("notifications/cancelled", {"requestId": 1})
    assert (answer.status_code, answer.content) == (202, b"")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(
    """
    initialize ping tools/call tools/list resources/read prompts/get logging/setLevel
    completion/complete server/discover notifications/cancelled
    """.split()
)
PARAMS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["echo", "place", "ask", "log"]) | JSON,
        "arguments": JSON,
        "uri": JSON,
        "level": JSON,
        "requestId": JSON,
        "protocolVersion": JSON,
        "capabilities": JSON,
        "clientInfo": JSON,
        "inputResponses": JSON,
        "requestState": JSON,
        "_meta": st.fixed_dictionaries(
            {
                PREFIX + "protocolVersion": st.just("2026-07-28") | JSON,
                PREFIX + "clientCapabilities": st.just({"elicitation": {}}) | JSON,
            },
            optional={
                "progressToken": JSON,
                PREFIX + "logLevel": JSON,
                PREFIX + "clientInfo": JSON,
            },
        ),
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.integers() | st.text() | JSON,
        "method": METHODS | JSON,
        "params": PARAMS | JSON,
        "result": JSON,
        "error": JSON,
    },
)
BODIES = st.one_of(
    st.binary(),
    JSON.map(lambda value: json.dumps(value).encode()),
    MESSAGES.map(lambda value: json.dumps(value).encode()),
    st.lists(MESSAGES, max_size=3).map(lambda value: json.dumps(value).encode()),
)


@examples(300)
@given(body=BODIES, routed=st.sampled_from(["echo", "place", "ask", "log"]), fit=st.booleans())
async def test_no_body_makes_the_server_fail(body: bytes, routed: str, fit: bool) -> None:
    endpoint = McpEndpoint(Workbench(), clock=Clock())
    async with in_process(endpoint) as http:
        session = await connect(http, "2025-03-26", {"sampling": {}})
        lone = {"mcp-method": "tools/call" if fit else "server/discover", "mcp-name": routed}
        answers = [
            await session.send(body),
            await LoneClient(http).send(body, **lone),
            await Client(http, {}).send(body),
        ]
        assert all(answer.status_code < 500 for answer in answers)
        assert not any('"reason":"internal"' in answer.text for answer in answers)
        assert (await (await connect(http)).request("ping")).json()["result"] == {}
