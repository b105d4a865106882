"""The appendix with the complete list of tools: over SSE, with nothing but what it lists."""

from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tests.agents.mcp.sse_clients import SseClient, streaming
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

Json = dict[str, Any]
pytestmark = pytest.mark.requirement("CB-04")


async def called(agent: SseClient, tool: str, **arguments: Any) -> Json:
    """The structured content of a call of a tool that the client finds in its list."""
    names = [one["name"] for one in (await agent.request("tools/list"))["result"]["tools"]]
    assert tool in names
    result: Json = (await agent.call(tool, **arguments))["result"]
    content: Json = result["structuredContent"]
    return content


@pytest.mark.document("CB-tools-17", "CB-tools-18", "CB-tools-recording")
async def test_a_shortcut_is_recorded_listed_run_and_deleted() -> None:
    async with (
        served() as server,
        connected(server.port) as extension,
        client(server.port) as http,
        streaming(http) as agent,
    ):
        ran: list[str] = []

        def evaluate(params: Json) -> Json:
            ran.append(params["input"]["code"])
            return {"value": 1}

        extension.handlers["page.evaluate"] = evaluate
        await extension.sync(tab(1))
        await agent.initialize()
        begun = await called(agent, "shortcuts_execute", action="record", command="greet")
        assert begun == {"recording": "greet"}
        script = {"action": "javascript_exec", "text": "hello()", "tabId": 1}
        await called(agent, "javascript_tool", **script)
        saved = await called(agent, "shortcuts_execute", action="stop", description="Says hello")
        assert (saved["command"], saved["description"], saved["steps"]) == (
            *("greet", "Says hello", 1),
        )
        (found,) = (await called(agent, "shortcuts_list", tabId=1))["shortcuts"]
        assert found["id"] == saved["id"] and not found["isWorkflow"]
        await called(agent, "shortcuts_execute", command="greet", tabId=1)
        await eventually(lambda: len(ran) == 2, "it to run")
        assert "hello()" in ran[1]
        deleted = await called(agent, "shortcuts_execute", action="delete", command="greet")
        assert deleted == {"deleted": saved["id"]}
        assert (await called(agent, "shortcuts_list", tabId=1))["shortcuts"] == []


@pytest.mark.document("CB-tools-recording")
async def test_a_recording_can_be_dropped_and_must_have_begun() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        await agent.initialize()
        for action in ("stop", "cancel"):
            error = (await called(agent, "shortcuts_execute", action=action))["error"]
            assert error["reason"] == "invalid_arguments"
        nameless = (await called(agent, "shortcuts_execute", action="record"))["error"]
        assert nameless["reason"] == "invalid_arguments"
        await called(agent, "shortcuts_execute", action="record", command="x")
        dropped = await called(agent, "shortcuts_execute", action="cancel")
        assert dropped == {"dropped": True}
        neither = (await called(agent, "shortcuts_execute"))["error"]
        assert neither["reason"] == "invalid_arguments", "neither an id nor a command"


@pytest.mark.document("CB-tools-recording")
@pytest.mark.parametrize(
    ("rule", "action", "is_denied"),
    [
        ("shortcuts_record", "record", True),
        ("shortcuts_record", "delete", False),
        ("shortcuts_delete", "delete", True),
        ("shortcuts_delete", "record", False),
    ],
)
async def test_rules_about_recording_hold_here_too(rule: str, action: str, is_denied: bool) -> None:
    settings = Settings(permissions=PermissionSettings(tools={rule: "off"}))
    async with served(settings) as server, client(server.port) as http, streaming(http) as agent:
        await agent.initialize()
        content = await called(agent, "shortcuts_execute", action=action, command="x")
        denied = content.get("error", {}).get("reason") == "permission_off"
        assert denied is is_denied
