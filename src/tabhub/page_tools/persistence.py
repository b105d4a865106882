"""Stores what pages publish, so that a restart of the server does not lose it.

The row of a tab is deleted with the tab, so every row found at the start was of a tab that was
open when the server ended. That time is one row for all of them, updated regularly.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from tabhub.hub.texts import one_line
from tabhub.page_tools.core.memory import Remembered
from tabhub.page_tools.core.registry import PageRegistry
from tabhub.page_tools.core.storage import RESTORED, Page, PageRef, Published, TabKey
from tabhub.store.store import Store, decoded

log = logging.getLogger(__name__)

STALE_SECONDS = 3600.0
ALIVE = "alive"
TABS, TOOLS = "page-tabs", "page-tools"


class _TabRow(msgspec.Struct):
    """The tools of one domain in one tab."""

    domain: str
    tab: int | str
    transport: str
    origin: str
    url: str
    title: str
    seen: float
    tools: list[Published]


class PageCheck(Protocol):
    """The checks of a registration, for stored rows; raises ValueError."""

    @property
    def most_tools(self) -> int: ...

    def url(self, domain: str, origin: str, url: str) -> str:
        """The page's address."""

    def tool(self, tool: Published) -> Published: ...


class PagePersistence:
    """Loads the stored pages, and writes a tab whenever its tools change."""

    def __init__(self, store: Store, pages: PageRegistry, check: PageCheck, now: float) -> None:
        self._tabs = store.collection(TABS)
        self._remembered = store.collection(TOOLS)
        self._check = check
        self._marks = store.collection("page-marks")
        self._pages = pages
        self._kept: dict[str, Remembered] = {}
        self._load(now)
        pages.on_change(self._changed)
        pages.on_remembered(self._remembered_changed)
        self._remembered_changed()

    def alive(self, now: float) -> None:
        """Store that the tabs are open; forget restored pages that have not registered in time."""
        self._safely(lambda: self._marks.put(ALIVE, msgspec.json.encode(now)))
        self._pages.forget_restored(lambda page: now - page.seen > STALE_SECONDS)

    def _load(self, now: float) -> None:
        alive = dict(decoded(self._marks, float)).get(ALIVE, 0.0)
        pages: list[Page] = []
        for key, row in decoded(self._tabs, _TabRow):
            seen = max(row.seen, alive)
            page = None if now - seen > STALE_SECONDS else self._page(row, seen, len(pages))
            if page is None:
                self._tabs.drop(key)
            else:
                pages.append(page)
        self._kept = dict(self._checked())
        self._pages.load(pages, sorted(self._kept.values(), key=lambda kept: kept.at))

    def _checked(self) -> Iterator[tuple[str, Remembered]]:
        """The rows of remembered tools that pass the checks of a registration."""
        for key, row in decoded(self._remembered, Remembered):
            kept = self._fit(row)
            if kept is None or key != _key(kept.domain, kept.tool.name):
                self._remembered.drop(key)
            else:
                yield key, kept

    def _fit(self, row: Remembered) -> Remembered | None:
        try:
            url = self._check.url(row.domain, row.origin, row.url)
            tool = self._check.tool(row.tool)
        except ValueError as unfit:
            log.error("dropped a remembered tool of %r: %s", row.domain[:100], unfit)
            return None
        return msgspec.structs.replace(row, url=url, tool=tool)

    def _page(self, row: _TabRow, seen: float, number: int) -> Page | None:
        """The tab as one page, which cannot be reached until it registers again."""
        try:
            url = self._check.url(row.domain, row.origin, row.url)
        except ValueError as unfit:
            log.error("dropped the stored tools of a tab: %s", unfit)
            return None
        return Page(
            ref=PageRef(RESTORED, row.tab, number, row.transport),
            domain=row.domain,
            origin=row.origin,
            url=url,
            title=one_line(row.title),
            tools={tool.name: tool for tool in self._tools(row)},
            seen=seen,
        )

    def _tools(self, row: _TabRow) -> Iterator[Published]:
        for tool in row.tools[: self._check.most_tools]:
            try:
                yield self._check.tool(tool)
            except ValueError as unfit:
                log.error("dropped a stored tool of %s: %s", row.domain, unfit)

    def reload(self) -> None:
        """Forget the remembered tools and restored tabs whose rows another process has deleted."""
        tabs = self._tabs.keys()
        self._pages.forget_restored(lambda page: _key(page.domain, page.tab) not in tabs)
        stored = self._remembered.keys()
        gone = {key for key in self._kept if key not in stored}
        if gone:
            self._pages.forget(lambda kept: _key(kept.domain, kept.tool.name) in gone)

    def _changed(self, domain: str, tab: TabKey) -> None:
        self._safely(lambda: self._write(domain, tab))

    def _write(self, domain: str, tab: TabKey) -> None:
        key = _key(domain, tab)
        # What allowed a frame in a page of another origin is asked again after a restart.
        pages = [page for page in self._pages.storage.pages_of(domain, tab) if not page.is_guest]
        if pages:
            self._tabs.put(key, msgspec.json.encode(_row(pages)))
        else:
            self._tabs.drop(key)

    def _remembered_changed(self) -> None:
        self._safely(self._write_remembered)

    def _write_remembered(self) -> None:
        """Write the changed rows of remembered tools."""
        memory = self._pages.memory
        put: dict[str, Remembered] = {}
        drop: list[str] = []
        for domain, tool in memory.take_changes():
            key, kept = _key(domain, tool), memory.find(domain, tool)
            known = self._kept.get(key)
            if kept is None and known is not None:
                drop.append(key)
            elif kept is not None and (known is None or _content(kept) != _content(known)):
                put[key] = kept
        if put or drop:
            written = {key: msgspec.json.encode(kept) for key, kept in put.items()}
            self._remembered.change(written, drop)
        self._kept.update(put)
        for key in drop:
            del self._kept[key]

    def _safely(self, work: Callable[[], None]) -> None:
        try:
            work()
        except sqlite3.Error as error:
            # Page tools keep working; only a restart would lose them.
            log.error("could not store what pages publish: %s", error)


def _key(domain: str, tab: TabKey) -> str:
    return msgspec.json.encode((domain, tab)).decode()


def _row(pages: list[Page]) -> _TabRow:
    first = min(pages, key=lambda page: page.ref.frame)
    tools = {name: tool for page in pages for name, tool in page.tools.items()}
    return _TabRow(
        domain=first.domain,
        tab=first.tab,
        transport=first.transport,
        origin=first.origin,
        url=first.url,
        title=first.title,
        seen=max(page.seen for page in pages),
        tools=list(tools.values()),
    )


def _content(kept: Remembered) -> tuple[object, ...]:
    """Everything but the time."""
    return kept.tool, kept.url, kept.origin, kept.transport


def forget_origins(store: Store, which: Callable[[str], bool]) -> int:
    """Delete the rows of the selected origins; returns how many remembered tools there were."""
    for key, row in decoded(store.collection(TABS), _TabRow):
        if which(row.origin):
            store.collection(TABS).drop(key)
    remembered = decoded(store.collection(TOOLS), Remembered)
    gone = [key for key, kept in remembered if which(kept.origin)]
    store.collection(TOOLS).change({}, gone)
    return len(gone)
