"""The interfaces of `calls` to other rooms, and the records that cross them."""

import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from tabhub.config.clients import Client
from tabhub.errors import TabhubError
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import Scope

MayEnter = Callable[[str], bool] | None
"""Whether a call may enter frames of another site than its page's; None allows all."""

Clock = Callable[[], float]
"""Seconds of a monotonic clock."""

LATE = "late"
"""The message with which an approver is cancelled when the time for an answer is over."""


class Interrupted(Exception):
    """An endpoint has to end the call and will send it again: neither a result nor an error."""


class Undelivered(Exception):
    """The tab did not receive the call and never will, so another tab may be tried."""

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
    scopes: tuple[Scope, ...] | None = None
    """The scopes that the person can choose from, where they differ from the usual ones; none for
    this call only."""
    command: str = ""
    """A command that allows such calls without a panel, if there is one."""
    release: str = ""
    """The command that ends the rule by which a person is asked, if it is the level of the tool."""


class ApprovalAnswer(Struct, frozen=True):
    """What was decided, with what scope, and for how long."""

    allowed: bool
    scope: Scope | None = None
    """None for this call only."""
    seconds: float | None = None
    """None for no expiry."""
    by: str = "the person"
    """Who or what answered, for the audit log."""
    by_person: bool = True


Elicit = Callable[[ApprovalRequest], Coroutine[Any, Any, ApprovalAnswer]]
"""Asks the person through the agent's own client."""


class Approver(Protocol):
    """Asks a person. Raises Forbidden with the cause when there is no answer."""

    @property
    def present(self) -> bool:
        """Whether a person can be asked now."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether all browsers are reached through the proxy, where no person can be asked."""

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        """Wait for an answer; cancelled with the message `LATE` when the time is up."""

    def missed(self, request: ApprovalRequest) -> None:
        """Note that no person could be asked."""


class AuditEvent(Struct, frozen=True):
    """One entry of the audit log: a call, a refused attempt, or something the person did."""

    time: float
    """When it ended, in seconds since 1970."""
    client: str
    session: str
    tool: str
    plugin: str
    tab: int | str | None
    origin: str
    arguments: Mapping[str, Any]
    secret_arguments: frozenset[str]
    verdict: str
    """allowed, asked (allowed by a person), denied, refused (before a verdict), throttled, or
    replayed (the result of an earlier call with the same operation id)."""
    rule: str
    error: TabhubError | None
    duration_ms: float
    agent: str = ""
    operation_id: str | None = None
    call: str = ""
    """The id of a call whose beginning was written, because it may change something."""


class AuditSink(Protocol):
    """The audit log."""

    def record(self, event: AuditEvent) -> None: ...


class CallLog(AuditSink, Protocol):
    """The audit log as the runner of calls uses it: `begin`, then `record` or `withdraw`."""

    def room(self, client: str) -> AbstractContextManager[object]:
        """Hold room for the lines of one call; raises if there is none, or none can be written."""

    def begin(self, event: AuditEvent) -> None:
        """Write that a call begins; it is with the operating system when this returns."""

    def withdraw(self, event: AuditEvent) -> None:
        """Note that a call that began did nothing, and that no entry about it follows."""


class ToolIndex(Protocol):
    """Finds tools by words."""

    def search(self, query: str, family: Iterable[str] = ()) -> Iterator[str]:
        """Names of tools, the best first.

        `family` restricts them to plugins, domains or toolsets. It matches by words, so a caller
        that needs an exact match must check the tools.
        """


def incident(
    kind: str,
    client: str,
    what: str,
    arguments: Mapping[str, Any] | None = None,
    error: TabhubError | None = None,
    secret_arguments: frozenset[str] = frozenset(),
) -> AuditEvent:
    """An entry for something that is not a call, such as a request made in the panel.

    A refusal there had no effect, whatever effect the reason implies for a call.
    """
    return AuditEvent(
        time=time.time(),
        client=client,
        session="",
        tool=what,
        plugin=kind,
        tab=None,
        origin="",
        arguments=arguments or {},
        secret_arguments=secret_arguments,
        verdict="allowed" if error is None else "refused",
        rule="",
        error=None if error is None else error.with_effect("none"),
        duration_ms=0,
    )


def throttled(client: str, what: str, error: TabhubError) -> AuditEvent:
    """An entry for a client that exceeds a rate limit."""
    return replace(incident("door", client, what, error=error), verdict="throttled")
