"""Paths: of the files in tabhub's home, and of the system.

The home is `TABHUB_HOME`, else `~/.tabhub`, on Windows `%LOCALAPPDATA%\\tabhub`.
"""

import errno
import os
import sys
from pathlib import Path

from tabhub.errors import InvalidArguments, Unavailable
from tabhub.system.rights import OTHERS_WRITE, is_own, others_can, private_folder

ELSEWHERE = "Make it writable, or name another folder: TABHUB_HOME"
"""What helps if the home cannot be used."""
FULL = "Free space on that disk, or name another folder: TABHUB_HOME"
"""What helps if its disk is full."""
_NO_FOLDER = "Name a folder: TABHUB_HOME"
_UNUSABLE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


class Home:
    """tabhub's own folder, and the paths of the files in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config.json"
        self.policy = root / "policy.toml"
        self.clients = root / "clients.json"
        self.connections = root / "connections.json"
        self.db = root / "tabhub.db"
        self.audit = root / "audit.log"
        self.extension = root / "extension"
        self.auth = self.extension / "auth.json"
        self.managed_extension = root / "managed-extension"
        self.managed_auth = self.managed_extension / "auth.json"
        self.log = root / "server.log"
        self.pid = root / "server.pid"
        self.proxy = root / "proxy.json"
        """What a node of the proxy leaves while it runs here."""
        self.proxy_secret = root / "proxy-secret"
        """With which a proxy signs tokens, unless it is given another file."""
        self.profile = root / "profile"
        self.plugins = root / "plugins"
        """Installed plugins, each in a folder of its name."""
        self.reviews = root / "plugin-reviews.json"
        """Which plugins the person has reviewed, with the digests of their files."""
        self.reviewed_plugins = self.plugins / ".reviewed"
        """The files of plugins as they were when the person reviewed them."""
        self.plugin_descriptions = self.plugins / ".described"
        """What plugins in Python have said about their tools."""
        self.downloads = root / "downloads"
        """Files that tools save, in a folder for each client."""
        self.uploads = root / "uploads"
        """Files of the person that tools may give to pages."""

    @classmethod
    def from_environment(cls) -> "Home":
        path = os.environ.get("TABHUB_HOME")
        return cls(Path(path).expanduser().absolute()) if path else cls.default()

    @classmethod
    def default(cls) -> "Home":
        return cls(Places().own)

    def create(self) -> "Home":
        """Make the folders; refuse one that other users could write to, for it holds secrets."""
        try:
            for folder in (self.root, self.extension, self.managed_extension):
                _require_own(private_folder(folder))
            for folder in (self.downloads, self.uploads):
                if not os.path.lexists(folder):
                    private_folder(folder)
        except OSError as error:
            path = error.filename or self.root
            message = (
                f"{path} is a file. {_NO_FOLDER}"
                if os.path.isfile(path)
                else f"{path} cannot be made: {error.strerror}."
                f" {FULL if error.errno in _NO_SPACE else ELSEWHERE}"
            )
            raise Unavailable(message, "server_unavailable") from None
        return self

    def way_out(self, error: OSError) -> str | None:
        """What helps if a file of this home could not be written; None for other errors."""
        if not error.filename or not _is_below(self.root, os.fsdecode(error.filename)):
            return None
        if error.errno in _NO_SPACE:
            return FULL
        if error.errno == errno.ENOTDIR:
            return _NO_FOLDER
        return ELSEWHERE if error.errno in _UNUSABLE else None


def _is_below(folder: Path, path: str) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))


def _require_own(folder: Path) -> None:
    status = folder.stat()
    if not is_own(status):
        raise InvalidArguments(f"{folder} belongs to another user, who could change what is in it.")
    if others_can(status, OTHERS_WRITE):
        raise InvalidArguments(f"{folder} can be written to by others; run chmod 700 on it.")


def _home_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise InvalidArguments("This user has no home folder: set HOME to one.") from None


class Places:
    """The folders where the system's programs keep their settings."""

    def __init__(self, home: Path | None = None, platform: str = sys.platform) -> None:
        self.home = home or _home_folder()
        self._platform = platform

    def variable(self, name: str) -> str | None:
        return os.environ.get(name) or None

    def folder(self, variable: str, default: Path) -> Path:
        path = self.variable(variable)
        return Path(path).expanduser() if path else default

    @property
    def config(self) -> Path:
        """For command-line programs, on every system."""
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
    def own(self) -> Path:
        """For tabhub itself; on Windows not among what follows a person to other machines."""
        if self._platform == "win32":
            return self.folder("LOCALAPPDATA", self.home / "AppData" / "Local") / "tabhub"
        return self.home / ".tabhub"

    @property
    def vscode(self) -> Path:
        portable = self.variable("VSCODE_PORTABLE")
        return Path(portable) / "user-data" if portable else self.applications / "Code"


def in_development() -> bool:
    """Whether both ends of the link check each command against its declared shape."""
    return os.environ.get("TABHUB_DEVELOPMENT") == "1"
