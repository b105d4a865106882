"""Running a shortcut: its steps as calls of the session, in order, in the background."""

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
from tabhub.store.saved_shortcuts import (
    LastRun,
    SavedElement,
    SavedView,
    Shortcut,
    Shortcuts,
    State,
    Step,
)
from tabhub.tools.composite.shortcut_recording import has_points, opened_tab, places
from tabhub.tools.state import Frame
from tabhub.tools.tool import Context, Json

LOCATE_MS = 5000
TOLERANCE = 0.02
"""By what share of its size a viewport may differ from the recorded one."""


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
    """Tab ids, by their numbers in the recording."""
    by_person: bool = False
    done: int = 0
    targets: dict[str, SavedElement] = field(default_factory=dict)
    view: SavedView | None = None
    last: LastRun = field(init=False)

    def state(self, state: State, error: TabhubError | None = None) -> LastRun:
        if error is None:
            return LastRun(self.id, state, self.done)
        return LastRun(self.id, state, self.done, self._redacted(error.message), error.reason)

    def _redacted(self, message: str) -> str:
        """An error message without the values of this run, because the message is stored."""
        return Redactor(_texts(self.values)).text(message)


class Replays:
    """The running shortcuts: at most one for each session, stopped when the session ends."""

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
        """Stop the session's run; returns whether there was one."""
        task = self._tasks.get(session)
        return task is not None and task.cancel()

    def of(self, session: str) -> Run | None:
        """The session's run, while it goes on."""
        return self._runs.get(session)

    async def ended(self, session: str) -> tuple[Run, LastRun]:
        """The session's run and its end; who stops waiting for it stops it."""
        run, task = self._runs[session], self._tasks[session]
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            raise
        return run, run.last

    def is_running(self, run: str) -> bool:
        return any(known.id == run for known in self._runs.values())

    def begin(
        self, runner: Runner, call: Call, shortcut: Shortcut, tab: int | None, values: Json
    ) -> Run:
        session = call.session
        if session in self._runs:
            name = self._runs[session].shortcut.command
            raise Unavailable(f"{name!r} is still running; wait until it ends.", "too_many_calls")
        tabs = {} if tab is None else {0: tab}
        id = f"run_{secrets.token_hex(4)}"
        run = Run(id, shortcut, session, call.client, call.agent, values, tabs, call.by_person)
        self._runs[session] = run
        self._note(run, run.state("running"))
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
            self._note(run, run.state("failed", error))
        except asyncio.CancelledError:
            self._note(run, run.state("stopped"))
            raise
        else:
            self._note(run, run.state("done"))

    def _note(self, run: Run, last: LastRun) -> None:
        run.last = last
        self._shortcuts.ran(run.shortcut.id, last)

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
                by_person=run.by_person,
            )
        )
        if step.opens is not None:
            tool = self._hub.tools.find(step.tool)
            opened = opened_tab(bool(tool and tool.opens_tab), result.structured_content)
            if opened is not None:
                run.tabs[step.opens] = opened

    async def resolve(self, context: Context) -> None:
        """Replace the recorded elements of a call by those that the page has now."""
        run = self._runs[context.session]
        arguments = context.arguments
        for key, place in places(arguments).items():
            target = run.targets.get(place.get("ref", ""))
            if target is not None:
                ref = await _located(context, target)
                # Only the tool's copy changes: the audit log keeps the words for the element.
                arguments.update({"ref": ref} if not key else {key: {**place, "ref": ref}})
        if run.view is not None and has_points(arguments):
            await _restore_view(context, run.view)


async def _located(context: Context, target: SavedElement) -> str:
    input = {**msgspec.to_builtins(target), "timeoutMs": LOCATE_MS}
    ref: str = (await context.in_tab("page.locate", input))["ref"]
    return ref


async def _restore_view(context: Context, view: SavedView) -> None:
    """Make coordinates mean what they did; that needs a viewport of the same size."""
    now = (await context.in_tab("page.describe", {}))["viewport"]
    for side in ("width", "height"):
        if abs(now[side] - view.viewport[side]) > view.viewport[side] * TOLERANCE:
            raise Refused(
                f"The points of this step were recorded in a viewport of {_size(view.viewport)}; "
                f"it is {_size(now)} now.",
                "not_visible",
            )
    if view.width:
        frame = Frame(view.width, view.height, view.shown, view.corner)
        context.screenshots.set_frame(context.session, context.tab.id, frame)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value that is long enough to be redacted."""
    if isinstance(value, str) and len(value) >= SHORTEST_HIDDEN:
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _size(viewport: Mapping[str, float]) -> str:
    return f"{viewport['width']:g}x{viewport['height']:g}"


def _arguments(run: Run, step: Step) -> Json:
    values = {argument: run.values[name] for argument, name in step.parameters.items()}
    arguments = deepcopy({**step.arguments, **values})
    if step.tab is not None:
        if step.tab not in run.tabs:
            raise NotFound("The tab of this step was not opened this time.", "tab_not_found")
        arguments["tabId"] = run.tabs[step.tab]
    for key, target in step.targets.items():
        (arguments[key] if key else arguments)["ref"] = _placeholder(run, key, target)
    return arguments


def _placeholder(run: Run, key: str, target: SavedElement) -> str:
    """A ref for an element that is not located yet, as the person and the audit log see it."""
    element = f"{key} {target.role} {target.name!r}".strip()
    placeholder = f"{run.shortcut.command} step {run.done}: {element}"
    run.targets[placeholder] = target
    return placeholder


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    """Report nothing: shortcuts_list shows how a run goes on."""
