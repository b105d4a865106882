"""`tabhub status`."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tabhub import __version__
from tabhub.cli import NOT_REACHABLE, running
from tabhub.cli.output import harmless, print_json
from tabhub.cli.running import Facts
from tabhub.config.paths import Home


def lines(requests: Iterable[Facts]) -> Iterator[str]:
    """Each with its code, which the page shows too, and the command that lets it in."""
    for request in requests:
        origin, code = request["origin"], request["code"]
        # Whoever is no browser may claim origins that a shell would obey.
        allow = shlex.join(("tabhub", "page", "allow", origin))
        yield f"Waits to be let in: {origin} (code {code}): {allow}"


UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def run(as_json: bool) -> None:
    home = Home.from_environment()
    with running.asking_once():
        facts = running.find(home)
        if facts is None:
            _say_why_not(home, as_json)
            sys.exit(NOT_REACHABLE)
    if as_json:
        print_json({"running": True, **facts})
    else:
        print("\n".join(map(harmless, _lines(facts))))


def _say_why_not(home: Home, as_json: bool) -> None:
    elsewhere = running.elsewhere(home)
    if as_json:
        unknown = {"port": None, "pid": None, "version": __version__}
        where = {"elsewhere": elsewhere} if elsewhere else {}
        print_json({"running": False, **unknown, **where})
    elif elsewhere is not None:
        print(elsewhere)
    else:
        told = ("tabhub is not running.", running.silent(home), "Start it: tabhub start")
        print("\n".join(filter(None, told)))


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    where = f"http://127.0.0.1:{facts['port']}"
    yield f"tabhub {facts['version']} runs on {where} (pid {facts['pid']})."
    if facts.get("ssePort"):
        yield f"sse port: {facts['ssePort']}"
    yield f"up for:   {span(facts['uptime'])}"
    yield f"browsers: {facts['extensionConnections']}"
    for browser in facts.get("browsers", ()):
        yield f"  {described(browser)}"
        yield from _mismatch(browser)
    for refused in facts.get("refusedBrowsers", ()):
        yield "  a browser that was refused"
        yield from _mismatch(refused)
    yield f"agents:   {_agents(facts['agents'], facts.get('agentsAsleep', 0))}"
    yield from (f"  {name}" for name in facts.get("agentNames", ()))
    yield f"tools:    {facts['toolCount']}"
    yield from lines(facts.get("waitingPages", ()))
    if facts["stopped"]:
        yield "All agents are stopped; the side panel lets them go on."
    if facts["skipPermissions"]:
        yield "Permissions are SKIPPED: nobody is asked."


def _mismatch(browser: dict[str, Any]) -> Iterator[str]:
    """How the extension's version differs from the server's, and what to do."""
    if found := browser.get("mismatch"):
        yield f"    {found['says']}"
        yield f"    do: {found['do']}"


def _agents(known: int, asleep: int) -> str:
    """Who has not come back after a restart may never do so."""
    return f"{known - asleep} (and {asleep} from before the restart)" if asleep else str(known)


def described(browser: dict[str, Any]) -> str:
    """A browser in a line."""
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
