"""A state machine of pages that open, change and close, and a simple model of the tool list."""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tabhub.errors import TabhubError
from tabhub.hub.names import PageToolName, fitted
from tabhub.page_tools.core.listing import Mode
from tabhub.page_tools.core.storage import Page, PageRef, Published
from tests.page_tools.core.pages import DOMAINS, NAMES, hub, page, published

_tool = st.builds(published, st.sampled_from(NAMES), st.integers(0, 1), cached=st.booleans())
_tools = st.lists(_tool, max_size=4, unique_by=lambda tool: tool.name)
_tabs = st.sampled_from((1, 2, 3, "uuid-1", "uuid-2"))


class Machine(RuleBasedStateMachine):
    """Tabs open, update, navigate, close and reopen; a simple model gives the expected list."""

    mode: Mode = "merged"

    def __init__(self) -> None:
        super().__init__()
        self.hub = hub(self.mode)
        self.live: dict[PageRef, Page] = {}
        self.kept: dict[tuple[str, str], Published] = {}
        self.events = 0
        self.hub.tools.on_change(self._count)
        self.first: dict[str, tuple[str, str]] = {}
        self.hub.pages.on_named(self.first.setdefault)

    def _count(self) -> None:
        self.events += 1

    def _once(self, work: Callable[[], None]) -> None:
        """A message changes the list once or not at all."""
        before, listed = self.events, {tool.name: tool for tool in self.hub.tools}
        work()
        changed = listed != {tool.name: tool for tool in self.hub.tools}
        assert self.events - before == (1 if changed else 0)

    def _keep(self, page_left: Page) -> None:
        for tool in page_left.tools.values():
            if tool.cached:
                self.kept[page_left.domain, tool.name] = tool

    def _live_names(self) -> set[tuple[str, str]]:
        return {(p.domain, name) for p in self.live.values() for name in p.tools}

    @rule(tab=_tabs, frame=st.integers(0, 1), domain=st.sampled_from(DOMAINS), tools=_tools)
    def register(self, tab: int | str, frame: int, domain: str, tools: list[Published]) -> None:
        fresh = page(tab, *tools, domain=domain, frame=frame)
        old = self.live.get(fresh.ref)
        self._once(lambda: self.hub.pages.register(fresh))
        if old is not None:
            self._keep(old)
        self.live[fresh.ref] = page(tab, *tools, domain=domain, frame=frame)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), tools=_tools)
    def update(self, data: st.DataObject, tools: list[Published]) -> None:
        ref = data.draw(st.sampled_from(list(self.live)))
        self._once(lambda: self.hub.pages.update(ref, {t.name: t for t in tools}, 1.0))
        old = self.live[ref]
        self._keep(old)
        self.live[ref] = page(ref.tab, *tools, domain=old.domain, frame=ref.frame)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def register_again(self, data: st.DataObject) -> None:
        ref = data.draw(st.sampled_from(list(self.live)))
        old = self.live[ref]
        same = page(ref.tab, *old.tools.values(), domain=old.domain, frame=ref.frame)
        before = self.events
        self.hub.pages.register(same)
        assert self.events == before

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def navigate_away(self, data: st.DataObject) -> None:
        ref = data.draw(st.sampled_from(list(self.live)))
        self._once(lambda: self.hub.pages.gone(ref))
        self._keep(self.live.pop(ref))

    @rule(tab=_tabs)
    def close(self, tab: int | str) -> None:
        self._once(lambda: self.hub.pages.closed(tab))
        for ref in [ref for ref in self.live if ref.tab == tab]:
            self._keep(self.live.pop(ref))

    @rule(tab=st.one_of(st.none(), _tabs))
    def activate(self, tab: int | str | None) -> None:
        before = self.events
        self.hub.pages.activated(tab)
        assert self.events == before

    @rule(domain=st.sampled_from(DOMAINS), id=st.sampled_from(("uuid-1", "uuid-2")))
    def look(self, domain: str, id: str) -> None:
        before = self.events
        others = {other: self.hub.pages.in_front(other) for other in DOMAINS if other != domain}
        self.hub.pages.looked_at(domain, (f"https://{domain}", id))
        assert self.hub.pages.in_front(domain)[-1] == id
        assert others == {other: self.hub.pages.in_front(other) for other in others}
        assert self.events == before

    @invariant()
    def those_in_front_are_marked(self) -> None:
        for tool in self.hub.tools if self.mode == "per-tab" else ():
            entry = self.hub.pages.find(tool.name)
            in_front = self.hub.pages.in_front(tool.site)
            assert entry is not None
            marked = f"Tab {entry.index} Active]" in tool.description
            assert marked == any(tab in entry.tabs for tab in in_front)

    @invariant()
    def listed_is_what_is_published_and_what_is_kept(self) -> None:
        live = self._live_names()
        entries = [self.hub.pages.find(tool.name) for tool in self.hub.tools]
        listed = {(entry.domain, entry.tool.name) for entry in entries if entry is not None}
        assert None not in entries
        assert live <= listed
        # A cached tool stays until a page of its site publishes it again without caching.
        assert listed - live <= {*self.kept}
        remembered = {(kept.domain, kept.tool.name) for kept in self.hub.pages.memory}
        assert listed == live | remembered
        for entry in entries:
            assert entry is not None
            place = self.hub.pages.place(entry)
            assert entry.tabs or (place is not None and place.tool == entry.tool)

    @invariant()
    def every_publisher_is_counted_in_the_entry_of_its_very_schema(self) -> None:
        counted = set()
        for tool in self.hub.tools:
            entry = self.hub.pages.find(tool.name)
            assert entry is not None
            for refs in entry.tabs.values():
                for ref in refs:
                    assert self.live[ref].tools[entry.tool.name].schema == entry.tool.schema
                    counted.add((ref, entry.tool.name))
        assert counted == {(ref, name) for ref, p in self.live.items() for name in p.tools}

    @invariant()
    def names_fit_and_mean_one_thing(self) -> None:
        for tool in self.hub.tools:
            assert len(tool.name) <= 64 and tool.name.startswith("website_tool_")
            assert all(c.isascii() and (c.isalnum() or c in "_-") for c in tool.name)
            assert tool.plain_name == fitted(PageToolName(tool.site, tool.page_tool))
            # Rules know a tool by both of its names before it can be called.
            assert {*tool.rule_names} <= self.first.keys()
            page_tool = (tool.site, tool.page_tool)
            assert self.hub.pages.meaning(tool.name) == page_tool
            assert self.hub.pages.meaning(tool.plain_name) is not None

    @invariant()
    def no_call_goes_to_a_tab_without_the_tool(self) -> None:
        for tool in self.hub.tools:
            entry = self.hub.pages.find(tool.name)
            assert entry is not None
            for requested in (None, 1, 2, 3, 4, "uuid-1", "nobody"):
                try:
                    tab, _ = self.hub.page_routes.choose(tool.name, requested, 2)
                except TabhubError as error:
                    assert requested is not None and requested not in entry.tabs
                    assert error.reason in ("tab_not_found", "no_tab_for_tool")
                    continue
                assert (tab in entry.tabs) if entry.tabs else tab is None
                assert tab == requested or requested is None
