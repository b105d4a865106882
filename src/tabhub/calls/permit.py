"""Whether a call may be made: what the rules say, and the person where the rules ask."""

import secrets
import time
from collections.abc import Callable

from msgspec.structs import replace

from tabhub.calls.approval import Approvals
from tabhub.calls.guard import Guard
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest, Call
from tabhub.calls.record import Record
from tabhub.errors import Forbidden, Refused
from tabhub.hub.routing import Routes
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import new_grant
from tabhub.permissions.subject import Subject
from tabhub.permissions.verdict import Allow, Deny


class Permit:
    """Decides about one call at a time, and writes into its record why."""

    def __init__(
        self,
        guard: Guard,
        approvals: Approvals,
        routes: Routes,
        finds_anew: Callable[[Tool], bool],
    ) -> None:
        self._guard = guard
        self._approvals = approvals
        self._routes = routes
        self._finds_anew = finds_anew

    def require_not_denied(self, call: Call, record: Record, tool: Tool, tab: Tab | None) -> None:
        subject = self._guard.subject(tool, record.arguments, call.client, call.session, tab)
        verdict = self._guard.decide(subject)
        if isinstance(verdict, Deny):
            record.site, record.rule, record.verdict = subject.site, verdict.rule.text, "denied"
            raise _denied(verdict)

    async def require(
        self, call: Call, record: Record, tool: Tool, tab: Tab | None, frame_site: str | None
    ) -> None:
        """Come back if it may be made, after a person was asked if need be."""
        guard = self._guard
        subject = guard.subject(tool, record.arguments, call.client, call.session, tab)
        if frame_site is not None:
            subject = replace(subject, site=frame_site)
        record.site = subject.site
        verdict = guard.decide(subject)
        record.may_enter = guard.frames(subject, verdict)
        record.may_tell = guard.telling(subject)
        record.rule = verdict.rule.text
        if isinstance(verdict, Allow):
            record.verdict = "allowed"
            return
        record.verdict = "denied"
        if isinstance(verdict, Deny):
            raise _denied(verdict)
        answer = await self._ask(call, record, tool, tab)
        self._require_still_there(call.session, tool, tab)
        self._keep(subject, answer)
        record.verdict = "asked" if answer.by_person else "allowed"
        record.rule += f"; allowed by {answer.by} ({answer.scope or 'once'})"

    async def _ask(self, call: Call, record: Record, tool: Tool, tab: Tab | None) -> ApprovalAnswer:
        try:
            return await self._approvals.ask(call, _request(call, record, tool, tab))
        except Forbidden as refused:
            record.rule += f"; {refused.reason}"
            raise

    def _require_still_there(self, session: str, tool: Tool, tab: Tab | None) -> None:
        """What was approved is what is done: not on another page, and not in a tab taken away."""
        if tab is None or self._finds_anew(tool):
            return
        fresh = self._routes.tab(session, tab.id)
        if tool.address_of is None and fresh.url != tab.url:
            raise Refused(
                f"While the person was asked about {tab.url}, the tab went to {fresh.url}. "
                "Nothing was done.",
                "navigated_away",
            )

    def _keep(self, subject: Subject, answer: ApprovalAnswer) -> None:
        if answer.scope is not None:
            grant = new_grant(subject, answer.scope, time.time(), answer.seconds)
            self._guard.permissions.grants.add(grant)


def _denied(verdict: Deny) -> Forbidden:
    return Forbidden(verdict.message, verdict.reason, data={"rule": verdict.rule.text})


def _request(call: Call, record: Record, tool: Tool, tab: Tab | None) -> ApprovalRequest:
    return ApprovalRequest(
        id=secrets.token_hex(8),
        tool=tool,
        client=call.client,
        agent=call.agent,
        session=call.session,
        tab=tab,
        site=record.site,
        arguments=tool.as_asked(record.arguments) if tool.as_asked else record.arguments,
        rule=record.rule,
    )
