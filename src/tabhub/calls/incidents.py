"""Audit events for what is not a call: an attempt at a door, or what a person did."""

import time
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tabhub.calls.ports import Event
from tabhub.errors import TabhubError


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
