"""`/metrics`, read as Prometheus reads it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, RateSettings, Settings
from tests.agents.mcp.clients import connect
from tests.agents.mcp.sse_clients import streaming
from tests.audit.events import event
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

Samples = dict[tuple[str, ...], float]
pytestmark = pytest.mark.requirement("TH-43")


async def _scraped(http: httpx.AsyncClient) -> Samples:
    """All samples by name and label values, in the order of the label names."""
    answer = await http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples: Samples = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            key = (sample.name, *(sample.labels[name] for name in sorted(sample.labels)))
            assert key not in samples
            samples[key] = sample.value
    return samples


async def test_calls_are_counted_by_tool_and_outcome_and_timed() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        await agent.call("permissions_check", tool="navigate")
        await agent.call("permissions_check", tool="computer")
        await agent.result("browser_list_tabs")
        await agent.result("browser_list_tabs", surplus=1)
        for number in range(5):
            await agent.post("tools/call", {"name": f"made_up_{number}", "arguments": {}})
        samples = await _scraped(http)
    calls = "tabhub_calls_total"
    assert samples[calls, "ok", "permissions_check"] == 2
    assert samples[calls, "extension_disconnected", "browser_list_tabs"] == 1
    assert samples[calls, "invalid_arguments", "browser_list_tabs"] == 1
    assert samples[calls, "unknown_tool", "unknown"] == 5
    assert samples["tabhub_call_seconds_count", "permissions_check"] == 2
    assert samples["tabhub_call_seconds_sum", "permissions_check"] > 0
    assert samples["tabhub_call_seconds_bucket", "+Inf", "permissions_check"] == 2
    assert not any("made_up" in part for key in samples for part in key)


async def test_a_histogram_is_cumulative_and_its_bounds_are_inclusive() -> None:
    async with served() as server, client(server.port) as http:
        for milliseconds in (0.5, 1, 7, 200_000):
            server.app.audit.record(event(tool="t", plugin="browser", duration_ms=milliseconds))
        samples = await _scraped(http)
    buckets = {key[1]: value for key, value in samples.items() if key[0].endswith("_bucket")}
    assert (buckets["0.001"], buckets["0.005"], buckets["0.01"]) == (2, 2, 3)
    assert (buckets["120.0"], buckets["+Inf"]) == (3, 4)


async def test_names_chosen_by_others_do_not_become_labels() -> None:
    async with served() as server, client(server.port) as http:
        for number in range(50):
            server.app.audit.record(event(tool=f"t{number}", plugin=f"site{number}.example"))
        samples = await _scraped(http)
    assert samples["tabhub_calls_total", "ok", "other"] == 50
    assert len([key for key in samples if key[0] == "tabhub_calls_total"]) == 1


async def test_links_and_sessions_are_counted_by_kind() -> None:
    async with served() as server, client(server.port) as http, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with connected(server.port, "profile-b") as other_extension:
            await other_extension.sync(tab(2), kind="personal")
            await connect(http)
            await Agent(http).call("permissions_check", tool="navigate")
            async with streaming(http), streaming(http):
                samples = await _scraped(http)
    assert samples["tabhub_links", "managed"] == 1
    assert samples["tabhub_links", "personal"] == 1
    assert samples["tabhub_sessions", "mcp"] == 1
    assert samples["tabhub_sessions", "sse"] == 2
    assert samples["tabhub_sessions", "token"] == 1


async def test_running_and_waiting_calls_are_counted() -> None:
    settings = Settings(permissions=PermissionSettings(tools={"browser_read_page": "ask"}))
    async with (
        served(settings) as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1), panels=1)
        waiting = asyncio.create_task(Agent(http).result("browser_read_page", tabId=1))
        await extension.next("confirmation.request")
        sent = asyncio.create_task(Agent(http).result("browser_get_tab_info", tabId=1))
        await extension.next("tool.dispatch")
        samples = await _scraped(http)
        health = (await http.get("/health")).json()
        for call in (waiting, sent):
            call.cancel()
        await asyncio.wait({waiting, sent})
    assert samples["tabhub_calls_in_flight",] == 2
    assert samples["tabhub_commands_queued",] == 1
    assert samples["tabhub_approvals_waiting",] == health["approvalsWaiting"] == 1
    assert [one["isDefault"] for one in health["browsers"]] == [True]


async def test_refusals_and_failed_writes_are_counted(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    limits = RateSettings(sessions_per_minute=1)
    async with served(home=home, rates=limits) as server, client(server.port) as http:
        async with streaming(http):
            for _ in range(3):
                assert (await http.get("/sse")).status_code == 429
        server.app.audit.close()
        home.audit.unlink()
        home.audit.mkdir()
        server.app.audit.record(event())
        samples = await _scraped(http)
    assert samples["tabhub_throttled_total", "session"] == 3
    assert samples["tabhub_throttled_total", "admin"] == 0
    assert samples["tabhub_audit_waiting",] == 1
    assert samples["tabhub_audit_write_failures_total",] == 0
    assert samples["tabhub_uptime_seconds",] > 0


async def test_reading_it_needs_a_client_token(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("prometheus")
    async with served(home=home) as server:
        async with client(server.port, token) as http:
            assert await _scraped(http)
        async with client(server.port, None) as http:
            assert (await http.get("/metrics")).status_code == 401


def test_the_library_is_loaded_only_for_a_request() -> None:
    code = "import sys, tabhub.server.app; print('prometheus_client' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"
