"""Looks at the linked folders of plugins, and reports their changes."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
LARGEST_SHARE = 0.05
"""Of a processor, which looking at very many folders may take."""

Stamps = Mapping[Path, object]
"""By folder: what the system says about its files. It differs after each change."""


class FolderWatcher:
    """Looks at the linked folders twenty times a second, and reports changes that are complete.

    A change counts as complete when two looks have found the same: editors and build tools write
    a file in several steps, and several files one after the other.
    """

    def __init__(self, stamps: Callable[[], Stamps], on_change: Callable[[], object]) -> None:
        self._stamps = stamps
        self._on_change = on_change
        self._taken: Stamps = {}
        self._seen: Stamps = {}
        self._last_poll: int | None = None
        self._detections = 0

    def begin(self) -> None:
        """Note the folders as they are; what differs later has changed."""
        self._taken = self._seen = self._stamps()

    async def watch(self, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep) -> None:
        """Loop: look, and report what has changed."""
        pause = POLL_SECONDS
        while True:
            await sleep(pause)
            try:
                # A folder may be on a slow disk or in a network.
                found, seconds = await asyncio.to_thread(self._look)
                pause = max(POLL_SECONDS, seconds / LARGEST_SHARE)
                self.take(found)
            except Exception:
                log.exception("watching the folders of plugins failed")

    def _look(self) -> tuple[Stamps, float]:
        """What a look has found, and the seconds of the processor that it took."""
        began = time.thread_time()
        return self._stamps(), time.thread_time() - began

    def take(self, found: Stamps) -> None:
        """Take one look; report folders that differ and have not changed since the look before."""
        self._last_poll = int(time.time() * 1000)
        differing = _differing(found, self._taken)
        complete = differing - _differing(found, self._seen)
        self._seen = found
        if complete:
            self._detections += len(complete)
            kept = {folder: self._taken.get(folder) for folder in differing - complete}
            self._taken = {**found, **kept}
            log.info("changed: %s", ", ".join(sorted(map(str, complete))))
            self._on_change()

    def summary(self) -> dict[str, Any]:
        """As `/health` shows it."""
        return {
            "watchedPlugins": len(self._seen),
            "pendingPlugins": len(_differing(self._seen, self._taken)),
            "lastPollAt": self._last_poll,
            "pollDetections": self._detections,
        }


def _differing(one: Stamps, other: Stamps) -> set[Path]:
    return {folder for folder in one.keys() | other.keys() if one.get(folder) != other.get(folder)}
