"""What agents see of plugins: nothing before the review, then tools that the rules decide about."""

import json
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.settings import load
from tabhub.server.serving import Server
from tests.plugins.homes import SECRET_WORDS, home_with, install, review
from tests.plugins.packages import package_json, tool, write_package
from tests.support.agent import Agent, ToolFailed
from tests.support.serving import client, served

NAME = "demo_add_note"
TOOLS = {"tools": [tool(description=f"{SECRET_WORDS}.", displayName=SECRET_WORDS), tool("list")]}


async def reload(server: Server) -> dict[str, Any]:
    async with client(server.port) as http:
        answer = await http.post("/reload")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def listed(server: Server) -> dict[str, dict[str, Any]]:
    async with client(server.port) as http:
        found = (await Agent(http).post("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in found}


async def everything_listed(server: Server, token: str) -> str:
    """Every list that an agent can get."""
    async with client(server.port, token) as http:
        texts = [(await http.get(path)).text for path in ("/tools", "/tools?query=demo", "/health")]
        agent = Agent(http)
        texts += [(await agent.post("tools/list")).text]
        gateway = Agent(http, "/mcp/gateway")
        for query in ("demo", "note", "Ignore"):
            texts.append(json.dumps(await gateway.result("tabhub_list_tools", query=query)))
        for name in (NAME, "demo__add_note", "demo_other", "add_note"):
            texts.append((await agent.post("tools/call", {"name": name, "arguments": {}})).text)
        texts.append(json.dumps(await agent.result("permissions_check")))
        for path in (f"/tools/{NAME}", "/metrics", "/openapi.json"):
            texts.append((await http.get(path)).text)
        for method in ("resources/list", "resources/templates/list", "prompts/list"):
            texts.append((await agent.post(method)).text)
        resource = {"type": "ref/resource", "uri": "tab://{tabId}/text"}
        asked = {"ref": resource, "argument": {"name": "tabId", "value": ""}}
        texts.append((await agent.post("completion/complete", asked)).text)
        for status in ("plugin_list_tabs", "extension_check_adapter"):
            arguments = {"name": status, "arguments": {"plugin": "demo"}}
            texts.append((await agent.post("tools/call", arguments)).text)
    return "\n".join(texts)


@pytest.mark.parametrize("state", ["never", "changed", "failed"])
async def test_no_word_of_a_plugin_that_is_not_reviewed_reaches_an_agent(
    tmp_path: Path, state: str
) -> None:
    home = home_with(tmp_path, "demo", tools=TOOLS)
    if state == "changed":
        write_package(home.plugins / "demo")
        review(home, "demo", "auto")
        install(home, "demo", tools=TOOLS)
    if state == "failed":
        (home.plugins / "demo" / "package.json").write_text(
            json.dumps({**package_json(displayName=SECRET_WORDS), "version": SECRET_WORDS})
        )
    token = Clients(home).add("claude")
    async with served(load(home), home=home) as server:
        assert NAME not in await listed(server)
        texts = await everything_listed(server, token)
    assert SECRET_WORDS not in texts
    assert str(home.root) not in texts


async def test_whoever_calls_a_tool_that_is_not_reviewed_learns_what_the_person_can_do(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "demo")
    async with served(load(home), home=home) as server, client(server.port) as http:
        answer = await Agent(http).post("tools/call", {"name": "demo__add_note", "arguments": {}})
        rest = await http.post(f"/tools/{NAME}/call", json={"arguments": {}})
    message = answer.json()["error"]["message"]
    assert "the person has not reviewed this plugin" in message
    assert message.endswith("tabhub plugin review demo")
    assert rest.status_code == 404
    assert "tabhub plugin review demo" in rest.json()["error"]["message"]


@pytest.mark.document("OT-injected-1")
async def test_a_reviewed_plugin_is_listed_with_its_schema_and_the_parameter_for_the_tab(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "demo")
    review(home, "demo")
    async with served(load(home), home=home) as server:
        shown = (await listed(server))[NAME]
    assert shown["description"] == "Adds a note."
    schema = shown["inputSchema"]
    assert schema["properties"]["tabId"]["minimum"] == 1
    assert schema["properties"]["limit"] == {"type": "integer", "default": 10}
    assert schema["required"] == ["title"]
    assert "instance" not in schema["properties"]
    assert "outputSchema" not in shown
    assert shown["_meta"]["tabhub/untrusted"]


@pytest.mark.parametrize("level", ["off", None])
async def test_a_reviewed_plugin_that_is_off_is_listed_as_disabled(
    tmp_path: Path, level: str | None
) -> None:
    home = home_with(tmp_path, "demo")
    review(home, "demo", level)
    async with served(load(home), home=home) as server, client(server.port) as http:
        shown = (await listed(server))[NAME]
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call(NAME, title="x")
    assert shown["description"] == "[Disabled] Adds a note."
    assert failed.value.reason == "permission_off"


async def test_approving_and_changing_take_effect_at_the_next_reload(tmp_path: Path) -> None:
    home = home_with(tmp_path, "demo")
    async with served(load(home), home=home) as server:
        review(home, "demo")
        assert (await reload(server))["plugins"] == 1
        assert NAME in await listed(server)
        install(home, "demo", adapter="steal();")
        assert (await reload(server))["plugins"] == 1
        assert NAME not in await listed(server)
        install(home, "demo", tools={"tools": [tool("other")]})
        review(home, "demo")
        install(home, "second")
        review(home, "second")
        assert (await reload(server))["plugins"] == 2
        names = await listed(server)
    assert "demo_other" in names
    assert "second_add_note" in names
    assert NAME not in names


async def test_the_names_of_other_tools_stay_theirs(tmp_path: Path) -> None:
    home = home_with(tmp_path, "read", tools={"tools": [tool("page")]})
    review(home, "read")
    async with served(load(home), home=home) as server, client(server.port) as http:
        before = (await Agent(http).post("tools/list")).json()["result"]["tools"]
        health = (await http.get("/health")).json()
    [failed] = health["failedPlugins"]
    assert "there is a tool called read_page already" in failed["error"]
    assert all("Adds a note" not in json.dumps(tool) for tool in before)


@pytest.mark.document("OT-health-18")
@pytest.mark.requirement("OT-43")
async def test_the_health_report_says_which_plugins_there_are_and_which_failed_and_why(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "demo", "bad")
    review(home, "demo")
    (home.plugins / "bad" / "dist" / "tools.json").write_text("[]")
    home.config.write_text(json.dumps({"localPluginDirs": [str(tmp_path / "none")]}))
    token = Clients(home).add("claude")
    async with served(load(home), home=home) as server:
        async with client(server.port) as http:
            health = (await http.get("/health")).json()
        async with client(server.port, token) as http:
            of_agent = (await http.get("/health")).json()
    [shown] = health["pluginDetails"]
    assert (health["plugins"], health["pluginToolCount"]) == (1, 1)
    assert (shown["name"], shown["tools"], shown["toolCount"]) == ("demo", [NAME], 1)
    assert (shown["source"], shown["sdkVersion"], shown["version"]) == ("npm", "0.0.115", "1.2.3")
    assert (shown["review"], shown["closed"]) == ("reviewed", "off")
    [failed] = health["failedPlugins"]
    assert failed["path"] == str(home.plugins / "bad")
    assert (failed["reason"], "1 to 500 tools" in failed["error"]) == ("invalid_arguments", True)
    assert health["discoveryErrors"] == [f"localPluginDirs: {tmp_path / 'none'} is not a folder."]
    assert "failedPlugins" not in of_agent
    assert "folder" not in of_agent["pluginDetails"][0]


@pytest.mark.document("OT-reload-4")
async def test_a_reload_finds_new_plugins_and_local_ones(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    async with served(load(home), home=home) as server:
        assert (await reload(server))["plugins"] == 0
        install(home, "demo")
        local = write_package(tmp_path / "mine", package_json("tabhub-plugin-mine"))
        home.config.write_text(json.dumps({"localPlugins": [str(local)]}))
        assert (await reload(server))["plugins"] == 2
        assert server.app.plugins.get("mine").kind == "local"
