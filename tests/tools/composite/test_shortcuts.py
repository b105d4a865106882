"""Shortcuts: their owner, their lifetime, and the decision about each of their steps."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.server.serving import Server
from tabhub.tools.composite import shortcuts
from tabhub.tools.composite.shortcut_recording import ShortcutRecording
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

Json = dict[str, Any]
CLICK, TYPE = "browser_click_element", "browser_type_text"
CLICKED: Json = {"effect": {"mutated": True}, "trusted": True}
FILLED: Json = {**CLICKED, "sensitive": False}
Recording = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def recording(
    home: Home, name: str = "ann", settings: Settings | None = None, **more: Any
) -> AsyncIterator[Recording]:
    clients = Clients(home)
    token = clients.add(name)
    async with (
        served(settings, home=home) as server,
        connected(server.port) as extension,
        client(server.port, token) as http,
    ):
        extension.handlers["page.click"] = lambda params: CLICKED
        extension.handlers["page.fill"] = lambda params: FILLED
        extension.handlers["page.describe"] = lambda params: {
            "viewport": {"width": 800, "height": 600},
            "role": "button",
            "name": "Save",
            "selector": "#save",
        }
        extension.handlers["page.locate"] = lambda params: {"ref": "ref_9"}
        await extension.sync(tab(1), tab(2), **more)
        yield server, extension, Agent(http)


def collected(extension: FakeExtension, command: str) -> list[Json]:
    """Collect the params of a command from now on; the browser answers as before."""
    received: list[Json] = []
    before = extension.handlers[command]

    def handle(params: Json) -> Any:
        received.append(params)
        return before(params)

    extension.handlers[command] = handle
    return received


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


async def recorded(agent: Agent, command: str, *calls: tuple[str, Json]) -> Json:
    await agent.call("shortcuts_record", action="start", command=command, description="It saves.")
    for tool, arguments in calls or [(CLICK, {"ref": "ref_1", "tabId": 1})]:
        await agent.call(tool, **arguments)
    return await agent.call("shortcuts_record", action="stop")


async def listed(agent: Agent) -> list[Json]:
    shortcuts: list[Json] = (await agent.call("shortcuts_list"))["shortcuts"]
    return shortcuts


async def last_run(agent: Agent) -> Json:
    """The outcome of the last run of the only shortcut."""
    (shortcut,) = await eventually(
        lambda: listed(agent), until=lambda found: found[0]["lastRun"]["state"] != "running"
    )
    last: Json = shortcut["lastRun"]
    return last


@pytest.mark.document("CB-tools-17")
async def test_a_shortcut_is_listed_with_everything_a_client_needs(home: Home) -> None:
    async with recording(home) as (_, _, agent):
        assert await agent.call("shortcuts_list", tabId=1) == {
            "message": "You have no shortcuts yet.",
            "shortcuts": [],
        }
        made = await recorded(agent, "/save")
        (entry,) = await listed(agent)
        assert entry == {
            "id": made["id"],
            "command": "save",
            "description": "It saves.",
            "isWorkflow": False,
            "steps": 1,
            "parameters": [],
        }


async def test_running_a_shortcut_returns_at_once_and_finds_its_element_again(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        made = await recorded(agent, "save")
        located = collected(extension, "page.locate")
        clicked = collected(extension, "page.click")
        run = await agent.call("shortcuts_execute", shortcutId=made["id"], tabId=2)
        assert (run["command"], run["steps"]) == ("save", 1)
        assert (await last_run(agent)) == {
            "runId": run["runId"],
            "state": "done",
            "completed": 1,
        }
        assert [(params["tabId"], params["input"]["ref"]) for params in clicked] == [(2, "ref_9")]
        description = located[0]["input"]
        assert (description["selector"], description["role"], description["name"]) == (
            "#save",
            "button",
            "Save",
        )


async def test_shortcuts_belong_to_the_client_and_outlive_the_server(home: Home) -> None:
    async with recording(home, "ann") as (server, _, agent):
        await recorded(agent, "save")
        async with client(server.port, Clients(home).add("bob")) as http:
            assert await listed(Agent(http)) == []
            with pytest.raises(ToolFailed) as unknown:
                await Agent(http).call("shortcuts_execute", command="save", tabId=1)
            assert unknown.value.reason == "not_found"
        token = agent.http.headers["Authorization"].removeprefix("Bearer ")
    async with served(home=home) as server, client(server.port, token) as http:
        assert [entry["command"] for entry in await listed(Agent(http))] == ["save"]
        Clients(home).revoke("ann")
        server.app.reload()
        assert server.app.shortcuts.of("ann") == []


async def test_each_step_is_decided_about_and_logged_as_a_call_of_the_client(home: Home) -> None:
    async with recording(home) as (server, _, agent):
        await recorded(agent, "save", (CLICK, {"selector": "a", "tabId": 1}), (CLICK, {"ref": "r"}))
        server.app.rules.set_level("tools", CLICK, "ask")
        await agent.call("shortcuts_execute", command="save", tabId=1)
        last = await last_run(agent)
        assert (last["state"], last["completed"], last["reason"]) == (
            *("failed", 0, "approval_unavailable"),
        )
        server.app.rules.set_level("tools", CLICK, None)
        await agent.call("shortcuts_execute", command="save", tabId=1)
        assert (await last_run(agent))["completed"] == 2
        clicks = server.app.audit.entries(10, None, CLICK, None)
        assert clicks[0]["client"] == "ann" and clicks[0]["arguments"]["ref"] == (
            "save step 1: button 'Save'"
        )


async def test_secrets_become_parameters_and_are_stored_nowhere(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        extension.handlers["page.fill"] = lambda params: {**FILLED, "sensitive": True}
        extension.handlers["page.describe"] = lambda params: {
            **{"viewport": {}, "role": "textbox", "name": "Your password:", "selector": "#p"}
        }
        fill = {"ref": "ref_1", "text": "hunter2", "tabId": 1}
        made = await recorded(agent, "login", (TYPE, fill), (TYPE, fill))
        assert made["parameters"] == ["your_password", "your_password_2"]
        filled = collected(extension, "page.fill")
        values = {"your_password": "correct horse", "your_password_2": "battery staple"}
        await agent.call("shortcuts_execute", command="login", tabId=1, parameters=values)
        assert (await last_run(agent))["state"] == "done"
        assert [command["input"]["text"] for command in filled] == list(values.values())
    stored = home.db.read_bytes() + home.audit.read_bytes()
    stored += b"".join(path.read_bytes() for path in home.root.glob("*.db-wal"))
    for secret in (b"hunter2", b"correct horse", b"battery staple"):
        assert secret not in stored


async def test_the_error_of_a_run_is_stored_without_its_parameters(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        extension.handlers["page.fill"] = lambda params: {**FILLED, "sensitive": True}
        fill = {"ref": "ref_1", "text": "hunter2", "tabId": 1}
        await recorded(agent, "login", (TYPE, fill))

        def refuse(params: Json) -> Json:
            raise Refusal(
                "element_not_found", f"{params['input']['text']!r} does not fit the field."
            )

        extension.handlers["page.fill"] = refuse
        values = {"save": "correct horse"}
        await agent.call("shortcuts_execute", command="login", tabId=1, parameters=values)
        last = await last_run(agent)
        assert last["error"] == "'[redacted]' does not fit the field."


async def test_a_recording_is_bounded_in_bytes(home: Home) -> None:
    async with recording(home) as (_, _, agent):
        await agent.call("shortcuts_record", action="start", command="big")
        for _ in range(12):
            await agent.call(TYPE, selector="#a", text="x" * 90_000, tabId=1)
        made = await agent.call("shortcuts_record", action="stop")
        assert made["steps"] == 11
        assert made["leftOut"] == [f"{TYPE}: a shortcut has at most 1000000 bytes"]


async def test_the_shortcuts_of_a_client_are_bounded_in_bytes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortcuts, "MAX_BYTES", 1000)
    async with recording(home) as (_, _, agent):
        await recorded(agent, "first", (TYPE, {"selector": "#a", "text": "x" * 500, "tabId": 1}))
        with pytest.raises(ToolFailed, match="larger than 1000 bytes"):
            await recorded(agent, "second", (TYPE, {"selector": "#a", "text": "x" * 500}))
        await agent.call("shortcuts_delete", command="first")
        assert (await agent.call("shortcuts_record", action="stop"))["command"] == "second"


def test_the_report_of_omitted_steps_is_bounded() -> None:
    begun = ShortcutRecording("save", "")
    for number in range(200):
        begun.leave_out(f"call {number}")
    assert len(begun.left_out) == 100


async def test_a_run_that_a_restart_stopped_is_reported_as_interrupted(home: Home) -> None:
    async with recording(home) as (server, extension, agent):
        await recorded(agent, "save")
        del extension.handlers["page.click"]
        await agent.call("shortcuts_execute", command="save", tabId=1)
        (entry,) = await listed(agent)
        assert entry["lastRun"]["state"] == "running"
        with pytest.raises(ToolFailed) as busy:
            await agent.call("shortcuts_execute", command="save", tabId=1)
        assert busy.value.reason == "too_many_calls"
        server.app.shortcuts.ran = lambda id, last: None  # type: ignore[method-assign]
        token = agent.http.headers["Authorization"].removeprefix("Bearer ")
    async with served(home=home) as server, client(server.port, token) as http:
        (entry,) = await listed(Agent(http))
        assert entry["lastRun"]["state"] == "interrupted"


async def test_the_end_of_the_session_stops_a_run_and_drops_a_recording(home: Home) -> None:
    async with recording(home) as (server, extension, agent):
        await recorded(agent, "save", *[(CLICK, {"selector": "a", "tabId": 1})] * 2)
        del extension.handlers["page.click"]
        await agent.call("shortcuts_execute", command="save", tabId=1)
        await agent.call("shortcuts_record", action="start", command="other")
        await extension.command("page.click")
        server.app.session_ends.end_session("token:ann")
        await extension.next("tool.cancel")
        last = await last_run(agent)
        assert (last["state"], last["completed"]) == ("stopped", 0)
        with pytest.raises(ToolFailed, match="Nothing is being recorded"):
            await agent.call("shortcuts_record", action="stop")


async def test_pausing_the_agent_ends_a_run(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        await recorded(agent, "save")
        del extension.handlers["page.click"]
        await agent.call("shortcuts_execute", command="save", tabId=1)
        await extension.command("page.click")
        await extension.ask("agent.pause", {"session": "token:ann", "paused": True})
        await extension.ask("agent.pause", {"session": "token:ann", "paused": False})
        last = await last_run(agent)
        assert (last["state"], last["reason"]) == ("failed", "paused_by_person")


async def test_a_run_changes_no_other_call_of_its_session(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        await recorded(agent, "save")
        del extension.handlers["page.click"]
        located, filled = collected(extension, "page.locate"), collected(extension, "page.fill")
        await agent.call("shortcuts_execute", command="save", tabId=1)
        await extension.command("page.click")
        word = "save step 0: button 'Save'"
        await agent.call(TYPE, ref=word, text="mine", tabId=2)
        assert [params["input"]["ref"] for params in filled] == [word]
        assert [params["tabId"] for params in located] == [1]


async def test_a_run_whose_element_is_missing_says_so(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        await recorded(agent, "save")

        def refuse(params: Json) -> Json:
            raise Refusal("element_not_found", 'There is no button "Save" on the page now.')

        extension.handlers["page.locate"] = refuse
        await agent.call("shortcuts_execute", command="save", tabId=1)
        last = await last_run(agent)
        assert (last["state"], last["reason"]) == ("failed", "element_not_found")
        assert 'no button "Save"' in last["error"]


async def test_failed_calls_and_reading_calls_are_not_recorded(home: Home) -> None:
    async with recording(home) as (_, _, agent):
        await agent.call("shortcuts_record", action="start", command="save")
        with pytest.raises(ToolFailed):
            await agent.call(CLICK, tabId=1)
        await agent.call("permissions_check")
        with pytest.raises(ToolFailed, match="Nothing was done") as empty:
            await agent.call("shortcuts_record", action="stop")
        assert empty.value.reason == "invalid_arguments"
        await agent.call(CLICK, selector="a", tabId=1)
        assert "Recording 'save': 1 step so far." in (await agent.call("shortcuts_list"))["message"]
        assert (await agent.call("shortcuts_record", action="stop"))["steps"] == 1
        assert (await listed(agent))[0]["steps"] == 1


async def test_an_element_without_a_name_or_unique_selector_is_left_out(home: Home) -> None:
    async with recording(home) as (_, extension, agent):
        extension.handlers["page.describe"] = lambda params: {
            **{"viewport": {}, "role": "generic", "name": ""}
        }
        by_ref, by_selector = {"ref": "ref_1", "tabId": 1}, {"selector": "a", "tabId": 1}
        result = await recorded(agent, "save", (CLICK, by_ref), (CLICK, by_selector))
    assert result["steps"] == 1
    assert result["leftOut"] == [f"{CLICK}: its element has no name and no unique selector"]


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("shortcuts_execute", {}, "invalid_arguments"),
        ("shortcuts_execute", {"command": "save", "shortcutId": "x"}, "invalid_arguments"),
        ("shortcuts_execute", {"command": "nothing"}, "not_found"),
        ("shortcuts_execute", {"shortcutId": "nothing"}, "not_found"),
        ("shortcuts_execute", {"command": "save", "parameters": {"x": 1}}, "invalid_arguments"),
        ("shortcuts_execute", {"command": "save", "tabId": 77}, "tab_not_found"),
        ("shortcuts_delete", {"command": "nothing"}, "not_found"),
        ("shortcuts_record", {"action": "start"}, "invalid_arguments"),
        ("shortcuts_record", {"action": "start", "command": "Save it"}, "invalid_arguments"),
        ("shortcuts_record", {"action": "start", "command": "save"}, "invalid_arguments"),
        ("shortcuts_record", {"action": "stop"}, "invalid_arguments"),
        ("shortcuts_record", {"action": "cancel"}, "invalid_arguments"),
        ("shortcuts_record", {"action": "pause"}, "invalid_arguments"),
    ],
)
async def test_bad_input_is_refused_and_nothing_is_lost(
    home: Home, tool: str, arguments: Json, reason: str
) -> None:
    async with recording(home) as (_, _, agent):
        await recorded(agent, "save")
        with pytest.raises(ToolFailed) as refused:
            await agent.call(tool, **arguments)
        assert refused.value.reason == reason
        (entry,) = await listed(agent)
        assert "lastRun" not in entry


async def test_a_recording_can_be_dropped_and_a_shortcut_deleted(home: Home) -> None:
    async with recording(home) as (_, _, agent):
        await agent.call("shortcuts_record", action="start", command="save")
        with pytest.raises(ToolFailed, match="running already"):
            await agent.call("shortcuts_record", action="start", command="other")
        assert await agent.call("shortcuts_record", action="cancel") == {"dropped": True}
        made = await recorded(agent, "save")
        deleted = await agent.call("shortcuts_delete", command="/save")
        assert deleted == {"deleted": made["id"]} and await listed(agent) == []


async def test_shortcuts_run_no_disabled_tool(home: Home) -> None:
    levels = PermissionSettings(tools={"shortcuts_execute": "off"})
    async with recording(home, settings=Settings(permissions=levels)) as (_, _, agent):
        await recorded(agent, "save")
        with pytest.raises(ToolFailed) as off:
            await agent.call("shortcuts_execute", command="save", tabId=1)
        assert off.value.reason == "permission_off"
