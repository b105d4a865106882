"""What a page says of itself, as it is taken in: a page is hostile, so all of it is bounded."""

import re
import sys
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from tabhub.config.settings import Limits, Settings
from tabhub.page_tools.core.schema import LONGEST_TITLE, one_line, readable
from tabhub.page_tools.core.storage import DomainToolStorage, Page, PageRef, Published
from tabhub.page_tools.flood_limits import Complaints
from tabhub.page_tools.pairing import domain_of, own_url
from tabhub.page_tools.schema_rules import NO_ARGUMENTS, checked_schema
from tabhub.page_tools.schema_size import Unfit
from tabhub.wire.pages import Capabilities, Kind

CACHE = "tabhub/cache"
FORM = "tabhub/waitsForPerson"
"""Says that a person may have to send a form before the tool answers."""
SHARED_BYTES = 1024
WITHOUT_SCHEMA: tuple[Kind, ...] = ("native", "polyfill")
"""WebMCP lets a tool without arguments do without a schema, MCP does not."""
KNOWN = (
    "cache",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "consequentialHint",
    "untrustedContentHint",
)
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")


class Definition(msgspec.Struct, rename="camel"):
    """A tool as a page has it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: msgspec.Raw = msgspec.Raw(b"null")
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


_decode = msgspec.json.Decoder(Definition).decode


def checked(raw: msgspec.Raw, kind: Kind, limits: Limits, keeps: bool) -> Published:
    """One tool; Unfit with the reason if it is refused. `keeps`: the site's tools stay listed."""
    if len(raw) > 2 * limits.schema_bytes:
        raise Unfit(f"a tool has more than {2 * limits.schema_bytes} bytes")
    try:
        told = _decode(raw)
    except (ValueError, RecursionError):
        raise Unfit("a tool cannot be read, or has no name") from None
    if not _NAME.fullmatch(told.name):
        shown = readable(told.name, 40)
        raise Unfit(f"the tool {shown!r} has a name that is not made of A-Z, a-z, 0-9, _ . / -")
    return _published(told, kind, limits, keeps)


def _published(told: Definition, kind: Kind, limits: Limits, keeps: bool) -> Published:
    hints, meta = told.annotations or {}, told.meta or {}
    named = hints.get("title")
    title = told.title or (named if isinstance(named, str) else None)
    asked = hints.get("cache") is True or meta.get(CACHE) is True
    return Published(
        name=sys.intern(told.name),
        description=readable(told.description),
        schema=_shared(_schema(told, kind, limits)),
        title=readable(title, LONGEST_TITLE) if title else None,
        annotations=_shared(_annotations(hints)),
        cached=keeps or asked,
        asked=asked,
        patient=meta.get(FORM) is True,
    )


def _shared(written: bytes) -> bytes:
    """The same page in many tabs, or the same shop under many names, is kept once."""
    return written if len(written) > SHARED_BYTES else _known(written)


@lru_cache(maxsize=4096)
def _known(written: bytes) -> bytes:
    return bytes(written)


def _schema(told: Definition, kind: Kind, limits: Limits) -> bytes:
    given = told.input_schema
    if bytes(given) in (b"null", b'""'):
        if kind not in WITHOUT_SCHEMA:
            raise Unfit(f"the tool {told.name} has no schema")
        return NO_ARGUMENTS
    try:
        return checked_schema(given, limits.schema_bytes)
    except Unfit as unfit:
        raise Unfit(f"the tool {told.name} is refused: {unfit}") from None


def _annotations(hints: dict[str, Any]) -> bytes:
    """Those that mean something, and of the right type: clients refuse a whole list for one."""
    known = {name: hints[name] for name in KNOWN if isinstance(hints.get(name), bool)}
    title = hints.get("title")
    if isinstance(title, str) and title:
        known["title"] = readable(title, LONGEST_TITLE)
    return msgspec.json.encode(known, order="deterministic")


MOST_REFUSED = 50
"""After so many that are unfit the rest of a list is not looked at."""
MOST_PLACES = 200_000
"""Values in all definitions of a list, counted before they are read."""
TOO_LARGE = "the tools of a tab are too large together"

Tools = dict[str, Published]


class Intake:
    """The allowance of one list: tools, bytes, places, and faults."""

    def __init__(
        self, limits: Limits, most: int, room: int, complain: Callable[[str], object]
    ) -> None:
        self._limits = limits
        self._most = most
        self._room = room
        self._complain = complain
        self._places = MOST_PLACES
        self._refused = 0

    def take(self, told: list[Raw], checked: Callable[[Raw], Published]) -> Tools:
        tools: Tools = {}
        for number, raw in enumerate(told):
            self._places -= _places(raw)
            if (full := self._full(tools, len(told) - number)) is not None:
                self._complain(full)
                break
            try:
                self._put(tools, checked(raw))
            except Unfit as unfit:
                self._complain(str(unfit))
                self._refused += 1
                self._room -= len(raw)
        return tools

    def _full(self, tools: Tools, left: int) -> str | None:
        """Why no more is taken."""
        if len(tools) >= self._most:
            return f"more than {self._limits.tools_per_tab} tools in a tab"
        if self._refused >= MOST_REFUSED:
            return f"{self._refused} tools are unfit; {left} more are refused unread"
        if self._room < 0 or self._places < 0:
            return TOO_LARGE
        return None

    def _put(self, tools: Tools, tool: Published) -> None:
        if tool.name in tools:
            raise Unfit(f"two tools called {tool.name}; the first counts")
        self._room -= len(tool.schema) + len(tool.description)
        if self._room < 0:
            raise Unfit(TOO_LARGE)
        tools[tool.name] = tool


def _places(raw: Raw) -> int:
    """At least as many as there are values in it."""
    written = bytes(raw)
    return 1 + written.count(b",") + written.count(b"[") + written.count(b"{")


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


class Again:
    """The checks of a registration, for rows."""

    def __init__(self, limits: Callable[[], Limits]) -> None:
        self._limits = limits

    @property
    def most_tools(self) -> int:
        return self._limits().tools_per_tab

    def url(self, domain: str, origin: str, url: str) -> str:
        """The address; ValueError if the domain is not the origin's."""
        if domain_of(origin) != domain:
            raise Unfit(f"{domain!r} is not the domain of {origin!r}"[:300])
        return own_url(url, origin)

    def tool(self, tool: Published) -> Published:
        """The tool as it may be; ValueError if it may not."""
        told = {
            "name": tool.name,
            "description": tool.description,
            "title": tool.title,
            "inputSchema": Raw(tool.schema),
            "annotations": Raw(tool.annotations),
            "_meta": {CACHE: tool.asked, FORM: tool.patient},
        }
        return checked(Raw(msgspec.json.encode(told)), "worker", self._limits(), keeps=tool.cached)
