"""The called tool is the one that was decided about: its site, its schema and its hints."""

import asyncio
from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.serving import client, served

PAY = "website_tool_shop_co_uk_pay"
VIEW = "website_tool_shop_example_view"
SHOP_UK = {"origin": "https://shop.co.uk", "url": "https://shop.co.uk/"}
SHOP = {"origin": "https://shop.co", "url": "https://shop.co/"}


def _collect_calls(extension: FakeExtension, name: str) -> list[dict[str, Any]]:
    """Collect the calls of a page tool, which answers with text."""
    calls: list[dict[str, Any]] = []

    def answer(call: dict[str, Any]) -> Any:
        calls.append(call)
        return {"content": [{"type": "text", "text": "done"}]}

    extension.page_tools[name] = answer
    return calls


def _away(call: dict[str, Any]) -> Any:
    raise Refusal("navigated_away")


@pytest.mark.requirement("MB-08")
@pytest.mark.document("MB-concepts-4")
async def test_a_call_for_one_site_never_reaches_another_that_took_the_name() -> None:
    settings = Settings(permissions=PermissionSettings(domains={"shop.co": "off"}))
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(5, url="https://shop.co.uk/"))
        await extension.publish(5, page_tool("pay"), **SHOP_UK)
        extension.page_tools["pay"] = _away
        calls = _collect_calls(extension, "uk_pay")
        calling = asyncio.create_task(Agent(http).text(PAY, word="card 4111"))
        await extension.next("browser/executeTool")
        document = {"tabId": 5, "frameId": 0, "documentId": "doc-5"}
        await extension.notify("browser/unregisterTools", document)
        await extension.publish(5, page_tool("uk_pay"), **SHOP, documentId="other")
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "no_tab_for_tool"
        assert "changed" in failed.value.message and "call it again" in failed.value.message
        assert calls == []


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-architecture-4")
@pytest.mark.parametrize("change", ["hints", "schema"])
async def test_a_tab_opened_for_a_tool_gets_no_call_if_its_page_changed_the_tool(
    change: str,
) -> None:
    reading = {"cache": True, "readOnlyHint": True}
    other = page_tool("view", annotations={"cache": True, "destructiveHint": True})
    if change == "schema":
        other = {**page_tool("view", annotations=reading), "inputSchema": {"type": "object"}}
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), kind="personal")
        await extension.publish(1, page_tool("view", annotations=reading))
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await extension.settled()
        calls = _collect_calls(extension, "view")
        calling = asyncio.create_task(Agent(http).text(VIEW, word="x"))
        request = await extension.next("tool.dispatch")
        opened = tab(78, url="https://shop.example/1")
        await extension.send({"id": request["id"], "result": {"output": opened}})
        await extension.publish(78, other)
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "no_tab_for_tool" and calls == []
        await extension.publish(78, page_tool("view", annotations=reading))
        assert await Agent(http).text(VIEW, word="x") == "done"


@pytest.mark.requirement("MB-08")
async def test_a_page_that_publishes_the_same_tool_again_gets_the_call() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("view"))
        extension.page_tools["view"] = _away
        calling = asyncio.create_task(Agent(http).text(VIEW, word="x"))
        await extension.next("browser/executeTool")
        await extension.notify("browser/unregisterTools", {"tabId": 1, "documentId": "doc-1"})
        calls = _collect_calls(extension, "view")
        tool = {**page_tool("view"), "description": "In other words."}
        await extension.publish(1, tool, documentId="reloaded")
        assert await calling == "done" and len(calls) == 1
