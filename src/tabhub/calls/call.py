"""One call, from the door that reads it to its line in the audit."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct, field

from tabhub.calls.ports import Elicit, Event, MayEnter, MayTell
from tabhub.calls.time_limit import Limit, Progress
from tabhub.config.clients import MAIN, Client
from tabhub.errors import TabhubError
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult

READ_BYTES = 64 * 1024
"""How long arguments that do not fit may be to be read again for the audit."""

UNKNOWN = Tool(name="", description="", input_schema={}, source="")
"""The tool of a call that has not been looked up, or that names none."""


class Call(Struct, eq=False):
    """The one record of a call. A door fills in the first part, the runner the rest.

    A field that still has its default was never reached. A call is run once: whoever wants to
    repeat it makes another.
    """

    # What a door gives.
    name: str
    """The tool, as the caller names it."""
    raw: Raw | None
    """The arguments as they came."""
    session: str
    progress: Progress
    """Tells the client how far the call has come; `report` does, and keeps the call alive."""
    client: Client = MAIN
    agent: str = ""
    """What the client calls itself. Nobody vouches for it."""
    operation_id: str | None = None
    operation_named: str = "operation id"
    """What the caller knows that id as."""
    elicit: Elicit | None = None
    replayed: bool = False
    """Whether a shortcut makes it: then its elements are yet to be found."""

    # What is learned on the way.
    started: float = 0.0
    tool: Tool = UNKNOWN
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As they were decided about and as the audit writes them: nobody changes them after that."""
    fits: bool = False
    """Whether the arguments fit the tool's schema."""
    secrets: set[str] = field(default_factory=set)
    """Arguments that must not be written down; a source removes those that proved harmless."""
    wanted: Any = None
    """The tab that the arguments name."""
    tab: Tab | None = None
    """The tab that the call goes to."""
    tab_key: int | str | None = None
    """The tab as the audit names it."""
    site: str = ""
    """Where it was decided that this may be done."""
    verdict: str = "refused"
    rule: str = ""
    may_enter: MayEnter = None
    may_tell: MayTell = None
    seconds: float = 0.0
    """The time that the source has without progress."""
    limit: Limit | None = None
    """Cancels the call when that time is over; only while the source runs."""
    begun: bool = False
    """Whether a source has got the call: until then it had no effect."""
    error: TabhubError | None = None

    @property
    def asked(self) -> bool:
        """Whether a person has said yes to this very call."""
        return self.verdict == "asked"

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the client how far the call has come; that extends the time limit."""
        if self.limit is not None:
            self.limit.extend()
        await self.progress(done, total, message)

    def event(self, now: float, ended: float) -> Event:
        """The line in the audit."""
        return Event(
            time=now,
            client=self.client.name,
            agent=self.agent,
            session=self.session,
            tool=self.name,
            plugin=self.tool.plugin or self.site,
            tab=self.tab_key,
            origin=self.site,
            arguments=self.arguments if self.fits else _given(self.raw),
            secret_arguments=self._hidden(),
            verdict=self.verdict,
            rule=self.rule,
            error=self.error,
            duration_ms=(ended - self.started) * 1000,
            operation_id=self.operation_id,
        )

    def _hidden(self) -> frozenset[str]:
        """Arguments that do not fit still have the names that the caller gave them."""
        if self.fits:
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


class Router(Protocol):
    """Finds tabs for the tools of one source, whoever's they are."""

    async def route(self, tool: Tool, session: str, wanted: object) -> Tab | None:
        """The tab that a call goes to; None if one must be opened for it."""


class Source(ABC):
    """Runs the tools of one kind."""

    router: Router | None = None
    """Finds the tabs of its tools; without one they are the session's own and the shared ones."""

    @abstractmethod
    async def run(self, call: Call) -> CallResult:
        """Run a call that may be made. What it does to the arguments it does to a copy."""

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        """The browser that a call without a tab acts in; None for the one connected last."""
        return None if tool.is_bounded else arguments.get("connectionId")

    def browser_of(self, tool: Tool, session: str) -> str | None:
        """The browser that a call without arguments would go to now; empty if nobody knows."""
        return self.opens_in(tool, {})
