"""How page tools are listed: merged by domain, or per tab. Each entry knows who publishes it.

When merged, tabs share an entry only if name, schema and hints are the same. A tool that differs
gets an entry of its own with the tab's index in its name, so that no schema wins silently.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from tabhub.hub.names import PageToolName, fitted, free_name
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.memory import Remembered, ToolMemory
from tabhub.page_tools.core.schema import NOT_OPEN, PageSchema, description, parameter_for
from tabhub.page_tools.core.storage import Holder, Page, PageRef, Published, TabKey

SOURCE = "pages"
TOOLSETS = frozenset({"pages"})
Mode = Literal["merged", "per-tab"]
Key = tuple[object, ...]
NO_ALIASES: Mapping[str, str] = {}
"""One shared object, to save memory."""
NUMBER, TEXT, EITHER = ("integer",), ("string",), ("integer", "string")


@dataclass(slots=True, eq=False)
class Entry:
    """One listed tool and the tabs that have it, the most recently updated last.

    Most tools are in one tab only; they need no dict.
    """

    name: str
    plain: str
    """The name without the tab's index and without what keeps it apart from others."""
    domain: str
    index: int | None
    tool: Published
    listed: Tool | None = None
    _single: Holder | None = None
    _many: dict[TabKey, tuple[PageRef, ...]] | None = None

    @property
    def tabs(self) -> dict[TabKey, tuple[PageRef, ...]]:
        if self._many is not None:
            return self._many
        return {} if self._single is None else dict((self._single,))

    def is_still(self, tool: Tool) -> bool:
        """Whether this is the same tool as an earlier listed one; a name can be reused."""
        has_name = (self.domain, self.tool.name) == (tool.site, tool.page_tool)
        schema = tool.input_schema
        has_schema = isinstance(schema, PageSchema) and schema.own == self.tool.schema
        return has_name and has_schema and _decoded(self.tool.annotations) == tool.annotations

    def add(self, page: Page) -> None:
        if self._many is None and (self._single is None or self._single == page.holder):
            self._single = page.holder
            return
        many = self._as_many()
        refs = many.pop(page.tab, ())
        many[page.tab] = (*(ref for ref in refs if ref != page.ref), page.ref)

    def remove(self, page: Page) -> None:
        if self._single == page.holder:
            self._single = None
            return
        many = self._as_many()
        left = tuple(ref for ref in many.get(page.tab, ()) if ref != page.ref)
        if left:
            many[page.tab] = left
        else:
            many.pop(page.tab, None)
        if not many:
            self._many = None

    def _as_many(self) -> dict[TabKey, tuple[PageRef, ...]]:
        if self._many is None:
            self._many = self.tabs
            self._single = None
        return self._many


class ListingChanges(NamedTuple):
    """Changes to make in the registry of tools."""

    put: list[Tool]
    remove: list[str]


class ToolListing:
    """The entries, by domain and the tool's name in the page, and by listed name."""

    def __init__(
        self,
        mode: Mode,
        seconds: float,
        index_of: Callable[[str, TabKey], int],
        in_front: Callable[[str], list[TabKey]],
        named: Callable[[Entry], None] = lambda entry: None,
    ) -> None:
        self._named = named
        self.mode = mode
        self._seconds = seconds
        self._index_of = index_of
        self._in_front = in_front
        self._domains: dict[str, dict[str, Entry | tuple[Entry, ...]]] = {}
        self._by_name: dict[str, Entry] = {}
        self.memory = ToolMemory()
        self._dirty: dict[Entry, None] = {}
        self._gone: dict[str, Tool] = {}
        """Tools whose names were removed since the last `settle`; some return before the next."""

    def find(self, name: str) -> Entry | None:
        return self._by_name.get(name)

    def in_tab(self, domain: str, tool: str, tab: TabKey) -> Entry | None:
        """The entry of a page's tool in a tab."""
        return next((entry for entry in self._variants(domain, tool) if tab in entry.tabs), None)

    def meaning(self, name: str) -> Entry | None:
        """The tool listed under a name, or one whose plain name it is."""
        plain = (entry for entry in self._by_name.values() if entry.plain == name)
        return self._by_name.get(name) or next(plain, None)

    def parse(self, name: str) -> PageToolName | None:
        """The parts of a listed name; looked up, because the text alone is ambiguous."""
        entry = self._by_name.get(name)
        return None if entry is None else PageToolName(entry.domain, entry.tool.name, entry.index)

    def publish(self, page: Page, tool: Published) -> None:
        entry = self._entry(page, tool)
        if entry is None:
            self._unlist(page.domain, tool.name)
            entry = self._new(page.domain, tool, self._needed_index(page, tool))
        entry.add(page)
        entry.tool = tool
        self._dirty[entry] = None
        if tool.cached:
            self._keep(
                Remembered(page.domain, tool, page.url, page.origin, page.seen, page.transport)
            )
        else:
            self.memory.drop(page.domain, tool.name)

    def withdraw(self, page: Page, tool: Published) -> None:
        entry = self._entry(page, tool)
        if entry is None:
            return
        entry.remove(page)
        self._dirty[entry] = None
        if not entry.tabs and not self._may_stay(entry):
            self._drop(entry)
            self._list_remembered(entry.domain, entry.tool.name)

    def remember(self, kept: Remembered) -> None:
        """Keep a tool that no tab has, and list it unless one of that name is listed."""
        self._keep(kept)
        self._list_remembered(kept.domain, kept.tool.name)

    def forget(self, domain: str, tool: str) -> None:
        """Forget a remembered tool; one that a tab has stays listed until the tab closes."""
        self.memory.drop(domain, tool)
        self._unlist(domain, tool)

    def show_active(self, affected: Iterable[tuple[Page, Published]]) -> None:
        """The active tab has changed: list these tools again where the list shows it."""
        if self.mode == "per-tab":
            found = (self._entry(page, tool) for page, tool in affected)
            self._dirty.update((entry, None) for entry in found if entry is not None)

    def settle(self) -> ListingChanges:
        """Everything that has changed since the last call."""
        for key in self.memory.trim():
            self._unlist(*key)
        listed = [entry for entry in self._dirty if self._by_name.get(entry.name) is entry]
        put = [tool for entry in listed if (tool := self._changed(entry)) is not None]
        gone = [name for name in self._gone if name not in self._by_name]
        self._dirty, self._gone = {}, {}
        return ListingChanges(put, gone)

    def key(self, page: Page, tool: Published) -> Key:
        """A key that is equal for tools that share an entry."""
        tab = None if self.mode == "merged" else page.tab
        return page.domain, tool.name, tab, *tool.identity

    def _changed(self, entry: Entry) -> Tool | None:
        """The tool to list, if it differs from the one listed before."""
        tool = self._tool(entry)
        before = entry.listed or self._gone.get(entry.name)
        is_same = tool == before
        entry.listed = before if is_same else tool
        return None if is_same else tool

    def _tool(self, entry: Entry) -> Tool:
        tool = entry.tool
        is_merged = self.mode == "merged"
        parameter = parameter_for(tool.schema) if is_merged else ""
        return Tool(
            name=entry.name,
            description=description(tool.description, entry.domain, self._about_tab(entry)),
            input_schema=PageSchema(tool.schema, parameter, _kinds(entry.tabs)),
            source=SOURCE,
            title=tool.title,
            annotations=_decoded(tool.annotations),
            seconds=self._seconds,
            site=entry.domain,
            page_tool=tool.name,
            plain_name=entry.plain,
            # A rule about a name applies to every tool that has it, or would have it.
            same_as=(entry.name,) if entry.plain == entry.name else (entry.name, entry.plain),
            toolsets=TOOLSETS,
            tab_argument=parameter,
            aliases=NO_ALIASES,
        )

    def _about_tab(self, entry: Entry) -> str:
        """Which tab it is, where tabs are listed singly, and whether there is one at all."""
        if not entry.tabs:
            return NOT_OPEN
        if self.mode == "merged" or entry.index is None:
            return ""
        is_active = any(tab in entry.tabs for tab in self._in_front(entry.domain))
        return f" • Tab {entry.index}{' Active' if is_active else ''}"

    def _variants(self, domain: str, tool: str) -> tuple[Entry, ...]:
        found = self._domains.get(domain, {}).get(tool, ())
        return (found,) if isinstance(found, Entry) else found

    def _entry(self, page: Page, tool: Published) -> Entry | None:
        """The entry that a page's tool has or would share."""
        for entry in self._variants(page.domain, tool.name):
            if entry.tool.identity == tool.identity:
                if self.mode == "merged" or page.tab in entry.tabs:
                    return entry
        return None

    def _needed_index(self, page: Page, tool: Published) -> int | None:
        if self.mode == "merged" and not self._variants(page.domain, tool.name):
            return None
        return self._index_of(page.domain, page.tab)

    def _new(self, domain: str, tool: Published, index: int | None) -> Entry:
        name = free_name(PageToolName(domain, tool.name, index), tool.identity, self._by_name)
        plain = fitted(PageToolName(domain, tool.name))
        # Equal names are one object, to save memory.
        plain = name if name == plain else plain
        entry = self._by_name[name] = Entry(name, plain, domain, index, tool)
        self._named(entry)
        others = self._variants(domain, tool.name)
        self._domains.setdefault(domain, {})[tool.name] = (*others, entry) if others else entry
        return entry

    def _may_stay(self, entry: Entry) -> bool:
        """Whether an entry without tabs is the one under which a remembered tool is listed."""
        tool = entry.tool.name
        kept = self.memory.find(entry.domain, tool)
        is_last = self._variants(entry.domain, tool) == (entry,)
        return (
            kept is not None
            and entry.index is None
            and is_last
            and kept.tool.identity == entry.tool.identity
        )

    def _keep(self, kept: Remembered) -> None:
        for key in self.memory.keep(kept):
            self._unlist(*key)

    def _list_remembered(self, domain: str, tool: str) -> None:
        kept = self.memory.find(domain, tool)
        if kept is not None and not self._variants(domain, tool):
            self._dirty[self._new(domain, kept.tool, None)] = None

    def _unlist(self, domain: str, tool: str) -> None:
        for entry in self._variants(domain, tool):
            if not entry.tabs:
                self._drop(entry)

    def _drop(self, entry: Entry) -> None:
        del self._by_name[entry.name]
        if entry.listed is not None:
            self._gone[entry.name] = entry.listed
        tools, name = self._domains[entry.domain], entry.tool.name
        left = tuple(other for other in self._variants(entry.domain, name) if other is not entry)
        if left:
            tools[name] = left
        else:
            del tools[name]
        if not tools:
            del self._domains[entry.domain]


def _kinds(tabs: Mapping[TabKey, object]) -> tuple[str, ...]:
    """The JSON types of the ids of a tool's tabs."""
    types = {type(tab) for tab in tabs}
    if str not in types:
        return NUMBER
    return EITHER if int in types else TEXT


@lru_cache(maxsize=1000)
def _decoded(annotations: bytes) -> Mapping[str, Any]:
    """One object for equal annotations: most tools have one of a few sets."""
    decoded: Mapping[str, Any] = msgspec.json.decode(annotations)
    return decoded
