"""`tabhub watch`: the calls of all agents in the terminal, as they begin and end."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse

import msgspec

from tabhub.cli import port_holder, running
from tabhub.cli.output import harmless, print_json_lines, styled, wants_json
from tabhub.cli.running import Facts
from tabhub.cli.waiting import WaitingLine
from tabhub.config.paths import Home
from tabhub.errors import Unavailable

QUIET_SECONDS = 40.0
"""The server says something at least every 15 seconds."""
RETRY_SECONDS = 0.5
UNITS = ((1024 * 1024, "MB"), (1024, "KB"))
COLOURS = {"done": "32", "failed": "31", "refused": "33", "cancelled": "33"}
ASKED = "asked"
"""The event that has all calls which wait for the person."""
NOTHING_ASKED: Facts = {"count": 0, "calls": []}
PLACES = {
    "browser": " (tabhub's button in the browser)",
    "client": " (the agent itself asks)",
    None: "",
}
"""Where the person is asked; a server from before an update does not say it."""
Event = tuple[str, Facts]


def run(client: str | None, tool: str | None, recent: int, as_json: bool) -> None:
    """Print each call until Ctrl-C; a server that restarts is waited for."""

    home = Home.from_environment()
    if running.reach(home) is None:
        raise port_holder.not_running(home)
    events = narrowed(_events(home, recent), client, tool)
    with suppress(KeyboardInterrupt):
        if wants_json(as_json):
            print_json_lines({"event": name, **facts} for name, facts in events if name)
        else:
            _show(events)


def narrowed(events: Iterator[Event], client: str | None, tool: str | None) -> Iterator[Event]:
    """The events of the calls of one client or tool; what waits only where it has changed."""

    def wanted(call: Facts) -> bool:
        return client in (None, call.get("client")) and tool in (None, call.get("tool"))

    def of_these(facts: Facts) -> Facts:
        calls = [call for call in facts["calls"] if wanted(call)]
        everyone = client is None and tool is None
        return {"count": facts["count"] if everyone else len(calls), "calls": calls}

    asked = NOTHING_ASKED
    for name, facts in events:
        if name == ASKED:
            before, asked = asked, of_these(facts)
            if asked != before:
                yield name, asked
        elif not name:
            # The next server says nothing about it while nobody waits there.
            if asked != NOTHING_ASKED:
                yield ASKED, NOTHING_ASKED
            asked = NOTHING_ASKED
            yield name, facts
        elif wanted(facts):
            yield name, facts


def _events(home: Home, recent: int) -> Iterator[Event]:
    """Every event, also of later servers; an event without a name says that the server is gone."""
    while True:
        auth = running.reach(home)
        if auth is not None:
            with suppress(OSError, HTTPException):
                yield from _stream(auth.port, auth.secret, recent)
            yield "", {}
        recent = 0
        time.sleep(RETRY_SECONDS)


def _stream(port: int, secret: str, recent: int) -> Iterator[Event]:
    connection = HTTPConnection(running.LOOPBACK, port, timeout=QUIET_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {secret}", "Accept": "text/event-stream"}
        connection.request("GET", f"/calls?recent={recent}", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise Unavailable(f"The server does not report calls (status {response.status}).")
        yield from _parsed(response)
    finally:
        connection.close()


def _parsed(response: HTTPResponse) -> Iterator[Event]:
    name = ""
    for line in response:
        field, _, value = line.rstrip(b"\r\n").partition(b": ")
        if field == b"event":
            name = value.decode()
        elif field == b"data":
            yield name, msgspec.json.decode(value, type=Facts)


def _show(events: Iterator[Event]) -> None:
    """A line for each call that has ended, and below them what runs now and what waits."""
    live: dict[str, Facts] = {}
    asked = NOTHING_ASKED
    print(_columns("time", "client", "tool", "tab", "took", "size", "outcome"), flush=True)
    with WaitingLine("Waiting for calls; Ctrl-C ends", quiet_seconds=0.2) as below:
        for name, facts in events:
            if not name:
                live.clear()
                below.above("The server is gone; waiting for it.")
            elif name == ASKED:
                asked = facts
            elif name == "start":
                live[facts["id"]] = facts
            else:
                live.pop(facts["id"], None)
                below.above(_line(facts))
            below.says = summary(live, asked)


def summary(live: dict[str, Facts], asked: Facts) -> str:
    """What waits for the person, where they can answer it, and what runs."""
    parts = [*_waiting(asked["calls"])]
    if unnamed := asked["count"] - len(asked["calls"]):
        parts.append(f"{unnamed} more wait for your yes")
    if live:
        parts.append(f"{len(live)} running: {_names(live.values())}")
    return "; ".join(parts) or "Waiting for calls; Ctrl-C ends"


def _waiting(calls: Sequence[Facts]) -> Iterator[str]:
    for where, place in PLACES.items():
        here = [call for call in calls if call.get("where") == where]
        if here:
            yield f"Waiting {len(here)} for your yes{place}: {_names(here)}"


def _names(calls: Iterable[Facts]) -> str:
    return ", ".join(f"{harmless(call['client'])} {harmless(call['tool'])}" for call in calls)


def _line(call: Facts) -> str:
    started = datetime.fromtimestamp(call["startedAt"] / 1000)
    outcome = call["outcome"]
    reason = f": {call['reason']}" if call.get("reason") else ""
    text = _columns(
        f"{started:%H:%M:%S}",
        harmless(call["client"]),
        harmless(call["tool"]),
        "" if call.get("tabId") is None else str(call["tabId"]),
        _duration(call["durationMs"]),
        _size(call["bytes"]),
    )
    return f"{text} {styled(f'{outcome}{reason}', COLOURS.get(outcome, '0'), sys.stdout)}"


def _columns(time: str, client: str, tool: str, tab: str, took: str, size: str, *rest: str) -> str:
    row = f"{time:<8} {client:<10} {tool:<24} {tab:>10} {took:>7} {size:>8}"
    return " ".join((row, *rest))


def _duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _size(count: int) -> str:
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
