"""What `calls` needs from others, and what it hands them."""

import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from tabhub.config.clients import Client
from tabhub.errors import TabhubError
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import Scope

MayEnter = Callable[[str], bool] | None
"""Whether a call may go into frames of a site that is not its page's; None: into all."""

MayTell = Callable[[str], bool] | None
"""Whether a result may tell of a site, where it tells of several; None: of all."""

Clock = Callable[[], float]
"""Seconds that only ever go forward."""


class Interrupted(Exception):
    """A door has to end the call and will send it again: neither a result nor a fault."""


class Undelivered(Exception):
    """The tab has not got the call, and never will: another one may be tried."""

    def __init__(self, error: TabhubError) -> None:
        super().__init__(error.message)
        self.error = error


class ApprovalRequest(Struct, frozen=True):
    """A call that needs a person's approval."""

    id: str
    tool: Tool
    client: Client
    agent: str
    session: str
    tab: Tab | None
    site: str
    arguments: Mapping[str, Any]
    rule: str
    scopes: tuple[str, ...] | None = None
    """How far a yes can reach, where that is not as usual."""


class ApprovalAnswer(Struct, frozen=True):
    """What was decided, how far it goes, and for how long; no expiry means for good."""

    allowed: bool
    scope: Scope | None = None
    """None for this call only."""
    seconds: float | None = None
    by: str = "the person"
    """Who or what gave it, for the record."""
    by_person: bool = True


LATE = "late"
"""What an approver is cancelled with when nobody has answered in time."""

Elicit = Callable[[ApprovalRequest], Coroutine[Any, Any, ApprovalAnswer]]
"""Puts a request to the person behind the agent's own client."""


class Approver(Protocol):
    """Asks a person. Raises Forbidden when there is no answer, and says why."""

    @property
    def present(self) -> bool: ...

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        """Wait for an answer; cancelled with the word `LATE` when the time is up."""

    def missed(self, request: ApprovalRequest) -> None:
        """Nobody could be asked: leave word of it."""


class Event(Struct, frozen=True):
    """One call, one attempt that was refused at a door, or one thing the person did."""

    time: float
    """Seconds since 1970, at its end."""
    client: str
    session: str
    tool: str
    plugin: str
    tab: int | str | None
    origin: str
    arguments: Mapping[str, Any]
    secret_arguments: frozenset[str]
    verdict: str
    """allowed, asked (allowed by a person), denied, refused (before a verdict), or throttled."""
    rule: str
    error: TabhubError | None
    duration_ms: float
    agent: str = ""
    operation_id: str | None = None


class AuditSink(Protocol):
    """Keeps the record of what was done."""

    def record(self, event: Event) -> None: ...


class ToolIndex(Protocol):
    """Finds tools by words."""

    def search(self, query: str, family: Iterable[str] = ()) -> Iterator[str]:
        """Names of tools, the best first.

        Only those of a family: a plugin, a domain, a toolset, or several of these together. That
        is by words; whoever needs it exact looks at the tools.
        """


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
