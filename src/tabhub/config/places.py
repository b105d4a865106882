"""Where other programs of this person keep their settings."""

import os
import sys
from pathlib import Path


class Places:
    """The folders that a system has for that; programs may name others in the environment."""

    def __init__(self, home: Path | None = None, platform: str = sys.platform) -> None:
        self.home = home or Path.home()
        self._platform = platform

    def variable(self, name: str) -> str | None:
        return os.environ.get(name) or None

    def folder(self, variable: str, default: Path) -> Path:
        named = self.variable(variable)
        return Path(named).expanduser() if named else default

    @property
    def config(self) -> Path:
        """For programs of the terminal, on every system."""
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def applications(self) -> Path:
        """For programs with windows."""
        if self._platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self._platform == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        return self.config

    @property
    def vscode(self) -> Path:
        portable = self.variable("VSCODE_PORTABLE")
        return Path(portable) / "user-data" if portable else self.applications / "Code"
