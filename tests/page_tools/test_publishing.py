"""Which page tools agents see, published through a double of the extension."""

import asyncio
from typing import Any

import pytest

from tests.page_tools.shop import SEARCH, answering, tools_of
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.serving import client, served


@pytest.mark.requirement("MB-05")
@pytest.mark.document("MB-messages-4", "MB-registration-13", "MB-registration-14")
async def test_updates_replace_an_empty_list_clears_and_invalid_tools_are_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1), tab(2))
        nameless = {"description": "no name", "inputSchema": {}}
        shapeless = {"name": "a", "description": "no schema"}
        await extension.publish(1, page_tool("search"), nameless, shapeless, kind="mcp-b")
        assert {*await tools_of(agent)} == {SEARCH}
        assert "has no name" in caplog.text and "the tool a has no schema" in caplog.text
        document = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await extension.notify("browser/updateTools", {**document, "tools": [page_tool("cart")]})
        await extension.settled()
        assert {*await tools_of(agent)} == {"website_tool_shop_example_cart"}
        await extension.notify("browser/updateTools", {**document, "tools": []})
        await extension.settled()
        assert await tools_of(agent) == {}
        await extension.publish(1, page_tool("search"))
        await extension.notify("browser/unregisterTools", document)
        await extension.settled()
        assert await tools_of(agent) == {}


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-extensibility-3", "MB-transport-6", "MB-transport-9", "MB-security-11")
async def test_invalid_messages_are_logged_and_change_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        for method, params in (
            ("browser/unknown", {}),
            ("browser/registerTools", {"tabId": "1"}),
            ("browser/registerTools", {"tabId": 99, "origin": "https://x.example", "tools": []}),
            ("browser/updateTools", {"tabId": 1, "documentId": "forged", "tools": []}),
            ("browser/unregisterTools", {"tabId": 1, "documentId": "forged"}),
        ):
            await extension.notify(method, params)
        await extension.settled()
        assert {*await tools_of(Agent(http))} == {SEARCH}
    assert "browser/unknown" in caplog.text and "There is no tab 99" in caplog.text


async def test_a_page_that_closes_with_its_tab_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        await extension.ask("tab.stateChanged", {"tabId": 1, "state": "closed"})
        document = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await extension.notify("browser/unregisterTools", document)
        await extension.settled()
        assert await tools_of(Agent(http)) == {}
    assert "unregisterTools" not in caplog.text and "There is no tab" not in caplog.text


@pytest.mark.requirement("MB-04")
@pytest.mark.document("MB-capabilities-1")
@pytest.mark.document("MB-capabilities-hub")
async def test_the_capabilities_of_pages_are_declared_in_both_eras() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)

        async def declared() -> dict[str, Any]:
            capabilities = (await agent.post("server/discover")).json()["result"]["capabilities"]
            browser: dict[str, Any] = capabilities["browser"]
            return browser

        alone = {"multiTabSupport": True, "cacheSupported": False, "elicitation": False}
        assert await declared() == alone
        await extension.sync(tab(1), tab(2))
        await extension.publish(1, page_tool("a"))
        await extension.publish(2, page_tool("b", annotations={"cache": True}))
        both = {"multiTabSupport": True, "cacheSupported": True, "elicitation": False}
        assert await declared() == both
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        accept = {"Accept": "application/json, text/event-stream"}
        old = (await http.post("/mcp", json=body, headers=accept)).json()["result"]
        assert old["capabilities"]["browser"] == both


@pytest.mark.document("MB-flows-8")
async def test_tools_outlast_a_reconnection_of_the_link() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            await extension.publish(1, page_tool("search"))
        assert {*await tools_of(agent)} == {SEARCH}
        calling = asyncio.create_task(agent.text(SEARCH))
        async with connected(server.port) as extension:
            extension.page_tools["search"] = answering("back")
            await extension.sync(tab(1))
            await extension.publish(1, page_tool("search"))
            assert await calling == "back"


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MB-hub-1")
async def test_every_endpoint_lists_a_page_tool_and_calls_it() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        extension.page_tools["search"] = answering("found")
        tool_entry = (await http.get(f"/tools/{SEARCH}")).json()
        assert {*tool_entry["inputSchema"]["properties"]} == {"word", "tabId"}
        listed = (await http.get("/tools?domain=shop.example")).json()["tools"]
        assert [tool["name"] for tool in listed] == [SEARCH]
        called = await http.post(f"/tools/{SEARCH}/call", json={"arguments": {"word": "x"}})
        assert called.json()["content"][0]["text"] == "found"
        gateway = Agent(http, "/mcp/gateway")
        listed_by_name = await gateway.call("tabhub_list_tools", names=[SEARCH])
        assert {*listed_by_name["tools"][0]["inputSchema"]["properties"]} == {"word", "tabId"}
        found = await gateway.call("tabhub_list_tools", query="search", domain="shop.example")
        assert found["tools"][0]["name"] == SEARCH
        text = await gateway.text("tabhub_call", name=SEARCH, arguments={})
        assert text == "found"
        calls = [{"name": SEARCH, "input": {"word": "x"}}]
        batch = await Agent(http).result("browser_batch", actions=calls)
        assert not batch.get("isError"), batch
        assert (await extension.state())["tools"][-1]["name"] == SEARCH


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-security-1")
async def test_a_setting_that_excludes_a_site_removes_its_tools_at_once() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        server.app.settings.page_origins = ["https://bank.example"]
        server.app.pages.take_settings()
        assert await tools_of(Agent(http)) == {}
