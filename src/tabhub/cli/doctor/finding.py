"""What one check has found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
