"""Shows a folder in the system's file manager."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL
from pathlib import Path

from tabhub.config.environment import environment_for_servers, has_display, on_path
from tabhub.errors import Unavailable
from tabhub.system.processes import leading_group

_COMMANDS = {
    # Without a named program, a folder that is an application would be started.
    "darwin": ("open", "-a", "Finder"),
    "win32": ("explorer",),
}
_ELSEWHERE = ("xdg-open",)
running: set[asyncio.Task[int]] = set()


async def show_folder(folder: Path) -> None:
    """Open a window with a folder; it stays when the server ends."""
    name, *flags = _COMMANDS.get(sys.platform, _ELSEWHERE)
    program = on_path(name) if has_display() else None
    if program is None:
        raise Unavailable(
            f"No window can be opened here. The folder is {folder}", "server_unavailable"
        )
    process = await asyncio.create_subprocess_exec(
        program,
        *flags,
        str(folder),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        **leading_group(),
        env=environment_for_servers(),
    )
    waiting = asyncio.create_task(process.wait())
    running.add(waiting)
    waiting.add_done_callback(running.discard)
