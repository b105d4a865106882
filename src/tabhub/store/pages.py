"""Keeps what pages publish, so that a restart of the server does not lose it.

A tab's row goes with the tab, so a row that is found was of a tab that lived until the server
ended: that it was alive then is one row for all, written now and then.
"""

import logging
import sqlite3
from collections.abc import Callable

import msgspec

from tabhub.hub.page_hub import PageHub
from tabhub.hub.page_tools import RESTORED, Page, PageRef, Published, Remembered, TabKey
from tabhub.store.store import Store, decoded

log = logging.getLogger(__name__)

STALE_SECONDS = 3600.0
MOST_REMEMBERED = 5000
ALIVE = "alive"


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


class PageImages:
    """Writes a tab down whenever its tools change."""

    def __init__(self, store: Store, pages: PageHub, now: float) -> None:
        self._tabs = store.shelf("page-tabs")
        self._remembered = store.shelf("page-tools")
        self._marks = store.shelf("page-marks")
        self._pages = pages
        self._kept: dict[str, tuple[Published, str]] = {}
        self._load(now)
        pages.on_change(self._changed)

    def alive(self, now: float) -> None:
        """Note that the tabs are there; forget what has not come back for too long."""
        self._safely(lambda: self._marks.put(ALIVE, msgspec.json.encode(now)))
        self._pages.restored(lambda page: now - page.seen > STALE_SECONDS)

    def _load(self, now: float) -> None:
        alive = dict(decoded(self._marks, float)).get(ALIVE, 0.0)
        pages: list[Page] = []
        for key, image in decoded(self._tabs, _Image):
            seen = max(image.seen, alive)
            if now - seen > STALE_SECONDS:
                self._tabs.drop(key)
            else:
                pages.append(_page(image, seen, len(pages)))
        remembered = decoded(self._remembered, Remembered)
        self._kept = {key: (kept.tool, kept.url) for key, kept in remembered}
        self._pages.load(pages, [kept for _, kept in remembered])

    def _changed(self, domain: str, tab: TabKey) -> None:
        self._safely(lambda: self._write(domain, tab))

    def _write(self, domain: str, tab: TabKey) -> None:
        key = _key(domain, tab)
        pages = list(self._pages.storage.here(domain, tab))
        if pages:
            self._tabs.put(key, msgspec.json.encode(_image(pages)))
        else:
            self._tabs.drop(key)
        self._write_remembered()

    def _write_remembered(self) -> None:
        """What stays without a tab: few sites have any, so all of it is compared."""
        there = {_key(kept.domain, kept.tool.name): kept for kept in self._pages.remembered()}
        for key in self._kept.keys() - there.keys():
            self._remembered.drop(key)
        for key, kept in there.items():
            if self._kept.get(key) != (kept.tool, kept.url):
                self._remembered.put(key, msgspec.json.encode(kept))
        self._kept = {key: (kept.tool, kept.url) for key, kept in there.items()}
        if len(there) > MOST_REMEMBERED:
            oldest = sorted(there.values(), key=lambda kept: kept.at)
            self._pages.forget(oldest[: len(there) - MOST_REMEMBERED])

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


def _page(image: _Image, seen: float, number: int) -> Page:
    """The tab as one page, to which there is no way until it has come back."""
    return Page(
        ref=PageRef(RESTORED, image.tab, number, image.transport),
        domain=image.domain,
        origin=image.origin,
        url=image.url,
        title=image.title,
        tools={tool.name: tool for tool in image.tools},
        seen=seen,
    )
