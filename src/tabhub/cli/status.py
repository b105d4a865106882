"""`tabhub status`."""

import sys
from collections.abc import Iterator
from typing import Any

from tabhub.cli import NOT_REACHABLE, running
from tabhub.cli.output import harmless, print_json
from tabhub.config.home import Home

UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def run(as_json: bool) -> None:
    home = Home.from_environment()
    facts = running.find(home)
    if as_json:
        print_json({"running": False} if facts is None else {"running": True, **facts})
    elif facts is not None:
        print("\n".join(map(harmless, _lines(facts))))
    else:
        told = ("tabhub is not running.", running.silent(home), "Start it: tabhub start")
        print("\n".join(filter(None, told)))
    if facts is None:
        sys.exit(NOT_REACHABLE)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    where = f"http://127.0.0.1:{facts['port']}"
    yield f"tabhub {facts['version']} runs on {where} (pid {facts['pid']})."
    if facts.get("ssePort"):
        yield f"sse port: {facts['ssePort']}"
    yield f"up for:   {span(facts['uptime'])}"
    yield f"browsers: {facts['extensionConnections']}"
    yield from (f"  {_browser(browser)}" for browser in facts.get("browsers", ()))
    yield f"agents:   {facts['agents']}"
    yield from (f"  {name}" for name in facts.get("agentNames", ()))
    yield f"tools:    {facts['toolCount']}"
    if facts["stopped"]:
        yield "All agents are stopped; the side panel lets them go on."
    if facts["skipPermissions"]:
        yield "Permissions are SKIPPED: nobody is asked."


def _browser(browser: dict[str, Any]) -> str:
    panels = "side panel open" if browser["panels"] else "no side panel open"
    whose = "started by tabhub" if browser["kind"] == "managed" else "a person's own"
    ready = "" if browser["ready"] else ", not ready yet"
    return f"{browser['name']} {browser['version']}, {whose}, {panels}{ready}"


def span(seconds: int) -> str:
    """The two largest units of a time."""
    told: list[str] = []
    for unit, size in UNITS:
        count, seconds = divmod(seconds, size)
        if count or told or unit == "s":
            told.append(f"{count} {unit}")
    return " ".join(told[:2])
