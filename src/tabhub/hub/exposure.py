"""How page tools are listed: merged by domain, or tab by tab. Each entry counts who publishes it.

Merged, tabs share an entry only if name, schema and hints are the same; a tool that differs has an
entry of its own, with the tab's index in its name. So nobody's schema wins silently.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from tabhub.hub.descriptions import description
from tabhub.hub.names import PageToolName, ToolNamer
from tabhub.hub.page_schema import PageSchema, parameter_for
from tabhub.hub.page_tools import Page, PageRef, Published, Remembered, TabKey
from tabhub.hub.tools import Tool

SOURCE = "pages"
TOOLSETS = frozenset({"pages"})
Mode = Literal["merged", "per-tab"]
Key = tuple[str, str, object]
"""Domain, the page's name for the tool, and what tells it from others of that name."""
PLAIN = None
"""What tells nothing: for a remembered tool of no tab."""


class Place(NamedTuple):
    """Where a page was that published a tool."""

    url: str
    origin: str
    at: float


@dataclass(slots=True)
class Entry:
    """One listed tool, and the tabs that have it: the one updated last is the last."""

    name: str
    domain: str
    index: int | None
    tool: Published
    tabs: dict[TabKey, tuple[PageRef, ...]] = field(default_factory=dict)
    workers: int = 0
    """How many of the tabs only the page worker reaches."""
    place: Place | None = None
    shown: tuple[object, ...] | None = None
    """What the listed tool was made of."""

    def add(self, page: Page) -> None:
        refs = self.tabs.pop(page.tab, ())
        if not refs and isinstance(page.tab, str):
            self.workers += 1
        self.tabs[page.tab] = (*(ref for ref in refs if ref != page.ref), page.ref)

    def remove(self, page: Page) -> None:
        left = tuple(ref for ref in self.tabs.get(page.tab, ()) if ref != page.ref)
        if left:
            self.tabs[page.tab] = left
        elif self.tabs.pop(page.tab, None) and isinstance(page.tab, str):
            self.workers -= 1


class Changes(NamedTuple):
    """What must be done to the list of tools."""

    put: list[Tool]
    remove: list[str]


class Exposure:
    """The entries, by what makes them one and by name."""

    def __init__(self, mode: Mode, seconds: float, index_of: Callable[[str, TabKey], int]) -> None:
        self.mode = mode
        self._seconds = seconds
        self._index_of = index_of
        self._namer = ToolNamer()
        self._entries: dict[Key, Entry] = {}
        self._by_name: dict[str, Key] = {}
        self._variants: dict[tuple[str, str], list[Key]] = {}
        self._placed: dict[Key, None] = {}
        self._dirty: dict[Key, None] = {}
        self._gone: dict[str, None] = {}
        self._listed: set[str] = set()
        self._active: TabKey | None = None

    def find(self, name: str) -> Entry | None:
        key = self._by_name.get(name)
        return None if key is None else self._entries[key]

    def publish(self, page: Page, tool: Published) -> None:
        key = self.key(page, tool)
        entry = self._entries.get(key)
        if entry is None:
            self._forget_remembered(page.domain, tool.name)
            entry = self._new(key, tool, self._needed_index(page, tool))
        entry.add(page)
        entry.tool = tool
        self._keep_place(key, Place(page.url, page.origin, page.seen) if tool.cached else None)
        self._dirty[key] = None

    def withdraw(self, page: Page, tool: Published) -> None:
        key = self.key(page, tool)
        entry = self._entries[key]
        entry.remove(page)
        self._dirty[key] = None
        if entry.tabs:
            return
        if entry.place is None:
            self._drop(key)
        elif self.mode == "per-tab":
            self._drop(key)
            if not self._variants.get((entry.domain, tool.name)):
                self.remember(Remembered(entry.domain, entry.tool, *entry.place))

    def remember(self, kept: Remembered) -> None:
        """List a tool that no tab has."""
        variant = kept.tool.identity if self.mode == "merged" else PLAIN
        key = (kept.domain, kept.tool.name, variant)
        if key not in self._entries and not self._variants.get((kept.domain, kept.tool.name)):
            self._new(key, kept.tool, None)
            self._keep_place(key, Place(kept.url, kept.origin, kept.at))
            self._dirty[key] = None

    def forget(self, domain: str, tool: str) -> None:
        """A remembered tool is to be listed no more; one that a tab has stays."""
        self._forget_remembered(domain, tool)

    def remembered(self) -> Iterator[Remembered]:
        """What would stay if all tabs closed."""
        for key in self._placed:
            entry = self._entries[key]
            if entry.place is not None:
                yield Remembered(entry.domain, entry.tool, *entry.place)

    def activate(self, tab: TabKey | None, affected: list[tuple[Page, Published]]) -> None:
        """Another tab is in front; where the list shows that, these are shown anew."""
        self._active = tab
        if self.mode == "per-tab":
            for page, tool in affected:
                key = self.key(page, tool)
                self._dirty[key] = None

    def settle(self) -> Changes:
        """All that has changed since the last time."""
        put = [tool for key in self._dirty if (tool := self._fresh(key)) is not None]
        gone = [n for n in self._gone if n not in self._by_name and n in self._listed]
        self._listed.update(tool.name for tool in put)
        self._listed.difference_update(gone)
        self._dirty, self._gone = {}, {}
        return Changes(put, gone)

    def _fresh(self, key: Key) -> Tool | None:
        """The tool as it is to be listed, if that has changed."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        is_active = self.mode == "per-tab" and self._active in entry.tabs
        tool = entry.tool
        shown = (*tool.identity, tool.description, tool.title, _kinds(entry), is_active)
        if shown == entry.shown:
            return None
        entry.shown = shown
        return self._tool(entry, is_active)

    def _tool(self, entry: Entry, is_active: bool) -> Tool:
        tool = entry.tool
        is_merged = self.mode == "merged"
        parameter = parameter_for(tool.schema) if is_merged else ""
        index = None if is_merged else entry.index
        return Tool(
            name=entry.name,
            description=description(tool.description, entry.domain, index, is_active),
            input_schema=PageSchema(tool.schema, parameter, _kinds(entry)),
            source=SOURCE,
            title=tool.title,
            annotations=_decoded(tool.annotations),
            seconds=self._seconds,
            domain=entry.domain,
            toolsets=TOOLSETS,
            tab_argument=parameter,
        )

    def key(self, page: Page, tool: Published) -> Key:
        is_merged = self.mode == "merged"
        return page.domain, tool.name, tool.identity if is_merged else (page.tab, tool.identity)

    def _needed_index(self, page: Page, tool: Published) -> int | None:
        if self.mode == "merged" and not self._variants.get((page.domain, tool.name)):
            return None
        return self._index_of(page.domain, page.tab)

    def _new(self, key: Key, tool: Published, index: int | None) -> Entry:
        domain, called, variant = key
        name = self._namer.take(PageToolName(domain, called, index), variant)
        entry = self._entries[key] = Entry(name, domain, index, tool)
        self._by_name[name] = key
        self._variants.setdefault((domain, called), []).append(key)
        return entry

    def _keep_place(self, key: Key, place: Place | None) -> None:
        self._entries[key].place = place
        if place is None:
            self._placed.pop(key, None)
        else:
            self._placed[key] = None

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key)
        self._placed.pop(key, None)
        del self._by_name[entry.name]
        self._namer.free(entry.name)
        self._gone[entry.name] = None
        variants = self._variants[key[:2]]
        variants.remove(key)
        if not variants:
            del self._variants[key[:2]]

    def _forget_remembered(self, domain: str, tool: str) -> None:
        for key in list(self._variants.get((domain, tool), ())):
            if not self._entries[key].tabs:
                self._drop(key)


def _kinds(entry: Entry) -> tuple[str, ...]:
    """The types of ids that the tool's tabs have."""
    if not entry.workers:
        return ("integer",)
    return ("string",) if entry.workers == len(entry.tabs) else ("integer", "string")


@lru_cache(maxsize=1000)
def _decoded(annotations: bytes) -> Mapping[str, Any]:
    """Shared: most tools say one of a few things of themselves."""
    found: Mapping[str, Any] = msgspec.json.decode(annotations)
    return found
