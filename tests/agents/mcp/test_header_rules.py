"""The sessionless era: headers must agree with the body."""

import base64
from typing import Any

import httpx
import pytest

from tabhub.errors import ProtocolError
from tabhub.wire.mcp.headers import decode_value, refuse_duplicates
from tests.agents.mcp.clients import NEWEST, LoneClient, called


def wrapped(value: str) -> str:
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


async def post(http: httpx.AsyncClient, params: dict[str, Any], **headers: str) -> httpx.Response:
    client = LoneClient(http)
    message, right = client.message("tools/call", params, 1)
    sent = {**right, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await client.send(message, **{k: v for k, v in sent.items() if v})


def reason(answer: httpx.Response) -> str | None:
    word: str | None = answer.json().get("error", {}).get("data", {}).get("reason")
    return word


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-method": "tools/list"},
        {"mcp-method": "TOOLS/CALL"},
        {"mcp-method": ""},
        {"mcp-name": "other"},
        {"mcp-name": ""},
        {"mcp-name": "=?base64?!!!?="},
    ],
)
async def test_a_header_that_contradicts_the_body_is_refused(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await post(http, called("echo", text="x"), **headers)
    assert (answer.status_code, reason(answer)) == (400, "header_mismatch")


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-name": "  echo\t"},
        {"mcp-name": wrapped("echo")},
        {"mcp-method": " tools/call "},
        {"mcp-protocol-version": f" {NEWEST} "},
    ],
)
async def test_blanks_around_a_value_and_its_wrapping_make_no_difference(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await post(http, called("echo", text="x"), **headers)
    assert (answer.status_code, reason(answer)) == (200, None)


async def test_a_duplicate_routing_header_is_refused(wire: httpx.AsyncClient) -> None:
    client = LoneClient(wire)
    message, right = client.message("tools/call", called("echo"), 1)
    pairs = [*client.headers.items(), *right.items(), ("mcp-name", "echo")]
    answer = await wire.post("/mcp", json=message, headers=pairs)
    assert (answer.status_code, reason(answer)) == (400, "header_mismatch")
    assert answer.json()["id"] == 1


def test_other_headers_may_be_repeated() -> None:
    refuse_duplicates([(b"accept", b"a"), (b"accept", b"b"), (b"mcp-name", b"x")])
    with pytest.raises(ProtocolError):
        refuse_duplicates([(b"mcp-param-x", b"1"), (b"mcp-param-x", b"1")])


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": "eu"}, {"mcp-param-region": "eu"}),
        ({"region": "eu"}, {"mcp-param-region": "  eu "}),
        ({"region": "ü ß"}, {"mcp-param-region": wrapped("ü ß")}),
        ({"region": "=?base64?eA=="}, {"mcp-param-region": "=?base64?eA=="}),
        ({"zone": 3}, {"mcp-param-zone": "3"}),
        ({"zone": 3}, {"mcp-param-zone": "3.0"}),
        ({"near": True}, {"mcp-param-near": "true"}),
        ({"region": None}, {}),
    ],
)
async def test_an_argument_may_be_repeated_in_a_header(
    http: httpx.AsyncClient, arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    answer = await post(http, called("place", **arguments), **headers)
    assert (answer.status_code, reason(answer)) == (200, None)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({}, {"mcp-param-region": "eu"}),
        ({"region": "eu"}, {"mcp-param-region": "us"}),
        ({"region": "eu"}, {"mcp-param-region": "EU"}),
        ({"region": "Hello"}, {"mcp-param-region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"mcp-param-region": "=?base64?SGVs!!!bG8=?="}),
        ({"zone": 3}, {"mcp-param-zone": "4"}),
        ({"zone": 3}, {"mcp-param-zone": "three"}),
        ({"zone": 3}, {"mcp-param-zone": "9" * 5000}),
        ({"near": True}, {"mcp-param-near": "1"}),
    ],
)
async def test_a_header_and_its_argument_must_agree(
    http: httpx.AsyncClient, arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    answer = await post(http, called("place", **arguments), **headers)
    assert (answer.status_code, reason(answer)) == (400, "header_mismatch")


async def test_a_schema_that_maps_a_header_to_a_list_is_ignored(http: httpx.AsyncClient) -> None:
    answer = await post(http, called("misdeclared", list=[1]))
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("plain", "plain"),
        (wrapped("ü"), "ü"),
        ("=?base64?", "=?base64?"),
        ("=?base64?/w==?=", None),
        ("=?base64?QR==?=", None),
        ("=?base64?é?=", None),
    ],
)
def test_wrapped_values_are_decoded_or_reported_as_corrupt(raw: str, plain: str | None) -> None:
    assert decode_value(raw) == plain


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"io.modelcontextprotocol/protocolVersion": NEWEST},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientCapabilities": [],
        },
        {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": "me",
        },
    ],
)
async def test_an_envelope_that_lacks_something_is_refused(
    http: httpx.AsyncClient, meta: dict[str, Any]
) -> None:
    message = {"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {"_meta": meta}}
    answer = await LoneClient(http).send(message, **{"mcp-method": "server/discover"})
    assert (answer.status_code, reason(answer), answer.json()["id"]) == (400, "invalid_params", 3)
