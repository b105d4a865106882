"""Takes a frame after each thing that is done in the tabs of a session that records."""

import asyncio
import logging
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from tabhub.browser.link.pending import Pending
from tabhub.calls.call import Call
from tabhub.calls.guard import Guard
from tabhub.errors import TabhubError
from tabhub.hub.hub import Hub
from tabhub.permissions.sites import site_of
from tabhub.permissions.verdict import Allow
from tabhub.tools.capture.gif import LONGEST_SIDE
from tabhub.tools.gif_recordings import Frame, Point, Recording, Recordings
from tabhub.tools.recording import Observation
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

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
        self._recording.add(Frame(picture, viewport, deed.label, deed.delay_ms, click, drag))
