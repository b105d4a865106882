"""`tabhub status`: whether a server runs, where, and with which browsers and agents."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tabhub import __version__
from tabhub.cli import NOT_REACHABLE, port_holder, running
from tabhub.cli.output import harmless, print_json
from tabhub.cli.own_program import command_text
from tabhub.cli.running import Facts
from tabhub.cli.updating import advice
from tabhub.config.paths import Home

UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def run(as_json: bool) -> None:
    home = Home.from_environment()
    with running.skipping_timed_out_ports():
        facts = running.find(home)
        if facts is None:
            _print_not_running(home, as_json)
            sys.exit(NOT_REACHABLE)
    if as_json:
        print_json({"running": True, **facts})
    else:
        print("\n".join(map(harmless, _lines(facts))))


def _print_not_running(home: Home, as_json: bool) -> None:
    elsewhere = running.describe_elsewhere(home)
    if as_json:
        unknown = {"port": None, "pid": None, "version": __version__}
        where = {"elsewhere": elsewhere} if elsewhere else {}
        print_json({"running": False, **unknown, **where})
    else:
        print(port_holder.not_running(home).message)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    where = f"http://127.0.0.1:{facts['port']}"
    yield f"tabhub {facts['version']} runs on {where} (pid {facts['pid']})."
    if facts.get("ssePort"):
        yield f"sse port: {facts['ssePort']}"
    yield f"up for:   {span(facts['uptime'])}"
    yield f"browsers: {facts['extensionConnections']}"
    if (facts.get("managedBrowser") or {}).get("says"):
        yield f"  {facts['managedBrowser']['says']}"
    browsers = facts.get("browsers", ())
    for browser, says in zip(browsers, described_all(browsers), strict=True):
        yield f"  {says}"
        yield from _mismatch(browser)
    if not browsers:
        yield f"  {no_browser()}"
    for refused in facts.get("refusedBrowsers", ()):
        yield "  a browser that was refused"
        yield from _mismatch(refused)
    yield from _proxy(facts.get("proxy"))
    yield f"agents:   {_agents(facts['agents'], facts.get('agentsAsleep', 0))}"
    for name in facts.get("agentNames", ()):
        is_asleep = name in facts.get("asleepNames", ())
        yield f"  {name}{': not heard from since the restart' if is_asleep else ''}"
    yield f"tools:    {facts['toolCount']}"
    if count := facts.get("approvalsWaiting", 0):
        calls = "1 call waits" if count == 1 else f"{count} calls wait"
        where = "press tabhub's button in the browser (or answer in the agent, if it asks)"
        yield f"{calls} for your yes: {where}"
    yield from waiting_pages(facts.get("waitingPages", ()))
    for waiting in facts.get("waitingExtensions", ()):
        yield f"Waits to be paired: {waiting['origin']}: {command_text('extension', 'pair')}"
    if facts.get("auditLog", {}).get("fault") is not None:
        yield running.audit_trouble(facts["auditLog"])
    if facts["stopped"]:
        yield "All agents are stopped; resume them in the side panel."
    if facts["skipPermissions"]:
        yield "Permissions are SKIPPED: no call needs approval."
    if trusted := facts.get("trustedPlugins"):
        yield running.dev_mode_warning(trusted)


def waiting_pages(requests: Iterable[Facts]) -> Iterator[str]:
    """Each page's pairing code, which the page shows too, and the command that allows it."""
    for request in requests:
        origin, code = request["origin"], request["code"]
        # Programs that are not browsers can claim any origin, so it is quoted for the shell.
        allow = command_text("page", "allow", origin, code)
        yield f"Waits for approval: {origin} (code {code}): {allow}"


def _proxy(facts: Facts | None) -> Iterator[str]:
    """Whether the proxy is there, and what keeps it or a browser of it from being used."""
    if facts is None:
        return
    if "problem" in facts:
        yield f"  the proxy: {facts['problem']}"
    elif not facts["browsers"]:
        yield f"  the proxy: {'no browser of yours' if facts['connected'] else 'connecting'}"
    for browser in facts["browsers"]:
        if "problem" in browser:
            yield f"  {browser['name']}, through the proxy: {browser['problem']}"


def _mismatch(browser: dict[str, Any]) -> Iterator[str]:
    """How the extension's version differs from the server's, and what to do."""
    if found := browser.get("mismatch"):
        yield f"    {found['says']}"
        yield f"    do: {advice(found)}"


def _agents(known: int, asleep: int) -> str:
    """Agents that have not returned since a restart are counted apart: they may never return."""
    return (
        f"{known - asleep} (and {asleep} not heard from since the restart)"
        if asleep
        else str(known)
    )


def described_all(browsers: Sequence[Facts]) -> list[str]:
    """Each browser in one line; of several, one gets the calls that name none."""
    several = len(browsers) > 1
    return [
        f"{described(one)}{', which gets the calls' if several and one.get('isDefault') else ''}"
        for one in browsers
    ]


def described(browser: dict[str, Any]) -> str:
    """A browser in one line."""
    panels = "side panel open" if browser["panels"] else "no side panel open"
    if browser.get("remote"):
        panels = "through the proxy"
    ready = "" if browser["ready"] else ", not ready yet"
    return f"{browser['name']} {browser['version']}, {running.whose(browser)}, {panels}{ready}"


def no_browser() -> str:
    """What to do while no browser is connected, as every command says it."""
    open_one, own = command_text("browser"), command_text("setup")
    return (
        "No browser is connected. Yours comes back by itself if it has the extension; else"
        f" {own} connects it, or {open_one} opens one for agents."
    )


def span(seconds: int) -> str:
    """A duration in its two largest units."""
    parts: list[str] = []
    for unit, size in UNITS:
        count, seconds = divmod(seconds, size)
        if count or parts or unit == "s":
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
