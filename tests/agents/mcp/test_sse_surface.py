"""HTTP+SSE in the product: its tools, its token, its port and the origins it accepts."""

import json
from pathlib import Path

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import SessionSettings, Settings, SseSettings
from tests.agents.mcp.sse_clients import streaming, written
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import eventually
from tests.support.serving import SECRET, client, served

TOKEN = "a token of the old kind"
PAGE = "http://localhost:5173"
THE_23 = """
navigate computer read_page find form_input get_page_text tabs_context tabs_create tabs_context_mcp
tabs_create_mcp resize_window read_console_messages read_network_requests upload_image gif_creator
update_plan shortcuts_list shortcuts_execute javascript_tool turn_answer_start
turn_answer_complete dev_utils permissions_check
""".split()


async def _tools(http: httpx.AsyncClient, path: str = "/sse") -> list[str]:
    async with streaming(http, path) as agent:
        listed = (await agent.request("tools/list"))["result"]["tools"]
    assert all(tool["description"] and tool["inputSchema"] for tool in listed)
    return [tool["name"] for tool in listed]


@pytest.mark.document(
    "CB-server-1",
    "CB-server-3",
    "CB-server-4",
    "CB-tooldefs-1",
    "CB-lifecycle-2",
    "CB-methods-1",
    "CB-methods-2",
    "CB-methods-4",
)
@pytest.mark.requirement("CB-04")
async def test_a_client_of_the_first_revision_finds_exactly_the_23_tools() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        hello = (await agent.initialize())["result"]
        assert hello["protocolVersion"] == "2024-11-05"
        assert hello["serverInfo"]["name"] == "tabhub"
        assert hello["capabilities"]["tools"] == {"listChanged": True}
        listed = (await agent.request("tools/list"))["result"]["tools"]
        assert {tool["name"] for tool in listed} == set(THE_23)
        assert len(listed) == 23
        assert (await agent.request("ping"))["result"] == {}


@pytest.mark.requirement("CB-04")
async def test_an_unlisted_tool_can_be_called_and_toolsets_can_be_named() -> None:
    async with served() as server, client(server.port) as http:
        async with streaming(http) as agent:
            listed = (await agent.call("browser_list_tabs"))["result"]
            assert listed["structuredContent"]["error"]["reason"] == "extension_disconnected"
        assert "browser_list_tabs" in await _tools(http, "/sse?toolsets=core")
        assert len(await _tools(http, "/sse?toolsets=all")) > 100


@pytest.mark.document("CB-handler-2")
async def test_resources_and_prompts_are_listed_too() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        await agent.initialize()
        assert (await agent.request("prompts/list"))["result"]["prompts"]
        assert (await agent.request("resources/list"))["result"]["resources"] == []
        unknown = await agent.request("no/such/method")
        assert unknown["error"]["code"] == -32601


@pytest.mark.requirement("CB-03")
async def test_only_the_credential_that_opened_a_session_may_use_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    own_token, other_token = Clients(home).add("mine"), Clients(home).add("others")
    async with (
        served(home=home) as server,
        client(server.port, own_token) as http,
        client(server.port, other_token) as stranger,
        client(server.port, None) as anonymous,
        streaming(http) as agent,
    ):
        for caller, status in ((stranger, 403), (anonymous, 401)):
            answer = await caller.post(agent.endpoint, json=written("ping", None, 1))
            assert answer.status_code == status
            assert answer.json()["error"]["code"] and answer.json()["error"]["message"]
        assert (await agent.request("ping", id=2))["id"] == 2
        refused = server.app.audit.entries(plugin="door")
        assert [entry["client"] for entry in refused] == ["others"]


@pytest.mark.document("CB-errors-3", "CB-security-3")
@pytest.mark.requirement("CB-03")
async def test_a_stream_needs_a_token() -> None:
    async with served() as server:
        for token in (None, "wrong"):
            async with client(server.port, token) as http:
                answer = await http.get("/sse")
                assert answer.status_code == 401
                assert answer.json()["error"]["reason"] == "not_authenticated"


@pytest.mark.document("CB-bridge-2", "CB-base-2")
@pytest.mark.requirement("CB-05")
async def test_a_second_listener_serves_the_same_and_both_report_its_port() -> None:
    async with served(second=True) as server:
        second_port = server.app.report.sse_port
        assert second_port not in (None, server.port)
        for port in (server.port, second_port):
            assert port is not None
            async with client(port) as http:
                assert len(await _tools(http)) == 23
                health = (await http.get("/health")).json()
                assert health["ssePort"] == second_port


@pytest.mark.document("CB-config-4")
@pytest.mark.requirement("CB-05")
async def test_the_configured_token_has_only_the_rights_of_an_agent() -> None:
    settings = Settings(mcp_server=SseSettings(auth_token=TOKEN))
    async with served(settings) as server:
        async with client(server.port, TOKEN) as http:
            assert len(await _tools(http)) == 23
            assert (await http.get("/health")).json()["client"] == "sse"
            for path in ("/audit", "/ws-info"):
                assert (await http.get(path)).status_code == 403
            assert (await http.post("/reload")).status_code == 403
        for wrong in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "a"):
            async with client(server.port, wrong) as http:
                assert (await http.get("/health")).status_code == 401


async def test_the_configured_token_is_never_logged_or_stored(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    settings = Settings(mcp_server=SseSettings(auth_token=TOKEN))
    async with served(settings, home=home) as server, client(server.port, TOKEN) as http:
        async with streaming(http) as agent:
            await agent.call("navigate", url=f"https://a.example/?q={TOKEN}")
            await agent.call(TOKEN)
        assert len(server.app.audit.entries()) == 2
        assert TOKEN not in home.audit.read_text()


async def test_a_token_that_changes_ends_the_sessions_of_the_old_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    home.config.write_text(json.dumps({"mcpServer": {"authToken": "another-one-of-these"}}))
    settings = Settings(mcp_server=SseSettings(auth_token=TOKEN))
    async with (
        served(settings, home=home) as server,
        client(server.port, TOKEN) as http,
        client(server.port) as person,
        streaming(http) as agent,
    ):
        assert (await person.post("/reload")).status_code == 200
        event = await agent.next()
        assert event is not None and event.kind == "error"
        assert json.loads(event.data)["reason"] == "not_authenticated"
        assert await agent.next() is None
        assert (await http.get("/health")).status_code == 401
        async with client(server.port, "another-one-of-these") as fresh:
            assert len(await _tools(fresh)) == 23
            assert (await person.post("/reload")).status_code == 200
            async with streaming(fresh) as agent:
                await agent.call("another-one-of-these")
        assert "another-one-of-these" not in home.audit.read_text()


async def test_a_revoked_client_loses_its_stream_with_a_reason(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("guest")
    async with (
        served(home=home) as server,
        client(server.port, token) as http,
        client(server.port) as person,
        streaming(http) as agent,
    ):
        Clients(home).revoke("guest")
        await person.post("/reload")
        event = await agent.next()
        assert event is not None and event.kind == "error"
        assert await agent.next() is None


@pytest.mark.document("CB-config-1")
async def test_its_paths_are_not_found_when_it_is_disabled() -> None:
    settings = Settings(mcp_server=SseSettings(enabled=False))
    async with served(settings) as server, client(server.port) as http:
        for method, path in (("GET", "/sse"), ("POST", "/message")):
            answer = await http.request(method, path)
            assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "not_found")


@pytest.mark.document("CB-health-3")
async def test_health_counts_open_sessions() -> None:
    async with served() as server, client(server.port) as http:
        async with streaming(http), streaming(http):
            assert (await http.get("/health")).json()["activeSessions"] == 2
        await eventually(lambda: len(server.app.sse.sessions) == 0)
        assert (await http.get("/health")).json()["activeSessions"] == 0


@pytest.mark.document("CB-lifecycle-1", "CB-lifecycle-6", "CB-handler-5")
@pytest.mark.requirement("CB-03")
@pytest.mark.parametrize(("closes", "command"), [(True, "tabs.close"), (False, "tabs.ungroup")])
async def test_by_setting_a_session_has_its_group_from_the_start_until_its_end(
    closes: bool, command: str
) -> None:
    settings = Settings(sessions=SessionSettings(group_on_connect=True, close_tabs_on_end=closes))
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1), shared=False)
        extension.handlers["tabs.open"] = lambda _: tab(7, url="about:blank")
        async with streaming(http) as agent:
            assert server.app.hub.ownership.of(agent.session) == [7]
            context = (await agent.call("tabs_context_mcp"))["result"]["structuredContent"]
            assert [tab_entry["tabId"] for tab_entry in context["availableTabs"]] == [7]
            entries = server.app.audit.entries(tool="tabs_context_mcp")
            assert [entry["session"] for entry in entries] == [agent.session] * 2
        assert (await extension.command(command))["params"]["tabId"] == 7
        assert server.app.hub.sessions.find(agent.session) is None


@pytest.mark.document("CB-lifecycle-1")
async def test_with_no_browser_a_session_begins_without_its_group() -> None:
    settings = Settings(sessions=SessionSettings(group_on_connect=True))
    async with served(settings) as server, client(server.port) as http, streaming(http) as agent:
        assert (await agent.request("ping"))["result"] == {}
        (entry,) = server.app.audit.entries()
        assert entry["error"]["reason"] == "extension_disconnected"


@pytest.mark.document("CB-config-5")
@pytest.mark.requirement("OT-17")
async def test_a_page_of_an_allowed_origin_may_use_the_endpoints_of_agents() -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=[PAGE, "https://app.example"]))
    async with served(settings) as server, client(server.port) as http:
        http.headers["origin"] = PAGE
        async with streaming(http) as agent:
            headers = agent.response.headers
            assert headers["access-control-allow-origin"] == PAGE
            assert "X-Session-Id" in headers["access-control-expose-headers"]
            assert headers["vary"] == "Origin"
            assert (await agent.request("ping"))["result"] == {}
        assert (await http.get("/health")).headers["access-control-allow-origin"] == PAGE
        for path in ("/audit", "/ws-info", "/nowhere"):
            refused = await http.get(path)
            assert (refused.status_code, refused.json()["error"]["reason"]) == (
                403,
                "foreign_origin",
            )
            assert "access-control-allow-origin" not in refused.headers


@pytest.mark.requirement("OT-17")
async def test_a_refused_page_gets_the_reason() -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=[PAGE]))
    async with served(settings) as server, client(server.port, None) as http:
        answer = await http.get("/sse", headers={"origin": PAGE})
        assert answer.status_code == 401
        assert answer.headers["access-control-allow-origin"] == PAGE


PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,mcp-param-region,x-evil",
    "access-control-request-private-network": "true",
}


@pytest.mark.document("CB-security-7", "CB-security-8")
@pytest.mark.requirement("OT-17")
async def test_a_preflight_needs_no_token_and_only_allowed_origins_pass() -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=[PAGE]))
    async with served(settings) as server, client(server.port, None) as http:
        answer = await http.options("/message", headers={"origin": PAGE, **PREFLIGHT})
        assert (answer.status_code, answer.content) == (204, b"")
        headers = answer.headers
        assert headers["access-control-allow-origin"] == PAGE
        assert {"GET", "POST"} <= set(headers["access-control-allow-methods"].split(", "))
        allowed = headers["access-control-allow-headers"].lower().split(", ")
        assert {"authorization", "content-type", "mcp-param-region"} <= set(allowed)
        assert "x-evil" not in allowed
        assert headers["access-control-allow-private-network"] == "true"
        for origin in ("http://localhost:5174", "https://evil.example", "null", PAGE + "0"):
            refused = await http.options("/message", headers={"origin": origin, **PREFLIGHT})
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
        for path in ("/audit", "/reload", "/nowhere"):
            refused = await http.options(path, headers={"origin": PAGE, **PREFLIGHT})
            assert refused.status_code == 403


@pytest.mark.document("CB-security-6")
@pytest.mark.requirement("OT-17")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:1", 200),
        ("http://localhost:65535", 200),
        ("http://localhost", 200),
        ("https://localhost:1", 403),
        ("http://localhost:", 403),
        ("http://localhost:x", 403),
        ("http://localhost.evil.example:1", 403),
        ("http://evil.example:1", 403),
        ("http://localhost:1:2", 403),
        ("http://127.0.0.1:1", 403),
    ],
)
async def test_a_star_stands_for_any_port_and_nothing_else(origin: str, status: int) -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=["http://localhost:*"]))
    async with served(settings) as server, client(server.port) as http:
        answer = await http.get("/health", headers={"origin": origin})
        assert answer.status_code == status


async def test_origins_can_change_while_the_server_runs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        assert (await http.get("/health", headers={"origin": PAGE})).status_code == 403
        home.config.write_text(json.dumps({"mcpServer": {"corsOrigins": [PAGE]}}))
        assert (await http.post("/reload")).status_code == 200
        assert (await http.get("/health", headers={"origin": PAGE})).status_code == 200


async def test_the_link_is_closed_to_allowed_origins(tmp_path: Path) -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=[PAGE]))
    async with served(settings) as server, client(server.port, None) as http:
        headers = {
            "origin": PAGE,
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            "sec-websocket-protocol": f"tabhub, {SECRET}, profile-a",
        }
        assert (await http.get("/ws", headers=headers)).status_code == 403
