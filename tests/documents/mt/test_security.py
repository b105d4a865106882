"""Ids of tabs are for routing; knowing one opens nothing."""

import pytest

from tests.documents.mt.app import ORIGIN, TAB_A
from tests.support.agent import Agent
from tests.support.browsers.page_tools import tool_name
from tests.support.browsers.worker import admitted, connecting, tool
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("MT-01")


@pytest.mark.document("MT-security-1")
async def test_whoever_knows_an_id_neither_gets_the_calls_of_the_tab_nor_connects() -> None:
    async with (
        served() as server,
        admitted(server, ORIGIN) as worker,
        admitted(server, "https://evil.example") as evil,
        client(server.port) as http,
    ):
        await worker.register(TAB_A, tool("get_page_info"), url=f"{ORIGIN}/")
        stolen = await evil.register(TAB_A, tool("get_page_info"), url=f"{ORIGIN}/")
        assert "belongs to another site" in stolen["error"]["message"]
        for message in ("browser/unregisterTools", "browser/activeTab"):
            refused = await evil.ask(message, tabId=TAB_A)
            assert refused["error"]["data"]["reason"] == "tab_not_found"
        name = tool_name(ORIGIN, "get_page_info")
        assert await worker.answered(Agent(http).text(name, tabId=TAB_A)) == TAB_A
        async with connecting(server.port, ORIGIN, id=TAB_A) as stranger:
            assert (await stranger.next())["method"] == "page/unpaired"
