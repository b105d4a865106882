"""The subject of a decision, and the verdict with the rule that decided it."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal

import msgspec

RuleSource = Literal[
    "policy", "config", "pairing", "grant", "plan", "default", "hint", "client", "skip", "review"
]
Duration = Literal["session", "always"]
Reason = Literal["permission_off", "permission_denied"]


class Rule(msgspec.Struct, frozen=True):
    """The rule that decided: where such rules come from, and its key, value and file as text."""

    source: RuleSource
    text: str


class Allow(msgspec.Struct, frozen=True):
    """Run the call. `duration` is that of the grant, if a grant decided."""

    rule: Rule
    duration: Duration | None = None


class Deny(msgspec.Struct, frozen=True):
    """Refuse the call; the message is for the agent."""

    rule: Rule
    reason: Reason
    message: str


class Ask(msgspec.Struct, frozen=True):
    """Ask the person."""

    rule: Rule


Verdict = Allow | Deny | Ask


class Level(IntEnum):
    """Never, after asking the person, or without asking."""

    OFF = 0
    ASK = 1
    AUTO = 2

    @property
    def word(self) -> str:
        """The level's name in files and on the command line."""
        return _WORDS[self]

    @classmethod
    def of(cls, word: str) -> "Level":
        """The level with this name; ValueError if there is none."""
        if word not in _WORDS:
            raise ValueError(f"{word!r} is not a level: there are off, ask and auto")
        return cls(_WORDS.index(word))


_WORDS = ("off", "ask", "auto")


PageTool = tuple[str, str]
"""A site and its pages' name for a tool: identifies a page tool, whatever name we list it under."""


class Subject(msgspec.Struct, frozen=True):
    """What is decided about: a tool, its caller, the site and the arguments."""

    tool: str
    source: str
    """browser, page or plugin."""
    plugin: str
    """`browser` for browser tools, else the plugin's name; empty for page tools."""
    toolsets: frozenset[str]
    read_only: bool
    careful: bool
    """The tool declares itself destructive or consequential."""
    client: str
    """The client's name; `main` for the person's own secret."""
    session: str
    site: str
    """As `site_of` returns it."""
    managed: bool
    """Whether tabhub started the browser for agents; otherwise it is the person's own."""
    arguments: Mapping[str, Any] | None
    """None for a decision about the tool in general, to which conditions do not apply."""
    only_toolsets: frozenset[str] | None = None
    """The toolsets that the client's token is limited to."""
    only_reading: bool = False
    same_as: tuple[str, ...] = ()
    """Tools that can do the same; rules with their names apply too."""
    page: PageTool | None = None
    """For a page tool: its site, and its name in the site's pages."""
    site_bound: bool = False
    """The tool belongs to one site, as page tools do."""
    plain: str = ""
    """The name the tool would have without namesakes."""
    container: bool = False
    """The tool only makes other calls, each with a decision of its own."""
    worker: str = ""
    """The paired origin whose page worker gets the call; empty for a tab of a browser."""
    gate: str | None = None
    """For a tool that must be reviewed: why it is closed, or empty; None for all other tools."""
    in_development: bool = False
    """The tool is a plugin's that the person works on in dev mode."""
    for_site: bool = False
    """A yes for everything that reads or acts on the site covers the call."""
    minor: bool = False
    """It changes next to nothing, in a tab of the agent's own: it scrolls, hovers or closes it."""
    only_closes: bool = False
    """The call closes a page and learns nothing of it, so that its site need not be open."""
