"""A sample call, and helpers to decide about it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.config.settings import PermissionSettings
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grant, Grants
from tabhub.permissions.policy.policy import parse
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Allow, Ask, Deny, Subject, Verdict

NOW = 1000.0
CLICK = Subject(
    tool="browser_click_element",
    source="browser",
    plugin="browser",
    toolsets=frozenset({"core"}),
    read_only=False,
    careful=False,
    client="claude",
    session="s1",
    site="shop.example",
    managed=True,
    arguments={},
    for_site=True,
)
SLACK = msgspec.structs.replace(
    CLICK, tool="slack_send", source="plugin", plugin="slack", for_site=False
)


def call(subject: Subject = CLICK, /, **changes: Any) -> Subject:
    return msgspec.structs.replace(subject, **changes)


def config(levels: Mapping[str, Mapping[str, str]]) -> PermissionSettings:
    return msgspec.convert(levels, PermissionSettings)


def permissions(
    policy: str = "",
    levels: Mapping[str, Mapping[str, str]] | None = None,
    grants: tuple[Grant, ...] = (),
    skip: bool = False,
) -> Permissions:
    grants_kept = Grants()
    for grant in grants:
        grants_kept.add(grant)
    book = RuleBook(parse(policy, "policy.toml"), config(levels or {}))
    return Permissions(book, grants_kept, skip=skip)


def decide(policy: str = "", subject: Subject = CLICK, **more: Any) -> Verdict:
    return permissions(policy, **more).decide(subject, NOW)


def described(verdict: Verdict) -> str:
    """The verdict in one line: its kind, where its rule comes from, and the rule."""
    return f"{type(verdict).__name__} by {verdict.rule.source}: {verdict.rule.text}"


STRICTNESS: list[type] = [Deny, Ask, Allow]
