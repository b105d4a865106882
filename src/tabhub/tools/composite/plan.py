"""update_plan: a person approves a plan once instead of each of its steps.

The approval covers what the person would be asked about on the plan's sites, for this session.
What the rules deny stays denied, and destructive tools are still asked about.
"""

import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from tabhub.calls.approval_words import LONGEST_WORDS
from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard, subject_of
from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.texts import one_line
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.permissions.grants import plan_grant
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.permissions.verdict import Allow, Ask, Subject, Verdict
from tabhub.tools.tool import CLAUDE, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

SOURCE = "plan"
Verdicts = Mapping[str, Verdict]
"""By the tool's name."""
MAX_DOMAINS = 20
MAX_STEPS = 20
STEP_CHARS = 300
RULE = "a yes allows what would be asked about on these sites, for this session"


def _sites(domains: list[str]) -> list[str]:
    sites = list(dict.fromkeys(site_of(address(domain)) for domain in domains))
    if any(site in ("", OPAQUE) for site in sites):
        raise InvalidArguments("update_plan: each domain must be the name of a host.")
    return sites


def _canonical(arguments: Mapping[str, Any]) -> Json:
    """Show each site as the browser knows it, so that the person approves what they read."""
    return {**arguments, "domains": _sites(arguments["domains"])}


TOOL = browser_tool(
    name="update_plan",
    title="Plan",
    description=(
        "Show the person what you are about to do and on which sites. Their yes allows it there "
        "for this session, without a question for each step."
    ),
    properties={
        "domains": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 300},
            "minItems": 1,
            "maxItems": MAX_DOMAINS,
            "description": "Hosts you will act on, each by its full name.",
        },
        "approach": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": STEP_CHARS},
            "minItems": 1,
            "maxItems": MAX_STEPS,
            "description": "What you will do, in 3 to 7 short steps.",
        },
    },
    required=("domains", "approach"),
    source=SOURCE,
    needs_tab=False,
    toolsets=CLAUDE,
    aliases={"plan": "approach"},
    as_asked=_canonical,
    # It asks the person itself, and only if the rules would ask about something in the plan.
    is_container=True,
)


class PlanSource(Source):
    """Asks the person about a plan, and keeps the approval."""

    quotes_pages = False

    def __init__(
        self, tools: ToolRegistry, guard: Guard, approvals: Approvals, running: RunningCalls
    ) -> None:
        self._tools = tools
        self._guard = guard
        self._approvals = approvals
        self._running = running

    async def run(self, call: Call) -> CallResult:
        sites = _sites(call.arguments["domains"])
        verdicts = {site: self._verdicts(call, site) for site in sites}
        asked = [site for site in sites if _has(Ask, verdicts[site])]
        closed = [site for site in sites if not _has((Allow, Ask), verdicts[site])]
        if len(closed) == len(sites):
            raise Forbidden(
                f"None of this can be planned: the rules close {', '.join(closed)} to you. Do not "
                "work around this; ask the person.",
                "permission_off",
            )
        if not asked:
            return _result("auto-approved", [], closed)
        try:
            answer = await self._ask(call, asked, self._named_tools(verdicts.values()))
        except Forbidden as error:
            if error.reason != "permission_denied":
                raise
            return _result("rejected", [], closed)
        return _result("approved", self._grant(call, asked, answer), closed)

    def _verdicts(self, call: Call, site: str) -> Verdicts:
        """The verdict there on each tool that a plan can cover."""
        return {
            tool.name: self._guard.decide(self._subject(call, tool, site))
            for tool in self._tools
            if not tool.is_container and not tool.is_careful
        }

    def _subject(self, call: Call, tool: Tool, site: str) -> Subject:
        managed = self._guard.is_managed(None)
        subject = subject_of(tool, None, call.client, call.session, site=site, managed=managed)
        # That a tab may be closed anywhere does not open a site for a plan.
        return replace(subject, only_closes=False)

    def _named_tools(self, sites: Iterable[Verdicts]) -> list[str]:
        """The tools that a rule names and asks about: the approval names them too."""
        rules = self._guard.permissions.rulebook
        asked = {
            name
            for verdicts in sites
            for name, verdict in verdicts.items()
            if isinstance(verdict, Ask)
        }
        return sorted(name for name in asked if rules.names(*self._tools.get(name).rule_names))

    async def _ask(self, call: Call, sites: list[str], tools: list[str]) -> ApprovalAnswer:
        # If the call itself was approved, the person has seen the plan, but not these tools.
        if call.asked and not tools:
            return ApprovalAnswer(True)
        with self._running.begin(call), self._approvals.place(call):
            return await self._approvals.ask(call, _request(call, sites, tools))

    def _grant(self, call: Call, sites: list[str], answer: ApprovalAnswer) -> list[str]:
        """Add the grants; only a person's answer gives any, not one by a rule."""
        if not answer.by_person:
            return []
        for site in sites:
            grant = plan_grant(call.client.name, call.session, site, time.time(), answer.seconds)
            self._guard.permissions.grants.add(grant)
        return sites


def _has(kinds: type | tuple[type, ...], verdicts: Verdicts) -> bool:
    return any(isinstance(verdict, kinds) for verdict in verdicts.values())


def _request(call: Call, sites: list[str], tools: list[str]) -> ApprovalRequest:
    also = {"alsoAllows": tools} if tools else {}
    return ApprovalRequest(
        id=secrets.token_hex(8),
        tool=call.tool,
        client=call.client,
        agent=call.agent,
        session=call.session,
        tab=None,
        site="",
        arguments={"domains": sites, "approach": call.arguments["approach"], **also},
        rule=RULE,
        words=one_line(f"Do what its plan says on {', '.join(sites)}", LONGEST_WORDS),
        scopes=("session",),
        once=False,
    )


def _result(status: str, granted: list[str], closed: list[str]) -> CallResult:
    sentence = {
        "approved": "The person approved the plan: go on.",
        "auto-approved": "None of this needs an approval: go on.",
        "rejected": (
            "The person rejected the plan. Do none of it, and do not work around it; ask them "
            "what they want instead."
        ),
    }[status]
    note = f" The rules close {', '.join(closed)} to you." if closed else ""
    return done(sentence + note, {"status": status, "granted": granted, "closed": closed})
