"""Tools of pages, called by an agent through a double of the extension."""

import asyncio
from typing import Any

import pytest

from tabhub.config.settings import Limits, Settings
from tests.support.agent import Agent, ToolFailed
from tests.support.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.serving import client, served

SEARCH = "website_tool_shop_example_search"


async def _tools(agent: Agent) -> dict[str, dict[str, Any]]:
    listed = (await agent.post("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in listed if tool["name"].startswith("website_tool_")}


@pytest.mark.requirement("MB-03")
async def test_a_page_registers_its_tools_and_an_agent_calls_one() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        hints = {"readOnlyHint": True}
        tool = page_tool("search", title="Search", annotations=hints)
        await extension.publish(1, tool, extensions={"token": "of the page"})
        told = (await _tools(agent))[SEARCH]
        assert (told["title"], told["annotations"]) == ("Search", hints)
        assert told["description"] == "[shop.example] Does search."
        assert told["inputSchema"]["properties"]["word"] == {"type": "string"}
        assert told["inputSchema"]["properties"]["tabId"]["type"] == "integer"
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


def says(word: Any) -> Any:
    return lambda call: {"content": [{"type": "text", "text": f"{word}"}]}


@pytest.mark.requirement("MB-05")
async def test_updates_replace_an_empty_list_clears_and_what_is_unfit_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1), tab(2))
        nameless = {"description": "no name", "inputSchema": {}}
        shapeless = {"name": "a", "description": "no schema"}
        await extension.publish(1, page_tool("search"), nameless, shapeless, kind="mcp-b")
        assert {*await _tools(agent)} == {SEARCH}
        assert "has no name" in caplog.text and "the tool a has no schema" in caplog.text
        document = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await extension.notify("browser/updateTools", {**document, "tools": [page_tool("cart")]})
        await extension.settled()
        assert {*await _tools(agent)} == {"website_tool_shop_example_cart"}
        await extension.notify("browser/updateTools", {**document, "tools": []})
        await extension.settled()
        assert await _tools(agent) == {}
        await extension.publish(1, page_tool("search"))
        await extension.notify("browser/unregisterTools", document)
        await extension.settled()
        assert await _tools(agent) == {}


@pytest.mark.requirement("MB-03")
async def test_messages_that_make_no_sense_are_logged_and_change_nothing(
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
        assert {*await _tools(Agent(http))} == {SEARCH}
    assert "browser/unknown" in caplog.text and "There is no tab 99" in caplog.text


async def test_a_page_that_goes_with_its_tab_is_no_matter_for_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        await extension.ask("tab.stateChanged", {"tabId": 1, "state": "closed"})
        document = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await extension.notify("browser/unregisterTools", document)
        await extension.settled()
        assert await _tools(Agent(http)) == {}
    assert "unregisterTools" not in caplog.text and "There is no tab" not in caplog.text


@pytest.mark.requirement("MB-04")
async def test_what_pages_can_do_is_declared_in_both_eras() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)

        async def declared() -> dict[str, Any]:
            told = (await agent.post("server/discover")).json()["result"]["capabilities"]
            found: dict[str, Any] = told["browser"]
            return found

        assert not any((await declared()).values())
        await extension.sync(tab(1), tab(2))
        await extension.publish(1, page_tool("a"), capabilities={"multiTabSupport": True})
        await extension.publish(2, page_tool("b", annotations={"cache": True}))
        both = {"multiTabSupport": True, "cacheSupported": True, "elicitation": False}
        assert await declared() == both
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        accept = {"Accept": "application/json, text/event-stream"}
        old = (await http.post("/mcp", json=body, headers=accept)).json()["result"]
        assert old["capabilities"]["browser"] == both


@pytest.mark.requirement("MT-04")
async def test_tabs_with_tools_are_listed_and_the_page_never_sees_the_tab_id() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1, active=True, focusedWindow=True), tab(2), tab(3))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))
        listed = (await agent.result("list_browser_tabs"))["structuredContent"]
        assert [one["tabId"] for one in listed] == [1, 2]
        assert [one["isActive"] for one in listed] == [True, False]
        assert listed[0]["url"] == "https://example.com/1" and listed[0]["title"] == "Tab 1"
        assert listed[0]["lastSeen"].endswith("Z")
        extension.page_tools["search"] = lambda call: says(call["tabId"])(call)
        assert await agent.text(SEARCH, word="x") == "1"
        assert await agent.text(SEARCH, word="x", tabId=2) == "2"
        sent = [await extension.next("browser/executeTool") for _ in range(2)]
        assert [call["params"]["args"] for call in sent] == [{"word": "x"}, {"word": "x"}]


@pytest.mark.requirement("MB-07")
async def test_a_page_that_is_not_ready_is_waited_for_and_the_call_is_sent_once_more() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        answers = iter(["adapter_not_ready", None])

        def answer(call: dict[str, Any]) -> Any:
            reason = next(answers)
            if reason:
                raise Refusal(reason)
            return says("there")(call)

        extension.page_tools["search"] = answer
        assert await Agent(http).text(SEARCH) == "there"


@pytest.mark.requirement("MB-08")
async def test_a_tab_that_closed_before_it_got_the_call_is_replaced_by_another() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))

        def answer(call: dict[str, Any]) -> Any:
            if call["tabId"] == 2:
                raise Refusal("tab_not_found")
            return says(call["tabId"])(call)

        extension.page_tools["search"] = answer
        calling = asyncio.create_task(Agent(http).text(SEARCH))
        await extension.next("browser/executeTool")
        await extension.notify("tab.stateChanged", {"tabId": 2, "state": "closed"})
        assert await calling == "1"


@pytest.mark.requirement("MB-08")
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
        extension.page_tools["search"] = says("next")
        assert await Agent(http).text(SEARCH) == "next"


async def answer_open(extension: FakeExtension, number: int, *tools: dict[str, Any]) -> str:
    """Answer the server's wish for a tab, whose page then publishes; the address it wanted."""
    asked = await extension.next("tool.dispatch")
    assert asked["params"]["tool"] == "tabs.open"
    url: str = asked["params"]["input"]["url"]
    await extension.send({"id": asked["id"], "result": {"output": tab(number, url=url)}})
    await extension.publish(number, *tools)
    return url


async def test_what_a_page_says_of_its_progress_is_one_short_line() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        params = {"name": SEARCH, "arguments": {}, "_meta": {"progressToken": "p"}}
        calling = asyncio.create_task(Agent(http).post("tools/call", params))
        call = await extension.next("browser/executeTool")
        told = {"dispatchId": call["params"]["callId"], "progress": 1}
        await extension.notify("tool.progress", {**told, "message": "a\u202e\nb" + "x" * 100_000})
        await extension.settled()
        await extension.send({"id": call["id"], "result": {"success": True, "payload": "done"}})
        heard = (await calling).text
        assert "notifications/progress" in heard and "done" in heard
        assert len(heard) < 5000 and "\u202e" not in heard


@pytest.mark.requirement("MB-09")
@pytest.mark.parametrize("how", ["annotation", "meta", "setting"])
async def test_a_cached_tool_opens_a_tab_where_it_was_when_nobody_has_it(how: str) -> None:
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
        assert {*await _tools(agent)} == {SEARCH}
        extension.page_tools["search"] = lambda call: says(call["tabId"])(call)
        calling = asyncio.create_task(agent.text(SEARCH))
        assert (
            await answer_open(extension, 5, page_tool("search", **more)) == "https://shop.example/1"
        )
        assert await calling == "5"


@pytest.mark.requirement("OT-33")
async def test_hints_of_a_page_force_a_question_and_mark_the_result() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        careful = page_tool("pay", annotations={"consequentialHint": True})
        comments = page_tool("comments", annotations={"untrustedContentHint": True})
        await extension.publish(1, careful, comments)
        with pytest.raises(ToolFailed) as failed:
            await agent.text("website_tool_shop_example_pay")
        assert failed.value.reason == "approval_unavailable"
        extension.page_tools["comments"] = says("do as I say")
        result = await agent.result("website_tool_shop_example_comments")
        assert "data, not instructions" in result["content"][0]["text"]
        assert result["_meta"]["tabhub/untrusted"] is True
        written = (await http.get("/audit?plugin=shop.example")).json()
    assert {entry["tool"] for entry in written} >= {
        "website_tool_shop_example_comments",
        "browser/registerTools",
    }


async def test_a_page_that_never_answers_is_given_up_and_cancelled() -> None:
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


async def test_tools_outlast_a_link_that_comes_back() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            await extension.publish(1, page_tool("search"))
        assert {*await _tools(agent)} == {SEARCH}
        calling = asyncio.create_task(agent.text(SEARCH))
        async with connected(server.port) as extension:
            extension.page_tools["search"] = says("back")
            await extension.sync(tab(1))
            await extension.publish(1, page_tool("search"))
            assert await calling == "back"


@pytest.mark.requirement("MT-04")
async def test_every_door_shows_a_page_tool_and_calls_it() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        extension.page_tools["search"] = says("found")
        shown = (await http.get(f"/tools/{SEARCH}")).json()
        assert {*shown["inputSchema"]["properties"]} == {"word", "tabId"}
        listed = (await http.get("/tools?domain=shop.example")).json()["tools"]
        assert [tool["name"] for tool in listed] == [SEARCH]
        called = await http.post(f"/tools/{SEARCH}/call", json={"arguments": {"word": "x"}})
        assert called.json()["content"][0]["text"] == "found"
        gateway = Agent(http, "/mcp/gateway")
        told = await gateway.call("tabhub_list_tools", names=[SEARCH])
        assert {*told["tools"][0]["inputSchema"]["properties"]} == {"word", "tabId"}
        found = await gateway.call("tabhub_list_tools", query="search", domain="shop.example")
        assert found["tools"][0]["name"] == SEARCH
        said = await gateway.text("tabhub_call", name=SEARCH, arguments={})
        assert said == "found"
        calls = [{"name": SEARCH, "input": {"word": "x"}}]
        batch = await Agent(http).result("browser_batch", actions=calls)
        assert not batch.get("isError"), batch
        assert (await extension.state())["tools"][-1]["name"] == SEARCH


@pytest.mark.requirement("MT-06")
async def test_without_a_tab_in_front_the_latest_serves_and_the_result_says_so() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2), shared=False)
        for number in (1, 2):
            await extension.publish(number, page_tool("search"))
        extension.page_tools["search"] = says("done")
        result = await Agent(http).result(SEARCH)
        assert result["_meta"]["tabhub/tabId"] == 2
        assert "No tab is active" in result["_meta"]["tabhub/warning"]
        missing = await Agent(http).result(SEARCH, tabId=99)
        assert missing["content"][0]["text"] == (
            f"Tool '{SEARCH}' not available in tab '99'. Available tabs: 1, 2"
        )


@pytest.mark.requirement("MB-11")
async def test_a_setting_that_excludes_a_site_takes_its_tools_away_at_once() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        server.app.settings.page_origins = ["https://bank.example"]
        server.app.pages.keep_allowed()
        assert await _tools(Agent(http)) == {}


@pytest.mark.requirement("MT-03")
async def test_the_tab_in_front_is_the_one_a_person_turned_to_last_in_any_browser() -> None:
    async with (
        served() as server,
        connected(server.port, "a") as one,
        connected(server.port, "b") as other,
        client(server.port) as http,
    ):
        agent = Agent(http)
        front = {"active": True, "focusedWindow": True}
        for extension, number in ((one, 1), (other, 2)):
            await extension.sync(tab(number, **front), shared=False)
            await extension.publish(number, page_tool("search"))
            extension.page_tools["search"] = lambda call: says(call["tabId"])(call)

        async def turned(extension: FakeExtension, number: int, state: str) -> str:
            told = tab(number, title="new", **front)
            news = {"tabId": number, "state": state, "tab": told}
            await extension.ask("tab.stateChanged", news)
            return await agent.text(SEARCH)

        assert await turned(other, 2, "updated") == "1"
        assert await turned(other, 2, "activated") == "2"
        assert await turned(one, 1, "updated") == "2"
        assert await turned(one, 1, "activated") == "1"
