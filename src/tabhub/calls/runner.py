"""Runs a call: look up, validate, route, send, wait. Every door comes through here."""

import logging
from collections.abc import Mapping

from tabhub.calls.limit import Limit
from tabhub.calls.operations import Operations
from tabhub.calls.ports import Call, Clock, Job, Progress, Source
from tabhub.calls.validation import Validators
from tabhub.config.settings import Limits
from tabhub.errors import Internal, TabhubError, TimedOut
from tabhub.hub.routing import route
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.wire.mcp.messages import CallResult

log = logging.getLogger(__name__)


class Runner:
    """Knows the hub and the sources; remembers nothing of a call but its operation id."""

    def __init__(
        self,
        tools: ToolRegistry,
        tabs: Tabs,
        sessions: AgentSessions,
        sources: Mapping[str, Source],
        clock: Clock,
        limits: Limits,
    ) -> None:
        self._tools = tools
        self._tabs = tabs
        self._sessions = sessions
        self._sources = sources
        self._validators = Validators()
        self._operations = Operations(clock)
        self._seconds = limits.call_seconds
        self._max_seconds = limits.max_call_seconds

    async def run(self, call: Call) -> CallResult:
        if call.operation_id is None:
            return await self._run(call)
        return await self._operations.once(call, call.operation_id, self._run)

    async def _run(self, call: Call) -> CallResult:
        """What a tool did not foresee is our fault: told as that, and in full in the log only."""
        try:
            return await self._run_tool(call)
        except Internal as fault:
            log.error("%s: %s", call.tool, fault)
        except TabhubError:
            raise
        except Exception:
            log.exception("%s failed", call.tool)
        raise Internal(f"Something went wrong inside tabhub while it ran {call.tool}.")

    async def _run_tool(self, call: Call) -> CallResult:
        tool = self._tools.get(call.tool)
        arguments = self._validators.arguments(tool, call.arguments)
        tab = self._target(tool, call.session, arguments.pop("tabId", None))
        result = await self._within_limit(call, tool, arguments, tab)
        self._remember(tool, call.session, tab, result)
        return result

    def _target(self, tool: Tool, session: str, tab_id: int | None) -> Tab | None:
        return route(self._tabs, self._sessions, session, tab_id) if tool.needs_tab else None

    async def _within_limit(
        self, call: Call, tool: Tool, arguments: dict[str, object], tab: Tab | None
    ) -> CallResult:
        """Time out when nothing was heard for the limit; progress extends it, up to a bound."""
        seconds = tool.seconds or self._seconds
        try:
            with Limit(seconds) as limit:
                progress = self._extending(limit, seconds, call.progress)
                job = Job(tool, arguments, call.session, tab, progress, seconds)
                return await self._sources[tool.source].run(job)
        except TimeoutError:
            raise TimedOut(
                f"{tool.name} did not finish in time and was cancelled. The page may have "
                "received it: look at the page before you try again."
            ) from None

    def _extending(self, limit: Limit, seconds: float, told: Progress) -> Progress:
        loop = limit.loop
        last = loop.time() + self._max_seconds

        async def progress(done: float, total: float | None, message: str | None) -> None:
            limit.reschedule(min(loop.time() + seconds, last))
            await told(done, total, message)

        return progress

    def _remember(self, tool: Tool, session: str, tab: Tab | None, result: CallResult) -> None:
        """The session's current tab is the one it last opened or acted on."""
        if tool.opens_tab and isinstance(result.structured_content, dict):
            self._sessions.use(session, result.structured_content["tabId"])
        elif tab is not None and self._tabs.find(tab.id) is not None:
            self._sessions.use(session, tab.id)
