"""What one check has found."""

import socket
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tabhub.cli import running
from tabhub.config import environment, settings
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.errors import TabhubError

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Chmod:
    """A repair so simple that it can be done for the person."""

    path: Path
    mode: int

    def __str__(self) -> str:
        return f"chmod {self.mode:o} {self.path}"


@dataclass(frozen=True)
class Finding:
    """How it is, in a sentence, and what to do about it."""

    level: Level
    says: str
    do: str | Chmod | None = None

    def told(self, name: str) -> dict[str, Any]:
        """For programs."""
        told = {"name": name, "level": self.level, "says": self.says}
        return told if self.do is None else {**told, "do": str(self.do)}


def ok(says: str) -> Finding:
    return Finding("ok", says)


def warn(says: str, do: str | Chmod | None = None) -> Finding:
    return Finding("warn", says, do)


def fail(says: str, do: str | Chmod | None = None) -> Finding:
    return Finding("fail", says, do)


@dataclass
class Visit:
    """One look at one home."""

    home: Home

    @cached_property
    def server(self) -> dict[str, Any] | None:
        """What the running server says of itself; None too where files are too broken to ask."""
        try:
            return running.find(self.home)
        except (TabhubError, OSError):
            return None

    @cached_property
    def settings(self) -> Settings:
        """The defaults where the file is broken: another check tells that."""
        try:
            return settings.load(self.home)
        except (TabhubError, OSError):
            return Settings()

    @cached_property
    def port_fault(self) -> OSError | None:
        """Why a server could not listen where it would be."""
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((self.settings.host, self.port))
        except OSError as error:
            return error
        return None

    @property
    def port(self) -> int:
        """Where a server is, or would be."""
        if self.server is not None:
            port: int = self.server["port"]
            return port
        return environment.chosen_port(None, self.settings)
