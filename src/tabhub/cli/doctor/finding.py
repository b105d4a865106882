"""What a check looks at, and what it finds."""

import shlex
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
from tabhub.system.ports import set_sharing

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Chmod:
    """A repair that `doctor --fix` can do."""

    path: Path
    mode: int

    def __str__(self) -> str:
        return f"chmod {self.mode:o} {shlex.quote(str(self.path))}"


@dataclass(frozen=True)
class Finding:
    """A sentence about the state of something, and what to do about it."""

    level: Level
    says: str
    do: str | Chmod | None = None

    def as_json(self, name: str) -> dict[str, Any]:
        members = {"name": name, "level": self.level, "says": self.says}
        return members if self.do is None else {**members, "do": str(self.do)}


def ok(says: str) -> Finding:
    return Finding("ok", says)


def warn(says: str, do: str | Chmod | None = None) -> Finding:
    return Finding("warn", says, do)


def fail(says: str, do: str | Chmod | None = None) -> Finding:
    return Finding("fail", says, do)


@dataclass
class Inspection:
    """One inspection of one home; what several checks need is looked up once."""

    home: Home

    @cached_property
    def server(self) -> dict[str, Any] | None:
        """The running server's health; None also if the files are too broken to find it."""
        try:
            return running.find(self.home)
        except (TabhubError, OSError):
            return None

    @cached_property
    def settings(self) -> Settings:
        """The settings, or the defaults if the file is broken, which another check reports."""
        try:
            return settings.load(self.home)
        except (TabhubError, OSError):
            return Settings()

    @cached_property
    def port_fault(self) -> OSError | None:
        """Why a server could not listen on its port."""
        try:
            with socket.socket() as probe:
                set_sharing(probe)
                probe.bind((self.settings.host, self.port))
        except OSError as error:
            return error
        return None

    @property
    def port(self) -> int:
        """The port of the running server, or of the one that would be started."""
        if self.server is not None:
            port: int = self.server["port"]
            return port
        return environment.chosen_port(None, self.settings)
