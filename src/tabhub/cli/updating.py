"""How to update this tabhub and its extension, with the commands of whoever installed it."""

import sys
from pathlib import Path
from typing import Any

from tabhub.cli.own_program import NAME, OwnInstallation, command_text
from tabhub.wire.link_versions import UPDATE_EXTENSION, UPDATE_SERVER


def how_to_update(own: OwnInstallation | None = None) -> str:
    """How to get the newest tabhub and run it."""
    own = own or OwnInstallation(Path(sys.prefix), Path(sys.executable))
    restart = f"then {command_text('stop')} and {command_text('start')}"
    return f"{' '.join(_installer(own))}, {restart}"


def _installer(own: OwnInstallation) -> tuple[str, ...]:
    if own.is_of_pipx and not own.is_cached:
        return ("pipx", "upgrade", NAME)
    if own.is_of_pipx:
        return ("pipx", "run", "--no-cache", NAME, "--version")
    if own.is_of_uv_tool:
        return ("uv", "tool", "upgrade", NAME)
    if own.is_of_uv and own.is_cached:
        return ("uvx", f"{NAME}@latest", "--version")
    if own.is_of_uv:
        return ("uv", "pip", "install", "-U", NAME)
    return ("pip", "install", "-U", NAME)


def how_to_update_extension() -> str:
    reload = "then reload the extension in chrome://extensions"
    return f"{command_text('extension', 'path')}, {reload}"


def advice(mismatch: dict[str, Any]) -> str:
    """What to do about two versions that differ; the server does not know who installed it."""
    do: str = mismatch["do"]
    do = do.replace(UPDATE_SERVER, how_to_update())
    return do.replace(UPDATE_EXTENSION, how_to_update_extension())
