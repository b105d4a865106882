"""A person tries a tool in the panel: nobody is asked, and what is forbidden stays forbidden."""

import asyncio
from typing import Any

import pytest

from tabhub.browser.panel.tool_trial import LONGEST_TEXT
from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import asked_again
from tests.support.browsers.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.serving import client, served

Json = dict[str, Any]
SCRIPT = "browser_execute_script"


async def described(extension: FakeExtension, tool: str) -> Json:
    found: Json = (await extension.ask("tool.describe", {"tool": tool}))["result"]
    return found


async def ran(
    extension: FakeExtension, tool: str, arguments: Json, tab_id: int | None = None
) -> Json:
    params = {"tool": tool, "arguments": arguments, "tabId": tab_id}
    answer = await extension.ask("tool.run", params)
    assert "result" in answer, answer
    found: Json = answer["result"]
    return found


async def test_a_tool_is_described_with_the_schema_of_its_arguments_but_not_its_tab() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        words = "Finds\x1b[2J lamps." + "x" * 9000
        await extension.publish(1, page_tool("search", description=words))
        click = await described(extension, SCRIPT)
        assert click["name"] == SCRIPT and click["title"] == "Execute JavaScript"
        assert "code" in click["inputSchema"]["properties"]
        assert "tabId" not in click["inputSchema"]["properties"]
        assert (click["readOnly"], click["needsTab"]) == (False, True)
        assert (await described(extension, "browser_list_tabs"))["readOnly"]
        page = await described(extension, "website_tool_shop_example_search")
        assert page["inputSchema"]["properties"] == {"word": {"type": "string"}}
        assert "\x1b" not in page["description"] and len(page["description"]) <= 4000
        unknown = await extension.ask("tool.describe", {"tool": "nothing"})
        assert unknown["error"]["data"]["reason"] == "unknown_tool"


async def test_the_person_tries_a_tool_in_their_own_tab_and_is_not_asked() -> None:
    async with served() as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = lambda params: {"value": 42}
        await extension.sync(tab(1), kind="personal", panels=1, shared=False)
        result = await ran(extension, SCRIPT, {"code": "6*7"}, 1)
        assert (result["isError"], result["image"]) == (False, None)
        assert "42" in result["text"]
        assert (await extension.state())["agents"] == [], "no agent has come"
        await extension.command("tabs.release")


async def test_nobody_is_asked_about_the_actions_of_a_batch_that_the_person_tries() -> None:
    async with served() as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = lambda params: {"value": 42}
        await extension.sync(tab(1), kind="personal", panels=1)
        action = {"name": SCRIPT, "input": {"code": "6*7", "tabId": 1}}
        trial = asyncio.create_task(ran(extension, "browser_batch", {"actions": [action]}))
        assert not await asked_again(extension, trial)
        result = await trial
        assert not result["isError"] and "42" in result["text"]


async def test_it_works_in_an_agents_tab_too_which_stays_the_agents() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = lambda params: {"value": 42}
        extension.handlers["tabs.open"] = lambda params: tab(5)
        await extension.sync(tab(1))
        agent = Agent(http)
        opened = (await agent.call("browser_open_tab", url="https://example.com/5"))["tabId"]
        assert not (await ran(extension, SCRIPT, {"code": "1"}, opened))["isError"]
        state = await extension.state()
        (owner,) = [one["owner"] for one in state["tabs"] if one["tabId"] == opened]
        assert owner == state["agents"][0]["session"]
        await agent.call(SCRIPT, code="1", tabId=opened)


async def test_a_tab_that_the_trial_opens_is_the_persons_own() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["tabs.open"] = lambda params: tab(5)
        await extension.sync(tab(1))
        assert not (await ran(extension, "browser_open_tab", {"url": "https://example.com/5"}))[
            "isError"
        ]
        (opened,) = [one for one in (await extension.state())["tabs"] if one["nativeId"] == 5]
        assert opened["owner"] is None and not opened["shared"]
        with pytest.raises(ToolFailed) as refused:
            await Agent(http).call(SCRIPT, code="1", tabId=opened["tabId"])
        assert refused.value.reason == "foreign_tab"


async def test_what_is_off_and_sites_behind_a_wall_stay_closed() -> None:
    settings = Settings(
        permissions=PermissionSettings(
            tools={"browser_read_page": "off"}, domains={"example.com": "off"}
        )
    )
    async with served(settings) as server, connected(server.port) as extension:
        await extension.sync(tab(1), tab(2, url="https://other.example/"))
        for tool, arguments, id in (
            ("browser_read_page", {}, 2),
            (SCRIPT, {"code": "1"}, 1),
        ):
            result = await ran(extension, tool, arguments, id)
            assert result["isError"] and "off" in result["text"], result


async def test_errors_are_results_and_wrong_arguments_say_what_is_wrong() -> None:
    def fail(params: Json) -> None:
        raise Refusal("script_error", "it broke")

    async with served() as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = fail
        await extension.sync(tab(1))
        assert "it broke" in (await ran(extension, SCRIPT, {"code": "1"}, 1))["text"]
        wrong = await ran(extension, SCRIPT, {"cod": "1"}, 1)
        assert wrong["isError"] and "code" in wrong["text"]
        gone = await ran(extension, SCRIPT, {"code": "1"}, 99)
        assert gone["isError"] and "99" in gone["text"]
        unknown = await extension.ask("tool.run", {"tool": "nothing", "arguments": {}})
        assert unknown["error"]["data"]["reason"] == "unknown_tool"
        no_object = await extension.ask("tool.run", {"tool": SCRIPT, "arguments": [1]})
        assert no_object["error"]["data"]["reason"] == "invalid_params"


async def test_long_texts_are_cut() -> None:
    async with served() as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = lambda params: {"value": "y" * 100_000}
        await extension.sync(tab(1))
        result = await ran(extension, SCRIPT, {"code": "1"}, 1)
        assert len(result["text"]) <= LONGEST_TEXT


async def test_the_audit_log_says_that_you_tried_it_once_and_keeps_no_secret() -> None:
    async with served() as server, connected(server.port) as extension:
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1))
        arguments = {"code": "login('swordfish', {password: 'swordfish1'})"}
        await ran(extension, SCRIPT, arguments, 1)
        rows = (await extension.ask("audit.list", {"who": "you", "tool": SCRIPT}))["result"]["rows"]
        assert [row["words"] for row in rows] == ["you tried “Execute JavaScript” on example.com"]
        everything = (await extension.ask("audit.list", {}))["result"]["rows"]
        assert "tool.run" not in [row["tool"] for row in everything]
        assert "swordfish1" not in str(everything)


async def test_stopping_all_agents_ends_a_trial_as_well() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1), panels=1)
        trial = asyncio.create_task(ran(extension, SCRIPT, {"code": "1"}, 1))
        await extension.next("tool.invocationStart")
        # Each takes the next answer, whichever that is.
        answers = [(await extension.ask("agents.stop", {"stopped": True}))["result"], await trial]
        (result,) = [answer for answer in answers if answer]
        assert result["isError"] and "stopped all agents" in result["text"]


async def test_no_client_can_have_a_session_of_the_person() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), kind="personal", shared=False, panels=1)
        for header in ("X-Tabhub-Group", "Mcp-Session-Id"):
            answer = await http.post(
                f"/tools/{SCRIPT}/call",
                json={"arguments": {"code": "1", "tabId": 1}},
                headers={header: "person:1"},
            )
            assert answer.status_code >= 400, header
        calls = (await extension.ask("calls.recent", {}))["result"]["calls"]
        assert {call["outcome"] for call in calls} <= {"refused"}


async def test_a_shortcut_that_the_person_tries_is_waited_for_and_its_end_is_shown() -> None:
    clicked = {"effect": {"mutated": True}, "trusted": True}
    async with (
        served() as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        extension.handlers["page.click"] = lambda params: clicked
        saved = {"role": "button", "name": "Save", "selector": "#save"}
        size = {"width": 800, "height": 600}
        extension.handlers["page.describe"] = lambda params: {"viewport": size, **saved}
        extension.handlers["page.locate"] = lambda params: {"ref": "ref_9"}
        await extension.sync(tab(1), tab(2))
        agent = Agent(http)
        await agent.call("shortcuts_record", action="start", command="twice")
        for _ in range(2):
            await agent.call("browser_click_element", selector="#save", tabId=1)
        await agent.call("shortcuts_record", action="stop")
        shown = await ran(extension, "shortcuts_execute", {"command": "twice", "tabId": 2})
        assert (shown["isError"], shown["text"]) == (False, "'twice': 2 of 2 steps done.")
        last = (await agent.call("shortcuts_list"))["shortcuts"][0]["lastRun"]
        assert (last["state"], last["completed"]) == ("done", 2)

        def refuse(params: Json) -> Json:
            raise Refusal("element_not_found")

        extension.handlers["page.click"] = refuse
        failed = await ran(extension, "shortcuts_execute", {"command": "twice", "tabId": 2})
        assert failed["isError"] and "0 of 2 steps done" in failed["text"]
