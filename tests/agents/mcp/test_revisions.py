"""Every revision of MCP on one endpoint."""

import httpx
import pytest

from tabhub.wire.mcp import versions
from tests.agents.mcp.clients import NEWEST, PREFIX, Client, LoneClient, connect, text_of


@pytest.mark.requirement("OT-01")
@pytest.mark.parametrize("version", versions.HANDSHAKE)
async def test_a_handshake_revision_is_accepted_as_requested(
    http: httpx.AsyncClient, version: str
) -> None:
    client = await connect(http, version)
    assert client.headers["mcp-protocol-version"] == version
    assert text_of((await client.call("echo", text="hi")).json()) == "hi"


@pytest.mark.requirement("OT-01")
@pytest.mark.parametrize("version", ["1999-01-01", "2026-07-28", ""])
async def test_an_initialize_with_an_unknown_revision_gets_the_newest_handshake_revision(
    http: httpx.AsyncClient, version: str
) -> None:
    client = await connect(http, version)
    assert client.headers["mcp-protocol-version"] == "2025-11-25"


@pytest.mark.requirement("OT-01")
async def test_the_sessionless_revision_needs_no_handshake(http: httpx.AsyncClient) -> None:
    client = LoneClient(http)
    answer = (await client.call("echo", text="hi")).json()
    assert text_of(answer) == "hi"
    assert answer["result"]["resultType"] == "complete"


@pytest.mark.requirement("OT-01")
async def test_discover_names_every_revision_and_the_server(http: httpx.AsyncClient) -> None:
    result = (await LoneClient(http).request("server/discover")).json()["result"]
    assert result["supportedVersions"] == [*versions.HANDSHAKE, NEWEST]
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert result["_meta"][PREFIX + "serverInfo"] == {"name": "workbench", "version": "1"}
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


async def test_results_of_one_era_do_not_leak_into_the_other(http: httpx.AsyncClient) -> None:
    await LoneClient(http).call("same")
    answer = await (await connect(http)).call("same")
    assert answer.json()["result"] == {"content": [{"type": "text", "text": "kept"}]}


async def test_an_unknown_revision_in_the_headers_is_named_with_the_supported_ones(
    http: httpx.AsyncClient,
) -> None:
    client = Client(http, {"mcp-protocol-version": "v9"})
    answer = await client.request("tools/list")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32022)
    assert error["data"]["requested"] == "v9"
    assert NEWEST in error["data"]["supported"]


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe"]
)
async def test_methods_of_the_older_era_are_not_found_in_the_sessionless_one(
    http: httpx.AsyncClient, method: str
) -> None:
    answer = await LoneClient(http).request(method)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


async def test_a_body_of_the_sessionless_revision_needs_its_headers(
    http: httpx.AsyncClient,
) -> None:
    message, _ = LoneClient(http).message("server/discover", {}, 1)
    answer = await Client(http, {}).send(message)
    assert answer.json()["error"]["data"]["reason"] == "header_mismatch"


@pytest.mark.requirement("OT-01")
async def test_batches_are_answered_in_the_revision_that_has_them(http: httpx.AsyncClient) -> None:
    client = await connect(http, "2025-03-26")
    first, second = (client.message("ping", None, id)[0] for id in ("a", 2))
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await client.send([first, note, second])
    assert {item["id"] for item in answer.json()} == {"a", 2}


async def test_each_request_of_a_batch_has_its_own_progress_token(http: httpx.AsyncClient) -> None:
    client = await connect(http, "2025-03-26")
    batch = [
        client.message(
            "tools/call", {"name": "progress", "_meta": {"progressToken": token}}, token
        )[0]
        for token in ("one", "two")
    ]
    answer = await client.send(batch)
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.text.count('"progressToken":"one"') == 3
    assert answer.text.count('"progressToken":"two"') == 3


async def test_a_batch_of_notifications_has_no_response(http: httpx.AsyncClient) -> None:
    client = await connect(http, "2025-03-26")
    answer = await client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.requirement("OT-01")
@pytest.mark.parametrize("version", [v for v in versions.HANDSHAKE if v != "2025-03-26"])
async def test_other_revisions_refuse_a_batch(http: httpx.AsyncClient, version: str) -> None:
    client = await connect(http, version)
    answer = await client.send([client.message("ping", None, 1)[0]])
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_the_sessionless_revision_allows_only_post(
    http: httpx.AsyncClient, method: str
) -> None:
    answer = await http.request(method, "/mcp", headers={"mcp-protocol-version": NEWEST})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_missing_resource_has_the_code_of_its_era(http: httpx.AsyncClient) -> None:
    old = (await (await connect(http)).request("resources/read", {"uri": "x://y"})).json()
    new = (await LoneClient(http).request("resources/read", {"uri": "x://y"})).json()
    assert (old["error"]["code"], new["error"]["code"]) == (-32002, -32602)
    assert old["error"]["data"]["uri"] == new["error"]["data"]["uri"] == "x://y"
