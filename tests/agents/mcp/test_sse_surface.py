"""HTTP+SSE as the product offers it: its tools, its token, its port, its pages."""

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
async def test_what_is_not_listed_can_be_called_and_toolsets_can_be_named() -> None:
    async with served() as server, client(server.port) as http:
        async with streaming(http) as agent:
            listed = (await agent.call("browser_list_tabs"))["result"]
            assert listed["structuredContent"]["error"]["reason"] == "extension_disconnected"
        assert "browser_list_tabs" in await _tools(http, "/sse?toolsets=core")
        assert len(await _tools(http, "/sse?toolsets=all")) > 100


async def test_resources_and_prompts_are_there_too() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        await agent.initialize()
        assert (await agent.request("prompts/list"))["result"]["prompts"]
        assert (await agent.request("resources/list"))["result"]["resources"] == []
        unknown = await agent.request("no/such/method")
        assert unknown["error"]["code"] == -32601


@pytest.mark.requirement("CB-03")
async def test_a_session_is_closed_to_all_but_the_credential_that_opened_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    mine, others = Clients(home).add("mine"), Clients(home).add("others")
    async with (
        served(home=home) as server,
        client(server.port, mine) as http,
        client(server.port, others) as stranger,
        client(server.port, None) as nobody,
        streaming(http) as agent,
    ):
        for who, status in ((stranger, 403), (nobody, 401)):
            answer = await who.post(agent.endpoint, json=written("ping", None, 1))
            assert answer.status_code == status
            assert answer.json()["error"]["code"] and answer.json()["error"]["message"]
        assert (await agent.request("ping", id=2))["id"] == 2
        refused = server.app.audit.entries(plugin="door")
        assert [entry["client"] for entry in refused] == ["others"]


@pytest.mark.requirement("CB-03")
async def test_without_a_token_there_is_no_stream() -> None:
    async with served() as server:
        for token in (None, "wrong"):
            async with client(server.port, token) as http:
                answer = await http.get("/sse")
                assert answer.status_code == 401
                assert answer.json()["error"]["reason"] == "not_authenticated"


@pytest.mark.requirement("CB-05")
async def test_a_second_listener_serves_the_same_and_both_tell_its_port() -> None:
    async with served(second=True) as server:
        second = server.app.report.sse_port
        assert second not in (None, server.port)
        for port in (server.port, second):
            assert port is not None
            async with client(port) as http:
                assert len(await _tools(http)) == 23
                told = (await http.get("/health")).json()
                assert told["ssePort"] == second


@pytest.mark.requirement("CB-05")
async def test_the_token_that_is_set_is_an_agents_and_no_more() -> None:
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


async def test_the_token_that_is_set_is_written_down_nowhere(tmp_path: Path) -> None:
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


async def test_a_revoked_client_loses_its_stream_and_hears_why(tmp_path: Path) -> None:
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


async def test_switched_off_there_is_nothing_at_its_paths() -> None:
    settings = Settings(mcp_server=SseSettings(enabled=False))
    async with served(settings) as server, client(server.port) as http:
        for method, path in (("GET", "/sse"), ("POST", "/message")):
            answer = await http.request(method, path)
            assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "not_found")


async def test_health_counts_open_sessions() -> None:
    async with served() as server, client(server.port) as http:
        async with streaming(http), streaming(http):
            assert (await http.get("/health")).json()["activeSessions"] == 2
        await eventually(lambda: len(server.app.sse.sessions) == 0)
        assert (await http.get("/health")).json()["activeSessions"] == 0


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
            assert [shown["tabId"] for shown in context["availableTabs"]] == [7]
            entries = server.app.audit.entries(tool="tabs_context_mcp")
            assert [entry["session"] for entry in entries] == [agent.session] * 2
        assert (await extension.command(command))["params"]["tabId"] == 7
        assert server.app.hub.sessions.find(agent.session) is None


async def test_with_no_browser_a_session_begins_without_its_group() -> None:
    settings = Settings(sessions=SessionSettings(group_on_connect=True))
    async with served(settings) as server, client(server.port) as http, streaming(http) as agent:
        assert (await agent.request("ping"))["result"] == {}
        (entry,) = server.app.audit.entries()
        assert entry["error"]["reason"] == "extension_disconnected"


@pytest.mark.requirement("OT-17")
async def test_a_page_whose_origin_is_set_may_use_what_is_for_agents() -> None:
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
async def test_a_page_is_told_why_it_was_refused() -> None:
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


@pytest.mark.requirement("OT-17")
async def test_a_preflight_needs_no_token_and_is_for_named_origins_only() -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=[PAGE]))
    async with served(settings) as server, client(server.port, None) as http:
        answer = await http.options("/message", headers={"origin": PAGE, **PREFLIGHT})
        assert (answer.status_code, answer.content) == (204, b"")
        told = answer.headers
        assert told["access-control-allow-origin"] == PAGE
        assert {"GET", "POST"} <= set(told["access-control-allow-methods"].split(", "))
        allowed = told["access-control-allow-headers"].lower().split(", ")
        assert {"authorization", "content-type", "mcp-param-region"} <= set(allowed)
        assert "x-evil" not in allowed
        assert told["access-control-allow-private-network"] == "true"
        for origin in ("http://localhost:5174", "https://evil.example", "null", PAGE + "0"):
            refused = await http.options("/message", headers={"origin": origin, **PREFLIGHT})
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
        for path in ("/audit", "/reload", "/nowhere"):
            refused = await http.options(path, headers={"origin": PAGE, **PREFLIGHT})
            assert refused.status_code == 403


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


async def test_the_link_is_closed_to_named_origins(tmp_path: Path) -> None:
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
