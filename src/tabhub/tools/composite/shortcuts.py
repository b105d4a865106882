"""Shortcuts: calls that a client has recorded and runs again. They belong to the client."""

import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from tabhub.calls.call import Call, Source
from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.calls.runner import Runner
from tabhub.errors import InvalidArguments, NotFound, Refused
from tabhub.hub.hub import Hub
from tabhub.hub.tools import SameAs, Tool
from tabhub.store.saved_shortcuts import LastRun, Shortcut, Shortcuts
from tabhub.tools.composite.shortcut_recording import ShortcutRecording, ShortcutRecordings
from tabhub.tools.composite.shortcut_replay import Replays
from tabhub.tools.reports import MAX_TOKENS, counted, listed_as_json
from tabhub.tools.tool import BROWSER, CLAUDE, TAB_ID, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

SOURCE = "shortcuts"
MAX_SHORTCUTS = 100
MAX_BYTES = 10_000_000
"""Of all shortcuts of a client."""
DESCRIPTION_CHARS = 500
_COMMAND = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_ID: Json = {"type": "string", "maxLength": 40}
_NAME: Json = {"type": "string", "maxLength": 41, "description": "Its name, without slash."}


def _tool(
    name: str,
    title: str,
    description: str,
    properties: Json,
    required: tuple[str, ...] = (),
    *,
    read_only: bool = False,
    toolsets: frozenset[str] = BROWSER,
    same_as: SameAs = (),
) -> Tool:
    return browser_tool(
        name=name,
        title=title,
        description=description,
        properties=properties,
        required=required,
        source=SOURCE,
        read_only=read_only,
        needs_tab=False,
        toolsets=toolsets,
        same_as=same_as,
        secret_arguments=frozenset({"parameters"} & properties.keys()),
        # It acts in the browser only through the calls that were recorded.
        is_container=True,
    )


_DESCRIPTION: Json = {"type": "string", "maxLength": DESCRIPTION_CHARS}
_ACTIONS = ("run", "record", "stop", "cancel", "delete")


def _same_as(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The tool whose rules apply to an action other than running a shortcut."""
    action = arguments.get("action", "run")
    if action == "run":
        return ()
    return ("shortcuts_delete",) if action == "delete" else ("shortcuts_record",)


LIST = _tool(
    "shortcuts_list",
    "List shortcuts",
    "Your shortcuts, with the last run of each, and what is being recorded.",
    {"tabId": TAB_ID, "maxTokens": MAX_TOKENS},
    read_only=True,
    toolsets=CLAUDE | BROWSER,
)
EXECUTE = _tool(
    "shortcuts_execute",
    "Run a shortcut",
    "Run a shortcut in a tab: its recorded calls, each decided about as if you made it. Returns at "
    "once; shortcuts_list shows how it goes on. With action record, what you do from here to "
    "action stop becomes a shortcut of that command; cancel drops it.",
    {
        "shortcutId": _ID,
        "command": _NAME,
        "action": {"enum": list(_ACTIONS), "description": "Default run."},
        "description": {**_DESCRIPTION, "description": "Of one to record."},
        "parameters": {"type": "object", "description": "Values that were not recorded."},
        "tabId": TAB_ID,
    },
    toolsets=CLAUDE | BROWSER,
    # Clients of HTTP+SSE find only the tools of their vocabulary, and none of these records.
    same_as=_same_as,
)
RECORD = _tool(
    "shortcuts_record",
    "Record a shortcut",
    "Record what you do from start to stop as a shortcut. Passwords are not kept: they become "
    "parameters. Refs are kept as the names of their elements.",
    {
        "action": {"enum": ["start", "stop", "cancel"]},
        "command": _NAME,
        "description": _DESCRIPTION,
    },
    ("action",),
)
DELETE = _tool(
    "shortcuts_delete",
    "Delete a shortcut",
    "Delete one of your shortcuts.",
    {"shortcutId": _ID, "command": _NAME},
)
TOOLS = (LIST, EXECUTE, RECORD, DELETE)


class ShortcutSource(Source):
    """Runs the tools of this module."""

    def __init__(
        self,
        hub: Hub,
        runner: Runner,
        shortcuts: Shortcuts,
        recordings: ShortcutRecordings,
        replays: Replays,
    ) -> None:
        self._hub = hub
        self._runner = runner
        self._shortcuts = shortcuts
        self._recordings = recordings
        self._replays = replays
        self._run: dict[str, Callable[[Call], CallResult]] = {
            LIST.name: self._list,
            EXECUTE.name: self._run_or_record,
            RECORD.name: lambda call: self._record(call, call.arguments["action"]),
            DELETE.name: self._delete,
        }

    async def run(self, call: Call) -> CallResult:
        result = self._run[call.tool.name](call)
        # The session of a trial ends with its call, and would end the run.
        return await self._ended(call) if call.by_person and self._runs(call) else result

    def _runs(self, call: Call) -> bool:
        return call.tool.name == EXECUTE.name and self._replays.of(call.session) is not None

    async def _ended(self, call: Call) -> CallResult:
        """The end of the run that the call has begun."""
        run, last = await self._replays.ended(call.session)
        steps = counted(len(run.shortcut.steps), "step")
        how = f"{run.shortcut.command!r}: {last.step} of {steps} done"
        if last.state == "done":
            return done(f"{how}.", self._run_data(last))
        raise Refused(f"{how}. {last.error or 'It was stopped.'}", last.reason or "cancelled")

    def _list(self, call: Call) -> CallResult:
        own = [self._data(shortcut) for shortcut in self._shortcuts.of(call.client.name)]
        message = counted(len(own), "shortcut") if own else "You have no shortcuts yet."
        recording = self._recordings.find(call.session)
        if recording is not None:
            steps = counted(len(recording.steps), "step")
            message += f" Recording {recording.command!r}: {steps} so far."

        def data(count: int) -> Json:
            return {"message": message, "shortcuts": own[:count]}

        return listed_as_json(call.arguments, [_line(shortcut) for shortcut in own], data)

    def _data(self, shortcut: Shortcut) -> Json:
        data: Json = {
            "id": shortcut.id,
            "command": shortcut.command,
            "description": shortcut.description,
            "isWorkflow": len(shortcut.steps) > 1,
            "steps": len(shortcut.steps),
            "parameters": shortcut.parameters,
        }
        return data if shortcut.last is None else {**data, "lastRun": self._run_data(shortcut.last)}

    def _run_data(self, last: LastRun) -> Json:
        is_lost = last.state == "running" and not self._replays.is_running(last.id)
        state = "interrupted" if is_lost else last.state
        data: Json = {"runId": last.id, "state": state, "completed": last.step}
        return {**data, "error": last.error, "reason": last.reason} if last.error else data

    def _run_or_record(self, call: Call) -> CallResult:
        action = call.arguments.get("action", "run")
        if action == "run":
            return self._execute(call)
        if action == "delete":
            return self._delete(call)
        return self._record(call, "start" if action == "record" else action)

    def _execute(self, call: Call) -> CallResult:
        shortcut = self._named(call)
        values = _values(shortcut, call.arguments.get("parameters", {}))
        needs_tab = any(step.tab == 0 for step in shortcut.steps)
        tab = None
        if needs_tab or "tabId" in call.arguments:
            tab = self._hub.routes.tab(call.session, call.arguments.get("tabId")).id
        run = self._replays.begin(self._runner, call, shortcut, tab, values)
        steps = len(shortcut.steps)
        return done(
            f"{shortcut.command!r} runs now: {counted(steps, 'step')}. shortcuts_list shows how "
            "it goes on.",
            {
                "runId": run.id,
                "shortcutId": shortcut.id,
                "command": shortcut.command,
                "steps": steps,
            },
        )

    def _record(self, call: Call, action: str) -> CallResult:
        if action == "start":
            return self._start(call)
        recording = self._recordings.find(call.session)
        if recording is None:
            raise InvalidArguments("Nothing is being recorded: begin a recording first.")
        if action == "cancel":
            self._recordings.end(call.session)
            return done(f"The recording of {recording.command!r} is dropped.", {"dropped": True})
        return self._stop(call, recording)

    def _start(self, call: Call) -> CallResult:
        command = _command(call.arguments.get("command", ""))
        own = self._shortcuts.of(call.client.name)
        if any(shortcut.command == command for shortcut in own):
            raise InvalidArguments(
                f"You have a shortcut {command!r} already. Take another name, or delete it with "
                "shortcuts_delete first."
            )
        if len(own) >= MAX_SHORTCUTS:
            raise InvalidArguments(f"You have {MAX_SHORTCUTS} shortcuts already. Delete one first.")
        if self._recordings.find(call.session) is not None:
            raise InvalidArguments("A recording is running already: stop or cancel it first.")
        description = call.arguments.get("description", "")
        self._recordings.begin(call.session, ShortcutRecording(command, description))
        return done(f"Recording {command!r} from here on.", {"recording": command})

    def _stop(self, call: Call, recording: ShortcutRecording) -> CallResult:
        if not recording.steps:
            raise InvalidArguments(
                "Nothing was done that could be recorded. "
                f"{_left_out(recording)}Go on, or end it with action cancel.".strip()
            )
        if self._shortcuts.size(call.client.name) + recording.size > MAX_BYTES:
            raise InvalidArguments(
                f"Your shortcuts would be larger than {MAX_BYTES} bytes. Delete one, then stop "
                "again, or end it with action cancel."
            )
        self._recordings.end(call.session)
        shortcut = Shortcut(
            id=f"sc_{secrets.token_hex(6)}",
            client=call.client.name,
            command=recording.command,
            description=call.arguments.get("description", recording.description),
            steps=recording.steps,
            created=time.time(),
        )
        self._shortcuts.put(shortcut)
        # They have the names of fields of the page.
        parameters = quoted(", ".join(shortcut.parameters)) if shortcut.parameters else ""
        note = f" It needs the parameters {parameters}." if parameters else ""
        sentence = f"Recorded {shortcut.command!r}: {counted(len(shortcut.steps), 'step')}."
        data = {**self._data(shortcut), "leftOut": recording.left_out}
        return done(f"{sentence}{note} {_left_out(recording)}".rstrip(), data)

    def _delete(self, call: Call) -> CallResult:
        shortcut = self._named(call)
        self._shortcuts.drop(shortcut)
        return done(f"Deleted the shortcut {shortcut.command!r}.", {"deleted": shortcut.id})

    def _named(self, call: Call) -> Shortcut:
        """The shortcut that a call names, by id or by command."""
        id, command = call.arguments.get("shortcutId"), call.arguments.get("command")
        if (id is None) == (command is None):
            raise InvalidArguments(f"{call.tool.name}: give shortcutId or command, one of the two.")
        try:
            name = None if command is None else command.removeprefix("/")
            return self._shortcuts.find(call.client.name, id=id, command=name)
        except KeyError:
            known = ", ".join(shortcut.command for shortcut in self._shortcuts.of(call.client.name))
            hint = f"There are {known}." if known else "You have none yet."
            raise NotFound(f"There is no shortcut {id or command!r}. {hint}") from None


def _command(given: str) -> str:
    command = given.removeprefix("/")
    if not _COMMAND.fullmatch(command):
        raise InvalidArguments(
            "shortcuts_record: command must be a short name of lowercase letters, digits, - and _."
        )
    return command


def _values(shortcut: Shortcut, given: Json) -> Json:
    names = shortcut.parameters
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        needs = (
            f"needs the parameters {quoted(', '.join(names))}" if names else "takes no parameters"
        )
        raise InvalidArguments(
            f"{shortcut.command!r} {needs}.", data={"missing": missing, "unknown": unknown}
        )
    return given


def _left_out(recording: ShortcutRecording) -> str:
    return f"Left out: {'; '.join(recording.left_out)}. " if recording.left_out else ""


def _line(shortcut: Json) -> str:
    last = shortcut.get("lastRun")
    parts = [f"- {shortcut['command']} ({shortcut['id']}), {counted(shortcut['steps'], 'step')}"]
    if shortcut["description"]:
        parts.append(shortcut["description"])
    if shortcut["parameters"]:
        parts.append(f"parameters: {', '.join(shortcut['parameters'])}")
    if last is not None:
        parts.append(f"last run {last['state']} after {counted(last['completed'], 'step')}")
        parts.extend([last["error"]] if "error" in last else [])
    return "; ".join(parts)
