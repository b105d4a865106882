"""The administration endpoints: what each reports, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub import __version__
from tabhub.audit.log import Counts
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, RateSettings, Settings
from tabhub.config.settings import load as load_settings
from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog
from tests.audit.events import event
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
ZEROS = {"watchedPlugins": 0, "pendingPlugins": 0, "lastPollAt": None, "pollDetections": 0}


async def _health(http: httpx.AsyncClient) -> Json:
    health: Json = (await http.get("/health")).json()
    return health


async def _use(http: httpx.AsyncClient) -> None:
    """Make one call that succeeds and two that fail."""
    agent = Agent(http)
    await agent.call("permissions_check", tool="navigate")
    await agent.result("browser_list_tabs")
    await agent.post("tools/call", {"name": "no_such_tool", "arguments": {}})


@pytest.mark.document(
    "OT-health-2",
    "OT-health-6",
    "OT-health-7",
    "OT-health-11",
    "OT-health-12",
    "OT-health-13",
    "OT-health-15",
)
@pytest.mark.document("CB-health-1", "CB-health-2")
@pytest.mark.requirement("OT-11")
async def test_health_has_every_field_for_an_idle_server() -> None:
    async with served() as server, client(server.port) as http:
        health = await _health(http)
    tools = (*catalog.ALL, LIST_TABS)
    names = [tool.name for tool in tools if tool.plugin == "browser"]
    expected = {
        "status": "ok",
        "version": __version__,
        "sdkVersion": __version__,
        "mode": "production",
        "extensionConnected": False,
        "extensionConnections": 0,
        "mcpClients": 0,
        "activeSessions": 0,
        "ssePort": None,
        "plugins": 0,
        "pluginDetails": [],
        "failedPlugins": [],
        "discoveryErrors": [],
        "toolCount": len(tools),
        "browserToolCount": len(names),
        "pluginToolCount": 0,
        "browserToolNames": names,
        "disabledBrowserTools": ["dev_utils"],
        "skipPermissions": False,
        "reloadCount": 0,
        "lastReloadTimestamp": 0,
        "lastReloadDurationMs": 0,
        "fileWatcher": ZEROS,
        "auditSummary": {
            "totalInvocations": 0,
            "successCount": 0,
            "failureCount": 0,
            "last24h": {"total": 0, "success": 0, "failure": 0},
            "avgDurationMs": 0,
        },
    }
    assert {key: health.get(key) for key in expected} == expected
    assert health["uptime"] >= 0 and health["stateSchemaVersion"] >= 1


@pytest.mark.document("OT-health-1")
@pytest.mark.document("CB-health-1", "CB-health-2")
@pytest.mark.requirement("OT-11")
async def test_health_is_only_ok_without_a_token_and_hides_others_from_a_client(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("guest")
    async with served(home=home) as server:
        async with client(server.port, None) as http:
            assert await _health(http) == {"status": "ok"}
        async with client(server.port, token) as http:
            health = await _health(http)
    assert (health["client"], health["fileWatcher"], health["activeSessions"]) == (
        "guest",
        ZEROS,
        0,
    )
    assert health.keys().isdisjoint({"browsers", "agentNames", "waitingPages", "lastReloadError"})


@pytest.mark.document("OT-health-3", "OT-health-4", "OT-health-12", "OT-reload-2")
@pytest.mark.requirement("OT-11")
async def test_health_follows_the_state_of_the_server() -> None:
    settings = Settings(dev=True)
    async with (
        served(settings, skip_permissions=True) as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1))
        await http.post("/reload")
        health = await _health(http)
        assert (health["mode"], health["skipPermissions"]) == ("dev", True)
        assert (health["extensionConnected"], health["extensionConnections"]) == (True, 1)
        assert health["reloadCount"] == 1
        assert health["lastReloadTimestamp"] > 1_700_000_000_000


@pytest.mark.document("OT-health-14")
@pytest.mark.requirement("OT-11")
async def test_the_summary_counts_calls_and_nothing_else() -> None:
    async with served() as server, client(server.port) as http:
        await _use(http)
        await http.post("/reload")
        summary = (await _health(http))["auditSummary"]
    assert summary["avgDurationMs"] > 0
    del summary["avgDurationMs"]
    assert summary == {
        "totalInvocations": 3,
        "successCount": 1,
        "failureCount": 2,
        "last24h": {"total": 3, "success": 1, "failure": 2},
    }


def test_a_call_leaves_the_last_24_hours_after_a_day() -> None:
    counts, noon = Counts(), 1_800_000_000.0
    for minutes in (0, 1, 60, 60):
        counts.add(event(time=noon + minutes * 60, duration_ms=10))
    assert counts.summary(noon + 3600)["last24h"] == {"total": 4, "success": 4, "failure": 0}
    later = noon + 24 * 3600
    assert counts.summary(later)["last24h"]["total"] == 3
    counts.add(event(time=later + 3700, duration_ms=30))
    summary = counts.summary(later + 3700)
    assert summary["last24h"]["total"] == 1
    assert (summary["totalInvocations"], summary["avgDurationMs"]) == (5, 14)


@pytest.mark.document("OT-health-8", "OT-reload-2")
@pytest.mark.requirement("OT-11")
async def test_disabled_tools_are_named_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    settings = Settings(permissions=PermissionSettings(tools={"navigate": "off"}))
    async with served(settings, home=home) as server, client(server.port) as http:
        assert (await _health(http))["disabledBrowserTools"] == ["navigate", "dev_utils"]
        config = {"permissions": {"tools": {"computer": "off", "find": "ask"}}}
        home.config.write_text(json.dumps(config))
        await http.post("/reload")
        assert (await _health(http))["disabledBrowserTools"] == ["computer", "dev_utils"]


async def _audit(http: httpx.AsyncClient, **query: Any) -> list[Json]:
    answer = await http.get("/audit", params=query)
    assert answer.status_code == 200, answer.text
    entries: list[Json] = answer.json()
    return entries


@pytest.mark.document("OT-audit-1", "OT-audit-9", "OT-audit-10", "OT-audit-11", "OT-audit-13")
@pytest.mark.requirement("OT-12")
async def test_the_audit_log_is_listed_newest_first_and_can_be_filtered() -> None:
    async with served() as server, client(server.port) as http:
        assert await _audit(http) == []
        await _use(http)
        entries = await _audit(http)
        assert [entry["tool"] for entry in entries] == [
            "no_such_tool",
            "browser_list_tabs",
            "permissions_check",
        ]
        assert [entry["success"] for entry in entries] == [False, False, True]
        assert set(entries[0]["error"]) == {"code", "message", "category", "reason"}
        assert await _audit(http, limit=1) == entries[:1]
        assert await _audit(http, success="true") == entries[2:]
        assert await _audit(http, success="false") == entries[:2]
        assert await _audit(http, tool="browser_list_tabs") == entries[1:2]
        assert await _audit(http, plugin="browser") == entries[1:]
        assert await _audit(http, plugin="slack") == []
        assert await _audit(http, client="main", success="true") == entries[2:]
        assert await _audit(http, since=entries[1]["timestamp"]) == entries[:2]
        assert await _audit(http, since="2999-01-01") == []
        for early in ("1999-01-01T00:00:00+02:00", "1999-01-01 10:00", "0001-01-01T00:00+14:00"):
            assert await _audit(http, since=early) == entries
        raw = await http.get("/audit?since=1999-01-01T00:00:00+02:00")
        assert raw.json() == entries


@pytest.mark.document("OT-audit-3", "OT-audit-8")
@pytest.mark.requirement("OT-12")
async def test_the_audit_log_keeps_500_entries_and_lists_50_by_default() -> None:
    async with served() as server, client(server.port) as http:
        for number in range(600):
            server.app.audit.record(event(tool=f"tool_{number}"))
        assert [entry["tool"] for entry in await _audit(http)] == [
            f"tool_{number}" for number in range(599, 549, -1)
        ]
        assert len(await _audit(http, limit=500)) == 500
        (oldest,) = await _audit(http, tool="tool_100")
        assert oldest["tool"] == "tool_100"
        assert await _audit(http, tool="tool_99") == []


async def test_a_long_audit_log_can_be_read_whole_and_in_pages() -> None:
    async with served() as server, client(server.port) as http:
        for number in range(500):
            server.app.audit.record(event(tool=f"tool_{number}", arguments={"text": "ä" * 1900}))
        answer = await http.get("/audit", params={"limit": 500})
        assert len(answer.content) > 1_000_000
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert [entry["tool"] for entry in answer.json()][-1] == "tool_0"
        head = await http.head("/audit")
        assert (head.status_code, head.content) == (200, b"")


@pytest.mark.document("OT-audit-8")
@pytest.mark.requirement("OT-12")
@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "501"},
        {"limit": "-1"},
        {"limit": "many"},
        {"limit": "9" * 400},
        {"success": "maybe"},
        {"since": "yesterday"},
        {"since": "2026-13-40"},
        {"colour": "blue"},
    ],
)
async def test_a_wrong_query_is_refused(query: dict[str, str]) -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.get("/audit", params=query)
    assert answer.status_code == 400
    assert answer.json()["error"]["reason"] == "invalid_arguments"
    assert next(iter(query)) in answer.json()["error"]["message"]


@pytest.mark.document("OT-reload-3")
@pytest.mark.requirement("OT-14")
async def test_reload_reads_the_settings_again_and_reports_the_duration(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        report = (await http.post("/reload")).json()
        assert set(report) == {"ok", "plugins", "durationMs"}
        assert (report["ok"], report["plugins"]) == (True, 0) and report["durationMs"] >= 0
        home.config.write_text("{")
        broken = await http.post("/reload")
        assert (broken.status_code, broken.json()["error"]["reason"]) == (400, "invalid_arguments")
        assert (await _health(http))["reloadCount"] == 1


@pytest.mark.requirement("OT-14")
async def test_settings_in_effect_are_listed_with_their_differences_from_the_file(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    token = "a-token-of-some-length"

    def write(**config: Any) -> None:
        home.config.write_text(json.dumps(config))

    write(mcpServer={"authToken": token})
    rates = RateSettings()
    async with (
        served(load_settings(home), home=home, rates=rates) as server,
        client(server.port) as http,
    ):
        report = (await http.get("/settings")).json()
        assert (report["differs"], report["fault"]) == ([], None)
        assert (report["settings"]["port"], token in str(report)) == (server.port, False)
        write(limits={"callSeconds": 60})
        report = (await http.get("/settings")).json()
        assert report["differs"] == ["mcpServer.authToken", "limits.callSeconds"]
        assert report["settings"]["limits"]["callSeconds"] == 30
        await http.post("/reload")
        assert (await http.get("/settings")).json()["differs"] == ["limits.callSeconds"]
        write(port="high")
        report = (await http.get("/settings")).json()
        assert (report["differs"], "port must be a whole" in report["fault"]) == ([], True)


@pytest.mark.document("OT-reload-5", "OT-reload-6", "OT-tosend-8")
@pytest.mark.requirement("OT-14")
async def test_the_extension_gets_a_reload_request_or_the_status_is_503() -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.post("/extension/reload")
        assert answer.status_code == 503
        assert answer.json()["error"]["reason"] == "extension_disconnected"
        async with connected(server.port) as extension:
            assert (await http.post("/extension/reload")).json() == {"ok": True}
            await extension.next("extension.reload")


@pytest.mark.document("OT-endpoints-8")
@pytest.mark.requirement("OT-14")
@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b'{"plugin": "slack", "settings": {"url": "x"}}', 404, "not_found"),
        (b'{"plugin": "slack"}', 400, "invalid_arguments"),
        (b'{"plugin": "slack", "settings": []}', 400, "invalid_arguments"),
        (b'{"plugin": 1, "settings": {}}', 400, "invalid_arguments"),
        (b'{"plugin": "slack", "settings": {}, "more": 1}', 400, "invalid_arguments"),
        (b"[]", 400, "invalid_arguments"),
        (b'{"plugin": "slack", ', 400, "parse_error"),
        (b"\xff", 400, "parse_error"),
        (b"", 400, "parse_error"),
        (b'{"plugin":"p","settings":' + b'{"a":' * 10_000, 400, "invalid_request"),
        (b'{"plugin":"' + b"x" * 300_000 + b'","settings":{}}', 413, "too_large"),
    ],
)
async def test_settings_of_a_plugin_are_checked_before_they_are_accepted(
    body: bytes, status: int, reason: str
) -> None:
    async with served() as server, client(server.port) as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/plugin-settings", content=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (status, reason)
        assert (await http.post("/plugin-settings", content=body)).status_code == 415


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/health", "GET, HEAD"),
        ("/audit", "GET, HEAD"),
        ("/ws-info", "GET, HEAD"),
        ("/settings", "GET, HEAD"),
        ("/metrics", "GET, HEAD"),
        ("/reload", "POST"),
        ("/extension/reload", "POST"),
        ("/plugin-settings", "POST"),
        ("/sse", "GET"),
        ("/message", "POST"),
    ],
)
async def test_a_wrong_method_gets_the_allowed_one(path: str, allow: str) -> None:
    async with served() as server, client(server.port) as http:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            if method not in allow:
                answer = await http.request(method, path)
                assert (answer.status_code, answer.headers["allow"]) == (405, allow)
                assert answer.json()["error"]["reason"] == "method_not_allowed"


@pytest.mark.document("CB-errors-5")
async def test_an_internal_error_has_the_same_shape_without_its_details(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served() as server, client(server.port) as http:
        monkeypatch.setattr(server.app.report, "health", lambda: 1 / 0)
        answer = await http.get("/health")
        assert answer.status_code == 500
        assert answer.json()["error"]["reason"] == "internal"
        assert "Traceback" not in answer.text and "division" not in answer.text
