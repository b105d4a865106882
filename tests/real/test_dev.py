"""`tabhub start --dev` with a real browser: the extension comes back when it is cut off."""

import asyncio
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.world import world

pytestmark = pytest.mark.real_browser


@pytest.mark.parametrize("action", ["simulate_disconnect", "reload_extension"])
async def test_a_browser_that_is_cut_off_comes_back_with_the_agents_tabs(
    tmp_path: Path, site: Site, action: str
) -> None:
    async with world(tmp_path, {}, "--dev") as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        before = here.product.wait_browser()["browsers"][0]["connectedAt"]
        await agent.call("dev_utils", action=action)
        await asyncio.to_thread(here.product.wait_browser, after=before)
        assert "Email" in await agent.text("browser_read_page", tabId=tab)
