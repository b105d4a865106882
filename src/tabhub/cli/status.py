"""`tabhub status`."""

import sys

import msgspec

from tabhub.cli import NOT_REACHABLE, running
from tabhub.config.home import Home


def run(as_json: bool) -> None:
    facts = running.find(Home.from_environment())
    if facts is None:
        print('{"running": false}' if as_json else "tabhub is not running. Start it: tabhub start")
        sys.exit(NOT_REACHABLE)
    if as_json:
        print(msgspec.json.encode({"running": True, **facts}).decode())
        return
    print(f"tabhub {facts['version']} runs on port {facts['port']} (pid {facts['pid']}).")
    print(f"browsers: {facts['extensionConnections']}, agents: {facts['agents']}")
    if facts["stopped"]:
        print("All agents are stopped; the side panel lets them go on.")
    if facts["skipPermissions"]:
        print("Permissions are SKIPPED: nobody is asked.")
