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
from tabhub.wire.link import CallOutcome

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


class ActionTarget(Struct, frozen=True):
    """An element that an action would be done to, and how the page names it.

    A dialog of the page has no ref; its type is the role, its text the name.
    """

    place: Mapping[str, Any]
    """How the call named it: by a ref, a selector, words or a point; or `of`, for what gets what
    names nothing: the focus, the open file chooser, the open dialog."""
    ref: str
    role: str
    name: str
    """Any text: the page has chosen it."""
    sensitive: bool = False
    """Whether it is a field for a password or the like."""
    position: int = 0
    """Where the page has it; another number if it is moved or leads elsewhere."""
    site: str = ""
    """The site of the frame that it is in, if that is not the page's."""


def _never() -> bool:
    return False


def _nothing() -> None:
    return None


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
    secrets: tuple[str, ...] = ()
    """The names of the arguments that may be a password, which the words do not repeat."""
    words: str = ""
    """What a yes allows, in one sentence; empty for what the tool's title says."""
    why: str = ""
    """The rule in words that follow "Asked because"; empty for the rule itself."""
    targets: tuple[ActionTarget, ...] = ()
    """The elements in the tab that it would be done to."""
    scopes: tuple[Scope, ...] = ()
    """The scopes that the person can choose from."""
    once: bool = True
    """Whether they can also allow this call only."""
    command: str = ""
    """A command that allows such calls without a panel, if there is one."""
    release: str = ""
    """The command that ends the rule by which a person is asked, if it is the level of the tool."""
    is_allowed: Callable[[], bool] = _never
    """Whether no answer is needed any more: another one, or a rule, has allowed the call since."""
    refusal: Callable[[], TabhubError | None] = _nothing
    """Why no answer can allow it any more: a rule forbids the call since."""


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


NOT_NEEDED = ApprovalAnswer(True, by="the rules", by_person=False)
"""The answer to a request that was allowed while it waited."""


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

    def place(self, client: str) -> AbstractContextManager[object]:
        """Hold one of the places that a client has for its requests; raises if none is free."""

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        """Wait for an answer, in a place; cancelled with the message `LATE` when the time is up.

        A request that is allowed meanwhile returns `NOT_NEEDED`.
        """

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
    result_bytes: int | None = None
    """The size of the result's content."""


DENIED = "; permission_denied"
"""What follows the rule by which a person was asked, if they said no."""
NOT_RUN = frozenset({"refused", "denied", "throttled"})
"""Verdicts of calls that were not given to their tool."""


def outcome_of(verdict: str, reason: str | None) -> CallOutcome:
    """How a call ended, by its verdict and the reason word of its error."""
    if reason is None:
        return "done"
    if reason in ("cancelled", "cancelled_by_person"):
        return "cancelled"
    if verdict in NOT_RUN:
        return "refused"
    return "cancelled" if reason == "paused_by_person" else "failed"


def is_denied_by_person(rule: str) -> bool:
    """Whether a person was asked and said no; limits of a client have the same reason word."""
    return rule.endswith(DENIED)


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
