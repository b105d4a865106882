"""Policies, configs, grants and calls in every combination, and a slow, simple model of them."""

import json
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tabhub.permissions.grants import Grant
from tabhub.permissions.verdict import Subject
from tests.permissions.samples import NOW

Levels = dict[str, str]
WORDS = ["off", "ask", "auto"]
TOOLS = ["browser_click_element", "slack_send", "page_buy"]
SITES = ["", "opaque", "shop.example", "a.shop.example", "a.shop.example:81", "bank.example"]
PATTERNS = ["shop.example", "*.shop.example", "*.example", "a.shop.example:81", "a.shop.example"]
CLIENTS, SESSIONS, TOOLSETS = ["claude", "codex"], ["s1", "s2"], ["core", "claude"]


@dataclass(frozen=True)
class World:
    """Everything a decision depends on, as plain data."""

    policy: dict[str, Levels]
    config: dict[str, Levels]
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    """Pairs of a tool and an `otherwise`; the argument `to` must be `here`."""
    grants: tuple[Grant, ...]
    skip: bool

    def toml(self) -> str:
        levels = "".join(
            f"{section}.{json.dumps(key)} = {json.dumps(word)}\n"
            for section, keys in self.policy.items()
            for key, word in keys.items()
        )
        walls = f"sites.deny = {list(self.deny)}\nsites.allow = {list(self.allow)}\n"
        return levels + walls + "".join(map(_condition, self.conditions))


def _condition(pair: tuple[str, str]) -> str:
    tool, otherwise = pair
    return (
        f'[[conditions]]\ntools = ["{tool}"]\nargument = "to"\n'
        f'one_of = ["here"]\notherwise = "{otherwise}"\n'
    )


def judge(world: World, call: Subject) -> str:
    """`off`, `ask` or `auto`, before grants and skipping; read it beside `docs/policy.md`."""
    if call.only_toolsets is not None and not call.only_toolsets & call.toolsets:
        return "off"
    if call.only_reading and not call.read_only:
        return "off"
    if any(_fits(pattern, call.site) for pattern in world.deny):
        return "off"
    if world.allow and call.site and not any(_fits(allowed, call.site) for allowed in world.allow):
        return "off"
    level = _narrowed(world, call, _level(world, call))
    named = _named(world, "tools", call.tool)
    return "ask" if level == "auto" and call.careful and not named else level


def _narrowed(world: World, call: Subject, level: str) -> str:
    return _strictest([level, *_narrowing(world, call)])


def _narrowing(world: World, call: Subject) -> list[str]:
    return [
        otherwise
        for tool, otherwise in world.conditions
        if tool == call.tool and (call.arguments or {}).get("to") != "here"
    ]


def _level(world: World, call: Subject) -> str:
    """The level of each file; the stricter one counts."""
    found = [_in_file(levels, call) for levels in (world.policy, world.config)]
    words = [word for word in found if word is not None]
    return _strictest(words) if words else _default(world, call)


def _in_file(levels: dict[str, Levels], call: Subject) -> str | None:
    def named(section: str, key: str) -> list[str]:
        found = levels.get(section, {})
        return [found[key]] if key in found else []

    general = named("plugins", call.plugin) + _of_domain(levels["domains"], call.site)
    in_toolsets = [word for name in call.toolsets for word in named("toolsets", name)]
    for words in (named("tools", call.tool), general, in_toolsets):
        if words:
            return _strictest(words)
    return None


def _default(world: World, call: Subject) -> str:
    if call.source == "plugin":
        return "off"
    written = world.policy["defaults"]
    key = "managed" if call.managed else "reading" if call.read_only else "personal"
    if key == "personal" and call.minor:
        return written.get("minor", written.get("personal", "auto"))
    return written.get(key, "ask" if key == "personal" else "auto")


def _named(world: World, section: str, key: str) -> list[str]:
    files = (world.policy.get(section, {}), world.config.get(section, {}))
    return [levels[key] for levels in files if key in levels]


def _of_domain(domains: Levels, site: str) -> list[str]:
    fitting = [pattern for pattern in domains if _fits(pattern, site)]
    if not fitting:
        return []
    best = max(
        fitting,
        key=lambda candidate: (not candidate.startswith("*"), ":" in candidate, len(candidate)),
    )
    return [domains[best]]


def _fits(pattern: str, site: str) -> bool:
    if site in ("", "opaque"):
        return False
    host = site if ":" in pattern else site.split(":")[0]
    return host == pattern or (f".{host}".endswith(pattern[1:]) and pattern.startswith("*"))


def _strictest(words: list[str]) -> str:
    return min(words, key=WORDS.index)


def covers(world: World, grant: Grant, call: Subject) -> bool:
    """Whether the grant covers this call, about which the rules ask."""
    if grant.client != call.client or (grant.expires is not None and grant.expires <= NOW):
        return False
    if grant.scope in ("site", "site_session"):
        is_its_session = grant.scope == "site" or grant.session == call.session
        is_site = grant.site == call.site and call.site not in ("", "opaque")
        named = _named(world, "tools", call.tool) + _narrowing(world, call)
        is_covered = call.for_site and not call.careful and "ask" not in named
        return is_covered and is_site and is_its_session
    if grant.tool != call.tool:
        return False
    if grant.scope == "session":
        return (grant.session, grant.site) == (call.session, call.site)
    return grant.scope == "always" or grant.site == call.site


def stricter(world: World, data: st.DataObject) -> World:
    """The same world with one rule made stricter."""
    added: dict[str, Any] = {
        "deny": (*world.deny, "bank.example"),
        "skip": False,
        "grants": world.grants[1:],
    }
    added["conditions"] = (*world.conditions, (data.draw(st.sampled_from(TOOLS)), "ask"))
    kind = data.draw(st.sampled_from([*added, "policy", "config"]))
    if kind not in added:
        added[kind] = _lowered(getattr(world, kind), data)
    return replace(world, **{kind: added[kind]})


def _lowered(sections: dict[str, Levels], data: st.DataObject) -> dict[str, Levels]:
    named = [(section, key) for section, levels in sections.items() for key in levels]
    if not named:
        return sections
    section, key = data.draw(st.sampled_from(named))
    lower = data.draw(st.sampled_from(WORDS[: WORDS.index(sections[section][key]) + 1]))
    return {**sections, section: {**sections[section], key: lower}}


def _levels(*keys: str) -> st.SearchStrategy[Levels]:
    return st.dictionaries(st.sampled_from(keys), st.sampled_from(WORDS), max_size=3)


_SHARED: dict[str, Any] = {
    "tools": _levels(*TOOLS),
    "plugins": _levels("browser", "slack"),
    "domains": _levels(*PATTERNS),
}
_OWN = {
    "toolsets": _levels(*TOOLSETS),
    "defaults": _levels("managed", "personal", "reading", "minor"),
}


def _grant(tool: str, **fields: Any) -> Grant:
    is_for_site = fields["scope"] in ("site", "site_session")
    return Grant(tool="*" if is_for_site else tool, **fields)


GRANTS = st.builds(
    _grant,
    id=st.uuids().map(str),
    scope=st.sampled_from(["session", "domain", "always", "site_session", "site"]),
    tool=st.sampled_from(TOOLS),
    client=st.sampled_from(CLIENTS),
    session=st.sampled_from(SESSIONS),
    site=st.sampled_from(SITES),
    expires=st.sampled_from([None, NOW - 1, NOW, NOW + 1]),
    created=st.just(NOW - 100),
)
WORLDS = st.builds(
    World,
    policy=st.fixed_dictionaries({**_SHARED, **_OWN}),
    config=st.fixed_dictionaries(_SHARED),
    deny=st.lists(st.sampled_from(PATTERNS), unique=True, max_size=1).map(tuple),
    allow=st.lists(st.sampled_from(PATTERNS), unique=True, max_size=1).map(tuple),
    conditions=st.lists(
        st.tuples(st.sampled_from(TOOLS), st.sampled_from(["off", "ask"])), max_size=2, unique=True
    ).map(tuple),
    grants=st.lists(GRANTS, max_size=4).map(tuple),
    skip=st.booleans(),
)
_KINDS = [("browser", "browser"), ("plugin", "slack"), ("page", "")]


def _call(kind: tuple[str, str], fields: dict[str, Any]) -> Subject:
    return Subject(source=kind[0], plugin=kind[1], **fields)


CALLS = st.builds(
    _call,
    st.sampled_from(_KINDS),
    st.fixed_dictionaries(
        {
            "tool": st.sampled_from(TOOLS),
            "toolsets": st.frozensets(st.sampled_from(TOOLSETS)),
            "read_only": st.booleans(),
            "careful": st.booleans(),
            "for_site": st.booleans(),
            "minor": st.booleans(),
            "client": st.sampled_from(CLIENTS),
            "session": st.sampled_from(SESSIONS),
            "site": st.sampled_from(SITES),
            "managed": st.booleans(),
            "arguments": st.sampled_from([{}, {"to": "here"}, {"to": "there"}]),
            "only_toolsets": st.none() | st.frozensets(st.sampled_from(TOOLSETS)),
            "only_reading": st.booleans(),
        }
    ),
)
