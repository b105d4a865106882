"""Whether a call may be made: what the rules say, and the person where the rules ask."""

import secrets
import time
from collections.abc import Callable

from msgspec.structs import replace

from tabhub.calls.approvals import Approvals
from tabhub.calls.call import Call
from tabhub.calls.guard import Guard
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest
from tabhub.errors import Forbidden, Refused
from tabhub.hub.routing import Routes
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import new_grant
from tabhub.permissions.subject import Subject
from tabhub.permissions.verdict import Allow, Deny


class Authorization:
    """Decides about one call at a time, and writes into it why."""

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

    def require_not_denied(self, call: Call) -> None:
        subject = self._guard.subject(call)
        verdict = self._guard.decide(subject)
        if isinstance(verdict, Deny):
            call.site, call.rule, call.verdict = subject.site, verdict.rule.text, "denied"
            raise _denied(verdict)

    async def require(self, call: Call, frame_site: str | None) -> None:
        """Return if it may be made, after a person was asked if need be."""
        guard = self._guard
        subject = guard.subject(call)
        if frame_site is not None:
            subject = replace(subject, site=frame_site)
        call.site = subject.site
        verdict = guard.decide(subject)
        call.may_enter = guard.frames(subject, verdict)
        call.may_tell = guard.telling(subject)
        call.rule = verdict.rule.text
        if isinstance(verdict, Allow):
            call.verdict = "allowed"
            return
        call.verdict = "denied"
        if isinstance(verdict, Deny):
            raise _denied(verdict)
        answer = await self._ask(call)
        self._require_still_there(call)
        self._keep(subject, answer)
        call.verdict = "asked" if answer.by_person else "allowed"
        call.rule += f"; allowed by {answer.by} ({answer.scope or 'once'})"

    async def _ask(self, call: Call) -> ApprovalAnswer:
        try:
            return await self._approvals.ask(call, _request(call))
        except Forbidden as refused:
            call.rule += f"; {refused.reason}"
            raise

    def _require_still_there(self, call: Call) -> None:
        """What was approved is what is done: not on another page, and not in a tab taken away."""
        tool, tab = call.tool, call.tab
        if tab is None or self._finds_anew(tool):
            return
        fresh = self._routes.tab(call.session, tab.id)
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


def _request(call: Call) -> ApprovalRequest:
    tool = call.tool
    return ApprovalRequest(
        id=secrets.token_hex(8),
        tool=tool,
        client=call.client,
        agent=call.agent,
        session=call.session,
        tab=call.tab,
        site=call.site,
        arguments=tool.as_asked(call.arguments) if tool.as_asked else call.arguments,
        rule=call.rule,
    )
