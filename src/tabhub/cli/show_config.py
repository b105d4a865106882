"""`tabhub start --show-config`: the blocks that `tabhub start` prints, and nothing else."""

import sys

from tabhub.cli import running
from tabhub.cli.blocks import blocks
from tabhub.cli.program import spoken
from tabhub.config import secret, settings
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.secret import Auth


def run(port: int | None, *, auth: bool) -> None:
    """For the server that runs, else for one that would be started like this."""
    home = Home.from_environment().create()
    known = running.reach(home) or _to_come(home, port)
    print(blocks(known.port, Clients(home).printed(known.secret) if auth else None))


def _to_come(home: Home, port: int | None) -> Auth:
    print(f"No server is running yet: {spoken()} start", file=sys.stderr)
    wanted = settings.chosen_port(port, settings.load(home))
    stored = secret.load(home) or secret.prepare(home, wanted or settings.DEFAULT_PORT)
    return Auth(stored.secret, wanted or stored.port)
