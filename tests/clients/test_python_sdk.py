"""The official Python client, in both eras of the protocol and over SSE, works with the product."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourcesListChanged
from mcp.types import INVALID_PARAMS, ResourceListChangedNotification, TextResourceContents

from tests.clients.conftest import OVER_SSE, TOOLS, Endpoint
from tests.support.eventually import PATIENCE

pytestmark = [pytest.mark.real_browser, pytest.mark.xdist_group("clients")]

SSE = "sse"
STDIO = {"stdio, auto": "auto", "stdio, legacy": "legacy"}
OLDER = ["legacy", SSE, "stdio, legacy"]
NEWER = ["auto", "stdio, auto"]
ERAS = dict.fromkeys(NEWER, "2026-07-28") | dict.fromkeys(OLDER, "2025-11-25")
LISTED = dict.fromkeys(ERAS, TOOLS) | {SSE: OVER_SSE}
NO_TAB = 999_999_999


@pytest.fixture(params=list(ERAS))
def mode(request: pytest.FixtureRequest) -> str:
    mode_name: str = request.param
    return mode_name


@asynccontextmanager
async def connected(endpoint: Endpoint, mode: str, **options: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": endpoint.authorization}
    if mode == SSE:
        stream = sse_client(endpoint.sse_url, headers=headers, timeout=PATIENCE)
        options |= {"mode": "legacy", "read_timeout_seconds": PATIENCE}
        async with Client(stream, **options) as client:
            yield client
        return
    if mode in STDIO:
        command, *arguments = endpoint.bridge
        bridge = StdioServerParameters(command=command, args=arguments, env=endpoint.environment)
        options |= {"mode": STDIO[mode], "read_timeout_seconds": PATIENCE}
        async with Client(stdio_client(bridge), **options) as client:
            yield client
        return
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(endpoint.url, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE, **options) as client:
            yield client


@asynccontextmanager
async def tab_opened(client: Client, url: str) -> AsyncIterator[int]:
    opened = await structured(client, "browser_open_tab", {"url": url})
    tab: int = opened["tabId"]
    try:
        yield tab
    finally:
        await client.call_tool("browser_close_tab", {"tabId": tab})


async def structured(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The structured content of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.document("OT-mcp-1")
@pytest.mark.requirement("OT-01")
async def test_the_client_agrees_on_the_newest_revision_of_its_era(
    endpoint: Endpoint, mode: str
) -> None:
    async with connected(endpoint, mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert client.server_info is not None
        assert client.server_info.name == "tabhub"
        assert "browser_read_page" in (client.instructions or "")


@pytest.mark.document("CB-goals-1", "CB-client-1")
@pytest.mark.requirement("CB-04")
async def test_the_client_lists_the_tools_of_its_endpoint_with_their_descriptions(
    endpoint: Endpoint, mode: str
) -> None:
    async with connected(endpoint, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == LISTED[mode]
    assert all(tool.description for tool in tools.values())
    script, reading = ("browser_execute_script", "browser_list_tabs")
    if mode == SSE:
        script, reading = ("javascript_tool", "read_page")
    assert tools[script].input_schema["properties"]
    hints = tools[reading].annotations
    assert hints is not None and hints.read_only_hint is True


async def test_the_client_opens_a_page_and_runs_a_script_in_it(
    endpoint: Endpoint, mode: str
) -> None:
    async with connected(endpoint, mode) as client:
        opened = await structured(client, "browser_open_tab", {"url": endpoint.page})
        assert (opened["url"], opened["title"]) == (endpoint.page, "Form")
        in_tab = {"tabId": opened["tabId"]}
        ran = await structured(client, "browser_execute_script", {"code": "1+1", **in_tab})
        assert ran == {"value": 2}
        closed = await structured(client, "browser_close_tab", in_tab)
        assert closed == {"closed": opened["tabId"]}


async def test_a_call_without_a_tab_goes_to_the_tab_opened_last(
    endpoint: Endpoint, mode: str
) -> None:
    async with connected(endpoint, mode) as client, tab_opened(client, endpoint.page):
        ran = await structured(client, "browser_execute_script", {"code": "document.title"})
    assert ran == {"value": "Form"}


@pytest.mark.requirement("TH-41")
async def test_a_call_that_fails_is_a_result_with_its_reason(endpoint: Endpoint, mode: str) -> None:
    async with connected(endpoint, mode) as client:
        result = await client.call_tool("browser_close_tab", {"tabId": NO_TAB})
    assert result.is_error is True
    assert isinstance(result.structured_content, dict)
    error = result.structured_content["error"]
    assert (error["reason"], error["retryable"]) == ("tab_not_found", False)


async def test_an_unknown_tool_is_a_protocol_error(endpoint: Endpoint, mode: str) -> None:
    async with connected(endpoint, mode) as client:
        with pytest.raises(MCPError, match="no_such_tool") as failed:
            await client.call_tool("no_such_tool", {})
    assert failed.value.code == INVALID_PARAMS


@pytest.mark.requirement("OT-04")
async def test_progress_of_a_call_reaches_the_callback(endpoint: Endpoint, mode: str) -> None:
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async with connected(endpoint, mode) as client, tab_opened(client, endpoint.page) as tab:
        navigation = {"tabId": tab, "url": endpoint.next_page}
        result = await client.call_tool("browser_navigate_tab", navigation, progress_callback=note)
    assert not result.is_error
    assert len(steps) >= 2
    assert steps == sorted(steps)


async def test_open_tabs_are_resources_and_the_prompt_can_be_read(
    endpoint: Endpoint, mode: str
) -> None:
    async with connected(endpoint, mode) as client, tab_opened(client, endpoint.page) as tab:
        uri = f"tab://{tab}"
        assert uri in {resource.uri for resource in (await client.list_resources()).resources}
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert endpoint.page in content.text
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "tab://{id}",
            "tab://{id}/text",
            "tab://{id}/snapshot",
            "tab://{id}/screenshot",
        ]
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["use_browser"]
        prompt = await client.get_prompt("use_browser", {"task": "Find the form."})
        assert "Find the form." in prompt.messages[0].content.model_dump_json()


@pytest.mark.filterwarnings("ignore:ping is removed")
@pytest.mark.parametrize("mode", OLDER)
async def test_a_session_of_the_older_era_answers_ping(endpoint: Endpoint, mode: str) -> None:
    async with connected(endpoint, mode) as client:
        await client.send_ping()


@pytest.mark.requirement("OT-03")
@pytest.mark.parametrize("mode", NEWER)
async def test_a_listener_of_the_newer_era_is_notified_of_an_opened_tab(
    endpoint: Endpoint, mode: str
) -> None:
    async with (
        connected(endpoint, mode) as client,
        client.listen(resources_list_changed=True) as changes,
        asyncio.timeout(PATIENCE),
        tab_opened(client, endpoint.page),
    ):
        assert isinstance(await anext(aiter(changes)), ResourcesListChanged)


@pytest.mark.requirement("OT-03")
@pytest.mark.parametrize("mode", OLDER)
async def test_a_session_of_the_older_era_is_notified_of_an_opened_tab(
    endpoint: Endpoint, mode: str
) -> None:
    notified = asyncio.Event()

    async def take(message: IncomingMessage) -> None:
        if isinstance(message, ResourceListChangedNotification):
            notified.set()

    async with (
        connected(endpoint, mode, message_handler=take) as client,
        tab_opened(client, endpoint.page),
    ):
        await asyncio.wait_for(notified.wait(), PATIENCE)


@pytest.mark.document("OT-gateway-6")
@pytest.mark.requirement("OT-06")
@pytest.mark.parametrize("mode", [mode for mode in ERAS if mode != SSE])
async def test_the_client_finds_and_calls_tools_through_the_gateway(
    endpoint: Endpoint, mode: str
) -> None:
    behind = replace(endpoint, url=f"{endpoint.url}/gateway")
    async with connected(behind, mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["tabhub_list_tools", "tabhub_call"]
        result = await structured(client, "tabhub_list_tools", {"query": "run javascript"})
        names = [tool["name"] for tool in result["tools"]]
        assert "browser_execute_script" in names
        call = {"name": "browser_open_tab", "arguments": {"url": endpoint.page}}
        tab = (await structured(client, "tabhub_call", call))["tabId"]
        script = {"name": "browser_execute_script", "arguments": {"code": "1+1", "tabId": tab}}
        assert await structured(client, "tabhub_call", script) == {"value": 2}
        close = {"name": "browser_close_tab", "arguments": {"tabId": tab}}
        assert await structured(client, "tabhub_call", close) == {"closed": tab}
