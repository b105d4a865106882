"""A person who ends debugging by the browser's bar is obeyed."""

import pytest

from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.cdp import Cdp
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


async def test_a_tab_in_which_the_person_pressed_cancel_is_not_debugged_again(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("form"))
    other = await opened(site.page("targets"))
    await agent.call("browser_click_element", selector="[name=terms]", tabId=tab)
    # There is no bar in a headless browser: the worker hears what it would hear of it.
    press = f"""chrome.debugger.detach({{tabId: {tab}}}).catch(() => {{}}).then(() =>
      chrome.debugger.onDetach.dispatch({{tabId: {tab}}}, "canceled_by_user"))"""
    await cdp.evaluate(await cdp.worker(), press)
    refused = await agent.result("browser_click_element", selector="[name=terms]", tabId=tab)
    assert refused["structuredContent"]["error"]["reason"] == "needs_person"
    assert "Cancel" in refused["content"][0]["text"]
    assert await reason(agent, "browser_execute_script", code="1", tabId=tab) == "needs_person"
    assert "Registration" in await agent.text("browser_read_page", tabId=tab)
    await agent.call("browser_click_element", selector="#plain", tabId=other)
    page = await cdp.page(site.page("form"))
    assert await cdp.evaluate(page, "document.querySelector('[name=terms]').checked") is True
