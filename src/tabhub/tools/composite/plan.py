"""A plan that a person says yes to once, instead of to each of its steps.

A yes covers what would be asked about on the plan's sites, for this session. What is off stays
off, walls stand, and what says of itself that it destroys something is asked about all the same.
"""

import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard, subject_of
from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.tools import ToolRegistry
from tabhub.permissions.grants import plan_grant
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.permissions.verdict import Allow, Ask, Verdict
from tabhub.tools.tool import CLAUDE, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

SOURCE = "plan"
Verdicts = Mapping[str, Verdict]
"""By the tool's name."""
MOST_DOMAINS = 20
MOST_STEPS = 20
LONGEST_STEP = 300
RULE = "a yes allows what would be asked about on these sites, for this session"


def _sites(domains: list[str]) -> list[str]:
    sites = list(dict.fromkeys(site_of(address(domain)) for domain in domains))
    if any(site in ("", OPAQUE) for site in sites):
        raise InvalidArguments("update_plan: each domain must be the name of a host.")
    return sites


def _canonical(arguments: Mapping[str, Any]) -> Json:
    """With each site as the browser knows it: nobody should say yes to another than they read."""
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
            "maxItems": MOST_DOMAINS,
            "description": "Hosts you will act on, each by its full name.",
        },
        "approach": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_STEP},
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "description": "What you will do, in 3 to 7 short steps.",
        },
    },
    required=("domains", "approach"),
    source=SOURCE,
    needs_tab=False,
    toolsets=CLAUDE,
    aliases={"plan": "approach"},
    as_asked=_canonical,
    # It asks by itself, about what it would open; where nothing is asked about, neither is it.
    is_container=True,
)


class PlanSource(Source):
    """Asks the person about a plan, and keeps their yes."""

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
            return _told("auto-approved", [], closed)
        try:
            answer = await self._answer(call, asked, self._named(verdicts.values()))
        except Forbidden as refused:
            if refused.reason != "permission_denied":
                raise
            return _told("rejected", [], closed)
        return _told("approved", self._keep(call, asked, answer), closed)

    def _verdicts(self, call: Call, site: str) -> Verdicts:
        """What the rules say there of each tool that a plan can be about."""
        managed = self._guard.is_managed(None)
        return {
            tool.name: self._guard.decide(
                subject_of(tool, None, call.client, call.session, site=site, managed=managed)
            )
            for tool in self._tools
            if not tool.is_container and not tool.is_careful
        }

    def _named(self, verdicts: Iterable[Verdicts]) -> list[str]:
        """The tools that somebody wanted to be asked about by name: a yes names them too."""
        rules = self._guard.permissions.rulebook
        asked = {name for one in verdicts for name, said in one.items() if isinstance(said, Ask)}
        return sorted(name for name in asked if rules.names(*self._tools.get(name).rule_names))

    async def _answer(self, call: Call, sites: list[str], tools: list[str]) -> ApprovalAnswer:
        # Asked about as a call, it was shown without them.
        if call.asked and not tools:
            return ApprovalAnswer(True)
        with self._running.begin(call):
            return await self._approvals.ask(call, _request(call, sites, tools))

    def _keep(self, call: Call, sites: list[str], answer: ApprovalAnswer) -> list[str]:
        """Only a person's yes opens anything; where nobody is asked, the rules say yes anyway."""
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
        scopes=("session",),
    )


def _told(status: str, granted: list[str], closed: list[str]) -> CallResult:
    sentence = {
        "approved": "The person approved the plan: go on.",
        "auto-approved": "Nothing of this needs to be asked about: go on.",
        "rejected": (
            "The person rejected the plan. Do nothing of it, by no other way either; ask them "
            "what they want instead."
        ),
    }[status]
    aside = f" The rules close {', '.join(closed)} to you." if closed else ""
    shown: Json = {"status": status, "granted": granted, "closed": closed}
    return done(sentence + aside, shown)
