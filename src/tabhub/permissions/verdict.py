"""What is decided about a call, and by which rule."""

from typing import Literal

import msgspec

RuleSource = Literal["policy", "config", "grant", "plan", "default", "hint", "client", "skip"]
Duration = Literal["session", "always"]
Reason = Literal["permission_off", "permission_denied"]


class Rule(msgspec.Struct, frozen=True):
    """What decided: the kind of place it is written in, and its key, value and file."""

    source: RuleSource
    text: str


class Allow(msgspec.Struct, frozen=True):
    """Do it. If a person's grant decided, for how long that was given."""

    rule: Rule
    duration: Duration | None = None


class Deny(msgspec.Struct, frozen=True):
    """Do not; the message is for the agent."""

    rule: Rule
    reason: Reason
    message: str


class Ask(msgspec.Struct, frozen=True):
    """A person decides."""

    rule: Rule


Verdict = Allow | Deny | Ask
