"""Where tabhub keeps its things: `~/.tabhub`, or `TABHUB_HOME`."""

import os
from pathlib import Path

from tabhub.config.files import private_folder
from tabhub.errors import InvalidArguments


class Home:
    """The folder and the names in it."""

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
        self.profile = root / "profile"

    @classmethod
    def from_environment(cls) -> "Home":
        named = os.environ.get("TABHUB_HOME")
        return cls(Path(named).expanduser()) if named else cls.usual()

    @classmethod
    def usual(cls) -> "Home":
        """Where it is unless somebody says otherwise."""
        return cls(Path.home() / ".tabhub")

    def create(self) -> "Home":
        """Make the folders; one that is another's, or that others write to, has no secret."""
        for folder in (self.root, self.extension, self.managed_extension):
            _require_own(private_folder(folder))
        return self


def _require_own(folder: Path) -> None:
    known = folder.stat()
    if hasattr(os, "geteuid") and known.st_uid != os.geteuid():
        raise InvalidArguments(f"{folder} belongs to another user, who could change what is in it.")
    if known.st_mode & 0o022:
        raise InvalidArguments(f"{folder} can be written to by others; chmod 700 it.")
