"""All rules of policy and config in one place, ready to be looked up."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tabhub.config.settings import PermissionSettings
from tabhub.errors import InvalidArguments
from tabhub.permissions.conditions import Condition
from tabhub.permissions.fields import dotted
from tabhub.permissions.levels import Level
from tabhub.permissions.patterns import HostPatterns, normal_pattern
from tabhub.permissions.policy import Levels, Policy
from tabhub.permissions.subject import Subject
from tabhub.permissions.verdict import Rule, RuleSource

CONFIG = "config.json"


class Held(NamedTuple):
    """A level, and the rule it comes from."""

    level: Level
    rule: Rule


def _built_in(level: Level, of: str) -> Held:
    return Held(level, Rule("default", f"default of {of} = {level.word}"))


_DEFAULTS = {
    "managed": _built_in(Level.AUTO, "a browser that tabhub started"),
    "personal": _built_in(Level.ASK, "what changes something in a person's own browser"),
    "reading": _built_in(Level.AUTO, "what only reads in a person's own browser"),
}
_PLUGIN = _built_in(Level.OFF, "plugins")
_HINT = Held(Level.ASK, Rule("hint", "destructiveHint or consequentialHint of the tool = ask"))


class RuleBook:
    """Rules that do not change; new ones make a new book."""

    def __init__(self, policy: Policy | None, config: PermissionSettings) -> None:
        said = _Said(policy, config)
        self._tools = said.merged("tools")
        self._plugins = said.merged("plugins")
        self._domains = HostPatterns(said.merged("domains"))
        self._toolsets = said.policy("toolsets")
        self._defaults = {**_DEFAULTS, **said.policy("defaults")}
        self._deny = HostPatterns(_listed(policy, "deny"))
        allowed = _listed(policy, "allow")
        self._allow = HostPatterns(allowed) if allowed else None
        self._outside = Rule("policy", f"sites.allow ({policy.name if policy else ''})")
        self._conditions = _by_tool(policy)
        self.knows_sites = bool(said.merged("domains") or allowed or (policy and policy.deny))
        """Whether any rule depends on the site."""

    def wall(self, site: str) -> Rule | None:
        """The rule that keeps everybody away from this site."""
        if not site:
            return None
        denied = self._deny.find(site)
        if denied is not None or self._allow is None:
            return denied
        return None if self._allow.find(site) else self._outside

    def level(self, subject: Subject) -> Held:
        """What the rules say of a call, grants aside."""
        own = self._tools.get(subject.tool)
        held = own or self._general(subject)
        given = subject.arguments
        for condition, most in self._conditions.get(subject.tool, ()):
            if given is not None and most.level < held.level and not condition.fits(given):
                held = most
        if subject.careful and own is None and held.level is Level.AUTO:
            return _HINT
        return held

    def _general(self, subject: Subject) -> Held:
        plugin = self._plugins.get(subject.plugin)
        domain = self._domains.find(subject.site)
        if plugin and domain:
            return min(plugin, domain, key=_level)
        return plugin or domain or self._of_toolsets(subject) or self._default(subject)

    def _of_toolsets(self, subject: Subject) -> Held | None:
        known = self._toolsets
        if not known:
            return None
        held = (known[name] for name in sorted(subject.toolsets) if name in known)
        return min(held, key=_level, default=None)

    def _default(self, subject: Subject) -> Held:
        if subject.source == "plugin":
            return _PLUGIN
        if subject.managed:
            return self._defaults["managed"]
        return self._defaults["reading" if subject.read_only else "personal"]


def _level(held: Held) -> Level:
    return held.level


class _Said:
    """The levels of both files, each with the rule that says where it stands."""

    def __init__(self, policy: Policy | None, config: PermissionSettings) -> None:
        self._policy = policy
        self._config = config

    def policy(self, section: str) -> dict[str, Held]:
        if self._policy is None:
            return {}
        levels: Levels = getattr(self._policy, section)
        return _held("policy", levels, (section,), self._policy.name)

    def config(self, section: str) -> dict[str, Held]:
        words: Mapping[str, str] = getattr(self._config, section)
        levels = {name: Level.of(word) for name, word in words.items()}
        if section == "domains":
            levels = _normal_domains(levels)
        return _held("config", levels, ("permissions", section), CONFIG)

    def merged(self, section: str) -> dict[str, Held]:
        """Where both have the same key, the stricter counts."""
        merged = self.policy(section)
        for name, held in self.config(section).items():
            merged[name] = min(merged.get(name, held), held, key=_level)
        return merged


def _held(
    source: RuleSource, levels: Levels, section: tuple[str, ...], file: str
) -> dict[str, Held]:
    return {
        name: Held(level, Rule(source, f"{dotted((*section, name))} = {level.word} ({file})"))
        for name, level in levels.items()
    }


def _normal_domains(written: Levels) -> dict[str, Level]:
    levels: dict[str, Level] = {}
    for name, level in written.items():
        try:
            host = normal_pattern(name)
        except ValueError as error:
            raise InvalidArguments(f"{CONFIG}: permissions.domains: {error}.") from None
        levels[host] = min(level, levels.get(host, level))
    return levels


def _listed(policy: Policy | None, key: str) -> dict[str, Rule]:
    if policy is None:
        return {}
    patterns: Iterable[str] = getattr(policy, key)
    return {host: Rule("policy", f"sites.{key} has {host} ({policy.name})") for host in patterns}


def _by_tool(policy: Policy | None) -> dict[str, list[tuple[Condition, Held]]]:
    found: dict[str, list[tuple[Condition, Held]]] = {}
    for condition in policy.conditions if policy else ():
        rule = Rule("policy", f"{condition.text} ({policy.name if policy else ''})")
        for tool in condition.tools:
            found.setdefault(tool, []).append((condition, Held(condition.otherwise, rule)))
    return found
