"""`examples/site`: a page whose tools an agent calls, served as its README line says."""

import json

import pytest

from tests.built_package import ROOT
from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.browsers.page_tools import tool, tool_name
from tests.support.static_site import serving

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]


async def test_an_agent_uses_the_tools_of_the_site_and_the_person_sees_it(
    agent: Agent, opened: Opener
) -> None:
    with serving(ROOT) as url:
        tab = await opened(f"{url}/examples/site/")
        found = await tool(agent, url, "add_book")
        assert found["description"].endswith("Put a book on the list.")
        text = await agent.text(tool_name(url, "add_book"), title="Dune", tabId=tab)
        assert json.loads(text)["books"] == ["The Mythical Man-Month", "Dune"]
        assert "Dune" in await agent.text("browser_read_page", tabId=tab)
        listing = await agent.text(tool_name(url, "list_books"), tabId=tab)
        assert json.loads(listing)["books"][-1] == "Dune"
