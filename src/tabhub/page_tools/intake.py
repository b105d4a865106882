"""What a page says of itself, as it is taken in: a page is hostile, so all of it is bounded."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from tabhub.config.settings import Settings
from tabhub.hub.descriptions import one_line, readable
from tabhub.page_tools.core.storage import DomainToolStorage, Page, PageRef, Published
from tabhub.pages.complaints import Complaints
from tabhub.pages.definitions import checked
from tabhub.pages.intake import Intake
from tabhub.pages.origins import own_url
from tabhub.wire.pages import Capabilities, Kind

SCHEMAS_PER_TAB = 8
"""All tools of a tab together may be as large as so many of the largest schemas."""
LONGEST_ID = 100
EXTENSION_BYTES = 16 * 1024
LEFT_OUT = "tabhub/leftOut"
"""What the extension has already refused of a page's tools."""


class Registration(Struct):
    """What a page has said last; `origin` is the browser's word, never the page's."""

    page: PageRef
    origin: str
    url: str
    title: str
    tools: list[Raw]
    capabilities: Capabilities
    kind: Kind = "worker"
    worker_id: str = ""
    extensions: dict[str, Any] | None = None


class Admission:
    """Makes pages of registrations."""

    def __init__(
        self,
        storage: DomainToolStorage,
        settings: Callable[[], Settings],
        complaints: Complaints,
    ) -> None:
        self._storage = storage
        self._settings = settings
        self._complaints = complaints

    def known(self, ref: PageRef) -> Registration | None:
        """What a page that is here has said of itself, without its tools."""
        page = self._storage.find(ref)
        if page is None:
            return None
        return Registration(
            ref,
            page.origin,
            page.url,
            page.title,
            [],
            page.capabilities,
            page.kind or "worker",
            page.worker_id,
            page.extensions,
        )

    def page(self, told: Registration, domain: str) -> Page:
        tools = self._fitting(told, domain)
        capabilities = told.capabilities
        if any(tool.cached for tool in tools.values()):
            capabilities = msgspec.structs.replace(capabilities, cache_supported=True)
        return Page(
            ref=told.page,
            domain=domain,
            origin=told.origin,
            url=own_url(told.url, told.origin),
            title=one_line(told.title),
            tools=tools,
            seen=time.time(),
            capabilities=capabilities,
            kind=told.kind,
            worker_id=told.worker_id if len(told.worker_id) <= LONGEST_ID else "",
            extensions=self._small(told.extensions, domain),
        )

    def keeps(self, domain: str) -> bool:
        """Whether the settings say that a site's tools stay; without a port they mean every one."""
        kept = self._settings().cache
        return kept.get(domain, kept.get(domain.rpartition(":")[0], False))

    def _small(self, extensions: dict[str, Any] | None, domain: str) -> dict[str, Any] | None:
        left_out = (extensions or {}).get(LEFT_OUT)
        if left_out:
            self._complaints.say(
                domain, f"left out by the extension: {readable(str(left_out), 300)}"
            )
        if extensions and len(msgspec.json.encode(extensions)) > EXTENSION_BYTES:
            self._complaints.say(domain, f"extensions of more than {EXTENSION_BYTES} bytes")
            return None
        return extensions

    def _fitting(self, told: Registration, domain: str) -> dict[str, Published]:
        """As many tools as a tab may have, and none that is unfit."""
        limits, keeps = self._settings().limits, self.keeps(domain)
        intake = Intake(limits, *self._room(told.page), partial(self._complaints.say, domain))
        return intake.take(told.tools, lambda raw: checked(raw, told.kind, limits, keeps))

    def _room(self, ref: PageRef) -> tuple[int, int]:
        """How many tools, and how many bytes of them, a page may still have in its tab.

        Its frames share half of what a tab has, and only what the page itself leaves: an ad that
        comes first takes nothing from the page around it.
        """
        limits = self._settings().limits
        most, size = limits.tools_per_tab, SCHEMAS_PER_TAB * limits.schema_bytes
        others = [page for page in self._storage.in_tab(ref.tab) if page.ref != ref]
        count_of_frames, size_of_frames = _taken(page for page in others if page.ref.frame)
        if not ref.frame:
            return most - count_of_frames, size - size_of_frames
        count_of_all, size_of_all = _taken(others)
        return (
            min(most // 2 - count_of_frames, most - count_of_all),
            min(size // 2 - size_of_frames, size - size_of_all),
        )


def _taken(pages: Iterable[Page]) -> tuple[int, int]:
    sizes = [len(tool.schema) for page in pages for tool in page.tools.values()]
    return len(sizes), sum(sizes)
