"""What page servers, proxies and the hub are to each other and to a client."""

import asyncio
from typing import Any

import pytest

from tests.agents.mcp.clients import LoneClient, events, next_message
from tests.documents.mb.shops import BANK, SHOP, sites
from tests.page_tools.shop import answering
from tests.support.browsers.extension import page_tool

LOOK_UP, PAY = "website_tool_shop_example_look_up", "website_tool_bank_example_pay"


@pytest.mark.document("MB-principles-2")
async def test_an_agent_gives_the_result_of_one_site_to_the_tool_of_another() -> None:
    async with sites(1, 2) as here:
        await here.extension.publish(1, page_tool("look_up"), origin=SHOP)
        await here.extension.publish(2, page_tool("pay"), origin=BANK)
        here.extension.page_tools["look_up"] = answering("price of tea: 4")
        here.extension.page_tools["pay"] = lambda call: answering(call["args"]["word"])(call)
        found = await here.agent.text(LOOK_UP, word="tea")
        assert await here.agent.text(PAY, word=found) == "price of tea: 4"
        sent = [(await here.extension.next("browser/executeTool"))["params"] for _ in range(2)]
        assert [(call["tabId"], call["toolName"]) for call in sent] == [(1, "look_up"), (2, "pay")]


@pytest.mark.document("MB-capabilities-2", "MB-server-4", "MB-capabilities-3")
async def test_what_any_page_can_do_is_declared_and_ends_with_that_page() -> None:
    async with sites(1, 2) as here:

        async def declared() -> tuple[bool, bool]:
            answer = (await here.agent.post("server/discover")).json()
            browser: dict[str, Any] = answer["result"]["capabilities"]["browser"]
            return browser["cacheSupported"], browser["elicitation"]

        assert await declared() == (False, False)
        can = {"cacheSupported": True, "elicitation": True}
        await here.extension.publish(1, page_tool("a"), capabilities=can)
        await here.extension.publish(2, page_tool("b"))
        assert await declared() == (True, True)
        await here.close(1)
        assert await declared() == (False, False)


@pytest.mark.document("MB-concepts-2")
async def test_a_client_is_told_when_the_tools_of_a_page_change() -> None:
    params = {"notifications": {"toolsListChanged": True}}
    async with sites(1) as here:
        http = here.agent.http
        async with LoneClient(http).streaming("subscriptions/listen", params) as response:
            messages = events(response)
            await next_message(messages)
            for tools in ([page_tool("a")], [page_tool("a"), page_tool("b")], []):
                await here.extension.publish(1, *tools)
                message = await next_message(messages)
                assert message["method"] == "notifications/tools/list_changed"


@pytest.mark.document("MB-architecture-5", "MB-architecture-6")
async def test_calls_in_one_page_run_at_the_same_time_and_each_gets_its_own_result() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, page_tool("look_up"))
        words = ("tea", "mug", "pot")
        calls = [asyncio.create_task(here.agent.text(LOOK_UP, word=word)) for word in words]
        requests = [await here.extension.next("browser/executeTool") for _ in words]
        assert {request["params"]["args"]["word"] for request in requests} == {*words}
        for request in reversed(requests):
            payload = answering(request["params"]["args"]["word"])(None)
            result = {"success": True, "payload": payload}
            await here.extension.send({"id": request["id"], "result": result})
        assert await asyncio.gather(*calls) == [*words]
