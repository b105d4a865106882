"""One call, from the endpoint that reads it to its entry in the audit log, and what runs it."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct, field

from tabhub.calls.ports import ActionTarget, AuditEvent, Elicit, MayEnter
from tabhub.calls.time_limit import Limit, Progress
from tabhub.config.clients import MAIN, Client
from tabhub.errors import InvalidArguments, TabhubError
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.sites import MayTell
from tabhub.wire.mcp.messages import CallResult, LogLevel

Log = Callable[[LogLevel, dict[str, Any]], Awaitable[None]]
"""Sends a message to the client, if it wants messages of that level."""

READ_BYTES = 64 * 1024
"""Arguments that do not fit the schema are read for the audit log only up to this size."""

UNKNOWN = Tool(name="", description="", input_schema={}, source="")
"""The tool of a call whose name has not been looked up, or names no tool."""


async def unheard(level: LogLevel, data: dict[str, Any]) -> None:
    """The log of a caller that has none."""


class Call(Struct, eq=False):
    """The one record of a call. An endpoint fills in the first part, the runner the rest.

    A field that still has its default was never reached. A call is run once; to repeat it, make
    another one.
    """

    # Set by the endpoint.
    name: str
    """The name of the tool, as the caller gave it."""
    raw: Raw | None
    """The arguments as they arrived, undecoded."""
    session: str
    progress: Progress
    """Sends progress to the client; use `report`, which also extends the time limit."""
    client: Client = MAIN
    agent: str = ""
    """What the client calls itself; unverified."""
    operation_id: str | None = None
    operation_named: str = "operation id"
    """What the caller's protocol calls that id."""
    elicit: Elicit | None = None
    log: Log = unheard
    """Sends a message to the client; use `tell`, which gives it its shape."""
    replayed: bool = False
    """Whether a shortcut makes the call, so that its elements must be found first."""

    by_person: bool = False
    """Whether the person makes the call, in the panel: then they need not be asked about it."""

    # Set while the call runs.
    started: float = 0.0
    """By the clock of the runner."""
    arrived: float = 0.0
    """The same moment in seconds since 1970."""
    tool: Tool = UNKNOWN
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As the permission was decided and the audit log records them; not changed after that."""
    fits: bool = False
    """Whether the arguments fit the tool's schema."""
    secrets: set[str] = field(default_factory=set)
    """Names of arguments to keep out of the audit log; a source removes those proved harmless."""
    requested_tab: Any = None
    """The tab that the arguments name."""
    tab: Tab | None = None
    """The tab that the call goes to."""
    tab_key: int | str | None = None
    """The tab's id in the audit log."""
    site: str = ""
    """The site for which the permission was decided."""
    verdict: str = "refused"
    rule: str = ""
    confirmed: tuple[ActionTarget, ...] = ()
    """What a person has said yes to: it is done to these elements, under these names, or not at
    all."""
    may_enter: MayEnter = None
    may_tell: MayTell = None
    seconds: float = 0.0
    """How long the source may run without progress."""
    limit: Limit | None = None
    """Cancels the call after that time; set only while the source runs."""
    begun: bool = False
    """Whether a source has received the call; before that it had no effect."""
    id: str = ""
    """In the audit log: the beginning of a call that may change something, and its end, have it."""
    error: TabhubError | None = None
    result_bytes: int | None = None
    """The size of its result, if it has one."""

    @property
    def asked(self) -> bool:
        """Whether a person approved this very call."""
        return self.verdict == "asked"

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send progress to the client and extend the time limit."""
        if self.limit is not None and self.limit.extend():
            await self.tell_extended(self.limit)
        await self.progress(done, total, message)

    async def tell(self, level: LogLevel, event: str, message: str, **more: Any) -> None:
        """Log something that the client would otherwise not learn while it waits.

        The message names no site and quotes no page: a rule may close the site to the client.
        """
        with suppress(OSError):
            await self.log(level, {"event": event, "message": message, "tool": self.name, **more})

    async def tell_extended(self, limit: Limit) -> None:
        await self.tell(
            "info",
            "limit_extended",
            f"{self.name} takes longer than its limit of {limit.usual:g} seconds; it ends after "
            f"{limit.longest:g} seconds at the latest.",
            seconds=limit.longest,
        )

    @property
    def seconds_left(self) -> float:
        return self.seconds if self.limit is None else self.limit.left

    async def allow(self, seconds: float, margin: float) -> None:
        """Let the call wait so long for the page; raises if no call may take that long.

        The margin is the time that it needs to report after that.
        """
        if self.limit is None:
            return
        longest = self.limit.longest - margin
        if seconds > longest:
            raise InvalidArguments(
                f"{self.name} can wait {longest * 1000:g} ms at most, within the limit of a call "
                "(limits.maxCallSeconds). Nothing was done."
            )
        if seconds + margin > self.limit.usual:
            self.limit.allow(seconds + margin)
            await self.tell_extended(self.limit)

    def event(self, now: float, ended: float) -> AuditEvent:
        """The call's entry in the audit log."""
        return AuditEvent(
            time=now,
            client=self.client.name,
            agent=self.agent,
            session=self.session,
            tool=self.name,
            plugin=self.tool.plugin or self.site,
            tab=self.tab_key,
            origin=self.site,
            arguments=self.arguments if self.fits else _unchecked(self.raw),
            secret_arguments=frozenset(self.secrets) if self.fits else self._secret_names(),
            verdict=self.verdict,
            rule=self.rule,
            error=self.error,
            duration_ms=(ended - self.started) * 1000,
            operation_id=self.operation_id,
            call=self.id,
            result_bytes=self.result_bytes,
        )

    def _secret_names(self) -> frozenset[str]:
        """The secrets with their aliases, since the arguments still have the caller's names."""
        aliases = (other for other, name in self.tool.aliases.items() if name in self.secrets)
        return frozenset({*self.secrets, *aliases})


def _unchecked(raw: Raw | None) -> Mapping[str, Any]:
    """The arguments of a call that failed validation; if they are no object, only their type."""
    if raw is None or len(raw) > READ_BYTES:
        return {} if raw is None else {"cut": f"{len(raw)} bytes are too many to keep"}
    try:
        arguments = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return {"cut": "cannot be read"}
    if arguments is None or isinstance(arguments, dict):
        return arguments or {}
    return {"cut": f"is no object ({type(arguments).__name__})"}


class TabRouter(Protocol):
    """Finds tabs for the tools of one source, in any session."""

    async def route(
        self, tool: Tool, session: str, requested: object, arguments: Mapping[str, Any]
    ) -> Tab | None:
        """The tab that a call goes to; None if one must be opened for it.

        The arguments may not have been checked yet.
        """


class Source(ABC):
    """Runs the tools of one kind."""

    router: TabRouter | None = None
    """Finds the tabs of its tools; without one, a tool gets the session's and the shared tabs."""
    quotes_pages = True
    """Whether its results may have words of pages; then `_meta` names where they are."""

    @abstractmethod
    async def run(self, call: Call) -> CallResult:
        """Run a permitted call; it must not change `call.arguments`."""

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        """The browser that a call without a tab acts in; None for the one connected last."""
        return None if tool.is_bounded else arguments.get("connectionId")

    async def ready(self, call: Call) -> None:
        """Wait until it is known whose browser a call without a tab would act in.

        Raises if that takes too long. A source whose tools act in no browser waits for none.
        """
        return None

    async def targets(self, call: Call) -> tuple[ActionTarget, ...]:
        """What a call would be done to, so that a person can be asked about it.

        Nothing is done yet. Raises if the call names nothing that is there.
        """
        return ()

    def browser_of(self, tool: Tool, session: str) -> str | None:
        """The browser that a call without arguments would go to now; empty if unknown."""
        return self.opens_in(tool, {})

    def worker_of(self, tool: Tool, session: str) -> str:
        """The paired origin whose page worker such a call would go through; empty if none."""
        return ""
