"""The decision about a call: the review, limits of the client, sites, levels, then grants."""

from msgspec.structs import replace

from tabhub.permissions.grants import ANY, OF_SESSION, SITE_SCOPES, Grant, Grants
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import (
    Allow,
    Ask,
    Deny,
    Duration,
    Level,
    Reason,
    Rule,
    RuleSource,
    Subject,
    Verdict,
)

_SKIP = Allow(Rule("skip", "permissions are skipped: ask = auto"))


class Permissions:
    """Decides by the rules, and by what the person has granted beyond them."""

    def __init__(self, rulebook: RuleBook, grants: Grants, *, skip: bool = False) -> None:
        self.rulebook = rulebook
        self.grants = grants
        self.skip = skip
        """Allow what the person would be asked about; off stays off."""

    def decide(self, subject: Subject, now: float) -> Verdict:
        """Allow, deny or ask, with the rule that decided it."""
        if subject.gate:
            return _closed(subject, subject.gate)
        limit = _client_limit(subject)
        if limit is not None:
            return _deny(subject, limit, "permission_denied")
        denied = self.rulebook.site_denied(subject.site)
        if denied is not None and not subject.only_closes:
            return _deny(subject, denied, "permission_off")
        level, rule = self.rulebook.level(subject)
        if level is Level.AUTO:
            return Allow(rule)
        if level is Level.OFF:
            return _deny(subject, rule, "permission_off")
        return self._allowed_without_asking(subject, now) or Ask(rule)

    def as_granted(self, subject: Subject) -> Subject:
        """The subject as grants see it: a tool that a rule asks about by its name, or because of an
        argument, is asked about on its own."""
        if subject.for_site and self.rulebook.asks_about(subject):
            return replace(subject, for_site=False)
        return subject

    def _allowed_without_asking(self, subject: Subject, now: float) -> Allow | None:
        grant = self.grants.matching(self.as_granted(subject), now)
        if grant is not None:
            return _granted(grant)
        return _SKIP if self.skip else None


def _client_limit(subject: Subject) -> Rule | None:
    if subject.only_reading and not subject.read_only:
        return Rule("client", f"client {subject.client}: only reading")
    only = subject.only_toolsets
    if only is not None and only.isdisjoint(subject.toolsets):
        return Rule("client", f"client {subject.client}: only toolsets {', '.join(sorted(only))}")
    return None


def _closed(subject: Subject, why: str) -> Deny:
    """The gate before every rule: code that no person has reviewed does not run."""
    command = f"tabhub plugin review {subject.plugin}"
    return Deny(
        Rule("review", f"plugin {subject.plugin}: {why}"),
        "permission_off",
        f"{subject.tool} cannot be used: {why}. Nothing was done. Only the person can change that, "
        f"with: {command}",
    )


def _deny(subject: Subject, rule: Rule, reason: Reason) -> Deny:
    where = f" on {subject.site}" if subject.site else ""
    command = f" (tabhub page allow {subject.worker} --level auto)" if _is_paired(rule) else ""
    return Deny(
        rule,
        reason,
        f"{subject.tool} is not allowed{where}: {rule.text}. "
        f"Do not work around this; ask the person{command}.",
    )


def _is_paired(rule: Rule) -> bool:
    return rule.source == "pairing"


def _granted(grant: Grant) -> Allow:
    duration: Duration = "session" if grant.scope in OF_SESSION else "always"
    if grant.scope in SITE_SCOPES:
        text = f"grant {grant.id} of what reads or acts on {grant.site}: {grant.scope}"
        return Allow(Rule("grant", text), duration)
    source: RuleSource = "plan" if grant.tool == ANY else "grant"
    return Allow(Rule(source, f"{source} {grant.id} of {grant.tool}: {grant.scope}"), duration)
