"""Real Chromium elsewhere, TLS on, the official MCP client at a server that it is linked to through
the proxy."""

import asyncio
import os
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest

from tabhub.tools import catalog, diagnostics, emulation, plugin_review, session_tools
from tabhub.tools.acting import acting, uploads
from tabhub.tools.capture import gif_creator, screenshots
from tabhub.tools.claude import browsing, computer
from tabhub.tools.composite import batch, plan, shortcuts
from tabhub.tools.data import browsing_data, site_data
from tabhub.tools.network import har, interception, records, requests
from tabhub.tools.reading import finding, inspection, reading, site_analysis
from tabhub.tools.tabs import groups, tabs, windows
from tests.support.browsers.far import FarSide, called, mcp_client, until_connected
from tests.support.browsers.managed import rig
from tests.support.eventually import PATIENCE, eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("PX-08")]

IDLE_SECONDS = float(os.environ.get("TABHUB_IDLE_SECONDS", "40"))
NOTES = Path(__file__).parents[2] / "plugins" / "fixtures" / "notes"
TRUSTING = "--browser-arg=--ignore-certificate-errors"
COUNTER = """
<title>Counter</title><button id=count>0</button><input id=box><input id=file type=file>
<script>
  count.onclick = () => { count.textContent = +count.textContent + 1; fetch("/held"); };
</script>
"""
CALLS: dict[ModuleType, list[tuple[str, dict[str, Any]]]] = {
    tabs: [("browser_get_tab_info", {})],
    reading: [("browser_read_page", {})],
    finding: [("browser_query_elements", {"selector": "#count"})],
    acting: [("browser_type_text", {"selector": "#box", "text": "far"})],
    uploads: [
        ("browser_upload_files", {"selector": "#file", "paths": ["given.txt"]}),
    ],
    gif_creator: [("gif_creator", {"action": "start_recording"})],
    inspection: [("browser_execute_script", {"code": "file.files[0].text()"})],
    site_analysis: [("plugin_analyze_site", {})],
    screenshots: [("browser_screenshot_tab", {}), ("browser_print_pdf", {})],
    windows: [("browser_list_windows", {})],
    groups: [("browser_list_tab_groups", {})],
    site_data: [("browser_get_storage", {})],
    browsing_data: [("browser_list_downloads", {})],
    interception: [("browser_intercept_requests", {}), ("browser_stop_intercepting", {})],
    emulation: [("browser_emulate_device", {"width": 400, "height": 300})],
    records: [("browser_get_console_logs", {})],
    requests: [("browser_get_network_requests", {})],
    har: [("browser_export_har", {})],
    browsing: [("tabs_context_mcp", {})],
    computer: [("computer", {"action": "screenshot"})],
    session_tools: [("permissions_check", {})],
    plan: [("update_plan", {"approach": ["look"], "domains": ["127.0.0.1"]})],
    shortcuts: [("shortcuts_list", {})],
    diagnostics: [("extension_get_state", {}), ("extension_get_logs", {})],
    plugin_review: [],
    batch: [("browser_batch", {"actions": [{"name": "browser_list_tabs", "input": {}}]})],
}
"""A call of each family; plugins are reviewed at the server and not in a browser."""


def page(site: Site) -> str:
    return f"{site.url}/html?body={quote(COUNTER)}"


def test_each_family_of_tools_is_called() -> None:
    names = {tool.name for module in CALLS for tool in getattr(module, "TOOLS", ())}
    names |= {tool for calls in CALLS.values() for tool, _ in calls}
    assert names >= {tool.name for tool in catalog.ALL}


async def test_every_family_of_tools_works_through_the_tunnel(
    own: Product, tmp_path: Path, site: Site
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "given.txt").write_text("bytes from afar")
    config = {"uploads": {"folders": [str(given)]}}
    side = FarSide(tmp_path / "far")
    with side.node() as (url, _), side.server(own, url, config=config) as port:
        async with side.browser(url), mcp_client(own, port) as client:
            status = await until_connected(own)
            assert [browser["remote"] for browser in status["browsers"]] == [True]
            opened = await called(client, "browser_open_tab", url=page(site))
            tab = {"tabId": opened["tabId"]}
            schemas = {one.name: one.input_schema for one in (await client.list_tools()).tools}
            results = {}
            for tool, arguments in (call for calls in CALLS.values() for call in calls):
                own_tab = tab if "tabId" in schemas[tool].get("properties", {}) else {}
                results[tool] = await called(client, tool, **own_tab, **arguments)
            assert results["browser_execute_script"] == {"value": "bytes from afar"}
    assert side.token() not in own.output


async def test_a_click_counts_once_when_its_node_dies_in_the_middle(
    own: Product, tmp_path: Path, site: Site
) -> None:
    side = FarSide(tmp_path / "far")
    with side.node("one") as (first, process), side.node("two") as (second, _):
        limits = {"limits": {"callSeconds": PATIENCE}}
        with side.server(own, first, second, config=limits) as port:
            async with side.browser(first, second), mcp_client(own, port) as client:
                await until_connected(own)
                opened = await called(client, "browser_open_tab", url=page(site))
                tab = {"tabId": opened["tabId"]}
                with site.holding():
                    clicking = asyncio.create_task(
                        called(client, "browser_click_element", selector="#count", **tab)
                    )
                    await eventually(lambda: count_of(client, tab), until=lambda found: found == 1)
                    process.kill()
                    await asyncio.to_thread(process.wait)
                assert (await clicking)["trusted"]
                assert await count_of(client, tab) == 1


async def test_a_click_counts_once_when_the_worker_dies_in_the_middle(
    own: Product, tmp_path: Path, site: Site
) -> None:
    side = FarSide(tmp_path / "far")
    with side.node() as (url, _), side.server(own, url) as port:
        async with side.browser(url) as cdp, mcp_client(own, port) as client:
            await until_connected(own)
            opened = await called(client, "browser_open_tab", url=page(site))
            tab = {"tabId": opened["tabId"]}
            with site.holding():
                clicking = asyncio.create_task(
                    client.call_tool("browser_click_element", {"selector": "#count", **tab})
                )
                await eventually(lambda: count_of(client, tab), until=lambda found: found == 1)
                await cdp.kill_worker()
                await cdp.open("about:blank")
                result = await clicking
            assert result.is_error and "page_may_have_received" in str(result)

            async def count_again() -> int:
                code = {"code": "+count.textContent", **tab}
                answer = await client.call_tool("browser_execute_script", code)
                return -1 if answer.is_error else int(answer.structured_content["value"])

            counted = await eventually(count_again, until=lambda found: found >= 0)
            assert counted == 1


async def test_a_local_agent_works_beside_a_remote_one(
    own: Product, tmp_path: Path, site: Site
) -> None:
    side = FarSide(tmp_path / "far")
    with side.node() as (url, _), side.server(own, url) as port:
        async with rig(here_folder(tmp_path), {}, TRUSTING) as here, here.agent("local") as local:
            await side.configure(here.cdp, url)
            await until_connected(own)
            async with mcp_client(own, port) as client:
                opened = await called(client, "browser_open_tab", url=page(site))
                theirs = {"tabId": opened["tabId"]}
                ours = {"tabId": (await local.call("browser_open_tab", url=page(site)))["tabId"]}
                click = {"selector": "#count"}
                for _ in range(5):
                    await asyncio.gather(
                        called(client, "browser_click_element", **click, **theirs),
                        local.call("browser_click_element", **click, **ours),
                    )
                code = "+count.textContent"
                assert (await local.call("browser_execute_script", code=code, **ours))["value"] == 5
                assert await count_of(client, theirs) == 5
                local_browsers = here.product.status()["browsers"]
                assert [browser["remote"] for browser in local_browsers] == [False]


@pytest.mark.requirement("OT-31")
async def test_a_plugin_of_the_far_server_runs_in_a_page(
    own: Product, tmp_path: Path, site: Site
) -> None:
    side = FarSide(tmp_path / "far")
    config = {"localPlugins": [str(NOTES)]}
    with side.node() as (url, _), side.server(own, url, config=config) as port:
        reviewed = await asyncio.to_thread(
            own.run, "plugin", "review", "notes", "--level", "auto", "--yes"
        )
        assert reviewed.returncode == 0, reviewed.stderr
        async with side.browser(url), mcp_client(own, port) as client:
            await until_connected(own)
            await called(client, "browser_open_tab", url=page(site))
            result = await called(client, "notes_echo", text="far")
            assert "far" in str(result)


@pytest.mark.slow
async def test_a_call_works_after_a_long_silence(own: Product, tmp_path: Path, site: Site) -> None:
    """`make idle` waits for ten minutes; a worker without messages is stopped after half a one."""
    side = FarSide(tmp_path / "far")
    with side.node() as (url, _), side.server(own, url) as port:
        async with side.browser(url) as cdp, mcp_client(own, port) as client:
            await until_connected(own)
            opened = await called(client, "browser_open_tab", url=page(site))
            worker = await cdp.worker()
            await asyncio.sleep(IDLE_SECONDS)
            assert await count_of(client, {"tabId": opened["tabId"]}) == 0
            assert await cdp.worker() == worker


def here_folder(folder: Path) -> Path:
    made = folder / "here"
    made.mkdir()
    return made


async def count_of(client: Any, tab: dict[str, int]) -> int:
    code = "+count.textContent"
    found: int = (await called(client, "browser_execute_script", code=code, **tab))["value"]
    return found
