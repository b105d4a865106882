"""The registry of tools: immutable entries, a duplicate is an error, every change is told."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabhub.errors import Internal, NotFound
from tabhub.hub.schemas import BoundedSchema

LONGEST_SUMMARY = 120
_SENTENCE = re.compile(r".*?[.!?](?=\s|$)")

Json = dict[str, Any]
Changes = Callable[[Mapping[str, Any]], bool] | str
"""By which arguments a reading tool changes something: a rule, or the name of one argument."""
SameAs = Callable[[Mapping[str, Any]], tuple[str, ...]] | tuple[str, ...]
"""Names of tools; where it depends on the arguments, a rule that gives them."""
Handler = Callable[[Any], Awaitable[Any]]
"""Runs a call: a source calls it with a context of its own and gets the result."""


LONGEST_NAME = 128
"""No tool has a longer one."""


def shortened(name: str) -> str:
    """A name that may be none, as far as an error tells it."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as data: what it is called, what it takes, and whose it is."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    source: str
    """The key of the `Source` that runs it."""
    handler: Handler | None = None
    """The function of this tool, where its source has one for each; others run them by name."""
    title: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    needs_tab: bool = True
    """Whether a call goes to one tab; then `tabId` names it and the hub fills it in."""
    tab_argument: str = "tabId"
    """What that argument is called; empty if the tool's name says which tab it is."""
    opens_tab: bool = False
    """Whether the result names a tab that becomes the session's current one.

    One that needs a tab as well opens it only where the session has none.
    """
    seconds: float | None = None
    """A time limit of its own, where the usual one does not fit."""
    plugin: str = ""
    """The family it belongs to: "browser", or a plugin's name; page tools have none."""
    site: str = ""
    """The site it belongs to: whatever tab a call goes to, it is decided about for this site."""
    page_tool: str = ""
    """What those pages call it."""
    plain_name: str = ""
    """The name it would have if it were the only one: rules of that name hold for it as well."""
    toolsets: frozenset[str] = frozenset()
    address_of: Callable[[Mapping[str, Any]], str | None] | None = None
    """The address that given arguments would lead to, where that is what a tool is for."""
    secret_arguments: frozenset[str] = frozenset()
    """Arguments that may hold a password and are not written down unless proved harmless."""
    changes_when: Changes | None = None
    """What turns a reading tool into one that changes something."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other words for arguments, which are understood but not listed."""
    same_as: SameAs = ()
    """Other tools by which the same can be done: rules about them hold for this one too."""
    opens_as: tuple[str, ...] = ()
    """Likewise, for one that needs a tab and opens it where there is none."""
    as_asked: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Arguments as a person is to see them, where the agent's words could mislead."""
    keywords: str = ""
    """Words to find it by, beside those of its texts."""
    is_container: bool = False
    """Whether all it does is to make other calls, each decided about, timed and ended by itself."""

    @property
    def summary(self) -> str:
        """Its first sentence, in one short line."""
        told = " ".join(self.description.split())
        sentence = _SENTENCE.match(told)
        said = sentence[0] if sentence else told
        return said if len(said) <= LONGEST_SUMMARY else said[: LONGEST_SUMMARY - 1] + "…"

    @property
    def namespace(self) -> str:
        """What its name is listed, filtered and searched under."""
        return self.plugin or self.site

    @property
    def page(self) -> tuple[str, str] | None:
        """For a tool of a page: the page's site, and what the page calls it."""
        return (self.site, self.page_tool) if self.page_tool else None

    @property
    def is_bounded(self) -> bool:
        """Whether somebody else wrote its schema."""
        schema = self.input_schema
        return type(schema) is not dict and isinstance(schema, BoundedSchema)

    def is_reading(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call changes nothing."""
        changes = self.changes_when
        if changes is None:
            return self.annotations.get("readOnlyHint") is True
        return not (arguments.get(changes) if isinstance(changes, str) else changes(arguments))

    def others(self, arguments: Mapping[str, Any], opens: bool) -> tuple[str, ...]:
        """The tools whose rules hold for a call as well."""
        same = self.same_as(arguments) if callable(self.same_as) else self.same_as
        return (*same, *self.opens_as) if opens else same

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The names by which rules can mean it."""
        is_other = self.plain_name and self.plain_name != self.name
        return (self.name, self.plain_name) if is_other else (self.name,)

    @property
    def is_careful(self) -> bool:
        """Whether its maker says that it destroys or commits to something: then a person is asked.

        Only the explicit word counts; MCP's default for a missing one would make all tools careful.
        """
        hints = self.annotations
        return hints.get("destructiveHint") is True or hints.get("consequentialHint") is True


class ToolRegistry:
    """One dict and few verbs."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._listeners: list[Callable[[], None]] = []
        self._refreshers: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def add(self, *tools: Tool) -> None:
        for tool in tools:
            if tool.name in self._tools:
                raise Internal(f"There are two tools called {tool.name!r}.")
            self._tools[tool.name] = tool
        self._changed()

    def remove(self, *names: str) -> None:
        for name in names:
            self.get(name)
            del self._tools[name]
        self._changed()

    def replace(self, tool: Tool) -> None:
        """Put a changed tool in the place of the one with its name."""
        if self.get(tool.name) != tool:
            self._tools[tool.name] = tool
            self._changed()

    def change(self, put: Iterable[Tool], remove: Iterable[str], *, quiet: bool = False) -> None:
        """Many changes, told as one; nobody is told of quiet ones but who keeps copies."""
        for name in remove:
            del self._tools[name]
        for tool in put:
            self._tools[tool.name] = tool
        self._changed(quiet)

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def get(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            raise NotFound(f"There is no tool called {shortened(name)!r}.", "unknown_tool")
        return tool

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def on_refresh(self, listener: Callable[[], None]) -> None:
        """Hear of quiet changes too."""
        self._refreshers.append(listener)

    def _changed(self, quiet: bool = False) -> None:
        for listener in self._refreshers:
            listener()
        for listener in () if quiet else self._listeners:
            listener()
