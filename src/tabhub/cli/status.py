"""`tabhub status`."""

import sys

import msgspec

from tabhub.cli import NOT_REACHABLE, running
from tabhub.config.home import Home


def run(as_json: bool) -> None:
    home = Home.from_environment()
    found = running.find(home)
    if found is None:
        print('{"running": false}' if as_json else "tabhub is not running. Start it: tabhub start")
        sys.exit(NOT_REACHABLE)
    health = running.health(home, found.port) or {}
    facts = {"running": True, "port": found.port, "pid": found.pid, **health}
    if as_json:
        print(msgspec.json.encode(facts).decode())
        return
    print(f"tabhub {facts.get('version', '')} runs on port {found.port} (pid {found.pid}).")
    print(f"browsers: {facts.get('extensionConnections', 0)}, agents: {facts.get('mcpClients', 0)}")
