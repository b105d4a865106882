"""HTTP+SSE: the stream, the messages, and the end of a session."""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import httpx
import pytest

from tabhub.agents.http.routing import HttpRouter
from tabhub.agents.http.security import AccessControl
from tabhub.agents.mcp import sse
from tabhub.agents.mcp import sse as outbox
from tabhub.agents.mcp.backend import Change
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.routes import ROUTES
from tabhub.audit.log import AuditLog
from tabhub.config.secret import Challenges
from tabhub.config.settings import AuditSettings
from tabhub.errors import Internal
from tabhub.wire.asgi import App, Receive, Scope, Send
from tabhub.wire.mcp.versions import HANDSHAKE
from tests.agents.mcp.clients import over_socket, text_of
from tests.agents.mcp.conftest import Clock
from tests.agents.mcp.sse_clients import JSON, SseEvent, streaming, written
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import PATIENCE, eventually

PROGRESS = {"progressToken": "p"}


class Both:
    """Both paths of an endpoint, as one application."""

    def __init__(self, endpoint: SseEndpoint) -> None:
        self.close = endpoint.close
        handlers: dict[str, App | None] = {route.handler: None for route in ROUTES}
        handlers |= {"sse_stream": endpoint.stream, "sse_message": endpoint.message}
        audit = AuditLog(None, AuditSettings())
        route = HttpRouter(ROUTES, handlers, lambda client: None).dispatch
        self._app = AccessControl(route, ROUTES, None, lambda token: None, audit, Challenges())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@pytest.fixture
async def endpoint(bench: Workbench, clock: Clock) -> SseEndpoint:
    return SseEndpoint(bench, clock=clock, max_body=100_000)


@pytest.fixture
async def http(endpoint: SseEndpoint) -> AsyncIterator[httpx.AsyncClient]:
    async with over_socket(Both(endpoint)) as client:
        yield client


@pytest.mark.document(
    "CB-flow-1", "CB-sse-2", "CB-sse-3", "CB-sse-4", "CB-events-1", "CB-manager-1"
)
@pytest.mark.requirement("CB-01")
async def test_the_stream_begins_with_the_address_to_post_to(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        headers = client.response.headers
        assert client.response.status_code == 200
        assert headers["content-type"] == "text/event-stream"
        assert headers["cache-control"] == "no-cache"
        assert headers["connection"] == "keep-alive"
        assert re.fullmatch(r"session_[\w-]{32}", client.session)
        assert client.endpoint == f"/message?sessionId={client.session}"


@pytest.mark.document("CB-message-4", "CB-message-5", "CB-events-2")
@pytest.mark.requirement("CB-01")
async def test_a_message_is_accepted_and_answered_on_the_stream(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        posted = await client.send(written("tools/call", {"name": "echo"}, "a"))
        assert (posted.status_code, posted.json()) == (202, {"status": "accepted"})
        assert posted.headers["content-type"] == "application/json"
        event = await client.next()
        assert event is not None and event.kind == "message"
        assert json.loads(event.data)["id"] == "a"


@pytest.mark.document("CB-server-3", "CB-methods-3")
@pytest.mark.requirement("CB-04")
@pytest.mark.parametrize("version", HANDSHAKE)
async def test_a_client_of_any_revision_completes_the_handshake(
    http: httpx.AsyncClient, version: str
) -> None:
    async with streaming(http) as client:
        result = (await client.initialize(version))["result"]
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "workbench"
        assert (await client.request("ping"))["result"] == {}
        assert text_of(await client.call("echo", text="hi")) == "hi"


async def test_an_unknown_revision_gets_the_newest_with_a_handshake(
    http: httpx.AsyncClient,
) -> None:
    async with streaming(http) as client:
        answer = await client.initialize("1999-01-01")
        assert answer["result"]["protocolVersion"] == HANDSHAKE[-1]


@pytest.mark.document("CB-handler-3")
async def test_a_client_without_a_handshake_is_served_too(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        assert text_of(await client.call("echo", text="first word")) == "first word"


@pytest.mark.document("CB-events-4", "CB-events-5")
@pytest.mark.requirement("CB-02")
async def test_a_ping_with_a_timestamp_is_sent_repeatedly(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sse.PING_SECONDS == 30
    monkeypatch.setattr(sse, "PING_SECONDS", 0.02)
    async with streaming(http) as client:
        events = [await client.next() for _ in range(3)]
    stamps = [json.loads(event.data)["timestamp"] for event in events if event is not None]
    assert {event.kind for event in events if event is not None} == {"ping"}
    assert stamps == sorted(stamps) and stamps[0] > 1_700_000_000_000


@pytest.mark.document("CB-events-4")
@pytest.mark.requirement("CB-02")
async def test_a_ping_is_sent_also_while_messages_flow(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "PING_SECONDS", 0.05)
    async with streaming(http) as client:
        kinds: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while kinds.count("ping") < 2:
                await client.send(written("ping", None, len(kinds)))
                event = await client.next()
                assert event is not None
                kinds.append(event.kind)
    assert "message" in kinds


@pytest.mark.document("CB-events-7")
@pytest.mark.requirement("CB-02")
async def test_line_breaks_in_a_result_stay_inside_one_line_of_data(
    http: httpx.AsyncClient,
) -> None:
    words = "one\ntwo\r\nthree\u2028four\x85five\u2029"
    async with streaming(http) as client:
        assert text_of(await client.call("echo", text=words)) == words


@pytest.mark.document("CB-lifecycle-3", "CB-events-3")
async def test_progress_log_lines_and_notifications_arrive_on_the_stream(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    async with streaming(http) as client:
        await client.initialize()
        assert text_of(await client.call("progress", PROGRESS)) == "done"
        steps = [message["params"]["progress"] for message in client.others]
        assert steps == [0, 1, 2]
        await client.request("logging/setLevel", {"level": "error"})
        client.others.clear()
        await client.call("log")
        levels = [message["params"]["level"] for message in client.others]
        assert levels == ["error", "critical", "alert", "emergency"]
        bench.news.announce(Change("tools"))
        assert (await client.message())["method"] == "notifications/tools/list_changed"


async def test_changes_of_a_resource_reach_its_subscribers(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    async with streaming(http) as client:
        await client.request("resources/subscribe", {"uri": "tab://1"})
        bench.news.announce(Change("resource", "tab://2"))
        bench.news.announce(Change("resource", "tab://1"))
        assert (await client.message())["params"] == {"uri": "tab://1"}


async def test_a_question_is_answered_by_a_post(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        await client.initialize(elicitation={})
        await client.send(written("tools/call", {"name": "ask", "arguments": {}}, 7))
        question = await client.message()
        assert question["method"] == "elicitation/create"
        await client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
        assert text_of(await client.answer(7)) == "{'action': 'accept'}"


async def test_a_cancelled_request_is_not_answered(
    http: httpx.AsyncClient, bench: Workbench
) -> None:
    async with streaming(http) as client:
        await client.send(written("tools/call", {"name": "wait"}, 1))
        await bench.started.wait()
        await client.notify("notifications/cancelled", {"requestId": 1})
        await bench.cancelled.wait()
        assert (await client.request("ping", id=2))["id"] == 2
        assert client.others == []


async def test_a_batch_is_answered_in_the_revision_that_has_batches(
    http: httpx.AsyncClient,
) -> None:
    batch = [written("ping", None, 1), written("notifications/x"), written("ping", None, 2)]
    async with streaming(http) as client:
        assert (await client.send(batch)).status_code == 400
        await client.initialize("2025-03-26")
        assert (await client.send(batch)).status_code == 202
        event = await client.next()
        assert event is not None
        assert [answer["id"] for answer in json.loads(event.data)] == [1, 2]


async def test_an_exception_in_a_tool_is_an_error_without_its_details(
    http: httpx.AsyncClient,
) -> None:
    async with streaming(http) as client:
        error = (await client.call("boom"))["error"]
        assert (error["code"], error["data"]["reason"]) == (-32603, "internal")
        assert "secret" not in error["message"]


@pytest.mark.document("CB-events-6")
@pytest.mark.requirement("CB-02")
async def test_a_server_error_is_an_error_event_and_ends_the_stream(
    http: httpx.AsyncClient, endpoint: SseEndpoint, bench: Workbench
) -> None:
    async with streaming(http) as client:
        endpoint.end(client.session, Internal("It broke."))
        event = await client.next()
        assert event is not None and event.kind == "error"
        error = json.loads(event.data)
        assert (error["code"], error["message"]) == (-32603, "It broke.")
        assert await client.next() is None
    assert bench.ended == [client.session]


@pytest.mark.document("CB-lifecycle-4", "CB-manager-2", "CB-handler-1")
@pytest.mark.requirement("CB-03")
async def test_closing_the_stream_ends_the_session_and_its_calls(
    http: httpx.AsyncClient, endpoint: SseEndpoint, bench: Workbench
) -> None:
    async with streaming(http) as client:
        await client.send(written("tools/call", {"name": "wait"}, 1))
        await bench.started.wait()
    async with asyncio.timeout(PATIENCE):
        await bench.cancelled.wait()
    await eventually(lambda: len(endpoint.sessions) == 0)
    assert bench.ended == [client.session]
    assert len(bench.news) == 0
    response = await client.send(written("ping", None, 1))
    assert (response.status_code, response.json()["error"]["reason"]) == (404, "unknown_session")
    assert "open a new stream with GET /sse" in response.json()["error"]["message"]


@pytest.mark.document("CB-lifecycle-5")
@pytest.mark.requirement("CB-03")
@pytest.mark.parametrize("id", [9, None])
async def test_shutdown_ends_the_session(
    http: httpx.AsyncClient, bench: Workbench, id: int | None
) -> None:
    async with streaming(http) as client:
        assert (await client.send(written("shutdown", None, id))).status_code == 202
        if id is not None:
            assert (await client.message()) == {"jsonrpc": "2.0", "id": 9, "result": {}}
        assert await client.next() is None
        assert bench.ended == [client.session]
        assert (await client.send(written("ping", None, 1))).status_code == 404


@pytest.mark.document("CB-manager-1", "CB-manager-3")
async def test_each_stream_is_a_session_of_its_own(
    http: httpx.AsyncClient, endpoint: SseEndpoint
) -> None:
    async with streaming(http) as client, streaming(http) as other_client:
        assert client.session != other_client.session
        await client.send(written("ping", None, "one"))
        assert (await other_client.request("ping", id="other"))["id"] == "other"
        assert other_client.others == []
        assert len(endpoint.sessions) == 2


async def test_stopping_ends_every_stream(http: httpx.AsyncClient, endpoint: SseEndpoint) -> None:
    async with streaming(http) as client:
        endpoint.close()
        assert await client.next() is None


async def test_the_requests_of_a_session_at_once_are_limited(
    http: httpx.AsyncClient, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "MOST_RUNNING", 1)
    async with streaming(http) as client:
        await client.send(written("tools/call", {"name": "wait"}, 1))
        await bench.started.wait()
        second = await client.send(written("ping", None, 2))
        assert (second.status_code, second.json()["error"]["reason"]) == (429, "too_many_calls")
        bench.release.set()
        assert text_of(await client.answer(1)) == "released"


async def test_a_client_that_reads_too_slowly_gets_an_error_and_is_dropped(
    http: httpx.AsyncClient,
    endpoint: SseEndpoint,
    bench: Workbench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox, "MOST_EVENTS", 5)
    async with streaming(http) as client:
        # The server cannot write while these are queued.
        for _ in range(7):
            bench.news.announce(Change("tools"))
        assert len(endpoint.sessions) == 0
        event = await client.next()
        assert isinstance(event, SseEvent) and event.kind == "error"
        assert json.loads(event.data)["reason"] == "timeout"
        assert await client.next() is None
    assert bench.ended == [client.session]


async def test_one_answer_may_be_larger_than_the_queue_limit(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_BYTES", 1000)
    async with streaming(http) as client:
        for _ in range(3):
            assert text_of(await client.call("echo", text="x" * 50_000)) == "x" * 50_000


@pytest.mark.document("CB-message-3")
@pytest.mark.document("CB-errors-1")
@pytest.mark.requirement("CB-03")
async def test_an_invalid_message_is_refused_at_once(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        sent = {
            "parse_error": b'{"jsonrpc": "2.0", "id": 1',
            "invalid_request": b'{"id": 1, "method": "ping"}',
            "too_large": b'"' + b"x" * 100_001 + b'"',
        }
        for reason, body in sent.items():
            answer = await client.send(body)
            assert answer.status_code == (413 if reason == "too_large" else 400)
            error = answer.json()["error"]
            assert error["reason"] == reason and isinstance(error["code"], int)
            assert error["message"] and error["retryable"] is False
        assert (await client.request("ping"))["result"] == {}


@pytest.mark.document(
    "CB-sse-1", "CB-message-1", "CB-message-2", "CB-errors-2", "CB-errors-4", "CB-bridge-1"
)
@pytest.mark.requirement("CB-03")
@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "reason"),
    [
        ("POST", "/sse", JSON, 405, "method_not_allowed"),
        ("DELETE", "/sse", {}, 405, "method_not_allowed"),
        ("GET", "/sse", {"accept": "application/json"}, 406, "not_acceptable"),
        ("GET", "/sse?toolsets=nonsense", {}, 400, "invalid_arguments"),
        ("GET", "/message?sessionId=x", {}, 405, "method_not_allowed"),
        ("POST", "/message", JSON, 400, "invalid_request"),
        ("POST", "/message?sessionId=", JSON, 400, "invalid_request"),
        ("POST", "/message?sessionId=session_x", JSON, 404, "unknown_session"),
        ("POST", "/message?sessionId=MINE", {"content-type": "text/plain"}, 415, None),
        ("POST", "/message?sessionId=MINE", {}, 415, None),
    ],
)
async def test_an_invalid_request_is_refused_with_a_status_and_a_reason(
    http: httpx.AsyncClient,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    reason: str | None,
) -> None:
    async with streaming(http) as client:
        mine = path.replace("MINE", client.session)
        answer = await http.request(method, mine, headers=headers, content=b"{}")
    assert answer.status_code == status
    assert answer.json()["error"]["reason"] == (reason or "unsupported_media_type")
    if status == 405:
        assert answer.headers["allow"] in ("GET", "POST")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 10_000,
            "invalid_request",
        ),
        (b"[" * 10_000 + b"]" * 10_000, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "parse_error"),
        (b"", "parse_error"),
        (b"[]", "invalid_request"),
    ],
)
async def test_hostile_bytes_are_refused_and_the_session_goes_on(
    http: httpx.AsyncClient, body: bytes, reason: str
) -> None:
    async with streaming(http) as client:
        answer = await client.send(body)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (400, reason)
        assert (await client.request("ping"))["result"] == {}


async def test_the_last_of_duplicate_keys_counts(http: httpx.AsyncClient) -> None:
    async with streaming(http) as client:
        await client.send(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nonsense","method":"ping"}')
        assert (await client.message()) == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_a_broken_initialize_is_an_error_and_another_may_follow(
    http: httpx.AsyncClient,
) -> None:
    async with streaming(http) as client:
        for params in ({}, {"protocolVersion": 1}, {"protocolVersion": "x" * 70_000}):
            error = (await client.request("initialize", params))["error"]
            assert error["data"]["reason"] in ("invalid_params", "too_large")
        assert "result" in await client.initialize()
