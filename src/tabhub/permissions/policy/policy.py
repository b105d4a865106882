"""The policy file: rules for every run, attended or not. `docs/policy.md` explains it."""

from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

from tabhub.config.settings import TOOLSETS
from tabhub.permissions.condition_fields import read_condition
from tabhub.permissions.levels import Level
from tabhub.permissions.policy.conditions import Condition
from tabhub.permissions.policy.fields import (
    Fault,
    dotted,
    items,
    level,
    pattern,
    table,
    typed,
    word,
)
from tabhub.permissions.policy.toml_lines import Path
from tabhub.permissions.toml_file import read

Unattended = Literal["deny", "allow"]
Levels = Mapping[str, Level]

KEYS = (
    *("unattended", "elicitation"),
    *("defaults", "tools", "plugins", "domains", "toolsets", "sites", "conditions"),
)
DEFAULT_KEYS = ("managed", "personal", "reading")
SITE_KEYS = ("deny", "allow")


class Policy(msgspec.Struct, frozen=True):
    """What a policy file says; patterns of hosts in their one spelling."""

    name: str
    unattended: Unattended | None
    elicitation: bool
    defaults: Levels
    tools: Levels
    plugins: Levels
    domains: Levels
    toolsets: Levels
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    conditions: tuple[Condition, ...]


def parse(text: str, name: str) -> Policy:
    """The policy in a text; InvalidArguments with file, line and reason for the first fault."""
    return read(text, name, lambda data: _policy(data, name))


def _policy(data: dict[str, Any], name: str) -> Policy:
    top = table(data, (), KEYS)
    sites = table(top.get("sites", {}), ("sites",), SITE_KEYS)
    return Policy(
        name=name,
        unattended=_unattended(top),
        elicitation=typed(top.get("elicitation", False), bool, ("elicitation",)),
        defaults=_levels(top, "defaults", DEFAULT_KEYS),
        tools=_levels(top, "tools"),
        plugins=_levels(top, "plugins"),
        domains=_domains(_levels(top, "domains")),
        toolsets=_levels(top, "toolsets", TOOLSETS),
        deny=items(sites.get("deny", []), ("sites", "deny"), pattern),
        allow=items(sites.get("allow", []), ("sites", "allow"), pattern),
        conditions=items(top.get("conditions", []), ("conditions",), read_condition),
    )


def _unattended(top: dict[str, Any]) -> Unattended | None:
    if "unattended" not in top:
        return None
    return cast(Unattended, word(top["unattended"], ("deny", "allow"), ("unattended",)))


def _levels(top: dict[str, Any], key: str, known: tuple[str, ...] | None = None) -> Levels:
    found = table(top.get(key, {}), (key,), known)
    return {name: level(value, (key, name)) for name, value in found.items()}


def _domains(written: Levels) -> Levels:
    domains: dict[str, Level] = {}
    for name, allowed in written.items():
        path: Path = ("domains", name)
        host = pattern(name, path)
        if host in domains:
            raise Fault(path, f"{dotted(path)} is {host}, which is there already")
        domains[host] = allowed
    return domains
