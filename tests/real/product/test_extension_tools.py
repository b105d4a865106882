"""The extension's own tools, in a separate browser since they restart it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.real.looking import html
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.browsers.panel import panel_of
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-40")]
SECRET_WORD = "xylophone"
RESTARTS = ("extension_reload", "extension_force_reconnect")
ALLOWED = {"permissions": {"tools": dict.fromkeys(RESTARTS, "auto")}}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Rig]:
    async with rig(tmp_path, ALLOWED) as found:
        yield found


async def test_the_extension_reports_its_status(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        url = html(site, "<button onclick='alert(1)'>ask</button>")
        tab = (await ann.call("browser_open_tab", url=url))["tabId"]
        before = await ann.call("extension_get_state")
        assert (before["kind"], before["dialogTabs"]) == ("managed", [])
        await ann.call("browser_emulate_device", width=300, height=300)
        await ann.call("browser_click_element", selector="button")
        state = await ann.call("extension_get_state")
        version = await here.cdp.evaluate(
            await here.cdp.worker(), "chrome.runtime.getManifest().version"
        )
        assert state["version"] == version
        assert state["debuggedTabs"] == [tab] and state["dialogTabs"] == [tab]
        assert "emulation" in state["heldTabs"][str(tab)]
        assert url not in json.dumps(state)


async def test_the_log_has_commands_and_no_page_content(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        await ann.call("browser_open_tab", url=html(site, f"<title>{SECRET_WORD}</title>"))
        missing = {"selector": f"#{SECRET_WORD}"}
        for _ in range(5):
            assert await reason(ann, "browser_click_element", **missing) == "element_not_found"
        entries = (await ann.call("extension_get_logs"))["entries"]
        assert "page.click: element_not_found" in [entry["message"] for entry in entries]
        assert SECRET_WORD not in json.dumps(entries)
        assert here.product.secret not in json.dumps(entries)
        last = (await ann.call("extension_get_logs", limit=1))["entries"]
        assert last == entries[-1:]
        later = await ann.call("extension_get_logs", since=last[0]["time"] + 1)
        assert later["entries"] == []
        assert (await ann.call("extension_get_logs", source="offscreen"))["entries"] == []
        assert await reason(ann, "extension_get_logs", level="loud") == "invalid_arguments"
        result = await ann.call("extension_get_logs", level="info", maxTokens=50)
        assert 0 < len(result["entries"]) < result["total"]


async def test_the_log_survives_a_worker_restart(here: Rig, site: Site) -> None:
    async with here.agent("ann") as ann:
        # Content scripts of its pages restart the worker.
        await ann.call("browser_open_tab", url=html(site, "page"))
        kept = "chrome.storage.session.get('journal').then(({journal}) => journal?.length ?? 0)"
        await eventually(lambda: here.cdp.in_worker(kept))
        await here.cdp.kill_worker()
        await eventually(
            lambda: _messages(ann), until=lambda found: found.count("the worker has started") >= 2
        )


async def _messages(ann: Agent) -> list[str]:
    result = await ann.result("extension_get_logs")
    entries = result["structuredContent"].get("entries", [])
    return [entry["message"] for entry in entries]


async def test_the_result_says_whether_a_panel_is_open(here: Rig) -> None:
    async with here.agent("ann") as ann:
        assert (await ann.call("extension_get_side_panel"))["open"] is False
        async with panel_of(here.cdp):
            result = await ann.call("extension_get_side_panel")
            assert result == {"open": True, "panels": 1, "inTabs": 1}


async def test_an_unknown_plugin_or_connection_is_an_error(here: Rig) -> None:
    async with here.agent("ann") as ann:
        assert await reason(ann, "extension_check_adapter", plugin="mail") == "not_found"
        wrong = {"connectionId": "nobody"}
        for tool in ("extension_get_state", "extension_reload", "extension_force_reconnect"):
            assert await reason(ann, tool, **wrong) == "invalid_arguments"


@pytest.mark.parametrize("tool", RESTARTS)
async def test_ending_calls_of_other_agents_needs_approval(tmp_path: Path, tool: str) -> None:
    async with rig(tmp_path, {}) as here, here.agent("ann") as ann:
        before = await ann.call("extension_get_state")
        assert await reason(ann, tool) == "approval_unavailable"
        assert (await ann.call("extension_get_state"))["connectedAt"] == before["connectedAt"]


@pytest.mark.parametrize("tool", RESTARTS)
async def test_the_extension_reconnects_and_agents_keep_their_tabs(
    here: Rig, site: Site, tool: str
) -> None:
    async with here.agent("ann") as ann:
        tab = (await ann.call("browser_open_tab", url=html(site, "<p>stays</p>")))["tabId"]
        before = await ann.call("extension_get_state")
        result = await ann.call(tool)
        after = await ann.call("extension_get_state")
        assert result["connectionId"] == before["connectionId"]
        assert after["connectedAt"] > before["connectedAt"]
        assert (after["startedAt"] > before["startedAt"]) is (tool == "extension_reload")
        assert "stays" in await ann.text("browser_get_tab_content", tabId=tab)
