"""How page tools are listed: merged by domain, or tab by tab. Each entry counts who publishes it.

Merged, tabs share an entry only if name, schema and hints are the same; a tool that differs has an
entry of its own, with the tab's index in its name. So nobody's schema wins silently.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from tabhub.hub.descriptions import description
from tabhub.hub.memory import Memory
from tabhub.hub.names import PageToolName, fitted, free_name
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.schema import PageSchema, parameter_for
from tabhub.page_tools.core.storage import Holder, Page, PageRef, Published, Remembered, TabKey

SOURCE = "pages"
TOOLSETS = frozenset({"pages"})
Mode = Literal["merged", "per-tab"]
Key = tuple[object, ...]
NO_ALIASES: Mapping[str, str] = {}
"""One for all of them."""
NUMBER, WORD, EITHER = ("integer",), ("string",), ("integer", "string")


@dataclass(slots=True, eq=False)
class Entry:
    """One listed tool, and the tabs that have it: the one updated last is the last.

    Most tools are in one tab only: then no dict is made for it.
    """

    name: str
    plain: str
    """The name it would have if no other had it, and no tab were named in it."""
    domain: str
    index: int | None
    tool: Published
    listed: Tool | None = None
    _one: Holder | None = None
    _many: dict[TabKey, tuple[PageRef, ...]] | None = None

    @property
    def tabs(self) -> dict[TabKey, tuple[PageRef, ...]]:
        if self._many is not None:
            return self._many
        return {} if self._one is None else dict((self._one,))

    def is_still(self, tool: Tool) -> bool:
        """Whether it is what was listed as this: a name can come to stand for something else."""
        is_named = (self.domain, self.tool.name) == (tool.site, tool.page_tool)
        schema = tool.input_schema
        is_shaped = isinstance(schema, PageSchema) and schema.own == self.tool.schema
        return is_named and is_shaped and _decoded(self.tool.annotations) == tool.annotations

    def add(self, page: Page) -> None:
        if self._many is None and (self._one is None or self._one == page.holder):
            self._one = page.holder
            return
        many = self._made_many()
        refs = many.pop(page.tab, ())
        many[page.tab] = (*(ref for ref in refs if ref != page.ref), page.ref)

    def remove(self, page: Page) -> None:
        if self._one == page.holder:
            self._one = None
            return
        many = self._made_many()
        left = tuple(ref for ref in many.get(page.tab, ()) if ref != page.ref)
        if left:
            many[page.tab] = left
        else:
            many.pop(page.tab, None)
        if not many:
            self._many = None

    def _made_many(self) -> dict[TabKey, tuple[PageRef, ...]]:
        if self._many is None:
            self._many = {} if self._one is None else dict((self._one,))
            self._one = None
        return self._many


class Changes(NamedTuple):
    """What must be done to the list of tools."""

    put: list[Tool]
    remove: list[str]


class Exposure:
    """The entries: by domain and the page's name for the tool, and by the name in the list."""

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
        self.memory = Memory()
        self._dirty: dict[Entry, None] = {}
        self._gone: dict[str, Tool] = {}
        """What was listed under names that have gone since; some come back at once."""

    def find(self, name: str) -> Entry | None:
        return self._by_name.get(name)

    def in_tab(self, domain: str, tool: str, tab: TabKey) -> Entry | None:
        """The entry that has a tab, of what its page calls so."""
        found = (entry for entry in self._variants(domain, tool) if tab in entry.tabs)
        return next(found, None)

    def meaning(self, name: str) -> Entry | None:
        """The tool that is called so, or would be if nothing stood in the way."""
        plain = (entry for entry in self._by_name.values() if entry.plain == name)
        return self._by_name.get(name) or next(plain, None)

    def parse(self, name: str) -> PageToolName | None:
        """What a name stands for: asked of those that were given, never guessed."""
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
            self._keep(Remembered(page.domain, tool, page.url, page.origin, page.seen, page.way))
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
        """Keep a tool that no tab has, and list it unless one of its name is listed."""
        self._keep(kept)
        self._list_remembered(kept.domain, kept.tool.name)

    def forget(self, domain: str, tool: str) -> None:
        """A remembered tool is to be listed no more; one that a tab has stays until that goes."""
        self.memory.drop(domain, tool)
        self._unlist(domain, tool)

    def show_active(self, affected: Iterable[tuple[Page, Published]]) -> None:
        """Another tab is in front; where the list shows that, these are shown anew."""
        if self.mode == "per-tab":
            found = (self._entry(page, tool) for page, tool in affected)
            self._dirty.update((entry, None) for entry in found if entry is not None)

    def settle(self) -> Changes:
        """All that has changed since the last time."""
        for key in self.memory.trim():
            self._unlist(*key)
        there = [entry for entry in self._dirty if self._by_name.get(entry.name) is entry]
        put = [tool for entry in there if (tool := self._fresh(entry)) is not None]
        gone = [name for name in self._gone if name not in self._by_name]
        self._dirty, self._gone = {}, {}
        return Changes(put, gone)

    def key(self, page: Page, tool: Published) -> Key:
        """The same for what shares an entry."""
        own = None if self.mode == "merged" else page.tab
        return page.domain, tool.name, own, *tool.identity

    def _fresh(self, entry: Entry) -> Tool | None:
        """The tool as it is to be listed, if that has changed."""
        tool = self._tool(entry)
        before = entry.listed or self._gone.get(entry.name)
        is_same = tool == before
        entry.listed = before if is_same else tool
        return None if is_same else tool

    def _tool(self, entry: Entry) -> Tool:
        tool = entry.tool
        is_merged = self.mode == "merged"
        parameter = parameter_for(tool.schema) if is_merged else ""
        index, is_marked = None, False
        if not is_merged:
            index = entry.index
            is_marked = any(tab in entry.tabs for tab in self._in_front(entry.domain))
        return Tool(
            name=entry.name,
            description=description(tool.description, entry.domain, index, is_marked),
            input_schema=PageSchema(tool.schema, parameter, _kinds(entry.tabs)),
            source=SOURCE,
            title=tool.title,
            annotations=_decoded(tool.annotations),
            seconds=self._seconds,
            site=entry.domain,
            page_tool=tool.name,
            plain_name=entry.plain,
            # Rules about the name hold for it also where they were made for another's tool.
            same_as=(entry.name,) if entry.plain == entry.name else (entry.name, entry.plain),
            toolsets=TOOLSETS,
            tab_argument=parameter,
            aliases=NO_ALIASES,
        )

    def _variants(self, domain: str, tool: str) -> tuple[Entry, ...]:
        found = self._domains.get(domain, {}).get(tool, ())
        return (found,) if isinstance(found, Entry) else found

    def _entry(self, page: Page, tool: Published) -> Entry | None:
        """The entry that a page's tool has, or would share."""
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
        meant = PageToolName(domain, tool.name, index)
        name = free_name(meant, tool.identity, self._by_name)
        plain = fitted(PageToolName(domain, tool.name))
        shared = name if name == plain else plain
        entry = self._by_name[name] = Entry(name, shared, domain, index, tool)
        self._named(entry)
        others = self._variants(domain, tool.name)
        self._domains.setdefault(domain, {})[tool.name] = (*others, entry) if others else entry
        return entry

    def _may_stay(self, entry: Entry) -> bool:
        """Whether an entry without tabs is what is listed of the tool without them."""
        called = entry.tool.name
        kept = self.memory.find(entry.domain, called)
        is_last = self._variants(entry.domain, called) == (entry,)
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
        tools, called = self._domains[entry.domain], entry.tool.name
        left = tuple(other for other in self._variants(entry.domain, called) if other is not entry)
        if left:
            tools[called] = left
        else:
            del tools[called]
        if not tools:
            del self._domains[entry.domain]


def _kinds(tabs: Mapping[TabKey, object]) -> tuple[str, ...]:
    """The types of ids that a tool's tabs have."""
    types = {type(tab) for tab in tabs}
    if str not in types:
        return NUMBER
    return EITHER if int in types else WORD


@lru_cache(maxsize=1000)
def _decoded(annotations: bytes) -> Mapping[str, Any]:
    """Shared: most tools say one of a few things of themselves."""
    found: Mapping[str, Any] = msgspec.json.decode(annotations)
    return found
