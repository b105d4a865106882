"""What is decided about a call, and by which rule."""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, Literal

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


class Level(IntEnum):
    """Never, after asking a person, or at once."""

    OFF = 0
    ASK = 1
    AUTO = 2

    @property
    def word(self) -> str:
        """As people write it."""
        return _WORDS[self]

    @classmethod
    def of(cls, word: str) -> "Level":
        """The level with this name; ValueError for any other word."""
        if word not in _WORDS:
            raise ValueError(f"{word!r} is not a level: there are off, ask and auto")
        return cls(_WORDS.index(word))


_WORDS = ("off", "ask", "auto")


PageTool = tuple[str, str]
"""A site, and what its pages call the tool: whose tool it is, whatever it is listed as."""
Known = Callable[[str], PageTool | None]
"""The tool that has a name now."""


class Pins:
    """The tool of each name in rules, once it is known; only these names are kept."""

    def __init__(self) -> None:
        self._pinned: dict[str, PageTool] = {}
        self._wanted: frozenset[str] = frozenset()

    def want(self, names: Iterable[str], known: Known) -> None:
        """These are the names in rules now; one that was among them keeps its tool."""
        self._wanted = frozenset(names)
        for name in self._pinned.keys() - self._wanted:
            self.free(name)
        for name in self._wanted - self._pinned.keys():
            if (tool := known(name)) is not None:
                self.pin(name, tool)

    def wants(self, name: str) -> bool:
        return name in self._wanted

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        """A tool has this name: the first one keeps it. Whose it is, where there is a rule."""
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


class Subject(msgspec.Struct, frozen=True):
    """A tool, who calls it, where, and with what."""

    tool: str
    source: str
    """browser, page or plugin."""
    plugin: str
    """`browser` for the browser tools, a plugin's name, empty for the tools of a page."""
    toolsets: frozenset[str]
    read_only: bool
    careful: bool
    """The tool says of itself that what it does is destructive or of consequence."""
    client: str
    """The name of the client's token; `main` for the person's own secret."""
    session: str
    site: str
    """As `site_of` gives it: host, port if unusual; empty for none; `opaque` for no host."""
    managed: bool
    """The browser was started for agents; else it is a person's own."""
    arguments: Mapping[str, Any] | None
    """None when the question is about the tool in general: conditions say nothing then."""
    only_toolsets: frozenset[str] | None = None
    """The toolsets the client's token is limited to."""
    only_reading: bool = False
    same_as: tuple[str, ...] = ()
    """Other tools by which the same could be done: what is written of them by name holds too."""
    page: PageTool | None = None
    """For the tool of a page: whose it is, and what its pages call it."""
    plain: str = ""
    """The name it would have if it were the only one of its name."""
    container: bool = False
    """It only makes other calls, about each of which it is decided."""
