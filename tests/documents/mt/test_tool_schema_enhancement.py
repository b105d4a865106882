"""Every tool gets an optional `tabId`, which the page neither declares nor sees."""

import pytest

from tests.documents.mt.app import ORIGIN, TAB_A, TAB_B, app
from tests.support.browsers.page_tools import tool_name
from tests.support.browsers.worker import tool

pytestmark = pytest.mark.requirement("MT-04")
ORIGINAL = {"type": "object", "properties": {"username": {"type": "string"}}}


@pytest.mark.document("MT-schema-1", "MT-schema-2")
async def test_the_schema_of_a_tool_gets_an_optional_tab_id() -> None:
    async with app() as here:
        await here.worker.register(TAB_A, tool("get_user", inputSchema=ORIGINAL))
        schema = (await here.tools())["get_user"]["inputSchema"]
        added = schema["properties"].pop("tabId")
        assert schema == ORIGINAL
        assert added["type"] == "string"
        assert added["description"].startswith("Optional: ")
        assert "list_browser_tabs" in added["description"] and "in front" in added["description"]


@pytest.mark.document("MT-schema-3")
async def test_the_page_gets_its_own_arguments_only() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.worker.register(tab, tool("get_user", inputSchema=ORIGINAL))
        sent = await here.call("get_user", username="ada", tabId=TAB_A)
        assert sent["params"]["args"] == {"username": "ada"}


@pytest.mark.document("MT-schema-5")
async def test_a_tab_id_that_is_no_id_is_refused_and_reaches_no_page() -> None:
    async with app() as here:
        await here.open(TAB_A, "get_user")
        result = await here.agent.result(tool_name(ORIGIN, "get_user"), tabId=["a"])
        assert result["structuredContent"]["error"]["reason"] == "invalid_arguments"
        assert await here.routed("get_user") == TAB_A
