"""Recording what a session does in its browser, so that it can be done again."""

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tabhub.calls.call import Call
from tabhub.errors import TabhubError
from tabhub.hub.sessions import AgentSession, AgentSessions
from tabhub.store.saved_shortcuts import Step, Target, View
from tabhub.tools.recording import Observation, is_step
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

MOST_STEPS = 100
MOST_BYTES = 1_000_000
MOST_LEFT_OUT = 100
LONGEST_ARGUMENTS = 100_000
PASSING = frozenset(
    (
        *("tabId", "tabIds", "windowId", "groupId", "connectionId", "sessionId", "parentId"),
        *("downloadId", "requestId", "imageId", "screenshotId"),
    )
)
"""Arguments that name what has another name next time."""
POINTS = frozenset({"coordinate", "start_coordinate", "region"})
PLACES = ("from", "to")
"""Arguments that are places themselves: an element, or a point of the viewport."""
_NOT_WORD = re.compile(r"[^a-z0-9]+")


@dataclass
class Recording:
    """What was recorded so far."""

    command: str
    description: str
    steps: list[Step] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    size: int = 0
    """Of the steps, in bytes."""
    tabs: dict[int, int] = field(default_factory=dict)
    """Numbers in the recording, by the tabs' own."""

    def number(self, tab: int | None) -> int | None:
        """The number of a tab; the first one that was there before is 0."""
        if tab is None or tab in self.tabs:
            return None if tab is None else self.tabs[tab]
        if 0 in self.tabs.values():
            raise _LeftOut("it was in a tab that this recording neither began in nor opened")
        self.tabs[tab] = 0
        return 0

    def add(self, step: Step) -> None:
        size = len(msgspec.json.encode(step))
        if self.size + size > MOST_BYTES:
            raise _LeftOut(f"a shortcut has at most {MOST_BYTES} bytes")
        self.size += size
        self.steps.append(step)

    def leave_out(self, what: str) -> None:
        if len(self.left_out) < MOST_LEFT_OUT:
            self.left_out.append(what)

    def opened(self, tab: int) -> int:
        return self.tabs.setdefault(tab, max(self.tabs.values(), default=0) + 1)


def places(arguments: Json) -> dict[str, Json]:
    """What of a call can name an element: itself, and its places."""
    found = {key: arguments[key] for key in PLACES if isinstance(arguments.get(key), dict)}
    return {"": arguments, **found}


def has_points(arguments: Json) -> bool:
    return bool(POINTS & arguments.keys()) or _has_viewport_points(arguments)


def _has_viewport_points(arguments: Json) -> bool:
    return any("x" in place for key, place in places(arguments).items() if key)


class _LeftOut(Exception):
    """Why a call is not in a recording."""


class Recordings:
    """The sessions that record; a recording ends with its session."""

    def __init__(self, sessions: AgentSessions) -> None:
        self._sessions = sessions
        self._open: dict[str, Recording] = {}
        sessions.on_change(self._changed)

    def _changed(self, session: AgentSession) -> None:
        if self._sessions.find(session.key) is None:
            self._open.pop(session.key, None)

    def find(self, session: str) -> Recording | None:
        return self._open.get(session)

    def begin(self, session: str, recording: Recording) -> None:
        self._open[session] = recording

    def end(self, session: str) -> Recording | None:
        return self._open.pop(session, None)


class ShortcutObserver:
    """Adds the calls of sessions that record to their recordings."""

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings

    def follow(self, call: Call) -> Observation | None:
        recording = self._recordings.find(call.session)
        return None if recording is None or not is_step(call) else _StepObservation(recording)


@dataclass(frozen=True)
class _Before:
    """What was there before a call, which may take it away."""

    elements: dict[str, Json] = field(default_factory=dict)
    """What the call's places name."""
    view: View | None = None


class _StepObservation(Observation):
    """Makes a step of one call."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._before = _Before()

    async def before(self, context: Context) -> None:
        self._before = await _look(context)

    async def after(self, context: Context, result: CallResult) -> None:
        try:
            self._recording.add(_step(self._recording, context, self._before, result))
        except _LeftOut as reason:
            self._recording.leave_out(f"{context.call.tool.name}: {reason}")


async def _look(context: Context) -> _Before:
    """The call itself says what is wrong with it, if something is."""
    given = context.arguments
    if context.call.tab is None:
        return _Before()
    try:
        elements = {
            key: await context.in_tab("page.describe", named)
            for key, place in places(given).items()
            if (named := {k: v for k, v in place.items() if k in ("ref", "selector")})
        }
        return _Before(elements, await _view(context) if has_points(given) else None)
    except TabhubError:
        return _Before()


async def _view(context: Context) -> View | None:
    viewport = (await context.in_tab("page.describe", {}))["viewport"]
    if not POINTS & context.arguments.keys():
        return View(0, 0, {}, viewport)
    frame = context.shots.frame(context.session, context.tab.id)
    if frame is None:
        return None
    return View(frame.width, frame.height, frame.viewport, viewport, frame.corner)


def _step(recording: Recording, context: Context, before: _Before, result: CallResult) -> Step:
    """The call as it can be made again, or why it cannot."""
    call, given = context.call, deepcopy(context.arguments)
    _require_lasting(recording, given)
    tab = recording.number(None if call.tab is None else call.tab.id)
    targets = {
        key: _target(before.elements.get(key))
        for key, place in places(given).items()
        if place.pop("ref", None) is not None
    }
    secret = [key for key in given if key in call.secrets]
    asks = _parameters(recording, before.elements.get(""), secret)
    if has_points(given) and before.view is None:
        raise _LeftOut("its points are of no screenshot")
    kept = {key: value for key, value in given.items() if key not in asks}
    opened = _opened(call, result)
    return Step(
        tool=call.tool.name,
        arguments=kept,
        tab=tab,
        opens=None if opened is None else recording.opened(opened),
        targets=targets,
        view=before.view,
        parameters=asks,
    )


def _require_lasting(recording: Recording, given: Json) -> None:
    passing = PASSING & given.keys()
    if passing:
        raise _LeftOut(f"{', '.join(sorted(passing))} will be another next time")
    if len(recording.steps) >= MOST_STEPS:
        raise _LeftOut(f"a shortcut has at most {MOST_STEPS} steps")
    if len(msgspec.json.encode(given)) > LONGEST_ARGUMENTS:
        raise _LeftOut("its arguments are too long")


def _target(element: Json | None) -> Target:
    if element is None or not (element.get("selector") or element.get("name")):
        raise _LeftOut("nothing tells its element from others")
    return Target(element["role"], element["name"], element.get("selector"))


def _parameters(
    recording: Recording, element: Json | None, secret: Iterable[str]
) -> dict[str, str]:
    """A name for each argument that must not be kept."""
    taken = {name for step in recording.steps for name in step.parameters.values()}
    found: dict[str, str] = {}
    for argument in secret:
        words = _NOT_WORD.sub("_", (element or {}).get("name", "").lower()).strip("_")[:30]
        name, number = words or argument, 1
        while name in taken:
            number += 1
            name = f"{words or argument}_{number}"
        taken.add(name)
        found[argument] = name
    return found


def _opened(call: Call, result: CallResult) -> int | None:
    return opened_tab(call.tool.opens_tab, result.structured_content)


def opened_tab(opens_tab: bool, structured: Any) -> int | None:
    """The tab that a call has opened, by what it tells."""
    if not isinstance(structured, dict):
        return None
    found = structured.get("tabId") if opens_tab else structured.get("effect", {}).get("opened")
    return found if isinstance(found, int) else None
