"""How recordings follow calls, and which calls a shortcut keeps."""

from collections import Counter
from typing import Any

from tabhub.calls.call import Call
from tabhub.calls.results import done
from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog
from tabhub.tools.recording import NOT_STEPS, STEPS, STEPS_IF_CHANGING, Observation, is_step
from tabhub.tools.tool import SOURCE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

TOOLS = {tool.name: tool for tool in (*catalog.ALL, LIST_TABS)}


def test_every_tool_says_whether_a_shortcut_records_its_calls() -> None:
    decided = Counter([*STEPS, *STEPS_IF_CHANGING, *NOT_STEPS])
    assert decided == Counter(TOOLS.keys())


def test_only_tools_that_can_change_something_or_wait_are_steps() -> None:
    for tool in TOOLS.values():
        may_change = tool.source == SOURCE and not (
            tool.changes_when is None and tool.is_reading({})
        )
        is_waiting = tool.name == "browser_wait_for_element"
        assert (tool.name in STEPS | STEPS_IF_CHANGING) == (may_change or is_waiting)


def test_a_call_is_a_step_only_if_it_changes_something() -> None:
    tool = TOOLS["computer"]
    for arguments, expected in (({"action": "screenshot"}, False), ({"action": "type"}, True)):
        call = Call("computer", None, "s", _silent, tool=tool, arguments=arguments)
        assert is_step(call) is expected


class Notebook:
    """Records every session, and lists what it observes."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.sessions = Everything()

    def follow(self, call: Call) -> Observation | None:
        return Page(self.events)


class Everything:
    def __contains__(self, session: object) -> bool:
        return True


class Page(Observation):
    def __init__(self, events: list[str]) -> None:
        self._events = events

    async def before(self, context: Context) -> None:
        await context.in_tab("page.describe", {})
        self._events.append("before")

    def on_command(self, command: str, input: Json, output: Any) -> None:
        self._events.append(command)

    async def after(self, context: Context, result: CallResult) -> None:
        self._events.append("after")


async def test_an_observer_sees_the_commands_of_the_call_but_not_its_own() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers.update({"page.describe": _empty, "page.evaluate": _value})
        notebook = Notebook()
        source = server.app.sources[SOURCE]
        assert isinstance(source, catalog.BrowserSource)
        source._observers = (notebook,)
        await Agent(http).call("browser_execute_script", code="1", tabId=1)
    assert notebook.events == ["before", "page.evaluate", "after"]


async def test_changes_of_a_tool_to_its_arguments_are_not_in_the_audit_log() -> None:
    async def handler(context: Context) -> CallResult:
        context.arguments["text"] = "changed"
        return done("ok", {})

    changing = browser_tool(
        name="changes_arguments",
        description="Changes its arguments.",
        properties={"text": {"type": "string"}},
        needs_tab=False,
        handler=handler,
    )
    async with served() as server, client(server.port) as http:
        server.app.hub.tools.add(changing)
        await Agent(http).call("changes_arguments", text="given")
        (entry,) = server.app.audit.entries(10, None, "changes_arguments", None)
    assert entry["arguments"] == {"text": "given"}


def _empty(params: Json) -> Json:
    return {}


def _value(params: Json) -> Json:
    return {"value": 1}


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None
