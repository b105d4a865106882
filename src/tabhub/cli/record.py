"""`tabhub record`: an animated GIF of a tab, made by tabhub's own recorder."""

import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from tabhub.cli.output import harmless
from tabhub.cli.tool.rest_client import RequestRefused, RestClient, connect
from tabhub.cli.waiting import WaitingLine, enter_key
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, TabhubError, Unavailable

RECORDER, PICTURE, OPEN = "gif_creator", "browser_screenshot_tab", "browser_open_tab"
POLL_SECONDS = 0.05
Json = dict[str, Any]


@dataclass(frozen=True)
class RecordRequest:
    """The options of `tabhub record`."""

    file: Path
    url: str | None
    tab_id: int | None
    seconds: float | None
    """None: until Enter or Ctrl-C."""
    every: float
    """Seconds between two pictures; 0: only what `tabhub tool call` does."""


def run(request: RecordRequest) -> None:
    target = _writable(request.file)
    if request.seconds is None and not sys.stdin.isatty():
        raise InvalidArguments("Without a terminal, --seconds says how long to record.")
    tools = _Tools(connect(Home.from_environment()))
    if request.url is not None:
        tools.call(OPEN, url=request.url)
    tab = {} if request.tab_id is None else {"tabId": request.tab_id}
    tools.call(RECORDER, action="clear", **tab)
    tools.call(RECORDER, action="start_recording", **tab)
    try:
        frames = _record(tools, request, tab)
        _export(tools, target, tab)
    except BaseException:
        _discard(tools, tab)
        raise
    size = max(1, target.stat().st_size // 1024)
    print(f"{target} ({frames} frames, {size} KB)")


def _writable(file: Path) -> Path:
    target = file.expanduser().absolute()
    if target.suffix.lower() != ".gif":
        raise InvalidArguments(f"{file} must end in .gif.")
    if target.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise InvalidArguments(f"{target} cannot be written.")
    return target


class _Tools:
    """Calls of tools as `tabhub tool call` makes them, so that they share its session."""

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest

    def call(self, name: str, **arguments: Any) -> Json:
        body = msgspec.json.encode({"arguments": arguments})
        response = self._rest.post(f"/tools/{quote(name, safe='')}/call", body, {}, None)
        if response.fault is not None:
            raise RequestRefused(response.fault)
        found: Json = response.body.get("structuredContent") or {}
        return found


def _record(tools: _Tools, request: RecordRequest, tab: Json) -> int:
    """Take pictures until the time is up, or Enter or Ctrl-C; returns the number of frames."""
    how = "Ctrl-C ends" if request.seconds is not None else "Enter or Ctrl-C ends"
    pressed = enter_key() if request.seconds is None else lambda: False
    end = None if request.seconds is None else time.monotonic() + request.seconds
    try:
        with WaitingLine(f"Recording; {how} it", quiet_seconds=0.2):
            due = time.monotonic()
            while not pressed() and (end is None or time.monotonic() < end):
                if request.every and time.monotonic() >= due:
                    due = time.monotonic() + request.every
                    tools.call(PICTURE, **tab)
                time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    return int(tools.call(RECORDER, action="stop_recording", **tab).get("frames", 0))


def _export(tools: _Tools, target: Path, tab: Json) -> None:
    with WaitingLine("Drawing the GIF"):
        saved = tools.call(RECORDER, action="export", download=True, filename=target.name, **tab)
    path = Path(str(saved["path"]))
    try:
        shutil.move(path, target)
    except OSError as error:
        raise Unavailable(
            f"The recording is in {harmless(str(path))}; it could not be moved: {error}."
        ) from None


def _discard(tools: _Tools, tab: Json) -> None:
    try:
        tools.call(RECORDER, action="clear", **tab)
    except TabhubError:
        # The first error is the one to report.
        return
