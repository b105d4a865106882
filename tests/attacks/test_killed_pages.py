"""A page whose process is killed keeps no call waiting, and its tab works again."""

import os
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig, started
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
WAIT = "await new Promise(() => {})"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("browser_read_page", {}),
    ("browser_click_element", {"selector": "#mail"}),
    ("browser_screenshot_tab", {}),
    ("browser_execute_script", {"code": "1"}),
    ("browser_list_resources", {}),
    ("browser_get_css_coverage", {}),
    ("browser_intercept_requests", {}),
)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Rig]:
    async with rig(tmp_path, {"limits": {"callSeconds": 600, "maxCallSeconds": 900}}) as found:
        yield found


def renderers(profile: Path) -> list[int]:
    """The processes that render pages of a browser, without its extensions."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        is_page = "--type=renderer" in command and "--extension-process" not in command
        if is_page and str(profile) in command:
            found.append(int(folder.name))
    return found


async def kill_pages(here: Rig) -> None:
    for pid in renderers(here.product.home / "profile"):
        os.kill(pid, signal.SIGKILL)


async def is_gone(here: Rig, tab: int) -> bool:
    code = f"chrome.tabs.get({tab}).then(({{status}}) => status)"
    return bool(await here.cdp.in_worker(code) == "unloaded")


async def require_crashed(agent: Agent, tool: str, arguments: dict[str, Any]) -> None:
    """The limit of a call is ten minutes here, so only an answer at once ends the test in time."""
    result = await agent.result(tool, **arguments)
    assert result["structuredContent"]["error"]["reason"] == "navigated_away", result
    assert "crashed" in result["content"][0]["text"]


@pytest.mark.timeout(120)
async def test_a_killed_page_is_said_at_once_and_the_tab_works_again(here: Rig, site: Site) -> None:
    async with here.agent("robot") as agent:
        for again in ("reload", site.page("form")):
            tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
            running = started(agent.result("browser_execute_script", code=WAIT, tabId=tab))
            await eventually(lambda: _runs(agent))
            await kill_pages(here)
            ended = await running
            assert ended["structuredContent"]["error"]["reason"] == "navigated_away"
            await eventually(partial(is_gone, here, tab))
            for tool, arguments in CALLS:
                await require_crashed(agent, tool, {**arguments, "tabId": tab})
            await agent.call("browser_navigate_tab", url=again, tabId=tab)
            await agent.call("browser_click_element", selector="#mail", tabId=tab)


async def _runs(agent: Agent) -> bool:
    state = await agent.result("extension_get_state")
    return bool(state["structuredContent"]["debuggedTabs"])


@pytest.mark.timeout(120)
async def test_a_page_that_was_never_used_and_crashed_is_said_too(here: Rig, site: Site) -> None:
    async with here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        await here.cdp.in_worker(f"chrome.debugger.detach({{tabId: {tab}}}).catch(() => 0)")
        await kill_pages(here)
        await eventually(lambda: is_gone(here, tab))
        await require_crashed(agent, "browser_read_page", {"tabId": tab})
        await here.cdp.kill_worker()
        # Its content scripts wake the worker.
        await here.cdp.open(site.page("form"))
        await eventually(lambda: _is_back(agent))
        await require_crashed(agent, "browser_read_page", {"tabId": tab})
        await agent.call("browser_navigate_tab", url="reload", tabId=tab)
        assert "Email" in await agent.text("browser_read_page", tabId=tab)


async def _is_back(agent: Agent) -> bool:
    return not (await agent.result("extension_get_state")).get("isError")
