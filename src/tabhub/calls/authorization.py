"""Whether a call may be made: `Guard` applies the rules, `Authorization` asks the person too."""

import secrets
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from tabhub.calls.approval_words import hidden_arguments, why_asked, words_of
from tabhub.calls.approvals import Approvals
from tabhub.calls.call import Call, Source
from tabhub.calls.marks import quoted
from tabhub.calls.ports import (
    NOT_NEEDED,
    ActionTarget,
    ApprovalAnswer,
    ApprovalRequest,
    MayEnter,
)
from tabhub.calls.results import as_told
from tabhub.config.clients import Client
from tabhub.errors import Forbidden, Refused
from tabhub.hub.hub import Routes
from tabhub.hub.ownership import Ownership
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import new_grant, possible_scopes
from tabhub.permissions.policy.fields import dotted
from tabhub.permissions.sites import MayTell, site_of
from tabhub.permissions.verdict import Allow, Ask, Deny, Rule, Subject, Verdict
from tabhub.wire.abilities import Ability

IsManaged = Callable[[str | None], bool]
"""Whether a browser is the agents' own; None stands for the browser used when a call names none."""

Targets = Callable[[Call], Awaitable[tuple[ActionTarget, ...]]]
"""Finds what a call would be done to."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_CLOSES = (Ability.CLOSE,)
ONE_SITE = ("grant", "plan", "pairing")
"""Sources of rules that a person made for one site."""


class Guard:
    """Decides about calls by the current rules."""

    def __init__(
        self,
        permissions: Permissions,
        ownership: Ownership,
        is_managed: IsManaged,
        now: Callable[[], float],
        sources: Mapping[str, Source] | None = None,
    ) -> None:
        self.permissions = permissions
        self._ownership = ownership
        self.is_managed = is_managed
        self._now = now
        self.without: frozenset[str] = frozenset()
        """Names of tools that the settings leave out, whatever the rules say."""
        self._sources = {} if sources is None else sources

    def decide(self, subject: Subject) -> Verdict:
        return self.permissions.decide(subject, self._now())

    def about(self, tool: Tool, client: Client, managed: bool) -> Verdict:
        """The verdict for a tool in general: without arguments, session or site.

        A tool that belongs to a site is decided for that site.
        """
        return self.decide(subject_of(tool, None, client, "", site=tool.site, managed=managed))

    def is_off(self, tool: Tool, client: Client) -> bool:
        """Whether a client can never use a tool."""
        return tool.name in self.without or isinstance(self.about(tool, client, True), Deny)

    def frames(self, subject: Subject, verdict: Verdict) -> MayEnter:
        """The frames that a call may enter: those of sites where it would be allowed too."""
        rules = self.permissions.rulebook
        if (
            isinstance(verdict, Allow)
            and verdict.rule.source not in ONE_SITE
            and not rules.knows_sites
        ):
            return None
        # The call's own site is allowed at this point, perhaps by a person.
        return lambda site: (
            site == subject.site or isinstance(self.decide(replace(subject, site=site)), Allow)
        )

    def askable(self, subject: Subject, may_enter: MayEnter) -> MayEnter:
        """The frames in which something may be looked up that the person is then asked about."""
        if may_enter is None:
            return None
        return lambda site: (
            may_enter(site) or not isinstance(self.decide(replace(subject, site=site)), Deny)
        )

    def telling(self, subject: Subject) -> MayTell:
        """The sites that a result may include: all but those where the tool is denied."""
        if not self.permissions.rulebook.knows_sites:
            return None
        return lambda site: not isinstance(self.decide(replace(subject, site=site)), Deny)

    def subject(self, call: Call) -> Subject:
        """The subject of the decision about a call."""
        return self.use_of(call.tool, call.arguments, call.client, call.session, call.tab)

    def use_of(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        client: Client,
        session: str,
        tab: Tab | None,
    ) -> Subject:
        """The subject of a decision about a tool, where there may be no call of it."""
        browser = self._opens_in(tool, arguments) if tab is None else tab.browser
        return subject_of(
            tool,
            arguments,
            client,
            session,
            site=self.site(tool, arguments, tab),
            managed=self._is_known_managed(browser),
            opens=tab is None,
            own_tab=tab is not None and self._ownership.owner(tab.id) == session,
            worker="" if tab is None else tab.worker_origin,
        )

    def would_be_managed(self, tool: Tool, session: str) -> bool:
        """Whether a call without arguments would now go to a browser of the agents' own."""
        source = self._sources.get(tool.source)
        return self._is_known_managed(None if source is None else source.browser_of(tool, session))

    def would_use_worker(self, tool: Tool, session: str) -> str:
        """The paired origin whose page worker would now get a call without arguments, or empty."""
        source = self._sources.get(tool.source)
        return "" if source is None else source.worker_of(tool, session)

    def _opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        source = self._sources.get(tool.source)
        return None if source is None else source.opens_in(tool, arguments)

    def _is_known_managed(self, browser: str | None) -> bool:
        """An empty id stands for an unknown browser, which may be a person's."""
        return browser != "" and self.is_managed(browser)

    def site(self, tool: Tool, arguments: Mapping[str, Any], tab: Tab | None) -> str:
        """The site of a call: of the address it opens, else of the page it acts on."""
        if tool.site:
            return tool.site
        target = tool.address_of(arguments) if tool.address_of is not None else None
        if target is not None:
            return site_of(target)
        return "" if tab is None else site_of(self._ownership.address(tab))


def subject_of(
    tool: Tool,
    arguments: Mapping[str, Any] | None,
    client: Client,
    session: str,
    *,
    site: str,
    managed: bool,
    opens: bool = False,
    own_tab: bool = False,
    worker: str = "",
) -> Subject:
    """The subject of a decision; `own_tab` says that the call goes to a tab of the agent's own."""
    given = arguments or _NOTHING
    return Subject(
        tool=tool.name,
        source=tool.source,
        plugin=tool.plugin,
        toolsets=tool.toolsets,
        read_only=tool.is_reading(given),
        careful=tool.is_careful,
        same_as=tool.others(given, opens),
        page=tool.page,
        site_bound=bool(tool.site),
        plain=tool.plain_name,
        container=tool.is_container,
        gate=None if tool.gate is None else tool.gate(),
        in_development=tool.in_development,
        for_site=tool.is_for_site(given),
        minor=own_tab and tool.is_minor(given),
        only_closes=tool.abilities(given) == _CLOSES,
        client=client.name,
        session=session,
        site=site,
        managed=managed,
        worker=worker,
        arguments=arguments,
        only_toolsets=client.toolsets,
        only_reading=client.read_only,
    )


class Decision(NamedTuple):
    """What was decided about a call."""

    subject: Subject
    verdict: Verdict


class Question(NamedTuple):
    """What a person is asked."""

    site: str | None
    """The site of the frame it is about; None for the page."""
    subject: Subject
    verdict: Ask
    targets: tuple[ActionTarget, ...]


class Authorization:
    """Decides about one call, and records the verdict and its rule in it."""

    def __init__(
        self,
        guard: Guard,
        approvals: Approvals,
        routes: Routes,
        has_router: Callable[[Tool], bool],
        targets: Targets,
    ) -> None:
        self._targets = targets
        self._guard = guard
        self._approvals = approvals
        self._routes = routes
        self._has_router = has_router

    def require_not_denied(self, call: Call) -> Decision:
        """The decision about the call, which holds until something is awaited."""
        decision = self._decide(call)
        if isinstance(decision.verdict, Deny):
            call.site, call.rule = decision.subject.site, decision.verdict.rule.text
            call.verdict = "denied"
            raise _denied(decision.verdict)
        return decision

    def _decide(self, call: Call, frame_site: str | None = None) -> Decision:
        subject = self._guard.subject(call)
        if frame_site is not None:
            subject = replace(subject, site=frame_site)
        return Decision(subject, self._guard.decide(subject))

    async def require(
        self, call: Call, frame_site: str | None, decision: Decision | None = None
    ) -> None:
        """Return if the call may be made, after asking a person where the rules say so.

        A decision that was made just before is not made again.
        """
        subject, verdict = decision or self._decide(call, frame_site)
        self._note(call, subject, verdict)
        if isinstance(verdict, Allow):
            return
        if isinstance(verdict, Deny):
            raise _denied(verdict)
        with self._approvals.place(call):
            targets = await self._targets_of(call, subject)
            question = Question(frame_site, subject, verdict, targets)
            if frame_site is None:
                question = self._in_frame(call, question)
            answer = await self._ask(call, question)
        self._require_same_page(call)
        if answer is NOT_NEEDED:
            await self.require(call, frame_site)
            return
        granted = self._guard.permissions.as_granted(question.subject)
        self._save_grant(granted, answer)
        call.verdict = "asked" if answer.by_person else "allowed"
        call.rule += f"; allowed by {answer.by} ({answer.scope or 'once'})"

    def _note(self, call: Call, subject: Subject, verdict: Verdict) -> None:
        # What a person confirmed belongs to the decision before this one.
        call.confirmed = ()
        call.site = subject.site
        call.may_enter = self._guard.frames(subject, verdict)
        call.may_tell = self._guard.telling(subject)
        call.rule = verdict.rule.text
        call.verdict = "allowed" if isinstance(verdict, Allow) else "denied"

    def _in_frame(self, call: Call, question: Question) -> Question:
        """The question, for what is in a frame of another site.

        Where a person would be asked about the page and about the frame, they are asked once, about
        the frame; the words name both.
        """
        site = _site_of(question.targets)
        subject, verdict = self._decide(call, site) if site else (question.subject, None)
        if not isinstance(verdict, Ask):
            return question
        self._note(call, subject, verdict)
        return Question(site, subject, verdict, question.targets)

    async def _ask(self, call: Call, question: Question) -> ApprovalAnswer:
        site = question.site
        request = _request(
            call,
            question,
            self._guard.permissions.as_granted(question.subject),
            page=self._guard.subject(call).site,
            is_allowed=lambda: isinstance(self._decide(call, site).verdict, Allow),
            refusal=lambda: self._refusal(call, site),
        )
        try:
            answer = await self._approvals.ask(call, request)
            # A question in the panel has ended by then; an agent's own client goes on asking.
            if refusal := request.refusal():
                raise refusal
        except Forbidden as refused:
            rule = refused.extra.get("rule", request.rule)
            call.rule += f"; {refused.reason}{'' if rule == request.rule else f': {rule}'}"
            raise
        call.confirmed = question.targets
        return answer

    def _refusal(self, call: Call, frame_site: str | None) -> Forbidden | None:
        """Why a call that waits is not allowed any more, whatever the person says."""
        for site in (None, frame_site):
            verdict = self._decide(call, site).verdict
            if isinstance(verdict, Deny):
                return _denied(verdict)
        return None

    async def _targets_of(self, call: Call, subject: Subject) -> tuple[ActionTarget, ...]:
        """What the person is asked about; if it is not there, they are not asked."""
        if call.by_person or not self._approvals.asks_person:
            return ()
        before, call.verdict = call.verdict, "refused"
        entered, call.may_enter = call.may_enter, self._guard.askable(subject, call.may_enter)
        try:
            targets = await self._targets(call)
        except Forbidden as forbidden:
            self._require_no_wall(call, forbidden)
            targets = ()
        finally:
            call.may_enter = entered
        call.verdict = before
        return targets

    def _require_no_wall(self, call: Call, forbidden: Forbidden) -> None:
        """Raise if it is in a frame where the call is never allowed: a yes would be for nothing."""
        site = forbidden.extra.get("frameSite")
        if site is None:
            raise forbidden
        decision = self._decide(call, site)
        if isinstance(decision.verdict, Deny):
            self._note(call, *decision)
            raise _denied(decision.verdict)

    def _require_same_page(self, call: Call) -> None:
        """The approval is for this page in this tab; both may have changed since the question."""
        tool, tab = call.tool, call.tab
        if tab is None or self._has_router(tool):
            return
        now = self._routes.tab(call.session, tab.id)
        if tool.address_of is None and now.url != tab.url:
            before, after = (as_told(one, call.may_tell).url for one in (tab, now))
            raise Refused(
                f"While the person was asked about {quoted(before)}, the tab went to "
                f"{quoted(after)}. Nothing was done.",
                "navigated_away",
            )

    def _save_grant(self, subject: Subject, answer: ApprovalAnswer) -> None:
        if answer.scope is not None:
            grant = new_grant(subject, answer.scope, time.time(), answer.seconds)
            self._guard.permissions.grants.add(grant)


def _denied(verdict: Deny) -> Forbidden:
    return Forbidden(verdict.message, verdict.reason, data={"rule": verdict.rule.text})


def _site_of(targets: tuple[ActionTarget, ...]) -> str:
    """The site of the frame in which they are; empty if it is the page's, or not one site."""
    sites = {target.site for target in targets}
    return sites.pop() if len(sites) == 1 else ""


def _request(
    call: Call,
    question: Question,
    subject: Subject,
    page: str,
    is_allowed: Callable[[], bool],
    refusal: Callable[[], Forbidden | None],
) -> ApprovalRequest:
    """The request about a call; `page` is the site of the page, the call may be for a frame."""
    tool, verdict, targets = call.tool, question.verdict, question.targets
    site = _site_of(targets) or call.site
    arguments = tool.as_asked(call.arguments) if tool.as_asked else call.arguments
    return ApprovalRequest(
        id=secrets.token_hex(8),
        tool=tool,
        client=call.client,
        agent=call.agent,
        session=call.session,
        tab=call.tab,
        site=call.site,
        arguments=arguments,
        rule=call.rule,
        secrets=tuple(sorted(hidden_arguments(tool, targets) & arguments.keys())),
        words=words_of(tool, call.arguments, site, targets, inside="" if site == page else page),
        why=why_asked(verdict.rule, tool),
        targets=targets,
        scopes=tuple(possible_scopes(subject)),
        command=_command(call, verdict),
        release=_set_to_auto(tool.name) if _is_for(verdict.rule, "tools", tool.name) else "",
        is_allowed=is_allowed,
        refusal=refusal,
    )


def _command(call: Call, verdict: Ask) -> str:
    """The command by which a person allows calls of this tool from now on, if one would."""
    if call.tool.source == "plugin":
        return _plugin_command(call.tool, verdict.rule)
    origin = "" if call.tab is None else call.tab.worker_origin
    if not origin:
        return ""
    if verdict.rule.source == "hint":
        return _set_to_auto(call.tool.name)
    if verdict.rule.source in ("default", "pairing"):
        return shlex.join(("tabhub", "page", "allow", origin, "--level", "auto"))
    return ""


def _plugin_command(tool: Tool, rule: Rule) -> str:
    """The level of the plugin is enough, except for a tool that is asked about whatever it is."""
    if rule.source in ("default", "hint") or _is_for(rule, "plugins", tool.plugin):
        return _set_to_auto(tool.name if tool.is_careful else f"plugin:{tool.plugin}")
    return _set_to_auto(tool.name) if _is_for(rule, "tools", tool.name) else ""


def _is_for(rule: Rule, section: str, name: str) -> bool:
    """Whether a rule is the level of this name, which the person has set by a command."""
    key = dotted(("permissions", section, name))
    return rule.source == "config" and rule.text.startswith(f"{key} = ")


def _set_to_auto(subject: str) -> str:
    return shlex.join(("tabhub", "permissions", "set", subject, "auto"))
