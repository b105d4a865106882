"""The profile folder of a managed browser: its preferences, and the browser that has it open."""

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tabhub.browser.launcher.finder import PIPE, BrowserFailed
from tabhub.config.files import write_private
from tabhub.system import processes
from tabhub.system.rights import private_folder

STOP_SECONDS = 5.0
WINDOWS_LOCK = "lockfile"
"""Is there while a browser has the profile open, even one that crashes."""
_POLL_SECONDS = 0.1


def prepare_profile(profile: Path, downloads: Path | None = None) -> None:
    """Switch developer mode on, and set the folder for downloads.

    Without developer mode, the extension stays off after it reloads itself.
    """
    private_folder(profile)
    path = profile / "Default" / "Preferences"
    preferences = _read(path)
    if preferences is None:
        return
    before = json.dumps(preferences)
    _inner(_inner(preferences, "extensions"), "ui")["developer_mode"] = True
    _set_downloads(preferences, None if downloads is None else str(downloads))
    if (after := json.dumps(preferences)) != before:
        write_private(path, after.encode())


def _set_downloads(preferences: dict[str, Any], folder: str | None) -> None:
    """Set the folder; once it is not set any more, the browser's own counts again."""
    if folder is None and "tabhub" not in preferences:
        return
    download, ours = _inner(preferences, "download"), _inner(preferences, "tabhub")
    if folder is not None:
        download["default_directory"] = ours["downloads"] = folder
    elif download.get("default_directory") == ours.pop("downloads", ()):
        del download["default_directory"]


def owner(profile: Path) -> int | None:
    """The process of this machine that has the profile open, or had it open when it was killed."""
    if sys.platform == "win32":
        is_open = (profile / WINDOWS_LOCK).exists()
        return processes.started_with(user_data(profile)) if is_open else None
    else:
        return _owner_by_link(profile)


def is_held_by(profile: Path, group: int) -> bool:
    """Whether the browser that we started as the leader of a group has opened the profile."""
    if sys.platform == "win32":
        # If another browser has it open, ours ends in a moment.
        return (profile / WINDOWS_LOCK).exists()
    else:
        # A wrapper may have started the browser as another process.
        pid = _owner_by_link(profile)
        return pid is not None and processes.is_in_group(pid, group)


def user_data(profile: Path) -> str:
    """The argument that names the profile."""
    return f"--user-data-dir={profile}"


def _owner_by_link(profile: Path) -> int | None:
    try:
        lock = os.readlink(profile / "SingletonLock")
    except OSError:
        return None
    host, _, pid = lock.rpartition("-")
    return int(pid) if pid.isdecimal() and host == socket.gethostname() else None


def _read(path: Path) -> dict[str, Any] | None:
    """The preferences; None if the file is damaged, which is for the browser to repair."""
    try:
        preferences = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        return None
    return preferences if isinstance(preferences, dict) else None


def _inner(outer: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(outer.get(key), dict):
        outer[key] = {}
    inner: dict[str, Any] = outer[key]
    return inner


class OpenBrowser:
    """A running browser that another process has started, known by its process number."""

    def __init__(self, pid: int, command: str, profile: Path) -> None:
        self.pid = pid
        self._command = f"{command} "
        self._profile = profile

    @classmethod
    def find(cls, profile: Path, extension: Path) -> "OpenBrowser | None":
        """The browser of a profile; its command line shows that the number was not reused."""
        pid = owner(profile)
        if pid is None or not processes.is_alive(pid):
            return None
        found = cls(pid, processes.command(pid), profile)
        is_ours = found._has(user_data(profile)) and found._has_extension(extension)
        return found if is_ours else None

    def fits(self, headless: bool | None, arguments: Sequence[str]) -> bool:
        """Whether the running browser matches the requested options."""
        return headless in (None, self.is_headless) and all(map(self._has, arguments))

    @property
    def is_headless(self) -> bool:
        return " --headless" in self._command

    async def wait(self) -> int:
        """Wait until it ends; returns 0, because only its parent gets the exit code."""
        while processes.is_alive(self.pid):
            await asyncio.sleep(_POLL_SECONDS)
        return 0

    @property
    def has_crashed(self) -> bool:
        """Whether it has ended without noting in its profile that it was closed."""
        if processes.is_alive(self.pid):
            return False
        preferences = _read(self._profile / "Default" / "Preferences") or {}
        return _inner(preferences, "profile").get("exit_type") == "Crashed"

    async def failure(self) -> BrowserFailed:
        await self.wait()
        return BrowserFailed("The browser has ended.")

    async def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Ask all its processes to end, and then end them."""
        group = processes.group_of(self.pid)
        for at_once in (False, True):
            self._end(group, at_once)
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self.wait()
                break
        if group is not None:
            # Helper processes may outlive the browser.
            processes.end_group(group, at_once=True)

    def _end(self, group: int | None, at_once: bool) -> None:
        if not processes.is_alive(self.pid):
            return
        if group is None:
            processes.end(self.pid, at_once=at_once)
        else:
            processes.end_group(group, at_once=at_once)

    def _has(self, argument: str) -> bool:
        return f" {argument} " in self._command

    def _has_extension(self, extension: Path) -> bool:
        listed = rf" --load-extension=([^ ]*,)?{re.escape(str(extension))}[ ,]"
        return bool(re.search(listed, self._command)) or all(map(self._has, PIPE))
