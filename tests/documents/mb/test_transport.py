"""The messages between a page's proxy and the hub, and how a connection ends."""

import asyncio
import json
from functools import partial

import pytest

from tests.documents.mb.shops import SHOP, sites
from tests.page_tools.shop import SEARCH, answering
from tests.support.browsers.extension import page_tool
from tests.support.browsers.worker import ONE, admitted, tool
from tests.support.eventually import eventually
from tests.support.serving import served


@pytest.mark.document("MB-messages-6", "MB-transport-3", "MB-messages-1")
async def test_every_request_to_a_page_has_a_text_of_its_own_as_id() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, page_tool("search"))
        here.extension.page_tools["search"] = answering("found")
        for _ in range(3):
            await here.agent.text(SEARCH)
        requests = [await here.extension.next("browser/executeTool") for _ in range(3)]
        assert all(request["jsonrpc"] == "2.0" for request in requests)
        ids = [request["id"] for request in requests]
        assert all(isinstance(id, str) for id in ids) and len({*ids}) == 3


@pytest.mark.document("MB-messages-1")
async def test_a_message_of_another_version_of_json_rpc_changes_nothing() -> None:
    async with sites(1) as here:
        params = {"tabId": 1, "origin": SHOP, "tools": [page_tool("search")]}
        message = {"method": "browser/registerTools", "params": params}
        for version, names in (("1.0", []), ("2.0", [SEARCH])):
            await here.extension.socket.send(json.dumps({"jsonrpc": version, **message}))
            await here.extension.settled()
            assert list(here.listed()) == names


@pytest.mark.document("MB-messages-5")
async def test_a_failed_result_is_an_error_with_the_text_of_the_page() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, page_tool("search"))
        calling = asyncio.create_task(here.agent.result(SEARCH))
        request = await here.extension.next("browser/executeTool")
        failure = {"success": False, "payload": "The shop is closed."}
        await here.extension.send({"id": request["id"], "result": failure})
        result = await calling
        assert result["isError"] and "The shop is closed." in result["content"][0]["text"]
        assert result["structuredContent"]["error"]["reason"] == "script_error"


@pytest.mark.document("MB-messages-8")
async def test_a_tab_that_is_not_found_has_the_code_of_the_document() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, page_tool("search"))
        error = (await here.agent.result(SEARCH, tabId=99))["structuredContent"]["error"]
        assert (error["code"], error["reason"]) == (-32001, "tab_not_found")


@pytest.mark.document("MB-flows-7")
async def test_a_transport_that_disconnects_leaves_only_its_cached_tools() -> None:
    async with served() as server:

        def names() -> list[str]:
            return [tool.name for tool in server.app.hub.tools if tool.source == "pages"]

        async with admitted(server) as worker:
            cached = tool("view", annotations={"cache": True})
            await worker.register(ONE, tool("search"), cached)
            assert len(names()) == 2
        await eventually(lambda: names() == ["website_tool_shop_example_view"])


@pytest.mark.document("MB-disconnect-8")
async def test_the_document_after_a_reload_takes_the_place_of_the_one_before() -> None:
    async with sites(1) as here:
        publish = partial(here.extension.publish, 1, page_tool("search"))
        await publish(documentId="before")
        await publish(documentId="after")
        assert list(here.listed()) == [SEARCH]
        here.extension.page_tools["search"] = answering("found")
        await here.agent.text(SEARCH)
        sent = (await here.extension.next("browser/executeTool"))["params"]
        assert sent["documentId"] == "after"
        before = {"tabId": 1, "frameId": 0, "documentId": "before"}
        await here.extension.notify("browser/unregisterTools", before)
        await here.extension.settled()
        assert list(here.listed()) == [SEARCH]
