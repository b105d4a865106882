"""How a person loads the extension into their own browser, and the path on their clipboard."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tabhub.config.environment import on_path

ANSWER_SECONDS = 5.0
WINDOWS_CLIPBOARDS = ("clip", "clip.exe")
"""They take UTF-16; anything else they read in an old code page."""
_CLIPBOARDS = {
    "darwin": (("pbcopy",),),
    "win32": (("clip",),),
    "linux": (
        ("wl-copy",),
        ("xclip", "-selection", "clipboard"),
        ("xsel", "--clipboard", "--input"),
        ("clip.exe",),
    ),
}
"""Commands that put their input on the clipboard, by platform; `clip.exe` is that of WSL."""
_IN_DIALOG = {
    "darwin": "In the dialog press Cmd-Shift-G, {enter} it, press Enter, then Open.",
    "win32": "In the dialog {enter} it as the folder, then press Select Folder.",
    "linux": "In the dialog press Ctrl-L, {enter} it, then press Open.",
}
_PICTURE = """\
+-----------------------------------------------------------+
| Extensions         [ Search ]          Developer mode (o) |  <- 2
+-----------------------------------------------------------+
| [ Load unpacked ]   [ Pack extension ]   [ Update ]       |  <- 3
+-----------------------------------------------------------+"""
"""The head of chrome://extensions, in characters that every terminal has."""


class ExtensionFolder(NamedTuple):
    """The folder to load, as the person's browser knows it."""

    path: str
    in_wsl: str = ""
    """In WSL its path there, since the person's browser is most likely one of Windows."""

    @classmethod
    def at(cls, folder: Path) -> "ExtensionFolder":
        windows = _windows_path(str(folder))
        return cls(windows, str(folder)) if windows else cls(str(folder))


def _windows_path(path: str) -> str:
    """How Windows reaches a path of WSL; empty anywhere else."""
    if on_path("wslpath") is None:
        return ""
    try:
        done = subprocess.run(("wslpath", "-w", path), capture_output=True, timeout=ANSWER_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def copy_to_clipboard(text: str) -> bool:
    """Whether a program of this desktop has taken the text."""
    for command in _CLIPBOARDS.get(sys.platform, ()):
        if on_path(command[0]) is not None and _is_usable(command[0]) and _given(command, text):
            return True
    return False


def _is_usable(program: str) -> bool:
    """Without its display a program for one would only wait or fail."""
    variable = {"wl-copy": "WAYLAND_DISPLAY", "xclip": "DISPLAY", "xsel": "DISPLAY"}.get(program)
    return variable is None or bool(os.environ.get(variable))


def _given(command: tuple[str, ...], text: str) -> bool:
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-16-le" if command[0] in WINDOWS_CLIPBOARDS else "utf-8"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def instructions(folder: ExtensionFolder, *, is_copied: bool) -> Iterator[str]:
    """What to press, one thing in each line."""
    copied = " It is on your clipboard." if is_copied else " Copy it from here."
    yield "1. In your browser, open chrome://extensions (type it into the address bar)."
    yield "2. Switch on Developer mode, at the top right."
    yield "3. Press Load unpacked, at the top left."
    yield f"4. Choose this folder.{copied}"
    yield f"     {folder.path}"
    if folder.in_wsl:
        yield f"   In a browser of WSL itself: {folder.in_wsl}"
    in_dialog = _IN_DIALOG.get(sys.platform, _IN_DIALOG["linux"])
    yield f"   {in_dialog.format(enter='paste' if is_copied else 'paste or type')}"
    yield ""
    yield from (f"     {line}" for line in _PICTURE.splitlines())
    yield ""
