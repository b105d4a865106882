"""Runs a call: look up, validate, route, decide, send, wait. Every door comes through here."""

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import Raw

from tabhub.calls.approval import Approvals
from tabhub.calls.flights import Flights
from tabhub.calls.guard import Guard
from tabhub.calls.limit import Limit
from tabhub.calls.operations import Operations
from tabhub.calls.permit import Permit
from tabhub.calls.ports import (
    AuditSink,
    Call,
    Clock,
    Interrupted,
    Job,
    Progress,
    Router,
    Source,
    Undelivered,
)
from tabhub.calls.record import Record
from tabhub.calls.validation import Validators
from tabhub.config.settings import Limits
from tabhub.errors import Cancelled, Forbidden, Internal, Refused, TabhubError, TimedOut
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult

log = logging.getLogger(__name__)

MOVES = 3
"""How often a tab may go to another site between decision and deed, before the call gives up."""


class Runner:
    """Knows the hub, the rules and the sources; remembers nothing of a call but its id."""

    def __init__(
        self,
        hub: Hub,
        guard: Guard,
        approvals: Approvals,
        audit: AuditSink,
        sources: Mapping[str, Source],
        clock: Clock,
        limits: Limits,
        routers: Mapping[str, Router] | None = None,
    ) -> None:
        self._routers = routers or {}
        self.flights = Flights()
        self._tools = hub.tools
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._routes = hub.routes
        self._guard = guard
        self._permit = Permit(guard, approvals, hub.routes, self._finds_anew)
        self._audit = audit
        self._sources = sources
        self._clock = clock
        self._validators = Validators(hub.tabs)
        self._operations = Operations(clock, limits.result_bytes)
        self._seconds = limits.call_seconds
        self._max_seconds = limits.max_call_seconds

    async def run(self, call: Call) -> CallResult:
        if call.operation_id is None:
            return await self._run(call)
        return await self._operations.once(call, call.operation_id, self._run)

    def check(self, tool: str, arguments: Raw | None) -> Tool:
        """The tool that a call would run; an error if it is not there or they do not fit."""
        found = self._tools.get(tool)
        self._validators.arguments(found, arguments)
        return found

    async def _run(self, call: Call) -> CallResult:
        """Run it, and write down what became of it before anybody hears."""
        record = Record(call, self._clock())
        try:
            result = await self._explained(call, record)
        except Interrupted:
            raise
        except BaseException as error:
            known = error if isinstance(error, TabhubError) else Cancelled("Cancelled.")
            record.error = known if record.begun else known.with_effect("none")
            self._audit.record(record.event(time.time(), self._clock()))
            if known is error:
                raise record.error from error.__cause__
            raise
        self._audit.record(record.event(time.time(), self._clock()))
        return result

    async def _explained(self, call: Call, record: Record) -> CallResult:
        """What a tool did not foresee is our fault: told as that, and in full in the log only."""
        try:
            return await self._run_tool(call, record)
        except Internal as fault:
            log.error("%s: %s", call.tool, fault)
        except (TabhubError, Interrupted):
            raise
        except Exception:
            log.exception("%s failed", call.tool)
        raise Internal(f"Something went wrong inside tabhub while it ran {call.tool}.")

    async def _run_tool(self, call: Call, record: Record) -> CallResult:
        record.tool = tool = self._named(call, record)
        record.secrets = set(tool.secret_arguments)
        record.arguments = arguments = self._validators.decoded(tool, call.arguments)
        if not tool.domain:
            self._check(record, tool, arguments)
        self._sessions.call(call.session, call.client.name, call.agent, time.time())
        self._require_running(call.session)
        wanted = arguments.pop(tool.tab_argument, None) if tool.needs_tab else None
        record.tab = wanted if isinstance(wanted, int | str) else None
        tab = await self._target(tool, call.session, wanted)
        record.tab = _told(tab)
        if tool.domain:
            # What a page's schema costs is spent only on calls that may be made.
            self._permit.require_not_denied(call, record, tool, tab)
            self._check(record, tool, arguments)
        with self._flight(call.session, tool, tab):
            result = await self._routed(call, record, tool, tab, wanted)
        if not self._finds_anew(tool):
            record.tab = self._remember(tool, call.session, tab, result)
        return result

    def _check(self, record: Record, tool: Tool, arguments: dict[str, Any]) -> None:
        self._validators.check(tool, arguments)
        record.fits = True

    def _named(self, call: Call, record: Record) -> Tool:
        if (tool := self._tools.find(call.tool)) is not None:
            return tool
        # It may be a name with a slip in it: what is secret anywhere is secret here.
        record.secrets = {name for one in self._tools for name in one.secret_arguments}
        return self._tools.get(call.tool)

    def _flight(self, session: str, tool: Tool, tab: Tab | None) -> AbstractContextManager[Any]:
        """What makes other calls is not ended itself: it tells what became of them."""
        if tool.is_container:
            return nullcontext()
        return self.flights.begin(session, None if tab is None else tab.id)

    async def _routed(
        self, call: Call, record: Record, tool: Tool, tab: Tab | None, wanted: object
    ) -> CallResult:
        """Run it; in another tab, decided about anew, if this one went before it got the call."""
        for _ in range(MOVES):
            try:
                return await self._decided(call, record, tool, tab)
            except Undelivered as undelivered:
                error, before = undelivered.error, tab
            if wanted is not None:
                break
            tab = await self._target(tool, call.session, None)
            if _told(tab) == _told(before):
                break
            record.tab = _told(tab)
        raise error

    async def _decided(self, call: Call, record: Record, tool: Tool, tab: Tab | None) -> CallResult:
        """Decide and run; where it turns out to be about another site, decide about that one."""
        frame_site: str | None = None
        for _ in range(MOVES):
            await self._permit.require(call, record, tool, tab, frame_site)
            try:
                return await self._within_limit(call, record, tool, tab)
            except Forbidden as barred:
                # The element is in a frame of another site; the browser has done nothing yet.
                frame_site = barred.extra.get("frameSite")
                if frame_site is None or frame_site == record.site:
                    raise
                moved: TabhubError = barred
            except Refused as refused:
                if tab is None or refused.reason != "tab_url_mismatch":
                    raise
                tab = self._routes.tab(call.session, tab.id)
                # Only another site is worth another decision: nobody is asked the same again.
                if self._guard.site(tool, record.arguments, tab) == record.site:
                    raise
                moved = refused
        raise moved

    def _require_running(self, session: str) -> None:
        if self._sessions.is_halted(session):
            raise paused("The person has paused you; nothing was done.")

    def _finds_anew(self, tool: Tool) -> bool:
        """Whether its source finds its page by itself, whatever tab was meant."""
        return tool.source in self._routers

    async def _target(self, tool: Tool, session: str, tab_id: Any) -> Tab | None:
        if not tool.needs_tab:
            return None
        if (router := self._routers.get(tool.source)) is not None:
            return await router.route(tool, session, tab_id)
        if tool.opens_tab and tab_id is None:
            return self._routes.at_hand(session)
        return self._routes.tab(session, tab_id)

    async def _within_limit(
        self, call: Call, record: Record, tool: Tool, tab: Tab | None
    ) -> CallResult:
        """Time out when nothing was heard for the limit; progress extends it, up to a bound."""
        # What makes other calls has their time, as long as any call may have.
        seconds = self._max_seconds if tool.is_container else tool.seconds or self._seconds
        try:
            with Limit(seconds) as limit:
                progress = self._extending(limit, seconds, call.progress)
                job = _job(call, record, tool, tab, progress, seconds)
                record.begun = True
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

    def _remember(
        self, tool: Tool, session: str, tab: Tab | None, result: CallResult
    ) -> int | None:
        """The session's current tab is the one it last opened or acted on."""
        used = None if tab is None else tab.id
        if tool.opens_tab and isinstance(result.structured_content, dict):
            used = result.structured_content["tabId"]
        if used is not None and self._tabs.find(used) is not None:
            self._sessions.use(session, used)
        return used


def _job(
    call: Call, record: Record, tool: Tool, tab: Tab | None, progress: Progress, seconds: float
) -> Job:
    return Job(
        tool=tool,
        arguments=dict(record.arguments),
        session=call.session,
        client=call.client,
        tab=tab,
        site=record.site,
        may_enter=record.may_enter,
        may_tell=record.may_tell,
        progress=progress,
        seconds=seconds,
        agent=call.agent,
        elicit=call.elicit,
        asked=record.verdict == "asked",
        secrets=record.secrets,
        replayed=call.replayed,
    )


def _told(tab: Tab | None) -> int | str | None:
    """A tab as the record names it: one that no browser has told of by its page's word."""
    return None if tab is None else tab.key


def paused(sentence: str) -> Forbidden:
    return Forbidden(
        f"{sentence} Wait until the person lets you go on, and do not try another way.",
        "paused_by_person",
    )
