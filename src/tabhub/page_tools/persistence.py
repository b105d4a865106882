"""Keeps what pages publish, so that a restart of the server does not lose it.

A tab's row goes with the tab, so a row that is found was of a tab that lived until the server
ended: that it was alive then is one row for all, written now and then.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from tabhub.page_tools.core.registry import PageRegistry
from tabhub.page_tools.core.schema import one_line
from tabhub.page_tools.core.storage import RESTORED, Page, PageRef, Published, Remembered, TabKey
from tabhub.store.store import Store, decoded

log = logging.getLogger(__name__)

STALE_SECONDS = 3600.0
ALIVE = "alive"
TABS, TOOLS = "page-tabs", "page-tools"


class _Image(msgspec.Struct):
    """What one tab has of one domain."""

    domain: str
    tab: int | str
    transport: str
    origin: str
    url: str
    title: str
    seen: float
    tools: list[Published]


class Check(Protocol):
    """What a page may tell; ValueError for what it may not."""

    @property
    def most_tools(self) -> int: ...

    def url(self, domain: str, origin: str, url: str) -> str:
        """Where the page was."""

    def tool(self, tool: Published) -> Published: ...


class PageImages:
    """Writes a tab down whenever its tools change."""

    def __init__(self, store: Store, pages: PageRegistry, check: Check, now: float) -> None:
        self._tabs = store.collection(TABS)
        self._remembered = store.collection(TOOLS)
        self._check = check
        self._marks = store.collection("page-marks")
        self._pages = pages
        self._kept: dict[str, Remembered] = {}
        self._load(now)
        pages.on_change(self._changed)
        pages.on_remembered(self._note_remembered)
        self._note_remembered()

    def alive(self, now: float) -> None:
        """Note that the tabs are there; forget what has not come back for too long."""
        self._safely(lambda: self._marks.put(ALIVE, msgspec.json.encode(now)))
        self._pages.restored(lambda page: now - page.seen > STALE_SECONDS)

    def _load(self, now: float) -> None:
        alive = dict(decoded(self._marks, float)).get(ALIVE, 0.0)
        pages: list[Page] = []
        for key, image in decoded(self._tabs, _Image):
            seen = max(image.seen, alive)
            page = None if now - seen > STALE_SECONDS else self._page(image, seen, len(pages))
            if page is None:
                self._tabs.drop(key)
            else:
                pages.append(page)
        self._kept = dict(self._checked())
        self._pages.load(pages, sorted(self._kept.values(), key=lambda kept: kept.at))

    def _checked(self) -> Iterator[tuple[str, Remembered]]:
        """The rows of remembered tools that a page could have told as well."""
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
            log.error("a remembered tool of %r is dropped: %s", row.domain[:100], unfit)
            return None
        return msgspec.structs.replace(row, url=url, tool=tool)

    def _page(self, image: _Image, seen: float, number: int) -> Page | None:
        """The tab as one page, to which there is no way until it has come back."""
        try:
            url = self._check.url(image.domain, image.origin, image.url)
        except ValueError as unfit:
            log.error("what was known of a tab is dropped: %s", unfit)
            return None
        return Page(
            ref=PageRef(RESTORED, image.tab, number, image.transport),
            domain=image.domain,
            origin=image.origin,
            url=url,
            title=one_line(image.title),
            tools={tool.name: tool for tool in self._tools(image)},
            seen=seen,
        )

    def _tools(self, image: _Image) -> Iterator[Published]:
        for tool in image.tools[: self._check.most_tools]:
            try:
                yield self._check.tool(tool)
            except ValueError as unfit:
                log.error("a tool in a tab of %s is dropped: %s", image.domain, unfit)

    def reload(self) -> None:
        """Another process may have dropped some of what is remembered."""
        there = self._remembered.keys()
        gone = {key for key in self._kept if key not in there}
        if gone:
            self._pages.forget(lambda kept: _key(kept.domain, kept.tool.name) in gone)

    def _changed(self, domain: str, tab: TabKey) -> None:
        self._safely(lambda: self._write(domain, tab))

    def _write(self, domain: str, tab: TabKey) -> None:
        key = _key(domain, tab)
        pages = list(self._pages.storage.here(domain, tab))
        if pages:
            self._tabs.put(key, msgspec.json.encode(_image(pages)))
        else:
            self._tabs.drop(key)

    def _note_remembered(self) -> None:
        self._safely(self._write_remembered)

    def _write_remembered(self) -> None:
        """What stays without a tab: of that, what is not written down as it is now."""
        memory = self._pages.memory
        put: dict[str, Remembered] = {}
        drop: list[str] = []
        for domain, tool in memory.take_changes():
            key, kept = _key(domain, tool), memory.find(domain, tool)
            known = self._kept.get(key)
            if kept is None and known is not None:
                drop.append(key)
            elif kept is not None and (known is None or _said(kept) != _said(known)):
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
            # Pages go on; only a restart would not find them.
            log.error("what pages publish could not be written down: %s", error)


def _key(domain: str, tab: TabKey) -> str:
    return msgspec.json.encode((domain, tab)).decode()


def _image(pages: list[Page]) -> _Image:
    first = min(pages, key=lambda page: page.ref.frame)
    tools = {name: tool for page in pages for name, tool in page.tools.items()}
    return _Image(
        domain=first.domain,
        tab=first.tab,
        transport=first.way,
        origin=first.origin,
        url=first.url,
        title=first.title,
        seen=max(page.seen for page in pages),
        tools=list(tools.values()),
    )


def _said(kept: Remembered) -> tuple[object, ...]:
    """All but when it was said."""
    return kept.tool, kept.url, kept.origin, kept.way


def forget_origins(store: Store, which: Callable[[str], bool]) -> int:
    """Drop what is known of pages of some origins; how many tools would have stayed listed."""
    for key, image in decoded(store.collection(TABS), _Image):
        if which(image.origin):
            store.collection(TABS).drop(key)
    remembered = decoded(store.collection(TOOLS), Remembered)
    gone = [key for key, kept in remembered if which(kept.origin)]
    store.collection(TOOLS).change({}, gone)
    return len(gone)
