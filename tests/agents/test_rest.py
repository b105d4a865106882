"""REST: listing and calling tools over plain HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import Limits, PermissionSettings, Settings
from tabhub.errors import REASONS
from tabhub.hub.tools import Tool
from tabhub.server.serving import Server
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import SECRET, client, served
from tests.support.tools import in_toolset

Json = dict[str, Any]
SCRIPT = "browser_execute_script"
CALL = f"/tools/{SCRIPT}/call"
EVENTS = {"accept": "text/event-stream"}


async def names(http: httpx.AsyncClient, query: str = "") -> list[str]:
    answer = await http.get(f"/tools{query}")
    assert answer.status_code == 200, answer.text
    return [tool["name"] for tool in answer.json()["tools"]]


def called(**arguments: Any) -> Json:
    return {"arguments": {"tabId": 1, **arguments}}


def reason(answer: httpx.Response) -> str:
    """The reason of an error in the common shape."""
    error: Json = answer.json()["error"]
    assert {"code", "message", "reason", "retryable", "category"} <= error.keys()
    word: str = error["reason"]
    return word


@pytest.mark.document("CB-toolslist-1", "CB-toolslist-2")
@pytest.mark.requirement("OT-07")
async def test_tools_are_listed_with_everything_a_caller_needs() -> None:
    async with served() as server, client(server.port) as http:
        tools = (await http.get("/tools")).json()
        script_tool = (await http.get(f"/tools/{SCRIPT}")).json()
        everything = [tool.name for tool in server.app.hub.tools]
    assert tools.keys() == {"tools"}
    assert [tool["name"] for tool in tools["tools"]] == everything
    assert script_tool in tools["tools"]
    assert script_tool["plugin"] == "browser" and script_tool["toolsets"] == ["browser", "core"]
    assert script_tool["inputSchema"]["required"] == ["code"] and script_tool["description"]
    assert "disabled" not in script_tool


@pytest.mark.document("OT-endpoints-4")
@pytest.mark.requirement("OT-07")
async def test_the_list_can_be_filtered_searched_and_paged() -> None:
    async with served() as server, client(server.port) as http:
        server.app.hub.tools.add(
            Tool("shop_buy", "Buys.", {"type": "object"}, source="browser", plugin="shop")
        )
        assert await names(http, "?plugin=shop") == ["shop_buy"]
        assert await names(http, "?plugin=nobody") == []
        assert set(await names(http, "?toolset=claude")) == in_toolset("claude")
        assert (await names(http, "?query=take+a+screenshot"))[0] == "browser_screenshot_tab"
        page = (await http.get("/tools", params={"limit": 5})).json()
        more = {"limit": 500, "cursor": page["nextCursor"]}
        rest = (await http.get("/tools", params=more)).json()
        together = [tool["name"] for tool in page["tools"] + rest["tools"]]
        assert len(page["tools"]) == 5 and together == await names(http)


@pytest.mark.requirement("OT-07")
@pytest.mark.parametrize(
    "query",
    [
        "?limit=0",
        "?limit=x",
        "?cursor=x",
        "?toolset=none",
        "?page=2",
        "?limit=1&limit=",
        "?limit=null",
    ],
)
async def test_an_invalid_query_is_a_400(query: str) -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.get(f"/tools{query}")
    assert (answer.status_code, reason(answer)) == (400, "invalid_arguments")


async def test_a_forbidden_tool_is_not_found_and_a_disabled_one_is_marked(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("reader", ["core"], read_only=True)
    settings = Settings(permissions=PermissionSettings(tools={"browser_find": "off"}))
    async with served(settings, home=home) as server, client(server.port, token) as http:
        assert set(await names(http)) == in_toolset("core", reading=True)
        assert (await http.get("/tools/browser_find")).json()["disabled"] is True
        assert (await http.get("/tools/browser_open_tab")).status_code == 404
        body = {"arguments": {"url": "https://a.example/"}}
        answer = await http.post("/tools/browser_open_tab/call", json=body)
    assert (answer.status_code, reason(answer)) == (403, "permission_denied")


@pytest.fixture
async def browser() -> AsyncIterator[tuple[FakeExtension, httpx.AsyncClient]]:
    """A browser with one tab, and an HTTP client."""
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        yield extension, http


Browser = tuple[FakeExtension, httpx.AsyncClient]


@pytest.mark.document("OT-endpoints-5")
@pytest.mark.requirement("OT-07")
async def test_a_call_returns_the_same_result_as_over_mcp(browser: Browser) -> None:
    _, http = browser
    body: Json = {"arguments": {"tool": "computer"}}
    answer = await http.post("/tools/permissions_check/call", json=body)
    assert answer.status_code == 200
    by_mcp = await Agent(http).result("permissions_check", **body["arguments"])
    by_mcp.pop("resultType"), by_mcp.pop("_meta")
    assert answer.json() == by_mcp


@pytest.mark.requirement("OT-07")
async def test_a_tool_that_fails_is_a_422_with_the_result_beside_the_error(
    browser: Browser,
) -> None:
    extension, http = browser

    def refuse(params: Json) -> Any:
        raise Refusal("covered_by", "A banner covers it.", {"by": "div"})

    extension.handlers["page.click"] = refuse
    answer = await http.post("/tools/browser_click_element/call", json=called(ref="ref_1"))
    body = answer.json()
    assert (answer.status_code, reason(answer)) == (422, "covered_by")
    assert body["isError"] is True and body["content"][0]["text"] == body["error"]["message"]
    assert body["structuredContent"]["error"]["reason"] == "covered_by"
    lost = await http.post(CALL, json={"arguments": {"code": "1", "tabId": 77}})
    assert (lost.status_code, reason(lost)) == (422, "tab_not_found")


@pytest.mark.requirement("OT-07")
async def test_every_kind_of_failure_has_its_status() -> None:
    settings = Settings(permissions=PermissionSettings(tools={"browser_find": "off"}))
    async with served(settings) as server, client(server.port) as http:
        unknown = await http.post("/tools/browser_clik/call", json={})
        wrong = await http.post(CALL, json={"arguments": {"code": 7}})
        alone = await http.post("/tools/browser_list_tabs/call")
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            off = await http.post("/tools/browser_find/call", json=called(query="x"))
    assert (unknown.status_code, reason(unknown)) == (404, "unknown_tool")
    assert unknown.json()["error"]["suggestions"][0] == "browser_click_element"
    assert (wrong.status_code, reason(wrong)) == (400, "invalid_arguments")
    assert (off.status_code, reason(off)) == (403, "permission_off")
    assert (alone.status_code, reason(alone)) == (503, "extension_disconnected")


async def test_a_call_that_may_have_run_is_not_retryable() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            calling = asyncio.create_task(http.post(CALL, json=called(code="1")))
            await extension.next("tool.dispatch")
            extension.socket.transport.abort()
            answer = await calling
    assert (answer.status_code, reason(answer)) == (422, "page_may_have_received")


async def test_a_reload_without_a_reconnection_is_not_retryable() -> None:
    allowed = PermissionSettings(tools={"extension_reload": "auto"})
    settings = Settings(permissions=allowed, limits=Limits(call_seconds=1))
    async with served(settings) as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            answer = await http.post("/tools/extension_reload/call", json={})
    assert (answer.status_code, reason(answer)) == (422, "extension_disconnected")


NESTED = b'{"arguments": {"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}}"


@pytest.mark.requirement("OT-07")
@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    ("body", "reason_word"),
    [
        (b"{", "parse_error"),
        (b'{"arguments": {"tabId": 1', "parse_error"),
        (b"\xff", "parse_error"),
        (b'{"arguments": {"code": "\xff"}}', "parse_error"),
        (b"{} {}", "parse_error"),
        (b"[]", "invalid_arguments"),
        (b"7", "invalid_arguments"),
        (b'{"arguments": []}', "invalid_arguments"),
        (b'{"arguments": "x"}', "invalid_arguments"),
        (b'{"args": {}}', "invalid_arguments"),
        (b'{"arguments": {"tabId": 1e400}}', "invalid_arguments"),
        (NESTED, "invalid_request"),
    ],
)
async def test_a_body_that_is_not_a_call_is_a_400(body: bytes, reason_word: str) -> None:
    async with served() as server, client(server.port) as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/tools/permissions_check/call", content=body, headers=headers)
    assert (answer.status_code, reason(answer)) == (400, reason_word)
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("body", [b"", b"{}", b'{"arguments": null}', b'{"arguments": {}}'])
async def test_a_call_without_arguments_may_leave_them_out(body: bytes) -> None:
    async with served() as server, client(server.port) as http:
        headers = {"content-type": "application/json"} if body else {}
        answer = await http.post("/tools/permissions_check/call", content=body, headers=headers)
    assert answer.status_code == 200 and answer.json()["structuredContent"]["tools"]


@pytest.mark.requirement("OT-07")
async def test_wrong_methods_types_sizes_and_tokens_have_the_documented_status() -> None:
    settings = Settings(limits=Limits(body_bytes=1000))
    async with served(settings) as server, client(server.port) as http:
        for path, allow in ((CALL, "POST, OPTIONS"), ("/tools", "GET, HEAD, OPTIONS")):
            answer = await http.request("DELETE", path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allow)
            assert reason(answer) == "method_not_allowed"
            options = await http.options(path)
            assert (options.status_code, options.headers["allow"]) == (204, allow)
        assert (await http.get(CALL)).status_code == 405
        head = await http.head("/tools")
        assert (head.status_code, head.content) == (200, b"")
        plain = await http.post(CALL, content=b"{}", headers={"content-type": "text/plain"})
        assert (plain.status_code, reason(plain)) == (415, "unsupported_media_type")
        large = await http.post(CALL, json={"arguments": {"code": "x" * 1000}})
        assert (large.status_code, reason(large)) == (413, "too_large")
        for path in ("/tools/a/b", "/tools/a/call/c", "/tools%2Fa"):
            answer = await http.post(httpx.URL(http.base_url, raw_path=path.encode()))
            assert (answer.status_code, reason(answer)) == (404, "not_found")
        http.headers["Authorization"] = "Bearer wrong"
        for path in ("/tools", CALL):
            answer = await http.post(path)
            assert (answer.status_code, reason(answer)) == (401, "not_authenticated")


async def test_a_not_found_error_of_a_tool_is_not_a_404() -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.post(
            "/tools/shortcuts_execute/call", json={"arguments": {"command": "x"}}
        )
    assert (answer.status_code, reason(answer)) == (422, "not_found")
    assert answer.json()["isError"] is True


def test_unavailable_is_retryable_and_not_found_is_not() -> None:
    retryable = {"rate_limit": True, "timeout": True, "unavailable": True, "not_found": False}
    for word, row in REASONS.items():
        assert row.retryable is retryable.get(row.category, False), word


async def test_a_name_may_have_any_character_that_a_path_can_carry() -> None:
    async with served() as server, client(server.port) as http:
        for name in ("a b", "a/b", "ä?#%"):
            server.app.hub.tools.add(
                Tool(name, "Odd.", {"type": "object"}, source="permissions", needs_tab=False)
            )
            path = "/tools/" + "".join(f"%{byte:02x}" for byte in name.encode())
            answer = await http.get(httpx.URL(http.base_url, raw_path=path.encode()))
            assert answer.json()["name"] == name


@pytest.mark.requirement("OT-07")
async def test_the_same_key_runs_a_call_once_and_another_call_may_not_use_it(
    browser: Browser,
) -> None:
    extension, http = browser
    runs = iter(range(9))
    extension.handlers["page.evaluate"] = lambda params: {"value": next(runs)}
    key = {"idempotency-key": "once"}
    for _ in range(2):
        answer = await http.post(CALL, json=called(code="1"), headers=key)
        assert answer.json()["structuredContent"] == {"value": 0}
    other = await http.post(CALL, json=called(code="2"), headers=key)
    assert (other.status_code, reason(other)) == (400, "invalid_arguments")
    assert "The Idempotency-Key 'once' belongs" in other.json()["error"]["message"]
    for bad in ("", "x" * 201):
        answer = await http.post(CALL, json=called(code="1"), headers={"idempotency-key": bad})
        assert (answer.status_code, reason(answer)) == (400, "invalid_params")


async def test_rest_shares_its_session_with_sessionless_mcp_or_names_a_group(
    browser: Browser,
) -> None:
    extension, http = browser
    extension.handlers["page.evaluate"] = lambda params: {"value": params["tabId"]}
    await Agent(http).call(SCRIPT, code="1", tabId=1)
    answer = await http.post(CALL, json={"arguments": {"code": "1"}})
    assert answer.json()["structuredContent"] == {"value": 1}
    extension.handlers["tabs.open"] = lambda params: tab(9)
    made = await http.post(
        "/tools/tabs_context_mcp/call", json={"arguments": {"createIfEmpty": True}}
    )
    group = {"x-tabhub-group": made.json()["structuredContent"]["groupHandle"]}
    answer = await http.post(CALL, json={"arguments": {"code": "1"}}, headers=group)
    assert answer.json()["structuredContent"] == {"value": 9}
    unknown = await http.post(CALL, json=called(code="1"), headers={"x-tabhub-group": "grp_x"})
    assert (unknown.status_code, reason(unknown)) == (404, "unknown_session")


async def received_events(response: httpx.Response) -> list[tuple[str, Json]]:
    kinds, data = [], []
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            kinds.append(line[7:])
        elif line.startswith("data: "):
            data.append(json.loads(line[6:]))
    return list(zip(kinds, data, strict=True))


@pytest.mark.requirement("OT-07")
async def test_a_client_that_accepts_events_gets_progress_and_then_the_result(
    browser: Browser,
) -> None:
    extension, http = browser
    answering = asyncio.create_task(extension.answer_in_steps({"value": 1}))
    async with http.stream("POST", CALL, json=called(code="1"), headers=EVENTS) as response:
        assert response.headers["content-type"] == "text/event-stream"
        received = await received_events(response)
    await answering
    assert received[0] == ("progress", {"progress": 1, "total": 2, "message": "half"})
    assert [kind for kind, _ in received] == ["progress", "result"]
    assert received[1][1]["structuredContent"] == {"value": 1}


async def test_an_error_before_the_first_event_is_a_plain_response_with_its_status(
    browser: Browser,
) -> None:
    _, http = browser
    for path, body, status in ((CALL, called(), 400), ("/tools/nothing/call", called(), 404)):
        plain = await http.post(path, json=body)
        early = await http.post(path, json=body, headers=EVENTS)
        assert (early.status_code, early.json()) == (status, plain.json())
        assert early.headers["content-type"] == "application/json"


async def test_an_error_after_progress_is_the_last_event(browser: Browser) -> None:
    extension, http = browser

    async def fail() -> None:
        request = await extension.next("tool.dispatch")
        params = {"dispatchId": request["params"]["dispatchId"], "progress": 1}
        await extension.notify("tool.progress", params)
        await extension.send({"id": request["id"], "error": Refusal("csp_blocked").wire})

    answering = asyncio.create_task(fail())
    async with http.stream("POST", CALL, json=called(code="1"), headers=EVENTS) as response:
        kinds = [kind for kind, _ in await received_events(response)]
    await answering
    assert (response.status_code, kinds) == (200, ["progress", "error"])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?limit=many", "limit must be a whole number at least 1 and at most 500"),
        ("?limit=0", "limit must be"),
        ("?colour=blue", "there is no parameter colour; there are query, plugin,"),
    ],
)
async def test_the_error_names_the_wrong_part_of_a_query(query: str, message: str) -> None:
    async with served() as server, client(server.port) as http:
        for path in ("/tools", "/audit"):
            answer = await http.get(f"{path}{query}")
            assert answer.status_code == 400
            assert message.partition(" are ")[0] in answer.json()["error"]["message"]


async def test_the_error_for_misplaced_arguments_names_the_right_place() -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.post(CALL, json={"url": "https://example.com"})
    assert (answer.status_code, reason(answer)) == (400, "invalid_arguments")
    message = answer.json()["error"]["message"]
    assert 'put the arguments under "arguments", as in {"arguments":{"url":"..."}}' in message


@pytest.mark.requirement("OT-07")
@pytest.mark.parametrize("headers", [{}, EVENTS])
async def test_a_client_that_disconnects_cancels_its_call(
    browser: Browser, headers: dict[str, str]
) -> None:
    extension, http = browser
    calling = asyncio.create_task(http.post(CALL, json=called(code="1"), headers=headers))
    request = await extension.next("tool.dispatch")
    calling.cancel()
    await asyncio.wait({calling})
    cancelled = await extension.next("tool.cancel")
    assert cancelled["params"]["dispatchId"] == request["params"]["dispatchId"]


@pytest.mark.requirement("OT-07")
async def test_a_call_is_in_the_audit_log_with_the_name_of_its_client() -> None:
    async with served() as server, client(server.port) as http:
        http.headers["user-agent"] = "curl/8.5.0"
        await http.post("/tools/permissions_check/call")
        await Agent(http).call("permissions_check")
        first, second = server.app.audit.entries()
    assert second.pop("agent") == "curl"
    for entry in (first, second):
        for changing in ("timestamp", "duration", "durationMs", "agent"):
            entry.pop(changing, None)
    assert first == second


async def curl(server: Server, path: str, *flags: str) -> str:
    """The output of curl, called as the documentation shows."""
    running = await asyncio.create_subprocess_exec(
        *("curl", "-sN", f"http://127.0.0.1:{server.port}{path}"),
        *("-H", f"Authorization: Bearer {SECRET}", *flags),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await running.communicate()
    assert running.returncode == 0
    return output.decode()


@pytest.mark.requirement("OT-07")
async def test_curl_can_list_and_call_tools() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 2}
        tools = json.loads(await curl(server, "/tools?query=screenshot&limit=1"))
        assert [tool["name"] for tool in tools["tools"]] == ["browser_screenshot_tab"]
        call = ("-d", json.dumps(called(code="1+1")), "-H", "Content-Type: application/json")
        assert json.loads(await curl(server, CALL, *call))["structuredContent"] == {"value": 2}
        stream = await curl(server, CALL, *call, "-H", "Accept: text/event-stream")
        assert stream.startswith("event: result\ndata: {")
        bare = await curl(server, "/tools/permissions_check/call", "-X", "POST")
        assert json.loads(bare)["structuredContent"]["tools"]
        status = ("-o", "/dev/null", "-w", "%{http_code}")
        assert await curl(server, "/tools/nothing/call", *call, *status) == "404"
        assert await curl(server, CALL, "-d", "x=1", *status) == "415"
