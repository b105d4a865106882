"""A bridge between a client and a running server."""

import asyncio
import json
from typing import Any

import pytest

from tabhub.agents.mcp.backend import Change
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tests.agents.mcp.clients import text_of
from tests.agents.mcp.workbench import SCHEMAS
from tests.cli.stdio.pipe import alone, bench, bridged
from tests.support.eventually import PATIENCE, eventually

pytestmark = pytest.mark.requirement("OT-09")


@pytest.mark.document("OT-stdio-2")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_client_of_each_revision_with_sessions_is_served(home: Home, version: str) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        assert (await pipe.initialize(version))["result"]["protocolVersion"] == version
        assert text_of(await pipe.call("echo", text="Grüße")) == "Grüße"
        assert await pipe.close() == 0
        assert len(server.work.ended) == 1
    headers = server.headers("POST")[-1]
    assert headers["mcp-protocol-version"] == version
    assert headers["mcp-session-id"]


async def test_a_client_without_a_session_gets_the_headers_that_repeat_its_body(home: Home) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        assert "2026-07-28" in str(await pipe.request("server/discover", alone()))
        named = alone({"name": "échö", "arguments": {}})
        refused = await pipe.request("tools/call", named)
        assert refused["error"]["data"]["reason"] == "unknown_tool"
        echo = alone({"name": "echo", "arguments": {"text": "hi"}})
        assert text_of(await pipe.request("tools/call", echo)) == "hi"
    assert not any("mcp-session-id" in headers for _, _, headers in server.requests)


async def test_the_tools_are_listed_once_to_find_the_headers_of_arguments(
    home: Home,
) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        server.work.listed = [{"name": "place", "inputSchema": SCHEMAS["place"]}]
        place = {"region": "Köln", "zone": 7, "near": True}
        for arguments in (place, {**place, "region": " a"}, {}):
            params = alone({"name": "place", "arguments": arguments})
            assert text_of(await pipe.request("tools/call", params)) == str(arguments)
    lists = [headers for headers in server.headers("POST") if "tools/list" in headers.values()]
    assert len(lists) == 1


async def test_ids_and_all_other_members_of_a_message_pass_unchanged(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize()
        for id in ("a", "1", 0, -7, 9007199254740993, "ünï \u2028"):
            assert (await pipe.request("ping", id=id))["id"] == id
        spaced = b'  { "jsonrpc" : "2.0", "method":"ping" ,  "id":"crlf" }  \r\n\r\n\n'
        await pipe.write(spaced)
        assert await pipe.answer("crlf") == {"jsonrpc": "2.0", "id": "crlf", "result": {}}


async def test_a_slow_call_does_not_block_others_and_progress_arrives_while_it_runs(
    home: Home,
) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        await pipe.initialize()
        meta = {"progressToken": "p"}
        slow = await pipe.ask("tools/call", {"name": "progress_then_wait", "_meta": meta})
        notification = await pipe.next("notifications/progress")
        assert notification["params"] == {"progressToken": "p", "progress": 1}
        assert (await pipe.request("ping"))["result"] == {}
        server.work.release.set()
        assert text_of(await pipe.answer(slow)) == "released"


@pytest.mark.parametrize("is_alone", [False, True], ids=["session", "sessionless"])
async def test_a_cancelled_call_ends_in_the_server(home: Home, is_alone: bool) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        if not is_alone:
            await pipe.initialize()
        called = {"name": "wait", "arguments": {}}
        id = await pipe.ask("tools/call", alone(called) if is_alone else called)
        await asyncio.wait_for(server.work.started.wait(), PATIENCE)
        await pipe.notify("notifications/cancelled", {"requestId": id})
        await asyncio.wait_for(server.work.cancelled.wait(), PATIENCE)
        ping = alone({"name": "echo", "arguments": {"text": "on"}})
        assert (await pipe.request("tools/call", ping))["result"]


@pytest.mark.document("OT-stdio-2")
@pytest.mark.requirement("OT-03")
async def test_notifications_reach_the_clients_of_both_eras(home: Home) -> None:
    async with bench(home) as server, bridged(home) as older, bridged(home) as newer:
        await older.initialize()
        listening = await newer.ask(
            "subscriptions/listen", alone({"notifications": {"toolsListChanged": True}})
        )
        await newer.next("notifications/subscriptions/acknowledged")
        await eventually(lambda: len(server.headers("GET")) >= 1)
        server.work.news.announce(Change("tools"))
        await older.next("notifications/tools/list_changed")
        notification = await newer.next("notifications/tools/list_changed")
        assert (
            notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listening
        )


async def test_a_question_reaches_the_client_and_its_answer_the_server(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize(elicitation={})
        call = await pipe.ask("tools/call", {"name": "ask", "arguments": {}})
        question = await pipe.next("elicitation/create")
        answer = {"action": "accept", "content": {"name": "Ann"}}
        await pipe.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        assert "Ann" in text_of(await pipe.answer(call))


async def test_an_answer_is_fetched_when_the_server_has_closed_the_stream(home: Home) -> None:
    async with bench(home) as server, bridged(home) as pipe:
        await pipe.initialize()
        id = await pipe.ask("tools/call", {"name": "drop_stream", "_meta": {"progressToken": 1}})
        await pipe.next("notifications/progress")
        server.work.release.set()
        assert text_of(await pipe.answer(id)) == "released"


async def test_a_batch_is_answered_in_the_revision_that_has_batches(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize("2025-03-26")
        await pipe.send([{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in ("a", "b")])
        batch: Any = await pipe.read()
        assert [answer["id"] for answer in batch] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "parse_error"),
        (b"\xff\xfe{}", "parse_error"),
        (b'{"jsonrpc": "2.0", "id": 1', "parse_error"),
        (b"[]", "invalid_request"),
        (b'{"id": "x", "method": "ping"}', "invalid_request"),
        (b"[" * 10_000, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":' + b"9" * 2000 + b"}", None),
    ],
    ids=["words", "no text", "cut off", "empty batch", "no version", "deep", "huge number"],
)
async def test_an_invalid_line_gets_an_error_and_the_next_one_is_served(
    home: Home, line: bytes, reason: str | None
) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize()
        await pipe.write(line + b"\n")
        error = (await pipe.read())["error"]
        assert reason is None or error["data"]["reason"] == reason
        assert (await pipe.request("ping"))["result"] == {}


async def test_a_message_of_five_megabytes_passes_both_ways(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize()
        text = "é\n" * 1_700_000
        assert text_of(await pipe.call("echo", text=text)) == text


async def test_a_message_above_the_limit_is_refused_by_its_id(home: Home) -> None:
    home.config.write_text('{"limits": {"bodyBytes": 1000}}')
    async with bench(home), bridged(home) as pipe:
        await pipe.initialize()
        refused = await pipe.call("echo", text="x" * 2000)
        assert refused["error"]["data"]["reason"] == "too_large"
        await pipe.write(b"x" * 100_000 + b"\n")
        assert (await pipe.read())["error"]["data"]["reason"] == "too_large"
        assert (await pipe.request("ping"))["result"] == {}


async def test_a_request_before_the_handshake_gets_the_servers_own_answer(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        refused = await pipe.request("tools/list")
        assert "initialize" in refused["error"]["message"]


async def test_toolsets_and_the_gateway_are_chosen_by_flags(home: Home) -> None:
    async with bench(home) as server, bridged(home, "--toolsets", "core,pages") as pipe:
        await pipe.initialize()
        async with bridged(home, "--gateway") as other:
            await other.initialize()
    paths = {path for _, path, _ in server.requests}
    assert paths == {"/mcp?toolsets=core,pages", "/mcp/gateway?"}


async def test_the_agents_token_is_sent_and_never_the_main_secret(home: Home) -> None:
    token = Clients(home).add("desk")
    async with bench(home) as server:
        async with bridged(home) as pipe:
            await pipe.initialize()
        async with bridged(home, environment={"TABHUB_TOKEN": token}) as pipe:
            await pipe.initialize()
    main = json.loads(home.auth.read_text())["secret"]
    sent = [headers["authorization"] for _, _, headers in server.requests]
    assert f"Bearer {token}" in sent
    assert f"Bearer {Clients(home).printed(main)}" in sent
    assert main not in str(server.requests)


async def test_all_requests_are_answered_when_stdin_is_a_file(home: Home) -> None:
    async with bench(home), bridged(home) as pipe:
        await pipe.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        ids = [await pipe.ask("ping") for _ in range(50)]
        await pipe.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
        assert await pipe.close() == 0
        answered_ids = {(await pipe.read())["id"] for _ in range(52)}
        assert answered_ids == {1, *ids, "last"}
        assert await pipe.line() == b""
