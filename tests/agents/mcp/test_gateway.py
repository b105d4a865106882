"""The gateway: two tools that find and call all others."""

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, SessionSettings, Settings
from tabhub.hub.tools import Tool
from tests.agents.mcp.clients import (
    LoneClient,
    SessionClient,
    connect,
    events,
    messages,
    next_message,
)
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.serving import client, served
from tests.support.tools import in_toolset

Json = dict[str, Any]
PATH = "/mcp/gateway"
SCRIPT = "browser_execute_script"
LIST, CALL = "tabhub_list_tools", "tabhub_call"
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def extra(name: str, **more: Any) -> Tool:
    schema = {"type": "object"}
    return Tool(name, f"Does {name}.", schema, source="browser", needs_tab=False, **more)


async def listed(http: httpx.AsyncClient, **filters: Any) -> Json:
    return await Agent(http, PATH).call(LIST, **filters)


async def names(http: httpx.AsyncClient, **filters: Any) -> list[str]:
    return [tool["name"] for tool in (await listed(http, **filters))["tools"]]


async def refusal(http: httpx.AsyncClient, tool: str, **arguments: Any) -> Json:
    result = await Agent(http, PATH).result(tool, **arguments)
    assert result["isError"] is True
    return {"text": result["content"][0]["text"], **result["structuredContent"]["error"]}


@pytest.mark.document("OT-gateway-1", "OT-endpoints-3")
@pytest.mark.requirement("OT-06")
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_session_of_every_revision_sees_two_tools_and_calls_through_them(
    version: str,
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 2}
        session = await connect(http, version, path=PATH)
        tools = (await session.request("tools/list")).json()["result"]["tools"]
        assert [tool["name"] for tool in tools] == [LIST, CALL]
        arguments: Json = {"name": SCRIPT, "arguments": {"code": "1+1", "tabId": 1}}
        result = (await session.call(CALL, **arguments)).json()["result"]
    assert result["structuredContent"] == {"value": 2}


@pytest.mark.document("OT-gateway-5")
@pytest.mark.requirement("OT-06")
async def test_the_list_of_the_gateway_is_under_nine_tenths_of_a_kilobyte() -> None:
    async with served() as server, client(server.port) as http:
        session = await connect(http, path=PATH)
        result = (await session.request("tools/list")).json()["result"]
    assert len(json.dumps(result, separators=(",", ":"))) <= 900


@pytest.mark.requirement("OT-06")
async def test_all_callable_tools_are_listed_page_by_page_with_a_one_line_summary() -> None:
    async with served() as server, client(server.port) as http:
        tools: list[Json] = []
        page = await listed(http)
        while "nextCursor" in page:
            tools += page["tools"]
            page = await listed(http, cursor=page["nextCursor"])
        tools += page["tools"]
        text = await Agent(http, PATH).text(LIST, query="screenshot")
        everything = [tool.name for tool in server.app.hub.tools]
    assert [tool["name"] for tool in tools] == everything
    assert all(tool.keys() == {"name", "summary"} for tool in tools)
    assert all(0 < len(tool["summary"]) <= 120 and "\n" not in tool["summary"] for tool in tools)
    assert text.startswith("browser_screenshot_tab: A picture of the viewport")


@pytest.mark.requirement("OT-06")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("click", "browser_click_element"),
        ("take a screenshot", "browser_screenshot_tab"),
        ("readPage", "read_page"),
        ("browser_read_page", "browser_read_page"),
        ("run JavaScript", "javascript_tool"),
        ("please delete the cookies", "browser_delete_cookies"),
        ("scree", "browser_screenshot_tab"),
        ("navigating", "browser_navigate_tab"),
    ],
)
async def test_a_query_finds_the_right_tool(query: str, best: str) -> None:
    async with served() as server, client(server.port) as http:
        found = await names(http, query=query)
    assert found[0] == best and len(found) <= 15


@pytest.mark.requirement("OT-06")
async def test_schemas_are_listed_for_names_only_and_unknown_names_are_reported() -> None:
    async with served() as server, client(server.port) as http:
        result = await listed(http, names=[SCRIPT, "browser_clik_element", SCRIPT])
    [tool] = result["tools"]
    assert tool["name"] == SCRIPT and tool["inputSchema"]["required"] == ["code"]
    assert tool["description"].startswith(tool["summary"]) and "annotations" in tool
    [unknown] = result["unknown"]
    assert unknown["name"] == "browser_clik_element"
    assert "Did you mean browser_click_element" in unknown["message"]


@pytest.mark.document("OT-gateway-3")
async def test_filters_choose_by_plugin_domain_and_toolset_with_and_without_words() -> None:
    async with served() as server, client(server.port) as http:
        server.app.hub.tools.add(
            extra("shop_click_buy", plugin="shop", toolsets=frozenset({"plugins"})),
            extra("website_click", site="a.example", toolsets=frozenset({"pages"})),
        )
        assert await names(http, plugin="shop") == ["shop_click_buy"]
        assert await names(http, plugin="a.example") == ["website_click"]
        assert await names(http, domain="a.example", query="click") == ["website_click"]
        assert await names(http, plugin="shop", query="click") == ["shop_click_buy"]
        assert set(await names(http, toolset="claude")) == in_toolset("claude")
        assert "browser_click_element" not in await names(http, toolset="claude", query="click")
        assert await names(http, plugin="nobody") == []
        empty: Json = dict.fromkeys(("query", "domain", "toolset", "cursor"), "")
        assert await names(http, plugin="shop", names=[], limit=None, **empty) == ["shop_click_buy"]
        assert (await refusal(http, LIST, toolset="nothing"))["reason"] == "invalid_arguments"


async def test_a_tool_that_a_token_may_not_call_is_neither_listed_nor_suggested(
    tmp_path: Any,
) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("reader", ["core"], read_only=True)
    async with served(home=home) as server, client(server.port, token) as http:
        assert set(await names(http, limit=500)) == in_toolset("core", reading=True)
        result = await listed(http, names=["browser_click_element", "browser_list_tabs"])
        assert [tool["name"] for tool in result["tools"]] == ["browser_list_tabs"]
        assert "Did you mean browser_click_element" not in result["unknown"][0]["message"]
        assert "browser_click_element" not in await names(http, query="click")


@pytest.mark.requirement("OT-33")
async def test_a_disabled_tool_is_marked_and_refused_as_elsewhere() -> None:
    settings = Settings(permissions=PermissionSettings(tools={SCRIPT: "off"}))
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        [tool] = (await listed(http, names=[SCRIPT]))["tools"]
        assert tool["summary"].startswith("[Disabled] ")
        error = await refusal(http, CALL, name=SCRIPT, arguments={"code": "1", "tabId": 1})
    assert error["reason"] == "permission_off"


async def test_a_cursor_continues_after_the_last_tool_though_the_list_has_changed() -> None:
    async with served() as server, client(server.port) as http:
        tools = server.app.hub.tools
        tools.add(*(extra(f"shop_{n}", plugin="shop") for n in range(6)))
        page = await listed(http, plugin="shop", limit=2)
        tools.remove("shop_0", "shop_3")
        page = await listed(http, plugin="shop", limit=2, cursor=page["nextCursor"])
        assert [tool["name"] for tool in page["tools"]] == ["shop_2", "shop_4"]
        tools.add(extra("shop_6", plugin="shop"))
        tools.remove("shop_4")
        page = await listed(http, plugin="shop", limit=2, cursor=page["nextCursor"])
        assert "shop_6" in [tool["name"] for tool in page["tools"]]


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "filters",
    [
        {"cursor": "made up"},
        {"cursor": "W10="},
        {"cursor": "WzEsLTEsImEiXQ=="},
        {"limit": 0},
        {"limit": 501},
        {"limit": "many"},
        {"query": 7},
        {"names": "browser_open_tab"},
        {"names": ["x"] * 51},
        {"words": "click"},
    ],
)
async def test_an_invalid_list_request_is_refused_with_a_reason(filters: Json) -> None:
    async with served() as server, client(server.port) as http:
        assert (await refusal(http, LIST, **filters))["reason"] == "invalid_arguments"


async def test_a_cursor_of_another_search_is_refused() -> None:
    async with served() as server, client(server.port) as http:
        cursor = (await listed(http, query="tab", limit=1))["nextCursor"]
        error = await refusal(http, LIST, query="page", cursor=cursor)
    assert error["reason"] == "invalid_arguments" and "another query" in error["text"]


@pytest.mark.document("OT-gateway-2")
async def test_other_names_of_the_two_tools_are_understood() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http, PATH)
        assert (await agent.call("opentabs_list_tools", query="click"))["tools"]
        result = await agent.call("opentabs_call", name="permissions_check", arguments={})
    assert result["tools"]


@pytest.mark.parametrize("arguments", ['{"tool": "computer"}', {"tool": "computer"}])
async def test_arguments_may_be_an_object_or_a_json_string(arguments: Any) -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http, PATH)
        result = await agent.call(CALL, name="permissions_check", arguments=arguments)
    assert result["decision"] == "allow"


@pytest.mark.parametrize("call", [{}, {"arguments": None}])
async def test_no_arguments_are_an_empty_object(call: Json) -> None:
    async with served() as server, client(server.port) as http:
        assert (await Agent(http, PATH).call(CALL, name="permissions_check", **call))["tools"]


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "invalid_arguments"),
        ({"name": 7}, "invalid_arguments"),
        ({"name": CALL, "arguments": {"name": "x"}}, "invalid_arguments"),
        ({"name": LIST}, "invalid_arguments"),
        ({"name": "permissions_check", "args": {}}, "invalid_arguments"),
        ({"name": "permissions_check", "arguments": []}, "invalid_arguments"),
        ({"name": "permissions_check", "arguments": '{"a'}, "invalid_arguments"),
        ({"name": "permissions_check", "arguments": "none"}, "invalid_arguments"),
        ({"name": "nothing_like_it"}, "unknown_tool"),
    ],
)
async def test_an_invalid_call_is_a_result_with_a_reason(arguments: Json, reason: str) -> None:
    async with served() as server, client(server.port) as http:
        assert (await refusal(http, CALL, **arguments))["reason"] == reason


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("browser_clik", ["browser_click_element"]),
        ("clickElement", ["browser_click_element"]),
        ("browser_open", ["browser_open_tab"]),
        ("browser_opentab", ["browser_open_tab"]),
        ("browserexecutescript", ["browser_execute_script"]),
        ("screenshot", ["browser_screenshot_tab"]),
        ("browser_goto", None),
        ("browser_evaluate", ["browser_execute_script"]),
        ("send_email", None),
        ("run_shell_command", None),
        ("nothing_like_it", None),
        ("browser_logout", None),
    ],
)
async def test_only_tools_that_an_unknown_name_may_mean_are_suggested(
    name: str, meant: list[str] | None
) -> None:
    async with served() as server, client(server.port) as http:
        found = (await refusal(http, CALL, name=name)).get("suggestions")
    assert found and found[: len(meant)] == meant if meant else found is None
    assert not any("delete" in other or "upload" in other for other in found or ())


async def test_an_unknown_tool_is_answered_with_similar_names() -> None:
    async with served() as server, client(server.port) as http:
        error = await refusal(http, CALL, name="browser_clik_element")
        elsewhere = await refusal(http, CALL, name="browser_fill")
        direct = await Agent(http, PATH).post("tools/call", {"name": SCRIPT, "arguments": {}})
    assert error["suggestions"][0] == "browser_click_element"
    assert elsewhere["suggestions"][0] == "browser_type_text"
    protocol_error = direct.json()["error"]
    assert protocol_error["data"]["reason"] == "unknown_tool" and CALL in protocol_error["message"]


@pytest.mark.document("MT-errors-6")
async def test_the_bare_name_of_a_page_tool_suggests_the_tools_of_pages_first() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        bank = {"origin": "https://bank.example", "url": "https://bank.example/"}
        await extension.publish(1, page_tool("get_state"))
        await extension.publish(2, page_tool("get_state"), **bank)
        error = await refusal(http, CALL, name="get_state")
        direct = (await Agent(http).post("tools/call", {"name": "get_state"})).json()["error"]
        rest = (await http.post("/tools/get_state/call", json={})).json()["error"]
    sites = ["website_tool_shop_example_get_state", "website_tool_bank_example_get_state"]
    for fault in (error, direct["data"], rest):
        assert fault["suggestions"][:2] == sites
    assert f"Did you mean {sites[0]} or {sites[1]} or " in direct["message"]


async def test_a_page_tool_whose_page_is_closed_says_so_and_suggests_tools_of_its_site_only() -> (
    None
):
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("get_state"))
        known = "website_tool_shop_example_get_state"
        errors = [
            (await Agent(http).post("tools/call", {"name": name})).json()["error"]
            for name in ("website_tool_bank_example_get_state", known.replace("state", "page"))
        ]
    assert all("only while a page that publishes it is open" in each["message"] for each in errors)
    assert [each["data"].get("suggestions") for each in errors] == [None, [known]]


@pytest.mark.document("OT-gateway-4")
@pytest.mark.requirement("OT-06")
async def test_the_audit_names_the_tool_that_ran_and_not_the_gateway() -> None:
    async with served() as server, client(server.port) as http:
        await Agent(http, PATH).call(CALL, name="permissions_check", arguments={"tool": "computer"})
        await listed(http, query="click")
        [entry] = server.app.audit.entries()
    assert (entry["tool"], entry["success"]) == ("permissions_check", True)


@pytest.mark.requirement("OT-06")
async def test_an_operation_id_and_a_group_hold_through_the_gateway() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync()
        extension.handlers["tabs.open"] = lambda params: tab(9)
        extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(9)]}
        agent, runs = Agent(http, PATH), iter(range(9))
        made = {"name": "tabs_context_mcp", "arguments": {"createIfEmpty": True}}
        handle = (await agent.call(CALL, **made))["groupHandle"]
        extension.handlers["page.evaluate"] = lambda params: {"value": next(runs)}
        meta = {"tabhub/group": handle, "tabhub/operationId": "once"}
        call = {"name": SCRIPT, "arguments": {"code": "1"}}
        for _ in range(2):
            result = await agent.result(CALL, meta, **call)
            assert result["structuredContent"] == {"value": 0}
        stranger = await agent.post(
            "tools/call", {"name": CALL, "arguments": call, "_meta": {"tabhub/group": "grp_none"}}
        )
    assert stranger.json()["error"]["data"]["reason"] == "unknown_session"


@pytest.mark.requirement("OT-06")
async def test_progress_reaches_a_client_of_the_gateway_in_both_eras() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        params = {
            "name": CALL,
            "arguments": {"name": SCRIPT, "arguments": {"code": "1", "tabId": 1}},
            "_meta": {"progressToken": "p"},
        }
        for agent in (await connect(http, path=PATH), LoneClient(http, path=PATH)):
            answering = asyncio.create_task(extension.answer_in_steps({"value": 1}))
            async with agent.streaming("tools/call", params) as response:
                received = await messages(response)
            await answering
            assert received[0]["params"] == {
                "progressToken": "p",
                "progress": 1,
                "total": 2,
                "message": "half",
            }
            assert received[-1]["result"]["structuredContent"] == {"value": 1}


@pytest.mark.requirement("OT-06")
async def test_clients_of_the_gateway_are_notified_of_changed_tools() -> None:
    subscription = {"notifications": {"toolsListChanged": True}}
    async with served() as server, client(server.port) as http:
        session = await connect(http, path=PATH)
        async with (
            session.listening() as old,
            LoneClient(http, path=PATH).streaming("subscriptions/listen", subscription) as new,
        ):
            older, newer = events(old), events(new)
            await next_message(newer)
            server.app.hub.tools.add(extra("late"))
            for stream in (older, newer):
                message = await next_message(stream)
                assert message["method"] == "notifications/tools/list_changed"


@pytest.mark.document("OT-health-5")
async def test_sessions_of_one_endpoint_are_unknown_on_the_other_and_all_are_counted(
    tmp_path: Any,
) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        direct, behind = await connect(http), await connect(http, path=PATH)
        assert (await http.get("/health")).json()["mcpClients"] == 2
        for session, other in ((direct, PATH), (behind, "/mcp")):
            stray = SessionClient(http, "2025-11-25", session.session, path=other)
            answer = await stray.request("ping")
            assert answer.status_code == 404
            assert answer.json()["error"]["data"]["reason"] == "unknown_session"
    async with served(home=home) as server, client(server.port) as http:
        behind.http = http
        assert (await behind.request("ping")).status_code == 200
        server.app.session_ends.end_session(behind.session)
        assert (await behind.request("ping")).status_code == 404


async def test_resources_and_prompts_are_listed_as_on_the_other_endpoint() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(1)]}
        await extension.sync(tab(1))
        session = await connect(http, path=PATH)
        listed = (await session.request("resources/list")).json()["result"]["resources"]
        prompts = (await session.request("prompts/list")).json()["result"]["prompts"]
    assert [entry["uri"] for entry in listed] == ["tab://1"]
    assert [prompt["name"] for prompt in prompts] == ["use_browser"]


@pytest.mark.document("OT-endpoints-3")
async def test_a_session_of_the_gateway_ends_with_its_client_or_by_delete(tmp_path: Any) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        app = server.app
        async with client(server.port, Clients(home).add("ann")) as http:
            for end in (True, False):
                session = await connect(http, path=PATH)
                await session.call(CALL, name="permissions_check")
                assert [agent.key for agent in app.hub.sessions.all()] == [session.session]
                if end:
                    assert (await session.end()).status_code == 200
                else:
                    Clients(home).revoke("ann")
                    app.reload()
                assert app.hub.sessions.all() == [] and len(app.gateway.sessions) == 0


async def test_an_idle_session_of_the_gateway_is_ended() -> None:
    settings = Settings(sessions=SessionSettings(idle_minutes=1e-9))
    async with served(settings) as server, client(server.port) as http:
        session = await connect(http, path=PATH)
        server.app.tidy(time.monotonic())
        assert (await session.request("ping")).status_code == 404
