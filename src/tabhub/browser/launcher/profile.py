"""The profile folder of a managed browser: what is set in it beforehand, and who has it open."""

import json
import os
import socket
from pathlib import Path
from typing import Any

from tabhub.config.files import private_folder, write_private


def prepare_profile(profile: Path) -> None:
    """Switch developer mode on: without it the extension stays off after it reloads itself."""
    private_folder(profile)
    path = profile / "Default" / "Preferences"
    preferences = _read(path)
    if preferences is None:
        return
    ui = _inner(_inner(preferences, "extensions"), "ui")
    if ui.get("developer_mode") is not True:
        ui["developer_mode"] = True
        write_private(path, json.dumps(preferences).encode())


def owner(profile: Path) -> int | None:
    """The process of this machine that has the profile open, or had it when it was killed."""
    try:
        lock = os.readlink(profile / "SingletonLock")
    except OSError:
        return None
    host, _, pid = lock.rpartition("-")
    return int(pid) if pid.isdecimal() and host == socket.gethostname() else None


def _read(path: Path) -> dict[str, Any] | None:
    """None for a file that is not ours to repair."""
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
