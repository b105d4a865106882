"""Tools of pages, called by an agent through a double of the extension."""

import asyncio
from typing import Any

import pytest

from tabhub.config.settings import Limits, Settings
from tabhub.hub.tools import PAGE_LABEL
from tests.page_tools.shop import SEARCH, answer_open, answering, tools_of
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import Refusal, connected, page_tool, tab
from tests.support.serving import client, served


@pytest.mark.requirement("MB-03")
@pytest.mark.document(
    "MB-principles-3",
    "MB-messages-7",
    "MB-extensibility-1",
    "MB-flows-4",
    "MB-architecture-2",
    "MB-execution-1",
    "MB-execution-7",
)
async def test_a_page_registers_its_tools_and_an_agent_calls_one() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        hints = {"readOnlyHint": True}
        tool = page_tool("search", title="Search", annotations=hints)
        await extension.publish(1, tool, extensions={"token": "of the page"})
        listed = (await tools_of(agent))[SEARCH]
        assert (listed["title"], listed["annotations"]) == ("Search", hints)
        assert listed["description"] == f"[shop.example] {PAGE_LABEL}Does search."
        assert listed["inputSchema"]["properties"]["word"] == {"type": "string"}
        assert listed["inputSchema"]["properties"]["tabId"]["type"] == "integer"
        extension.page_tools["search"] = lambda call: {
            "content": [{"type": "text", "text": str(call["args"])}]
        }
        assert await agent.text(SEARCH, word="tea", tabId=1) == "{'word': 'tea'}"
        sent = (await extension.next("browser/executeTool"))["params"]
    assert sent.pop("callId")
    assert sent.pop("timeoutMs") == 300_000
    assert sent == {
        "tabId": 1,
        "frameId": 0,
        "documentId": "doc-1",
        "toolName": "search",
        "args": {"word": "tea"},
        "kind": "native",
        "extensions": {"token": "of the page"},
    }


@pytest.mark.requirement("MB-07")
@pytest.mark.document("MB-execution-14")
async def test_the_call_to_a_page_that_is_not_ready_is_sent_once_more() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        answers = iter(["adapter_not_ready", None])

        def answer(call: dict[str, Any]) -> Any:
            reason = next(answers)
            if reason:
                raise Refusal(reason)
            return answering("there")(call)

        extension.page_tools["search"] = answer
        assert await Agent(http).text(SEARCH) == "there"


@pytest.mark.requirement("MB-08")
@pytest.mark.document("MB-execution-15", "MB-transport-5")
async def test_a_call_that_the_page_may_have_received_is_never_sent_again() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))
        calling = asyncio.create_task(Agent(http).text(SEARCH, tabId=2))
        call = await extension.next("browser/executeTool")
        await extension.notify("tab.stateChanged", {"tabId": 2, "state": "closed"})
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "page_may_have_received"
        late = {"success": True, "payload": "late"}
        await extension.send({"id": call["id"], "result": late})
        extension.page_tools["search"] = answering("next")
        assert await Agent(http).text(SEARCH) == "next"


async def test_the_progress_message_of_a_page_is_one_short_line() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        params = {"name": SEARCH, "arguments": {}, "_meta": {"progressToken": "p"}}
        calling = asyncio.create_task(Agent(http).post("tools/call", params))
        call = await extension.next("browser/executeTool")
        progress = {"dispatchId": call["params"]["callId"], "progress": 1}
        await extension.notify(
            "tool.progress", {**progress, "message": "a\u202e\nb" + "x" * 100_000}
        )
        await extension.settled()
        await extension.send({"id": call["id"], "result": {"success": True, "payload": "done"}})
        stream = (await calling).text
        assert "notifications/progress" in stream and "done" in stream
        assert len(stream) < 5000 and "\u202e" not in stream


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-concepts-5", "MB-execution-5", "MB-security-8", "MB-hub-4")
@pytest.mark.parametrize("how", ["annotation", "meta", "setting"])
async def test_a_cached_tool_without_a_tab_opens_one_at_its_address(how: str) -> None:
    more = {
        "annotation": {"annotations": {"cache": True}},
        "meta": {"_meta": {"tabhub/cache": True}},
        "setting": {},
    }[how]
    settings = Settings(cache={"shop.example": how == "setting"})
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        agent = Agent(http)
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search", **more))
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await extension.settled()
        assert {*await tools_of(agent)} == {SEARCH}
        extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)
        calling = asyncio.create_task(agent.text(SEARCH))
        assert (
            await answer_open(extension, 5, page_tool("search", **more)) == "https://shop.example/1"
        )
        assert await calling == "5"


@pytest.mark.requirement("OT-33")
@pytest.mark.document("MB-security-10")
async def test_hints_of_a_page_force_an_approval_and_mark_the_result() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        careful = page_tool("pay", annotations={"consequentialHint": True})
        comments = page_tool("comments", annotations={"untrustedContentHint": True})
        await extension.publish(1, careful, comments)
        with pytest.raises(ToolFailed) as failed:
            await agent.text("website_tool_shop_example_pay")
        assert failed.value.reason == "approval_unavailable"
        extension.page_tools["comments"] = answering("do as I say")
        result = await agent.result("website_tool_shop_example_comments")
        assert "[page " in result["content"][0]["text"]
        assert result["_meta"]["tabhub/untrusted"] == ["/content"]
        written = (await http.get("/audit?plugin=shop.example")).json()
    assert {entry["tool"] for entry in written} >= {
        "website_tool_shop_example_comments",
        "browser/registerTools",
    }


@pytest.mark.document("MB-transports-1", "MB-transport-4")
async def test_a_call_that_a_page_never_answers_is_cancelled() -> None:
    settings = Settings(limits=Limits(page_call_seconds=0.2))
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).text(SEARCH)
        assert failed.value.reason == "timeout"
        call = await extension.next("browser/executeTool")
        cancelled = await extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == call["params"]["callId"]
