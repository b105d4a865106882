"""Runs a call: look up, validate, route, decide, send, wait. Every door comes through here."""

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import Raw

from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Authorization, Guard
from tabhub.calls.call import Call, Source
from tabhub.calls.idempotency import Operations
from tabhub.calls.ports import (
    AuditSink,
    Clock,
    Interrupted,
    Undelivered,
)
from tabhub.calls.running import RunningCalls, paused
from tabhub.calls.time_limit import Limit
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
    ) -> None:
        self.running = RunningCalls()
        self._tools = hub.tools
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._routes = hub.routes
        self._guard = guard
        self._authorization = Authorization(guard, approvals, hub.routes, self._finds_anew)
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
        call.started = self._clock()
        try:
            result = await self._explained(call)
        except Interrupted:
            raise
        except BaseException as error:
            known = error if isinstance(error, TabhubError) else Cancelled("Cancelled.")
            call.error = known if call.begun else known.with_effect("none")
            self._audit.record(call.event(time.time(), self._clock()))
            if known is error:
                raise call.error from error.__cause__
            raise
        self._audit.record(call.event(time.time(), self._clock()))
        return result

    async def _explained(self, call: Call) -> CallResult:
        """What a tool did not foresee is our fault: told as that, and in full in the log only."""
        try:
            return await self._run_tool(call)
        except Internal as fault:
            log.error("%s: %s", call.name, fault)
        except (TabhubError, Interrupted):
            raise
        except Exception:
            log.exception("%s failed", call.name)
        raise Internal(f"Something went wrong inside tabhub while it ran {call.name}.")

    async def _run_tool(self, call: Call) -> CallResult:
        tool = call.tool = self._named(call)
        call.secrets = set(tool.secret_arguments)
        call.arguments = arguments = self._validators.decoded(tool, call.raw)
        if not tool.is_bounded:
            self._check(call)
        self._sessions.call(call.session, call.client.name, call.agent, time.time())
        self._require_running(call.session)
        call.wanted = arguments.pop(tool.tab_argument, None) if tool.needs_tab else None
        call.tab_key = call.wanted if isinstance(call.wanted, int | str) else None
        await self._route(call)
        if tool.is_bounded:
            # What a schema costs that somebody else wrote is spent only on calls that may be made.
            self._authorization.require_not_denied(call)
            self._check(call)
        with self._begun(call):
            result = await self._routed(call)
        if not self._finds_anew(tool):
            self._remember(call, result)
        return result

    def _check(self, call: Call) -> None:
        self._validators.check(call.tool, call.arguments)
        call.fits = True

    def _named(self, call: Call) -> Tool:
        if (tool := self._tools.find(call.name)) is not None:
            return tool
        # It may be a name with a slip in it: what is secret anywhere is secret here.
        call.secrets = {name for one in self._tools for name in one.secret_arguments}
        return self._tools.get(call.name)

    def _begun(self, call: Call) -> AbstractContextManager[Any]:
        """What makes other calls is not ended itself: it tells what became of them."""
        return nullcontext() if call.tool.is_container else self.running.begin(call)

    async def _routed(self, call: Call) -> CallResult:
        """Run it; in another tab, decided about anew, if this one went before it got the call."""
        for _ in range(MOVES):
            try:
                return await self._decided(call)
            except Undelivered as undelivered:
                error, before = undelivered.error, call.tab_key
            if call.wanted is not None:
                break
            await self._route(call)
            if call.tab_key == before:
                break
        raise error

    async def _decided(self, call: Call) -> CallResult:
        """Decide and run; where it turns out to be about another site, decide about that one."""
        frame_site: str | None = None
        for _ in range(MOVES):
            await self._authorization.require(call, frame_site)
            try:
                return await self._within_limit(call)
            except Forbidden as barred:
                # The element is in a frame of another site; the browser has done nothing yet.
                frame_site = barred.extra.get("frameSite")
                if frame_site is None or frame_site == call.site:
                    raise
                moved: TabhubError = barred
            except Refused as refused:
                if call.tab is None or refused.reason != "tab_url_mismatch":
                    raise
                call.tab = self._routes.tab(call.session, call.tab.id)
                # Only another site is worth another decision: nobody is asked the same again.
                if self._guard.site(call.tool, call.arguments, call.tab) == call.site:
                    raise
                moved = refused
        raise moved

    def _require_running(self, session: str) -> None:
        if self._sessions.is_halted(session):
            raise paused("The person has paused you; nothing was done.")

    def _finds_anew(self, tool: Tool) -> bool:
        """Whether its source finds its page by itself, whatever tab was meant."""
        return self._sources[tool.source].router is not None

    async def _route(self, call: Call) -> None:
        """Find the call's tab; the audit names one without a browser by its page's word."""
        call.tab = await self._target(call)
        call.tab_key = None if call.tab is None else call.tab.key

    async def _target(self, call: Call) -> Tab | None:
        tool = call.tool
        if not tool.needs_tab:
            return None
        if (router := self._sources[tool.source].router) is not None:
            return await router.route(tool, call.session, call.wanted)
        if tool.opens_tab and call.wanted is None:
            return self._routes.at_hand(call.session)
        return self._routes.tab(call.session, call.wanted)

    async def _within_limit(self, call: Call) -> CallResult:
        """Time out when nothing was heard for the limit; progress extends it, up to a bound."""
        tool = call.tool
        # What makes other calls has their time, as long as any call may have.
        call.seconds = self._max_seconds if tool.is_container else tool.seconds or self._seconds
        try:
            with Limit(call.seconds, self._max_seconds) as limit:
                call.limit, call.begun = limit, True
                return await self._sources[tool.source].run(call)
        except TimeoutError:
            raise TimedOut(
                f"{tool.name} did not finish in time and was cancelled. The page may have "
                "received it: look at the page before you try again."
            ) from None
        finally:
            call.limit = None

    def _remember(self, call: Call, result: CallResult) -> None:
        """The session's current tab is the one it last opened or acted on."""
        used = None if call.tab is None else call.tab.id
        if call.tool.opens_tab and isinstance(result.structured_content, dict):
            used = result.structured_content["tabId"]
        if used is not None and self._tabs.find(used) is not None:
            self._sessions.use(call.session, used)
        call.tab_key = used
