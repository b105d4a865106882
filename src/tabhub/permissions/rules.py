"""The rules of the policy file and `config.json`, indexed so that a call's level is found fast."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tabhub.config.settings import PermissionSettings
from tabhub.errors import InvalidArguments
from tabhub.permissions.policy.fields import dotted
from tabhub.permissions.policy.policy import Condition, Levels, Policy
from tabhub.permissions.sites import HostPatterns, normal_pattern
from tabhub.permissions.verdict import Level, PageTool, Rule, RuleSource, Subject
from tabhub.wire.tool_names import listed_name

CONFIG = "config.json"
Known = Callable[[str], PageTool | None]
"""Looks up the page tool that has a name now."""


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
    "minor": _built_in(
        Level.AUTO, "scrolling, hovering and closing in an agent's own tab, in a person's browser"
    ),
}
_PLUGIN = _built_in(Level.OFF, "plugins")
_IN_DEVELOPMENT = _built_in(Level.ASK, "plugins that you work on, in dev mode")
_CONTAINER = Held(
    Level.AUTO, Rule("default", "a tool that only makes other calls is not asked about = auto")
)
_HINT = Held(Level.ASK, Rule("hint", "the tool is marked as destructive or consequential = ask"))


class Pins:
    """The page tool that each name in the rules means: the first one that had the name."""

    def __init__(self) -> None:
        self._pinned: dict[str, PageTool] = {}
        self._wanted: frozenset[str] = frozenset()

    def want(self, names: Iterable[str], known: Known) -> None:
        """Set the names that occur in rules; a name that was among them keeps its tool."""
        self._wanted = frozenset(names)
        for name in self._pinned.keys() - self._wanted:
            self.free(name)
        for name in self._wanted - self._pinned.keys():
            if (tool := known(name)) is not None:
                self.pin(name, tool)

    def wants(self, name: str) -> bool:
        return name in self._wanted

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        """Note that a tool has this name; returns the tool that the rule means, if there is one."""
        if not self.wants(name):
            return None
        if name not in self._pinned:
            self.pin(name, tool)
        return self._pinned[name]

    def of(self, name: str) -> PageTool | None:
        return self._pinned.get(name)

    def pin(self, name: str, tool: PageTool) -> None:
        self._pinned[name] = tool

    def free(self, name: str) -> None:
        self._pinned.pop(name, None)


class _FileLevels:
    """The levels of one file."""

    def __init__(
        self,
        tools: dict[str, Held],
        plugins: dict[str, Held],
        domains: dict[str, Held],
        toolsets: dict[str, Held],
    ) -> None:
        self.tools = tools
        self._plugins = plugins
        self._domains = HostPatterns(domains)
        self._toolsets = toolsets
        self.knows_sites = bool(domains)

    def closes(self, site: str) -> bool:
        """Whether this file turns a site off."""
        held = self._domains.find(site)
        return held is not None and held.level is Level.OFF

    def __bool__(self) -> bool:
        return bool(self.tools or self._plugins or self.knows_sites or self._toolsets)

    def find(self, subject: Subject, names: tuple[str, ...]) -> Held | None:
        """The level of a call in this file, by the most specific rule."""
        own = [self.tools[name] for name in names if name in self.tools]
        if own:
            return min(own, key=_level)
        plugin = self._plugins.get(subject.plugin)
        domain = self._domains.find(subject.site)
        if domain and domain.level is Level.OFF and subject.only_closes:
            domain = None
        if plugin and domain:
            return min(plugin, domain, key=_level)
        return plugin or domain or self._of_toolsets(subject)

    def _of_toolsets(self, subject: Subject) -> Held | None:
        known = self._toolsets
        if not known:
            return None
        held = (known[name] for name in sorted(subject.toolsets) if name in known)
        return min(held, key=_level, default=None)


class RuleBook:
    """All rules together, immutable; a change of the rules makes a new one."""

    def __init__(
        self, policy: Policy | None, config: PermissionSettings, pins: Pins | None = None
    ) -> None:
        self._pins = pins or Pins()
        files = (_policy_file(policy), _config_file(config))
        self._files = [file for file in files if file]
        self._written_defaults = _section(policy, "defaults")
        self._paired = _levels_of(config, "workers", "pairing")
        self._deny = HostPatterns(_listed(policy, "deny"))
        allowed = _listed(policy, "allow")
        self._allow = HostPatterns(allowed) if allowed else None
        self._outside = Rule("policy", f"sites.allow ({policy.name if policy else ''})")
        self._conditions = _by_tool(policy)
        self.knows_sites = bool(
            allowed or (policy and policy.deny) or any(file.knows_sites for file in files)
        )
        """Whether any rule depends on the site."""

    def site_denied(self, site: str) -> Rule | None:
        """The rule that denies a site to every tool and client."""
        if not site:
            return None
        denied = self._deny.find(site)
        if denied is not None or self._allow is None:
            return denied
        return None if self._allow.find(site) else self._outside

    def closes(self, site: str) -> bool:
        """Whether a rule about a site turns it off."""
        return self.site_denied(site) is not None or any(file.closes(site) for file in self._files)

    def level(self, subject: Subject) -> Held:
        """The level of a call by the rules, without grants."""
        own = self._own_names(subject)
        held = self._paired_level(subject, own) if self._paired else None
        held = held or self._written(subject, own) or self._default(subject)
        if subject.container and held.level is Level.ASK and not self.names(*own):
            held = _CONTAINER
        if subject.same_as or self._conditions:
            for limit in (*self._of_others(subject), *self._of_conditions(subject)):
                held = min(held, limit, key=_level)
        if subject.careful and held.level is Level.AUTO and not self.names(*own):
            held = _HINT
        return held if subject.page is None else self._explained(subject, held)

    def _paired_level(self, subject: Subject, own: tuple[str, ...]) -> Held | None:
        """The level of a pairing, or of what the person has written elsewhere if it is stricter."""
        paired = self._paired.get(subject.worker)
        if paired is None:
            return None
        written = self._written(subject, own) or self._written_default(_kind(subject))
        return paired if written is None else min(paired, written, key=_level)

    def _own_names(self, subject: Subject) -> tuple[str, ...]:
        """The names under which rules mean this very tool."""
        if subject.page is None:
            return (subject.tool,)
        # A rule for another tool of that name never allows this one; by `same_as` it may limit it.
        names = dict.fromkeys((subject.tool, subject.plain))
        return tuple(name for name in names if self._pins.of(name) == subject.page)

    def _explained(self, subject: Subject, held: Held) -> Held:
        """Mention a rule that seems to allow more, if it means another site's tool."""
        for name in dict.fromkeys((subject.tool, subject.plain)):
            owner = self._pins.of(name)
            if owner is None or owner == subject.page:
                continue
            for file in self._files:
                if name in file.tools and file.tools[name].level > held.level:
                    aside = f"{file.tools[name].rule.text} is about {owner[1]} of {owner[0]}"
                    return Held(held.level, Rule(held.rule.source, f"{held.rule.text}; {aside}"))
        return held

    def _of_others(self, subject: Subject) -> Iterator[Held]:
        """The levels of other tools, by name, that can do the same."""
        for name in subject.same_as:
            yield from (file.tools[name] for file in self._files if name in file.tools)

    def asks_about(self, subject: Subject) -> bool:
        """Whether a rule asks about this call by the tool's name or because of an argument."""
        names = (*self._own_names(subject), *subject.same_as)
        named = (file.tools[name] for file in self._files for name in names if name in file.tools)
        return any(held.level is Level.ASK for held in (*named, *self._of_conditions(subject)))

    def _of_conditions(self, subject: Subject) -> Iterator[Held]:
        """The levels of conditions that the arguments do not meet."""
        arguments = subject.arguments
        if arguments is None:
            return
        for name in (subject.tool, *subject.same_as):
            for condition, limit in self._conditions.get(name, ()):
                if not condition.fits(arguments):
                    yield limit

    def _written(self, subject: Subject, names: tuple[str, ...]) -> Held | None:
        """The strictest level in the files: no file loosens another."""
        strictest: Held | None = None
        for file in self._files:
            held = file.find(subject, names)
            if held is not None and (strictest is None or held.level < strictest.level):
                strictest = held
        return strictest

    def names(self, *tools: str) -> bool:
        """Whether a file has a level for one of these names."""
        return any(name in file.tools for file in self._files for name in tools)

    def all_names(self) -> Iterator[str]:
        """The names of tools that files have levels for."""
        for file in self._files:
            yield from file.tools

    def _default(self, subject: Subject) -> Held:
        if subject.gate is not None or subject.source == "plugin":
            return _IN_DEVELOPMENT if subject.in_development else _PLUGIN
        kind = _kind(subject)
        return self._written_default(kind) or _DEFAULTS[kind]

    def _written_default(self, kind: str) -> Held | None:
        written = self._written_defaults
        # Who has written a level for what changes something has meant these calls too.
        return written.get(kind) or (written.get("personal") if kind == "minor" else None)


def _kind(subject: Subject) -> str:
    """Which default applies."""
    if subject.managed:
        return "managed"
    if subject.read_only:
        return "reading"
    return "minor" if subject.minor else "personal"


def _level(held: Held) -> Level:
    return held.level


def _policy_file(policy: Policy | None) -> _FileLevels:
    tools = _as_listed(_section(policy, "tools"))
    sections = ("plugins", "domains", "toolsets")
    return _FileLevels(tools, *(_section(policy, section) for section in sections))


def _as_listed(tools: dict[str, Held]) -> dict[str, Held]:
    """The levels under the listed names of tools; of two spellings, the stricter counts."""
    levels: dict[str, Held] = {}
    for name, held in tools.items():
        listed = listed_name(name)
        levels[listed] = min(held, levels.get(listed, held), key=_level)
    return levels


def _section(policy: Policy | None, section: str) -> dict[str, Held]:
    if policy is None:
        return {}
    return _held("policy", getattr(policy, section), (section,), policy.name)


def _config_file(config: PermissionSettings) -> _FileLevels:
    def held(section: str) -> dict[str, Held]:
        return _levels_of(config, section, "config")

    return _FileLevels(_as_listed(held("tools")), held("plugins"), held("domains"), {})


def _levels_of(config: PermissionSettings, section: str, source: RuleSource) -> dict[str, Held]:
    words: Mapping[str, str] = getattr(config, section)
    levels = {name: Level.of(word) for name, word in words.items()}
    if section == "domains":
        levels = _normal_domains(levels)
    return _held(source, levels, ("permissions", section), CONFIG)


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
            found.setdefault(listed_name(tool), []).append(
                (condition, Held(condition.otherwise, rule))
            )
    return found
