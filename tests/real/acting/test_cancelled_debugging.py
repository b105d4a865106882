"""The extension stops debugging a tab once the person cancels it in the browser's bar."""

import pytest

from tests.real.cancelling import press_cancel
from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


async def test_a_tab_is_not_debugged_again_after_the_person_cancelled(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("form"))
    other = await opened(site.page("targets"))
    await agent.call("browser_click_element", selector="[name=terms]", tabId=tab)
    await press_cancel(cdp, tab)
    refused = await agent.result("browser_click_element", selector="[name=terms]", tabId=tab)
    assert refused["structuredContent"]["error"]["reason"] == "needs_person"
    assert "Cancel" in refused["content"][0]["text"]
    assert "tabhub config set untrustedInput true" in refused["content"][0]["text"]
    code = await agent.result("browser_execute_script", code="1", tabId=tab)
    assert code["structuredContent"]["error"]["reason"] == "needs_person"
    assert "untrustedInput" not in code["content"][0]["text"], (
        "no script replaces the debugger here"
    )
    assert "Registration" in await agent.text("browser_read_page", tabId=tab)
    await agent.call("browser_click_element", selector="#plain", tabId=other)
    page = await cdp.page(site.page("form"))
    assert await cdp.evaluate(page, "document.querySelector('[name=terms]').checked") is True
