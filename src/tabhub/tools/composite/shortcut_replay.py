"""Running a shortcut: its steps as calls of the session, one after the other, in the background."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tabhub.audit.entry import SHORTEST_HIDDEN
from tabhub.audit.redaction import Redactor
from tabhub.calls.call import Call
from tabhub.calls.runner import Runner
from tabhub.config.clients import Client
from tabhub.errors import NotFound, Refused, TabhubError, Unavailable
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import AgentSession
from tabhub.store.saved_shortcuts import LastRun, Shortcut, Shortcuts, State, Step, Target, View
from tabhub.tools.composite.shortcut_recording import has_points, opened_tab, places
from tabhub.tools.state import Frame
from tabhub.tools.tool import Context, Json

LOCATE_MS = 5000
TOLERANCE = 0.02
"""By which share of its size a viewport may differ from the one that points were named in."""


@dataclass
class Run:
    """One run of a shortcut."""

    id: str
    shortcut: Shortcut
    session: str
    client: Client
    agent: str
    values: Mapping[str, Any]
    tabs: dict[int, int]
    """Tabs now, by their numbers in the recording."""
    done: int = 0
    targets: dict[str, Target] = field(default_factory=dict)
    view: View | None = None

    def state(self, state: State, error: TabhubError | None = None) -> LastRun:
        told = ("", "") if error is None else (self._without_values(error.message), error.reason)
        return LastRun(self.id, state, self.done, *told)

    def _without_values(self, message: str) -> str:
        """An error may repeat what was given for this run only, and it is kept."""
        return Redactor(_texts(self.values)).text(message)


class Replays:
    """The runs under way: at most one a session, and it ends with it."""

    def __init__(self, hub: Hub, shortcuts: Shortcuts) -> None:
        self._hub = hub
        self._shortcuts = shortcuts
        self._runs: dict[str, Run] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        hub.sessions.on_change(self._changed)

    def _changed(self, session: AgentSession) -> None:
        if self._hub.sessions.find(session.key) is None:
            self.stop(session.key)

    def stop(self, session: str) -> bool:
        """Whether there was one to be stopped."""
        task = self._tasks.get(session)
        return task is not None and task.cancel()

    def is_running(self, run: str) -> bool:
        return any(known.id == run for known in self._runs.values())

    def begin(
        self, runner: Runner, call: Call, shortcut: Shortcut, tab: int | None, values: Json
    ) -> Run:
        session = call.session
        if session in self._runs:
            name = self._runs[session].shortcut.command
            raise Unavailable(f"{name!r} is still running; wait for its end.", "too_many_calls")
        tabs = {} if tab is None else {0: tab}
        id = f"run_{secrets.token_hex(4)}"
        run = Run(id, shortcut, session, call.client, call.agent, values, tabs)
        self._runs[session] = run
        self._shortcuts.ran(shortcut.id, run.state("running"))
        task = self._tasks[session] = asyncio.create_task(self._go(runner, run))
        task.add_done_callback(lambda _: self._end(session))
        return run

    def _end(self, session: str) -> None:
        self._runs.pop(session, None)
        self._tasks.pop(session, None)

    async def _go(self, runner: Runner, run: Run) -> None:
        try:
            for step in run.shortcut.steps:
                await self._step(runner, run, step)
                run.done += 1
        except TabhubError as error:
            self._shortcuts.ran(run.shortcut.id, run.state("failed", error))
        except asyncio.CancelledError:
            self._shortcuts.ran(run.shortcut.id, run.state("stopped"))
            raise
        else:
            self._shortcuts.ran(run.shortcut.id, run.state("done"))

    async def _step(self, runner: Runner, run: Run, step: Step) -> None:
        if self._hub.sessions.find(run.session) is None:
            raise NotFound("The session has ended.", "unknown_session")
        run.view, run.targets = step.view, {}
        result = await runner.run(
            Call(
                name=step.tool,
                raw=msgspec.Raw(msgspec.json.encode(_arguments(run, step))),
                session=run.session,
                progress=_silent,
                client=run.client,
                agent=run.agent,
                replayed=True,
            )
        )
        if step.opens is not None:
            tool = self._hub.tools.find(step.tool)
            opened = opened_tab(bool(tool and tool.opens_tab), result.structured_content)
            if opened is not None:
                run.tabs[step.opens] = opened

    async def resolve(self, context: Context) -> None:
        """Put the element that is there now in the place of the one that was recorded."""
        run = self._runs[context.session]
        arguments = context.arguments
        for key, place in places(arguments).items():
            target = run.targets.get(place.get("ref", ""))
            if target is not None:
                ref = await _located(context, target)
                # What is written down of the call keeps its own word for the element.
                arguments.update({"ref": ref} if not key else {key: {**place, "ref": ref}})
        if run.view is not None and has_points(arguments):
            await _show_again(context, run.view)


async def _located(context: Context, target: Target) -> str:
    wanted = {**msgspec.to_builtins(target), "timeoutMs": LOCATE_MS}
    found: str = (await context.in_tab("page.locate", wanted))["ref"]
    return found


async def _show_again(context: Context, view: View) -> None:
    """Points mean the same only in a viewport of the same size."""
    now = (await context.in_tab("page.describe", {}))["viewport"]
    for side in ("width", "height"):
        if abs(now[side] - view.viewport[side]) > view.viewport[side] * TOLERANCE:
            raise Refused(
                f"The points of this step were named in a viewport of {_size(view.viewport)}; it "
                f"is {_size(now)} now.",
                "not_visible",
            )
    if view.width:
        frame = Frame(view.width, view.height, view.shown, view.corner)
        context.shots.show(context.session, context.tab.id, frame)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value that is long enough to be told from others."""
    if isinstance(value, str) and len(value) >= SHORTEST_HIDDEN:
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _size(viewport: Mapping[str, float]) -> str:
    return f"{viewport['width']:g}x{viewport['height']:g}"


def _arguments(run: Run, step: Step) -> Json:
    asked = {argument: run.values[name] for argument, name in step.parameters.items()}
    given = deepcopy({**step.arguments, **asked})
    if step.tab is not None:
        if step.tab not in run.tabs:
            raise NotFound("The tab of this step was not opened this time.", "tab_not_found")
        given["tabId"] = run.tabs[step.tab]
    for key, target in step.targets.items():
        (given[key] if key else given)["ref"] = _handle(run, key, target)
    return given


def _handle(run: Run, key: str, target: Target) -> str:
    """A word for an element that is yet to be found, as people and the record see it."""
    what = f"{key} {target.role} {target.name!r}".strip()
    handle = f"{run.shortcut.command} step {run.done}: {what}"
    run.targets[handle] = target
    return handle


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    """Nobody waits: how it goes on is told by shortcuts_list."""
