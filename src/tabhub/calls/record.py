"""What is learned of a call on its way, for the audit; and what happened beside calls."""

import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tabhub.calls.ports import Call, Event, MayEnter, MayTell
from tabhub.errors import TabhubError
from tabhub.hub.tools import Tool

READ_BYTES = 64 * 1024
"""How long arguments that do not fit may be to be read again, for the record."""


class Record:
    """Filled in as the call goes on; whatever stays empty was never reached."""

    __slots__ = (
        "arguments",
        "begun",
        "call",
        "error",
        "fits",
        "may_enter",
        "may_tell",
        "rule",
        "secrets",
        "site",
        "started",
        "tab",
        "tool",
        "verdict",
    )

    def __init__(self, call: Call, started: float) -> None:
        self.call = call
        self.started = started
        self.tool: Tool | None = None
        self.arguments: Mapping[str, Any] = {}
        self.fits = False
        """Whether the arguments have been found to fit."""
        self.secrets: set[str] = set()
        self.tab: int | str | None = None
        self.site = ""
        self.verdict = "refused"
        self.begun = False
        """Whether a source has got the call: until then it had no effect."""
        self.rule = ""
        self.error: TabhubError | None = None
        self.may_enter: MayEnter = None
        self.may_tell: MayTell = None

    def event(self, now: float, ended: float) -> Event:
        call = self.call
        plugin = "" if self.tool is None else self.tool.plugin or self.site
        return Event(
            time=now,
            client=call.client.name,
            agent=call.agent,
            session=call.session,
            tool=call.tool,
            plugin=plugin,
            tab=self.tab,
            origin=self.site,
            arguments=self.arguments if self.fits else _given(call.arguments),
            secret_arguments=self._hidden(),
            verdict=self.verdict,
            rule=self.rule,
            error=self.error,
            duration_ms=(ended - self.started) * 1000,
            operation_id=call.operation_id,
        )

    def _hidden(self) -> frozenset[str]:
        """What does not fit has not been given the listed names either."""
        if self.fits or self.tool is None:
            return frozenset(self.secrets)
        aliases = (other for other, name in self.tool.aliases.items() if name in self.secrets)
        return frozenset({*self.secrets, *aliases})


def _given(raw: Raw | None) -> Mapping[str, Any]:
    """What came in the place of arguments; of what has no names, nothing is kept but its kind."""
    if raw is None or len(raw) > READ_BYTES:
        return {} if raw is None else {"cut": f"{len(raw)} bytes are too many to keep"}
    try:
        given = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return {"cut": "cannot be read"}
    if given is None or isinstance(given, dict):
        return given or {}
    return {"cut": f"is no object ({type(given).__name__})"}


def incident(
    kind: str,
    client: str,
    what: str,
    arguments: Mapping[str, Any] | None = None,
    error: TabhubError | None = None,
) -> Event:
    """Something that is no call: an attempt at a door, or what a person did in the panel.

    What was refused there had no effect, whatever a call would have that fails with this reason.
    """
    return Event(
        time=time.time(),
        client=client,
        session="",
        tool=what,
        plugin=kind,
        tab=None,
        origin="",
        arguments=arguments or {},
        secret_arguments=frozenset(),
        verdict="allowed" if error is None else "refused",
        rule="",
        error=None if error is None else error.with_effect("none"),
        duration_ms=0,
    )


def throttled(client: str, what: str, error: TabhubError) -> Event:
    """Somebody does something more often than they may."""
    return replace(incident("door", client, what, error=error), verdict="throttled")
