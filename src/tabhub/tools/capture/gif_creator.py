"""Recording what is done in tabs, as an animated GIF that can be saved or given to a page."""

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
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, NotFound, TabhubError, TimedOut
from tabhub.hub.hub import Hub
from tabhub.permissions.sites import site_of
from tabhub.permissions.verdict import Allow
from tabhub.tools.acting.uploads import Source, file_name, upload
from tabhub.tools.capture import gif
from tabhub.tools.capture.gif import LONGEST_SIDE
from tabhub.tools.capture.screenshots import COORDINATE, viewport_point
from tabhub.tools.files import save
from tabhub.tools.recording import Observation
from tabhub.tools.reports import with_tabs
from tabhub.tools.state import MOST_RECORDED_FRAMES, Point, RecordedFrame, Recording, Recordings
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

GIF = "image/gif"


async def _start(context: Context) -> CallResult:
    if context.recordings.running(context.session) is not None:
        return _told(context, "A recording is running already; it goes on.")
    context.recordings.start(context.session)
    return _told(context, "Recording: each action in your tabs becomes a frame.")


async def _stop(context: Context) -> CallResult:
    recording = context.recordings.running(context.session)
    if recording is None:
        return _told(context, "No recording is running.")
    recording.running = False
    return _told(context, f"Stopped. {_counted(recording)} Export or clear them.")


async def _clear(context: Context) -> CallResult:
    context.recordings.drop(context.session)
    return _told(context, "The recording is cleared.")


def _told(context: Context, sentence: str) -> CallResult:
    recording = context.recordings.find(context.session)
    shown: Json = {"recording": recording is not None and recording.running}
    shown["frames"] = 0 if recording is None else len(recording.frames)
    return done(sentence, shown)


def _counted(recording: Recording) -> str:
    count = len(recording.frames)
    if recording.left_out:
        return (
            f"{count} frames; {recording.left_out} later ones were left out, because a recording "
            f"has at most {MOST_RECORDED_FRAMES}."
        )
    return f"{count} frames." if count != 1 else "1 frame."


async def _export(context: Context) -> CallResult:
    given = context.arguments
    if given.get("download", False) == ("coordinate" in given):
        raise InvalidArguments("gif_creator: export needs download or coordinate, one of the two.")
    recording = context.recordings.find(context.session)
    if recording is None or not recording.frames:
        raise NotFound("There are no frames to export. Start a recording and do something first.")
    point = viewport_point(context, given["coordinate"]) if "coordinate" in given else None
    name = _name(given)
    data, size = await _encoded(context, recording)
    source = Source(name, GIF, len(data), data=data)
    made: Json = {"filename": name, "frames": len(recording.frames), "bytes": len(data)}
    made |= {"kilobytes": max(1, len(data) // 1024), "width": size[0], "height": size[1]}
    sentence = f"{_counted(recording)} {name}: {made['kilobytes']} KB, {size[0]}x{size[1]} pixels."
    result = await (_saved(context, source) if point is None else _dropped(context, source, point))
    context.recordings.drop(context.session)
    words, more = result
    return done(f"{sentence} {words}", {**made, **more})


def _name(given: Json) -> str:
    name: str = given.get("filename", time.strftime("recording-%Y%m%d-%H%M%S.gif"))
    return file_name(name if name.lower().endswith(".gif") else f"{name}.gif")


async def _encoded(context: Context, recording: Recording) -> tuple[bytes, gif.Size]:
    """Frame by frame in another thread, so that nobody else waits for it."""
    options = _options(context.arguments.get("options", {}))
    frames = list(recording.frames)
    size = gif.size_of(frames[0])
    images = []
    for index, frame in enumerate(frames, 1):
        part = index / len(frames)
        images.append(await asyncio.to_thread(gif.drawn, frame, size, part, options))
        await context.report(index, len(frames) + 1, "drawing")
    delays = [frame.delay_ms for frame in frames]
    return await asyncio.to_thread(gif.encoded, images, delays), size


def _options(given: Json) -> gif.Options:
    wanted = {mine: given[name] for name, mine in _NAMES.items() if name in given}
    return gif.Options(**wanted)


async def _saved(context: Context, source: Source) -> tuple[str, Json]:
    """Where the person lets tools save files, else among the browser's own downloads."""
    if context.files.has_folder:
        path = context.files.place(source.name, (".gif",))
        save(path, source.data)
        return f"Saved as {path}.", {"path": str(path)}
    item = await context.in_tab(
        "downloads.save", {"file": source.wire()}, read_file=lambda _, offset: source.read(offset)
    )
    if item["state"] != "complete":
        fault = item.get("error", item["state"])
        raise TimedOut(f"The browser has not saved {source.name} ({fault}).")
    return f"Saved as {item['path']}.", {"path": item["path"]}


async def _dropped(context: Context, source: Source, point: Json) -> tuple[str, Json]:
    result = await upload(context, [source], point)
    told: Any = result.structured_content
    return result.content[0]["text"], {"effect": told["effect"], "trusted": told["trusted"]}


_ACTIONS: dict[str, Callable[[Context], Awaitable[CallResult]]] = {
    "start_recording": _start,
    "stop_recording": _stop,
    "export": _export,
    "clear": _clear,
}
_NAMES = {
    "showClickIndicators": "clicks",
    "showDragPaths": "drags",
    "showActionLabels": "labels",
    "showProgressBar": "progress",
    "showWatermark": "watermark",
    "quality": "quality",
}
_FLAG: Json = {"type": "boolean", "description": "Default true."}
_QUALITY: Json = {
    "type": "integer",
    "minimum": gif.BEST,
    "maximum": gif.WORST,
    "description": "Lower is better. Default 10.",
}


async def _run(context: Context) -> CallResult:
    return await _ACTIONS[context.arguments["action"]](context)


GIF_CREATOR = browser_tool(
    name="gif_creator",
    title="Record a GIF",
    description=(
        "Record what you do in your tabs as an animated GIF. start_recording begins anew, "
        f"stop_recording keeps the frames (at most {MOST_RECORDED_FRAMES}), export saves "
        "them (download) or drops them on the page (coordinate), clear discards them."
    ),
    handler=with_tabs(_run),
    properties={
        "action": {"enum": list(_ACTIONS)},
        "download": {"type": "boolean", "description": "For export. Default false."},
        "coordinate": COORDINATE,
        "filename": {"type": "string", "description": "Default recording-<time>.gif."},
        "options": {
            "type": "object",
            "properties": {name: _QUALITY if name == "quality" else _FLAG for name in _NAMES},
            "additionalProperties": False,
        },
    },
    required=("action",),
    same_as=("browser_screenshot_tab",),
    toolsets=CLAUDE,
)

TOOLS = (GIF_CREATOR,)


log = logging.getLogger(__name__)

TOOL = "gif_creator"
LOOK_MS, USUAL_MS, PRESS_MS = 300, 800, 1500
SECONDS = 5.0
"""A page that cannot be pictured by then has no frame."""
PICTURE: Json = {"format": "jpeg", "quality": 80, "maxSide": LONGEST_SIDE}


class Deed(NamedTuple):
    """One thing that was done, as it is shown."""

    label: str
    delay_ms: int = USUAL_MS


DEEDS: Mapping[str, Deed] = {
    "page.click": Deed("Click", PRESS_MS),
    "page.drag": Deed("Drag", PRESS_MS),
    "page.hover": Deed("Hover"),
    "page.fill": Deed("Type"),
    "page.type": Deed("Type"),
    "page.set": Deed("Fill in"),
    "page.press": Deed("Press keys"),
    "page.select": Deed("Select"),
    "page.scroll": Deed("Scroll"),
    "page.upload": Deed("Upload files"),
    "page.dialog": Deed("Answer dialog"),
    "page.evaluate": Deed("Run script"),
    "tabs.navigate": Deed("Navigate"),
    "page.capture": Deed("Screenshot", LOOK_MS),
}


class Notes:
    """What one call does in its tab; of several things the most telling."""

    def __init__(self) -> None:
        self.deed: Deed | None = None
        self.click: Point | None = None
        self.drag: tuple[Point, Point] | None = None

    def take(self, command: str, input: Json, output: Any) -> None:
        deed = DEEDS.get(command)
        if deed is None or (self.deed is not None and deed.delay_ms <= self.deed.delay_ms):
            return
        self.deed = deed
        if isinstance(output, dict):
            self.click = _point(output.get("point"))
            path = output.get("path") or {}
            start, end = _point(path.get("start")), _point(path.get("end"))
            self.drag = (start, end) if start and end else None


def _point(told: Json | None) -> Point | None:
    return None if told is None else (told["x"], told["y"])


class GifObserver:
    """Follows the sessions of which a GIF is recorded."""

    def __init__(self, recordings: Recordings, hub: Hub, guard: Guard) -> None:
        self._recordings = recordings
        self._hub = hub
        self._guard = guard

    def follow(self, call: Call) -> Observation | None:
        recording = self._recordings.running(call.session)
        return None if recording is None else _FrameObservation(recording, self._hub, self._guard)


class _FrameObservation(Observation):
    """Adds a frame for one call. A frame that cannot be taken is no fault of the tool's."""

    def __init__(self, recording: Recording, hub: Hub, guard: Guard) -> None:
        self._recording = recording
        self._hub = hub
        self._guard = guard
        self._notes = Notes()

    def seen(self, command: str, input: Json, output: Any) -> None:
        self._notes.take(command, input, output)

    async def after(self, context: Context, result: CallResult) -> None:
        deed = self._notes.deed
        if deed is None or not self._recording.running:
            return
        try:
            async with asyncio.timeout(SECONDS):
                await self._add(context, deed)
        except (TabhubError, TimeoutError) as missed:
            log.info("no frame of tab %s: %s", context.tab.id, missed)

    async def _add(self, context: Context, deed: Deed) -> None:
        # The tab as it is now: what was done may have led elsewhere.
        tab = self._hub.tabs.find(context.tab.id)
        call = context.call
        if tab is None:
            return
        tool = self._hub.tools.get(TOOL)
        # A frame only looks. Where a person would be asked even about that, there is none.
        use = self._guard.use_of(tool, {}, call.client, call.session, tab)
        subject = replace(use, read_only=True)
        verdict = self._guard.decide(subject)
        if not isinstance(verdict, Allow):
            return
        pending = Pending(site_of(tab.url), self._guard.frames(subject, verdict))
        output = await context.browsers.in_tab(tab, "page.capture", PICTURE, call.report, pending)
        viewport = (output["viewport"]["width"], output["viewport"]["height"])
        picture = b64decode(output["data"])
        click, drag = self._notes.click, self._notes.drag
        self._recording.add(
            RecordedFrame(picture, viewport, deed.label, deed.delay_ms, click, drag)
        )
