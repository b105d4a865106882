"""Recording what an agent does in its tabs, as an animated GIF to save or to drop on a page."""

import asyncio
import logging
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from tabhub.browser.link.pending import Pending
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Call
from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, NotFound, TabhubError, TimedOut
from tabhub.hub.hub import Hub
from tabhub.permissions.sites import site_of
from tabhub.permissions.verdict import Allow
from tabhub.tools.acting.uploads import FileToUpload, require_file_name, upload
from tabhub.tools.capture import gif
from tabhub.tools.files import save
from tabhub.tools.recording import Observation
from tabhub.tools.reports import counted, with_tabs
from tabhub.tools.state import MAX_GIF_FRAMES, GifFrame, GifRecording, GifRecordings, Point
from tabhub.tools.tool import CLAUDE, COORDINATE, Context, Json, browser_tool, writing
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult

log = logging.getLogger(__name__)

NAME = "gif_creator"
GIF = "image/gif"
CAPTURE: Json = {"format": "jpeg", "quality": 80, "maxSide": gif.LONGEST_SIDE}
CAPTURE_SECONDS = 5.0
"""A page that cannot be captured within this time gets no frame."""
LOOK_MS, USUAL_MS, PRESS_MS = 300, 800, 1500
"""How long a frame is shown, by what it shows."""
_OPTIONS = {
    "showClickIndicators": "clicks",
    "showDragPaths": "drags",
    "showActionLabels": "labels",
    "showProgressBar": "progress",
    "showWatermark": "watermark",
    "quality": "quality",
}
"""The tool's options, and the fields of `gif.Options`."""


async def _start(context: Context) -> CallResult:
    if context.gif_recordings.running(context.session) is not None:
        return _state(context, "A recording is running already; it goes on.")
    context.gif_recordings.start(context.session)
    return _state(context, "Recording: each action in your tabs becomes a frame.")


async def _stop(context: Context) -> CallResult:
    recording = context.gif_recordings.running(context.session)
    if recording is None:
        return _state(context, "No recording is running.")
    recording.running = False
    return _state(context, f"Stopped. {_frame_count(recording)} Export or clear them.")


async def _clear(context: Context) -> CallResult:
    context.gif_recordings.drop(context.session)
    return _state(context, "The recording is cleared.")


def _state(context: Context, sentence: str) -> CallResult:
    recording = context.gif_recordings.find(context.session)
    data: Json = {"recording": recording is not None and recording.running}
    data["frames"] = 0 if recording is None else len(recording.frames)
    return done(sentence, data)


def _frame_count(recording: GifRecording) -> str:
    frames = counted(len(recording.frames), "frame")
    if recording.left_out:
        return (
            f"{frames}; {recording.left_out} later ones were left out, because a recording "
            f"has at most {MAX_GIF_FRAMES}."
        )
    return f"{frames}."


async def _export(context: Context) -> CallResult:
    arguments = context.arguments
    if arguments.get("download", False) == ("coordinate" in arguments):
        raise InvalidArguments("gif_creator: export needs download or coordinate, one of the two.")
    recording = context.gif_recordings.find(context.session)
    if recording is None or not recording.frames:
        raise NotFound("There are no frames to export. Start a recording and do something first.")
    # Checked before the GIF is drawn, which takes a while.
    target = context.frame.place(arguments["coordinate"]) if "coordinate" in arguments else None
    name = _file_name(arguments)
    content, size = await _encoded(context, recording)
    file = FileToUpload(name, GIF, len(content), data=content)
    data: Json = {"filename": name, "frames": len(recording.frames), "bytes": file.size}
    data |= {"kilobytes": max(1, file.size // 1024), "width": size[0], "height": size[1]}
    head = f"{_frame_count(recording)} {name}: {data['kilobytes']} KB, {size[0]}x{size[1]} pixels."
    sentence, more = await (
        _save(context, file) if target is None else _drop(context, file, target)
    )
    context.gif_recordings.drop(context.session)
    return done(f"{head} {sentence}", {**data, **more})


def _file_name(arguments: Json) -> str:
    name: str = arguments.get("filename", time.strftime("recording-%Y%m%d-%H%M%S.gif"))
    return require_file_name(name if name.lower().endswith(".gif") else f"{name}.gif")


async def _encoded(context: Context, recording: GifRecording) -> tuple[bytes, gif.Size]:
    """Draw each frame in a thread, so that other calls do not wait."""
    given = context.arguments.get("options", {})
    options = gif.Options(**{field: given[key] for key, field in _OPTIONS.items() if key in given})
    frames = list(recording.frames)
    size = gif.size_of(frames[0])
    images = []
    for number, frame in enumerate(frames, 1):
        share = number / len(frames)
        images.append(await asyncio.to_thread(gif.drawn, frame, size, share, options))
        await context.report(number, len(frames) + 1, "drawing")
    delays = [frame.delay_ms for frame in frames]
    return await asyncio.to_thread(gif.encoded, images, delays), size


async def _save(context: Context, file: FileToUpload) -> tuple[str, Json]:
    """Save to the folder that the person has set for it, else as a download of the browser."""
    if context.files.has_folder:
        path = context.place_file(file.name, (".gif",))
        save(path, file.data)
        return f"Saved as {path}.", {"path": str(path)}
    item = await context.in_tab(
        "downloads.save", {"file": file.wire()}, read_file=lambda _, offset: file.read(offset)
    )
    if item["state"] != "complete":
        fault = item.get("error", item["state"])
        raise TimedOut(f"The browser has not saved {file.name} ({quoted(fault)}).")
    return f"Saved as {quoted(item['path'])}.", {"path": item["path"]}


async def _drop(context: Context, file: FileToUpload, target: Json) -> tuple[str, Json]:
    result = await upload(context, [file], target)
    data: Any = result.structured_content
    return result.content[0]["text"], {"effect": data["effect"], "trusted": data["trusted"]}


_ACTIONS: dict[str, Callable[[Context], Awaitable[CallResult]]] = {
    "start_recording": _start,
    "stop_recording": _stop,
    "export": _export,
    "clear": _clear,
}


async def _gif_creator(context: Context) -> CallResult:
    return await _ACTIONS[context.arguments["action"]](context)


def _abilities(arguments: Mapping[str, Any]) -> tuple[Ability, ...]:
    return (Ability.CAPTURE, *writing(arguments, "download"))


_FLAG: Json = {"type": "boolean", "description": "Default true."}
_QUALITY: Json = {
    "type": "integer",
    "minimum": gif.BEST,
    "maximum": gif.WORST,
    "description": "Lower is better. Default 10.",
}

GIF_CREATOR = browser_tool(
    name=NAME,
    title="Record a GIF",
    description=(
        "Record what you do in your tabs as an animated GIF. start_recording begins, "
        f"stop_recording keeps the frames (at most {MAX_GIF_FRAMES}), export saves "
        "them (download) or drops them on the page (coordinate), clear discards them."
    ),
    handler=with_tabs(_gif_creator),
    properties={
        "action": {"enum": list(_ACTIONS)},
        "download": {"type": "boolean", "description": "For export. Default false."},
        "coordinate": COORDINATE,
        "filename": {"type": "string", "description": "Default recording-<time>.gif."},
        "options": {
            "type": "object",
            "properties": {name: _QUALITY if name == "quality" else _FLAG for name in _OPTIONS},
            "additionalProperties": False,
        },
    },
    required=("action",),
    toolsets=CLAUDE,
    does=_abilities,
)

TOOLS = (GIF_CREATOR,)


class Action(NamedTuple):
    """How a frame presents a command."""

    label: str
    delay_ms: int = USUAL_MS


ACTIONS: Mapping[str, Action] = {
    "page.click": Action("Click", PRESS_MS),
    "page.drag": Action("Drag", PRESS_MS),
    "page.hover": Action("Hover"),
    "page.fill": Action("Type"),
    "page.type": Action("Type"),
    "page.set": Action("Fill in"),
    "page.press": Action("Press keys"),
    "page.select": Action("Select"),
    "page.scroll": Action("Scroll"),
    "page.upload": Action("Upload files"),
    "page.dialog": Action("Answer dialog"),
    "page.evaluate": Action("Run script"),
    "tabs.navigate": Action("Navigate"),
    "page.capture": Action("Screenshot", LOOK_MS),
}


class ActionLog:
    """What one call does in its tab; of several commands, the one that is shown longest."""

    def __init__(self) -> None:
        self.action: Action | None = None
        self.click: Point | None = None
        self.drag: tuple[Point, Point] | None = None

    def add(self, command: str, output: Any) -> None:
        action = ACTIONS.get(command)
        if action is None or (self.action and action.delay_ms <= self.action.delay_ms):
            return
        self.action = action
        if isinstance(output, dict):
            self.click = _point(output.get("point"))
            path = output.get("path") or {}
            start, end = _point(path.get("start")), _point(path.get("end"))
            self.drag = (start, end) if start and end else None


def _point(point: Json | None) -> Point | None:
    return None if point is None else (point["x"], point["y"])


class GifObserver:
    """Observes the sessions that record a GIF."""

    def __init__(self, recordings: GifRecordings, hub: Hub, guard: Guard) -> None:
        self._recordings = recordings
        self.sessions = recordings.sessions
        self._hub = hub
        self._guard = guard

    def follow(self, call: Call) -> Observation | None:
        recording = self._recordings.running(call.session)
        return None if recording is None else _FrameObservation(recording, self._hub, self._guard)


class _FrameObservation(Observation):
    """Adds a frame for one call. The call succeeds even if no frame can be captured."""

    def __init__(self, recording: GifRecording, hub: Hub, guard: Guard) -> None:
        self._recording = recording
        self._hub = hub
        self._guard = guard
        self._log = ActionLog()

    def on_command(self, command: str, input: Json, output: Any) -> None:
        self._log.add(command, output)

    async def after(self, context: Context, result: CallResult) -> None:
        action = self._log.action
        if action is None or not self._recording.running:
            return
        try:
            async with asyncio.timeout(CAPTURE_SECONDS):
                await self._add(context, action)
        except (TabhubError, TimeoutError) as error:
            log.info("no frame of tab %s: %s", context.tab.id, error)

    async def _add(self, context: Context, action: Action) -> None:
        # The tab as it is now: the call may have navigated.
        tab = self._hub.tabs.find(context.tab.id)
        call = context.call
        if tab is None:
            return
        tool = self._hub.tools.get(NAME)
        # A frame only reads. If a person had to be asked even for that, there is no frame.
        use = self._guard.use_of(tool, {}, call.client, call.session, tab)
        subject = replace(use, read_only=True)
        verdict = self._guard.decide(subject)
        if not isinstance(verdict, Allow):
            return
        pending = Pending(site_of(tab.url), self._guard.frames(subject, verdict))
        output = await context.browsers.in_tab(tab, "page.capture", CAPTURE, call.report, pending)
        viewport = (output["viewport"]["width"], output["viewport"]["height"])
        picture = b64decode(output["data"])
        click, drag = self._log.click, self._log.drag
        self._recording.add(GifFrame(picture, viewport, action.label, action.delay_ms, click, drag))
