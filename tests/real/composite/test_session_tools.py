"""dev_utils, turns and plans in a real browser, and a browser that reconnects."""

import asyncio
from pathlib import Path

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import rig
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]


@pytest.mark.parametrize("action", ["simulate_disconnect", "reload_extension"])
async def test_a_disconnected_browser_reconnects_with_the_agents_tabs(
    tmp_path: Path, site: Site, action: str
) -> None:
    async with rig(tmp_path, {}, "--dev") as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        before = here.product.wait_browser()["browsers"][0]["connectedAt"]
        await agent.call("dev_utils", action=action)
        await asyncio.to_thread(here.product.wait_browser, after=before)
        assert "Email" in await agent.text("browser_read_page", tabId=tab)


async def test_without_dev_mode_the_call_is_refused_and_the_browser_stays_connected(
    agent: Agent,
) -> None:
    for action in ("ping", "simulate_disconnect"):
        with pytest.raises(ToolFailed, match="--dev") as off:
            await agent.call("dev_utils", action=action)
        assert off.value.reason == "permission_off"
    assert (await agent.call("browser_list_tabs"))["tabs"]


async def test_a_turn_a_plan_and_their_errors_in_the_agents_own_browser(agent: Agent) -> None:
    assert await agent.call("turn_answer_complete") == {"started": False}
    await agent.call("turn_answer_start")
    await agent.call("browser_list_tabs")
    result = await agent.call("turn_answer_complete", summary="Listed.")
    assert (result["started"], result["calls"]) == (True, 1)
    plan = await agent.call("update_plan", domains=["a.example"], plan=["look", "leave"])
    assert plan["status"] == "auto-approved"
    with pytest.raises(ToolFailed) as wrong:
        await agent.call("update_plan", domains=["chrome://settings"], approach=["look"])
    assert wrong.value.reason == "invalid_arguments"
