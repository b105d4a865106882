"""Code for an allowed site does not run on a denied one that the tab goes to meanwhile."""

from pathlib import Path
from typing import Any

import pytest

from tests.attacks.rounds import ROUNDS, at_load, load, long_enough
from tests.support.agent import Agent
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, long_enough]

LOOK = "location.host + document.documentElement.innerHTML"
DISGUISES = (
    rf"'\';' ; {LOOK}",
    f'\'use strict\';\n"\\";" ; {LOOK}',
    f"/* ' */ 'x'\n;{LOOK}",
    f"<!-- '\n{LOOK}",
    f"return {LOOK}",
    f"await 0; {LOOK}",
)
"""Code that begins so that a check in front of it could become part of something else."""
LOST = {"permission_off", "navigated_away", "tab_url_mismatch"}


@at_load
async def test_no_code_reads_a_denied_page(tmp_path: Path, site: Site, busy: bool) -> None:
    denied = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {denied: "off"}}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent, load(busy):
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        for number in range(ROUNDS):
            await _return_to(agent, site)
            leave = f"setTimeout(() => location.href = '{site.other}/form.html', {number % 25}); 1"
            await agent.call("browser_execute_script", code=leave)
            reason = ""
            while reason != "permission_off":
                code = DISGUISES[number % len(DISGUISES)]
                found = await agent.result("browser_execute_script", tabId=tab, code=code)
                assert denied not in str(found["structuredContent"].get("value"))
                reason = _reason(found)
                assert not reason or reason in LOST


@at_load
async def test_honest_code_is_not_refused(tmp_path: Path, site: Site, busy: bool) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent, load(busy):
        await agent.call("browser_open_tab", url="about:blank")
        for number in range(ROUNDS):
            page = site.url if number % 2 else site.other
            await agent.call("browser_navigate_tab", url=f"{page}/form.html?{number}")
            for _ in range(2):
                found = await agent.call("browser_execute_script", code="location.href")
                assert found["value"] == f"{page}/form.html?{number}"


async def test_a_blank_tab_of_a_denied_page_is_not_read(tmp_path: Path, site: Site) -> None:
    """A blank document has the data of the page that opened it."""
    denied = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {denied: "off"}}}
    write = "localStorage.kept = 'inside'; document.write('inside'); location.href = 'about:blank'"
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body=<p>outside")
        leave = (
            f"setTimeout(() => location.href = `{site.other}/html?body=<script>{write}</script>`)"
        )
        await agent.call("browser_execute_script", code=leave)
        for _ in range(ROUNDS):
            code = "document.body.innerText + localStorage.kept"
            found = await agent.result("browser_execute_script", code=code)
            assert "inside" not in str(found["structuredContent"].get("value"))
        # The refused calls are faster than the page, which may not have left yet.
        shown = await eventually(
            lambda: agent.result("browser_get_tab_info"),
            until=lambda result: not result.get("isError"),
        )
        last = await agent.result("browser_execute_script", code=code)
        assert "about:blank" in str(shown) and {_reason(found), _reason(last)} <= LOST


async def _return_to(agent: Agent, site: Site) -> None:
    """Show the allowed page; an earlier navigation may still be running, and win."""
    await eventually(
        lambda: agent.result("browser_navigate_tab", url=site.page("form")),
        until=lambda found: not found.get("isError"),
    )


def _reason(result: dict[str, Any]) -> str:
    reason: str = result["structuredContent"].get("error", {}).get("reason", "")
    return reason
