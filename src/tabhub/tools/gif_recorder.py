"""Takes a frame after each thing that is done in the tabs of a session that records."""

import asyncio
import logging
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from msgspec.structs import replace as changed

from tabhub.browser.pending import Pending
from tabhub.calls.guard import Guard
from tabhub.errors import TabhubError
from tabhub.hub.hub import Hub
from tabhub.permissions.sites import site_of
from tabhub.permissions.verdict import Allow
from tabhub.tools.gif import LONGEST_SIDE
from tabhub.tools.gif_recordings import Frame, Point, Recording
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

log = logging.getLogger(__name__)

TOOL = "gif_creator"
LOOK_MS, USUAL_MS, PRESS_MS = 300, 800, 1500
SECONDS = 5.0
"""A page that cannot be pictured by then has no frame."""
PICTURE: Json = {"format": "jpeg", "quality": 80, "maxSide": LONGEST_SIDE}
Run = Callable[[Context], Awaitable[CallResult]]


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


class Recorder:
    """Runs tools for sessions that record. Whatever goes wrong with a frame is not the tool's."""

    def __init__(self, hub: Hub, guard: Guard) -> None:
        self._hub = hub
        self._guard = guard

    async def run(self, recording: Recording, context: Context, run: Run) -> CallResult:
        notes = Notes()
        result = await run(replace(context, seen=notes.take))
        if notes.deed is not None and recording.running:
            try:
                async with asyncio.timeout(SECONDS):
                    await self._add(recording, context, notes, notes.deed)
            except (TabhubError, TimeoutError) as missed:
                log.info("no frame of tab %s: %s", context.tab.id, missed)
        return result

    async def _add(self, recording: Recording, context: Context, notes: Notes, deed: Deed) -> None:
        # The tab as it is now: what was done may have led elsewhere.
        tab = self._hub.tabs.find(context.tab.id)
        call = context.call
        if tab is None:
            return
        tool = self._hub.tools.get(TOOL)
        # A frame only looks. Where a person would be asked even about that, there is none.
        subject = changed(
            self._guard.use_of(tool, {}, call.client, call.session, tab), read_only=True
        )
        verdict = self._guard.decide(subject)
        if not isinstance(verdict, Allow):
            return
        pending = Pending(site_of(tab.url), self._guard.frames(subject, verdict))
        output = await context.browsers.in_tab(tab, "page.capture", PICTURE, call.report, pending)
        viewport = (output["viewport"]["width"], output["viewport"]["height"])
        picture = b64decode(output["data"])
        recording.add(Frame(picture, viewport, deed.label, deed.delay_ms, notes.click, notes.drag))
