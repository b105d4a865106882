"""Runs a call: look up, validate, route, authorize, send, wait. Every endpoint uses this."""

import logging
import os
import secrets
import time
from collections.abc import Coroutine, Mapping
from functools import partial
from itertools import count
from traceback import clear_frames
from typing import Any

from msgspec import Raw

from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Authorization, Decision, Guard
from tabhub.calls.call import UNKNOWN, Call, Source
from tabhub.calls.idempotency import Operation, Operations, Run
from tabhub.calls.ports import (
    ActionTarget,
    CallLog,
    Clock,
    Interrupted,
    Undelivered,
)
from tabhub.calls.results import content_bytes, with_pointers
from tabhub.calls.running import RunningCalls, paused
from tabhub.calls.time_limit import Limit
from tabhub.calls.validation import Validators
from tabhub.config.settings import Limits
from tabhub.errors import Cancelled, Forbidden, Internal, Refused, TabhubError, TimedOut
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult
from tabhub.wire.tool_names import listed_name

log = logging.getLogger(__name__)

MOVES = 3
"""How often a call is authorized again because its tab or site changed, before it fails."""


class Runner:
    """Runs calls with the hub, the rules and the sources; it keeps nothing but operation ids."""

    def __init__(
        self,
        hub: Hub,
        guard: Guard,
        approvals: Approvals,
        audit: CallLog,
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
        self._authorization = Authorization(
            guard, approvals, hub.routes, self._has_router, self._targets
        )
        self._audit = audit
        self._sources = sources
        self._clock = clock
        self._validators = Validators(hub.tabs)
        self._operations = Operations(clock, limits.result_bytes, self._is_open)
        # The process comes first: whoever reads the log can tell whether it still runs.
        begins = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._ids = (f"{begins}-{number}" for number in count(1))
        self._seconds = limits.call_seconds
        self._max_seconds = limits.max_call_seconds

    def run(self, call: Call) -> Coroutine[Any, Any, CallResult]:
        call.name = listed_name(call.name)
        if call.operation_id is None:
            return self._recorded(call, self._without_faults)
        return self._run_once(call)

    async def _run_once(self, call: Call) -> CallResult:
        """Run the call, unless one with the same operation id was run before."""
        # An id of a session that is not open counts for the client's other sessions.
        self._sessions.open(call.session, call.client.name, call.agent, self._clock())
        operation = self._operations.find(call)
        if operation is None:
            first = partial(self._recorded, run=self._without_faults)
            return await self._operations.first(call, first)
        return await self._replayed(call, operation)

    def check(self, name: str, arguments: Raw | None) -> Tool:
        """The tool that a call would run; an error if it is unknown or the arguments do not fit."""
        tool = self._tools.get(name)
        self._validators.arguments(tool, arguments)
        return tool

    async def decide_again(self, call: Call, site: str) -> None:
        """Decide about a running call for another site than before; raises if it is not allowed."""
        if call.limit is not None:
            # The person who is asked needs time.
            call.limit.extend()
        await self._authorization.require(call, site)

    async def _replayed(self, call: Call, operation: Operation) -> CallResult:
        """Return what the first call with the id returned, with an audit entry of its own."""
        call.verdict, call.begun = "replayed", True
        repeat = partial(self._operations.repeat, operation=operation)
        return await self._recorded(call, repeat)

    async def _recorded(self, call: Call, run: Run) -> CallResult:
        """Run the call, and write it to the audit log before its result is returned."""
        call.started, call.arrived = self._clock(), time.time()
        self._look_up(call)
        try:
            with self._audit.room(call.client.name):
                returned = await run(call)
        except Interrupted:
            self._withdraw(call)
            self.running.ended(call, None)
            raise
        except BaseException as error:
            raise self._failed(call, error) from error.__cause__
        call.result_bytes = content_bytes(returned.content)
        self._record_end(call)
        return returned

    def _record_end(self, call: Call) -> None:
        event = call.event(time.time(), self._clock())
        self._audit.record(event)
        self.running.ended(call, event)

    def _begin(self, call: Call) -> None:
        """Write that a call begins that may change something: a killed server leaves that trace."""
        if call.tool.is_reading(call.arguments):
            return
        # It may have begun before and done nothing: now its tab or its site is another.
        self._withdraw(call)
        call.id = next(self._ids)
        self._audit.begin(call.event(time.time(), call.started))

    def _withdraw(self, call: Call) -> None:
        if call.id:
            self._audit.withdraw(call.event(time.time(), call.started))
            call.id = ""

    def _failed(self, call: Call, error: BaseException) -> BaseException:
        """Record a call that failed; returns the error for the caller.

        The call keeps a copy that is never raised, and the frames forget their variables: a
        traceback that refers to the call would keep its arguments in memory.
        """
        known = error if isinstance(error, TabhubError) else Cancelled("Cancelled.")
        call.error = known.with_effect(known.effect if call.begun else "none")
        self._record_end(call)
        _clear_frames(error)
        return call.error.with_effect(call.error.effect) if known is error else error

    async def _without_faults(self, call: Call) -> CallResult:
        """Report an unexpected exception as `Internal`; only the log has its details."""
        try:
            return await self._told_of_its_tab(call)
        except Internal as fault:
            log.error("%s: %s", call.name, fault)
        except (TabhubError, Interrupted):
            raise
        except Exception:
            log.exception("%s failed", call.name)
        raise Internal(f"Something went wrong inside tabhub while it ran {call.name}.")

    async def _told_of_its_tab(self, call: Call) -> CallResult:
        """Run the call; if it fails because its tab closed, log that too."""
        try:
            return await self._run_tool(call)
        except TabhubError:
            if call.tab is not None and call.tab.browser and not self._tabs.find(call.tab.id):
                await call.tell(
                    "notice",
                    "tab_closed",
                    f"Tab {call.tab.id} has closed while {call.name} used it.",
                    tabId=call.tab.id,
                )
            raise

    async def _run_tool(self, call: Call) -> CallResult:
        tool = self._tools.get(call.name) if call.tool is UNKNOWN else call.tool
        call.arguments = arguments = self._validators.decoded(tool, call.raw)
        if not tool.is_bounded:
            self._check(call)
        self._sessions.call(call.session, call.client.name, call.agent, self._clock())
        self._require_running(call.session)
        call.requested_tab = arguments.pop(tool.tab_argument, None) if tool.needs_tab else None
        call.tab_key = call.requested_tab if isinstance(call.requested_tab, int | str) else None
        await self._route(call)
        decision = None
        if tool.is_bounded:
            # A foreign schema can be expensive to check: only permitted calls pay for that.
            decision = self._authorization.require_not_denied(call)
            self._check(call)
        begin = self.running.begin_container if tool.is_container else self.running.begin
        with begin(call):
            result = await self._run_with_rerouting(call, decision)
        if self._sources[tool.source].quotes_pages:
            result = with_pointers(result)
        if not self._has_router(tool):
            self._set_current_tab(call, result)
        return result

    def _check(self, call: Call) -> None:
        self._validators.check(call.tool, call.arguments)
        call.fits = True

    def _look_up(self, call: Call) -> None:
        """Find out which arguments are secret, before anything can refuse the call."""
        call.tool = self._tools.find(call.name) or UNKNOWN
        # The name may be mistyped, so an argument that is secret in any tool is secret here.
        for tool in self._tools if call.tool is UNKNOWN else (call.tool,):
            call.secrets.update(tool.secret_arguments)

    async def _run_with_rerouting(self, call: Call, decision: Decision | None) -> CallResult:
        """Run the call; use another tab if this one closed before it received the call."""
        for _ in range(MOVES):
            try:
                return await self._run_authorized(call, decision)
            except Undelivered as undelivered:
                error, before, decision = undelivered.error, call.tab_key, None
            if call.requested_tab is not None:
                break
            await self._route(call)
            if call.tab_key == before:
                break
            await call.tell(
                "warning",
                "retry",
                f"Tab {before} did not receive {call.name}; it goes to another tab.",
                tabId=call.tab_key,
            )
        raise error

    async def _run_authorized(self, call: Call, decision: Decision | None) -> CallResult:
        """Authorize and run; if the call turns out to concern another site, authorize that too."""
        frame_site: str | None = None
        is_allowed = False
        for _ in range(MOVES):
            if not is_allowed:
                await self._authorization.require(call, frame_site, decision)
            decision = None
            try:
                return await self._within_limit(call)
            except Forbidden as forbidden:
                # The element is in a frame of another site; the browser has done nothing yet.
                frame_site = forbidden.extra.get("frameSite")
                if frame_site is None or frame_site == call.site:
                    raise
                error: TabhubError = forbidden
            except Refused as refused:
                if call.tab is None or refused.reason != "tab_url_mismatch":
                    raise
                before, call.tab = call.tab, self._routes.tab(call.session, call.tab.id)
                if call.tab.url == before.url:
                    raise
                error = refused
            # Only another site needs another decision: the person is not asked twice. A popup that
            # was blank counted as the page that opened it.
            site = self._guard.site(call.tool, call.arguments, call.tab)
            is_allowed = frame_site is None and site == call.site
            if is_allowed:
                continue
            await call.tell(
                "info",
                "retry",
                f"{call.name} has done nothing yet: it concerns another site than the one it was "
                "allowed for, and is decided again.",
            )
        raise error

    def _is_open(self, session: str) -> bool:
        return self._sessions.find(session) is not None

    def _require_running(self, session: str) -> None:
        if self._sessions.is_halted(session):
            raise paused("The person has paused you; nothing was done.")

    def _has_router(self, tool: Tool) -> bool:
        """Whether the tool's source finds its tabs itself."""
        return self._sources[tool.source].router is not None

    async def _targets(self, call: Call) -> tuple[ActionTarget, ...]:
        return await self._sources[call.tool.source].targets(call)

    async def _route(self, call: Call) -> None:
        """Find the call's tab, and its id in the audit log."""
        call.tab = await self._target(call) if call.tool.needs_tab else None
        call.tab_key = None if call.tab is None else call.tab.key
        if call.tab is None:
            await self._sources[call.tool.source].ready(call)

    async def _target(self, call: Call) -> Tab | None:
        tool = call.tool
        if (router := self._sources[tool.source].router) is not None:
            return await router.route(tool, call.session, call.requested_tab, call.arguments)
        if tool.opens_tab and call.requested_tab is None:
            return self._routes.at_hand(call.session)
        return self._routes.tab(call.session, call.requested_tab)

    async def _within_limit(self, call: Call) -> CallResult:
        """Run the source; time out without progress for the limit, or after the longest time."""
        tool = call.tool
        self._begin(call)
        # A container gets the longest time, because its calls have limits of their own.
        call.seconds = self._max_seconds if tool.is_container else tool.seconds or self._seconds
        try:
            self.running.started(call)
            with Limit(call.seconds, self._max_seconds) as limit:
                call.limit, call.begun = limit, True
                return await self._sources[tool.source].run(call)
        except TimeoutError:
            raise TimedOut(
                f"{tool.name} did not finish in time and was cancelled. The page may have "
                "received it and may go on: look at the page before you try again."
            ) from None
        finally:
            call.limit = None

    def _set_current_tab(self, call: Call, result: CallResult) -> None:
        """Make the tab that the call opened or acted on the session's current tab."""
        used = None if call.tab is None else call.tab.id
        if call.tool.opens_tab and isinstance(result.structured_content, dict):
            used = result.structured_content["tabId"]
        if used is not None and self._tabs.find(used) is not None:
            self._sessions.use(call.session, used)
        call.tab_key = used


def _clear_frames(error: BaseException | None) -> None:
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__context__
