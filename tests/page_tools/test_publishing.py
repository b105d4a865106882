"""Which page tools agents see, published through a double of the extension."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.page_tools.persistence import forget_origins
from tests.page_tools.shop import SEARCH, answering, tools_of
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import ONE, admitted, tool
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


@pytest.mark.document("MB-security-probing", "MB-security-1")
async def test_the_extension_learns_which_origins_may_publish_and_each_change(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path).create()
    async with served(Settings(page_origins=["https://a.example"]), home=home) as server:
        async with connected(server.port) as extension, client(server.port) as http:
            assert extension.greeting["pageOrigins"] == ["https://a.example"]
            keys.set_value(home, ("pageOrigins",), ["https://*.example"])
            for _ in range(2):
                assert (await http.post("/reload")).status_code == 200
            assert (await http.post("/extension/reload")).status_code == 200
            told = []
            while (message := await extension.received.get())["method"] != "extension.reload":
                told += [message["params"]] if message["method"] == "pages.origins" else []
            # The second reload changed nothing, so it was sent once.
            assert told == [{"pageOrigins": ["https://*.example"]}]


async def test_registering_changing_and_removing_tools_is_audited() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        for tools in ([page_tool("a")], [page_tool("a")], [page_tool("a", description="Other.")]):
            await extension.publish(1, *tools)
        page = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await extension.notify("browser/unregisterTools", page)
        await extension.settled()
        found = [entry["tool"].rpartition("/") for entry in server.app.audit.entries()]
    notes = [word for room, _, word in reversed(found) if room == "browser"]
    assert notes == ["registerTools", "updateTools", "unregisterTools"]


async def test_a_paired_page_publishes_whatever_the_extension_may_take_from_pages() -> None:
    settings = Settings(page_origins=["https://other.example"])
    async with served(settings) as server, admitted(server) as worker, client(server.port) as http:
        await worker.register(ONE, tool("pay"))
        assert [*await tools_of(Agent(http))] == ["website_tool_shop_example_pay"]
        server.app.pages.take_settings()
        assert [*await tools_of(Agent(http))] == ["website_tool_shop_example_pay"]


async def test_a_page_cannot_claim_the_tab_of_another_sites_worker() -> None:
    evil = {"origin": "https://evil.example", "url": "https://evil.example/", "workerId": ONE}
    async with served() as server, admitted(server) as worker, connected(server.port) as extension:
        await extension.sync(tab(6, url="https://evil.example/"))
        await extension.publish(6, page_tool("evil"), **evil)
        assert server.app.hub.tabs.number_of(ONE) == 6
        await worker.register(ONE, tool("pay"))
        assert server.app.hub.tabs.number_of(ONE) is None
        await extension.publish(6, page_tool("evil"), page_tool("more"), **evil)
        assert server.app.hub.tabs.number_of(ONE) is None


async def test_the_tools_of_a_browser_that_the_server_closed_do_not_come_back(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path).create()
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1), kind="managed")
        await extension.publish(1, page_tool("search"))
        server.app.browsers.forget_managed()
    async with served(home=home) as server, client(server.port) as http:
        assert await tools_of(Agent(http)) == {}


async def test_forgetting_an_origin_removes_tools_that_wait_for_their_browser(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path).create()
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
    async with served(home=home) as server, client(server.port) as http:
        assert [*await tools_of(Agent(http))] == [SEARCH]
        forget_origins(server.app.store, lambda origin: origin == "https://shop.example")
        assert (await http.post("/reload")).status_code == 200
        assert await tools_of(Agent(http)) == {}
