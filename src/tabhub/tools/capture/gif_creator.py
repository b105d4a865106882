"""Recording what is done in tabs, as an animated GIF that can be saved or given to a page."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, NotFound, TimedOut
from tabhub.tools.acting.uploads import upload
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.capture import gif
from tabhub.tools.files import save
from tabhub.tools.frame_points import COORDINATE, viewport_point
from tabhub.tools.gif_recordings import MOST_FRAMES, Recording
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.tools.upload_sources import Source, file_name
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
            f"has at most {MOST_FRAMES}."
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
        f"stop_recording keeps the frames (at most {MOST_FRAMES}), export saves them (download) or "
        "drops them on the page (coordinate), clear discards them."
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
