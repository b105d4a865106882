"""Recording a shortcut: the calls of a session as steps that can be run again."""

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tabhub.calls.call import Call
from tabhub.errors import TabhubError
from tabhub.hub.sessions import AgentSession, AgentSessions
from tabhub.store.saved_shortcuts import SavedElement, SavedView, Step
from tabhub.tools.recording import Observation, is_step
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

MAX_STEPS = 100
MAX_BYTES = 1_000_000
MAX_LEFT_OUT = 100
MAX_ARGUMENT_BYTES = 100_000
TRANSIENT = frozenset(
    (
        *("tabId", "tabIds", "windowId", "groupId", "connectionId", "sessionId", "parentId"),
        *("downloadId", "requestId", "imageId", "screenshotId"),
    )
)
"""Arguments whose values will be others the next time."""
POINTS = frozenset({"coordinate", "start_coordinate", "region"})
PLACES = ("from", "to")
"""Arguments that are an element or a point of the viewport."""
_NOT_WORD = re.compile(r"[^a-z0-9]+")


@dataclass
class ShortcutRecording:
    """The steps recorded so far."""

    command: str
    description: str
    steps: list[Step] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    size: int = 0
    """Of the steps, in bytes."""
    tabs: dict[int, int] = field(default_factory=dict)
    """Tab numbers in the recording, by tab id."""

    def number(self, tab: int | None) -> int | None:
        """The number of a tab; the tab that the recording began in is 0."""
        if tab is None or tab in self.tabs:
            return None if tab is None else self.tabs[tab]
        if 0 in self.tabs.values():
            raise _LeftOut("it was in a tab that this recording neither began in nor opened")
        self.tabs[tab] = 0
        return 0

    def add(self, step: Step) -> None:
        size = len(msgspec.json.encode(step))
        if self.size + size > MAX_BYTES:
            raise _LeftOut(f"a shortcut has at most {MAX_BYTES} bytes")
        self.size += size
        self.steps.append(step)

    def leave_out(self, reason: str) -> None:
        if len(self.left_out) < MAX_LEFT_OUT:
            self.left_out.append(reason)

    def opened(self, tab: int) -> int:
        return self.tabs.setdefault(tab, max(self.tabs.values(), default=0) + 1)


def places(arguments: Json) -> dict[str, Json]:
    """The parts of the arguments that can name an element: all of them (""), and each place."""
    found = {key: arguments[key] for key in PLACES if isinstance(arguments.get(key), dict)}
    return {"": arguments, **found}


def has_points(arguments: Json) -> bool:
    in_places = any("x" in place for key, place in places(arguments).items() if key)
    return in_places or bool(POINTS & arguments.keys())


class _LeftOut(Exception):
    """A call cannot be a step; the message says why."""


class ShortcutRecordings:
    """At most one recording for each session, dropped when the session ends."""

    def __init__(self, sessions: AgentSessions) -> None:
        self._sessions = sessions
        self._open: dict[str, ShortcutRecording] = {}
        self.sessions = self._open.keys()
        sessions.on_change(self._changed)

    def _changed(self, session: AgentSession) -> None:
        if self._sessions.find(session.key) is None:
            self._open.pop(session.key, None)

    def find(self, session: str) -> ShortcutRecording | None:
        return self._open.get(session)

    def begin(self, session: str, recording: ShortcutRecording) -> None:
        self._open[session] = recording

    def end(self, session: str) -> ShortcutRecording | None:
        return self._open.pop(session, None)


class ShortcutObserver:
    """Observes the sessions that record a shortcut."""

    def __init__(self, recordings: ShortcutRecordings) -> None:
        self._recordings = recordings
        self.sessions = recordings.sessions

    def follow(self, call: Call) -> Observation | None:
        recording = self._recordings.find(call.session)
        return None if recording is None or not is_step(call) else _StepObservation(recording)


@dataclass(frozen=True)
class _Before:
    """What a call refers to, looked at before the call may change it."""

    elements: dict[str, Json] = field(default_factory=dict)
    """The elements that the call names, by place."""
    view: SavedView | None = None


class _StepObservation(Observation):
    """Adds one call as a step."""

    def __init__(self, recording: ShortcutRecording) -> None:
        self._recording = recording
        self._before = _Before()

    async def before(self, context: Context) -> None:
        self._before = await _look_before(context)

    async def after(self, context: Context, result: CallResult) -> None:
        try:
            self._recording.add(_step(self._recording, context, self._before, result))
        except _LeftOut as reason:
            self._recording.leave_out(f"{context.call.tool.name}: {reason}")


async def _look_before(context: Context) -> _Before:
    arguments = context.arguments
    if context.call.tab is None:
        return _Before()
    try:
        elements = {
            key: await context.in_tab("page.describe", target)
            for key, place in places(arguments).items()
            if (target := {k: v for k, v in place.items() if k in ("ref", "selector")})
        }
        return _Before(elements, await _view(context) if has_points(arguments) else None)
    except TabhubError:
        # The call itself will fail with the same error, or does not need the element.
        return _Before()


async def _view(context: Context) -> SavedView | None:
    viewport = (await context.in_tab("page.describe", {}))["viewport"]
    if not POINTS & context.arguments.keys():
        return SavedView(0, 0, {}, viewport)
    frame = context.screenshots.frame(context.session, context.tab.id)
    if frame is None:
        return None
    return SavedView(frame.width, frame.height, frame.viewport, viewport, frame.corner)


def _step(
    recording: ShortcutRecording, context: Context, before: _Before, result: CallResult
) -> Step:
    """The call as a step that can be run again."""
    call, arguments = context.call, deepcopy(context.arguments)
    _require_repeatable(recording, arguments)
    tab = recording.number(None if call.tab is None else call.tab.id)
    targets = {
        key: _target(before.elements.get(key))
        for key, place in places(arguments).items()
        if place.pop("ref", None) is not None
    }
    secret = [key for key in arguments if key in call.secrets]
    parameters = _parameters(recording, before.elements.get(""), secret)
    if has_points(arguments) and before.view is None:
        raise _LeftOut("its coordinates refer to no screenshot")
    opened = opened_tab(call.tool.opens_tab, result.structured_content)
    return Step(
        tool=call.tool.name,
        arguments={key: arguments[key] for key in arguments if key not in parameters},
        tab=tab,
        opens=None if opened is None else recording.opened(opened),
        targets=targets,
        view=before.view,
        parameters=parameters,
    )


def _require_repeatable(recording: ShortcutRecording, arguments: Json) -> None:
    transient = TRANSIENT & arguments.keys()
    if transient:
        raise _LeftOut(f"{', '.join(sorted(transient))} will be different next time")
    if len(recording.steps) >= MAX_STEPS:
        raise _LeftOut(f"a shortcut has at most {MAX_STEPS} steps")
    if len(msgspec.json.encode(arguments)) > MAX_ARGUMENT_BYTES:
        raise _LeftOut("its arguments are too long")


def _target(element: Json | None) -> SavedElement:
    if element is None or not (element.get("selector") or element.get("name")):
        raise _LeftOut("its element has no name and no unique selector")
    return SavedElement(element["role"], element["name"], element.get("selector"))


def _parameters(
    recording: ShortcutRecording, element: Json | None, secret: Iterable[str]
) -> dict[str, str]:
    """A parameter of the shortcut for each argument that must not be stored, by argument."""
    taken = {name for step in recording.steps for name in step.parameters.values()}
    field_name = _NOT_WORD.sub("_", (element or {}).get("name", "").lower()).strip("_")[:30]
    parameters: dict[str, str] = {}
    for argument in secret:
        name, number = field_name or argument, 1
        while name in taken:
            number += 1
            name = f"{field_name or argument}_{number}"
        taken.add(name)
        parameters[argument] = name
    return parameters


def opened_tab(opens_tab: bool, data: Any) -> int | None:
    """The tab that a call has opened, by the data of its result."""
    if not isinstance(data, dict):
        return None
    tab = data.get("tabId") if opens_tab else data.get("effect", {}).get("opened")
    return tab if isinstance(tab, int) else None
