"""The command that runs this tabhub: as agents start it, and as a person types it.

What an agent's settings hold must work for months. A program in a cache does not: the cache of
`uvx` is cleaned, and then nothing starts any more. So the command is the installer's own.
"""

import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tabhub.config import environment
from tabhub.system.processes import as_typed

NAME = "tabhub"
CACHE_MARK = "CACHEDIR.TAG"
UV_RECEIPT = "uv-receipt.toml"
PIPX_RECEIPT = "pipx_metadata.json"


class OwnInstallation(NamedTuple):
    """Where this Python lives."""

    prefix: Path
    executable: Path

    @property
    def script(self) -> Path:
        suffix = ".exe" if sys.platform == "win32" else ""
        return self.executable.with_name(NAME + suffix)

    @property
    def is_cached(self) -> bool:
        """Whether it is in a cache, which may be cleaned at any time."""
        return any((folder / CACHE_MARK).exists() for folder in self.prefix.parents)

    @property
    def is_of_uv(self) -> bool:
        """Whether uv has made this environment."""
        try:
            lines = (self.prefix / "pyvenv.cfg").read_text("utf-8").splitlines()
        except OSError:
            return False
        return any(line.partition("=")[0].strip() == "uv" for line in lines)

    @property
    def is_of_pipx(self) -> bool:
        return (self.prefix / PIPX_RECEIPT).exists()

    @property
    def is_of_uv_tool(self) -> bool:
        return (self.prefix / UV_RECEIPT).exists()

    def command(self) -> list[str]:
        """The command that outlives caches and new versions, for any working directory."""
        if self.is_cached and self.is_of_pipx:
            return [_program("pipx"), "run", NAME]
        if self.is_cached and self.is_of_uv:
            return [_program("uvx"), NAME]
        link = next((path for path in self._links() if self._leads_here(path)), None)
        if link is not None:
            return [str(link)]
        if self.script.exists():
            return [str(self.script)]
        return [str(self.executable), "-P", "-m", NAME]

    def _links(self) -> Iterator[Path]:
        """Where `uv tool` and pipx may have put the command for the PATH."""
        if self.is_of_uv_tool:
            yield from _installed_by_uv(self.prefix / UV_RECEIPT)
        if self.is_of_pipx:
            yield Path(os.environ.get("PIPX_BIN_DIR") or "~/.local/bin").expanduser() / NAME
            found = environment.on_path(NAME)
            if found is not None:
                yield found.absolute()

    def _leads_here(self, link: Path) -> bool:
        # On Windows it is a copy, and the receipt names it.
        is_copy = sys.platform == "win32" and link.exists()
        return is_copy or link.resolve() == self.script.resolve()


def program() -> list[str]:
    """The command that runs this tabhub."""
    return OwnInstallation(Path(sys.prefix), Path(sys.executable)).command()


def program_text() -> str:
    """The command as a person can type it: `tabhub` alone only if that finds this tabhub."""
    own = program()
    if own[-1] == NAME and len(own) < 4:
        return as_typed([Path(own[0]).stem, *own[1:]])
    found = environment.on_path(NAME)
    is_this = found is not None and found.resolve() == Path(own[0]).resolve()
    return NAME if is_this else as_typed(own)


def command_text(*words: str) -> str:
    """A command of this tabhub as a person can type it."""
    return f"{program_text()} {as_typed(words)}"


def _program(name: str) -> str:
    """Its full path, because a program with windows may have another PATH than a terminal."""
    found = environment.on_path(name)
    return name if found is None else str(found.absolute())


def _installed_by_uv(receipt: Path) -> Iterator[Path]:
    try:
        entries = tomllib.loads(receipt.read_text("utf-8"))["tool"]["entrypoints"]
        yield from (Path(entry["install-path"]) for entry in entries if entry["name"] == NAME)
    except (OSError, ValueError, KeyError, TypeError):
        return
