"""What the checks share, looked up once."""

import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tabhub.cli import running
from tabhub.config import settings
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.errors import TabhubError


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
        return settings.chosen_port(None, self.settings)
