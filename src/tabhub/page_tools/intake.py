"""Validates registrations: pages are hostile, so everything they send is checked and bounded."""

import re
import sys
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from tabhub.config.settings import Limits, Settings
from tabhub.hub.schema_rules import NO_ARGUMENTS, checked_schema
from tabhub.hub.schema_size import Unfit
from tabhub.hub.texts import LONGEST, one_line, readable
from tabhub.page_tools.core.storage import DomainToolStorage, Page, PageRef, Published
from tabhub.page_tools.flood_limits import FaultLog
from tabhub.page_tools.origins import domain_of, own_url
from tabhub.wire.pages import Capabilities, Embedding, Kind

CACHE = "tabhub/cache"
FORM = "tabhub/waitsForPerson"
"""Marks a tool that answers only after a person has sent a form."""
RESERVED = "tabhub/"
"""How our own names of extensions begin."""
LEFT_OUT = f"{RESERVED}leftOut"
"""Why the extension has already refused some of a page's tools."""
SHARED_BYTES = 1024
"""Equal texts up to this size are kept once."""
LONGEST_ID = 100
LONGEST_GUEST = 500
"""Characters of the description of a tool in a frame of another origin."""
EXTENSION_BYTES = 16 * 1024
SCHEMAS_PER_TAB = 8
"""All tools of a tab together may be as large as this many of the largest schemas."""
MOST_REFUSED = 50
"""After so many unfit tools the rest of a list is ignored."""
MOST_PLACES = 200_000
"""Values in all definitions of a list, counted before they are decoded."""
TOO_LARGE = "the tools of a tab are too large together"
WITHOUT_SCHEMA: tuple[Kind, ...] = ("native", "polyfill")
"""In WebMCP, unlike MCP, a tool without arguments needs no schema."""
HINTS = (
    "cache",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "consequentialHint",
    "untrustedContentHint",
)
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")


Tools = dict[str, Published]


class Definition(Struct, rename="camel"):
    """A tool as a page sends it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: Raw = Raw(b"null")
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


_decode = msgspec.json.Decoder(Definition).decode


class Registration(Struct):
    """What a page publishes; `origin` comes from the browser, never from the page."""

    page: PageRef
    origin: str
    url: str
    title: str
    tools: list[Raw]
    capabilities: Capabilities
    kind: Kind = "worker"
    worker_id: str = ""
    extensions: dict[str, Any] | None = None
    embedding: Embedding = "own"


class Admission:
    """Makes pages from registrations."""

    def __init__(
        self,
        storage: DomainToolStorage,
        settings: Callable[[], Settings],
        fault_log: FaultLog,
    ) -> None:
        self._storage = storage
        self._settings = settings
        self._fault_log = fault_log

    def known(self, ref: PageRef) -> Registration | None:
        """The registration of a stored page, without its tools."""
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
            page.embedding,
        )

    def page(self, registration: Registration, domain: str) -> Page:
        """The page, with those of its tools that are fit."""
        tools = self._fit_tools(registration, domain)
        capabilities = registration.capabilities
        if any(tool.cached for tool in tools.values()):
            capabilities = msgspec.structs.replace(capabilities, cache_supported=True)
        worker_id = registration.worker_id
        return Page(
            ref=registration.page,
            domain=domain,
            origin=registration.origin,
            url=own_url(registration.url, registration.origin),
            title=one_line(registration.title),
            tools=tools,
            seen=time.time(),
            capabilities=capabilities,
            kind=registration.kind,
            worker_id=worker_id if len(worker_id) <= LONGEST_ID else "",
            extensions=self._extensions(registration, domain),
            embedding=registration.embedding,
        )

    def keeps(self, domain: str) -> bool:
        """Whether the settings keep a site's tools; an entry without a port is for every port."""
        kept = self._settings().cache
        return kept.get(domain, kept.get(domain.rpartition(":")[0], False))

    def _extensions(self, registration: Registration, domain: str) -> dict[str, Any] | None:
        """What the page wants back with each call; our own names are not the page's to use."""
        given = registration.extensions or {}
        left_out = None if isinstance(registration.page.tab, str) else given.get(LEFT_OUT)
        if left_out:
            text = readable(str(left_out), 300)
            self._fault_log.add(domain, f"left out by the extension: {text}")
        own = {name: value for name, value in given.items() if not name.startswith(RESERVED)}
        if len(msgspec.json.encode(own)) > EXTENSION_BYTES:
            self._fault_log.add(domain, f"extensions of more than {EXTENSION_BYTES} bytes")
            return None
        return own or None

    def _fit_tools(self, registration: Registration, domain: str) -> Tools:
        """The fit tools, as many as the tab may have."""
        limits, keeps = self._settings().limits, self.keeps(domain)
        room = self._room(registration.page)
        intake = Intake(limits, *room, partial(self._fault_log.add, domain))
        kind = registration.kind
        tools = intake.take(registration.tools, lambda raw: checked(raw, kind, limits, keeps))
        return tools if registration.embedding == "own" else _guests(tools)

    def _room(self, ref: PageRef) -> tuple[int, int]:
        """How many tools, and how many bytes of them, a page may still have in its tab.

        Its frames share half of what a tab may have, and only what the page itself leaves, so
        that an ad that registers first takes nothing from the page around it.
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


def _guests(tools: Tools) -> Tools:
    """The tools of a frame in a page of another origin, described briefly.

    They go with the frame: alone in a tab it would be somewhere else.
    """

    def guest(tool: Published) -> Published:
        about = one_line(tool.description, LONGEST_GUEST)
        return msgspec.structs.replace(tool, description=about, cached=False, asked=False)

    return {name: guest(tool) for name, tool in tools.items()}


def _taken(pages: Iterable[Page]) -> tuple[int, int]:
    sizes = [len(tool.schema) for page in pages for tool in page.tools.values()]
    return len(sizes), sum(sizes)


class Intake:
    """Takes one list of tools, within bounds of number, bytes, values and faults."""

    def __init__(
        self, limits: Limits, most: int, room: int, report: Callable[[str], object]
    ) -> None:
        self._limits = limits
        self._most = most
        self._room = room
        self._report = report
        self._places = MOST_PLACES
        self._refused = 0

    def take(self, definitions: list[Raw], checked: Callable[[Raw], Published]) -> Tools:
        tools: Tools = {}
        for number, raw in enumerate(definitions):
            self._places -= _places(raw)
            if (full := self._full(tools, len(definitions) - number)) is not None:
                self._report(full)
                break
            try:
                self._put(tools, checked(raw))
            except Unfit as unfit:
                self._report(str(unfit))
                self._refused += 1
                self._room -= len(raw)
        return tools

    def _full(self, tools: Tools, left: int) -> str | None:
        """Why no more tools are taken; None if more are."""
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
    """An upper bound for the number of values in a definition."""
    written = bytes(raw)
    return 1 + written.count(b",") + written.count(b"[") + written.count(b"{")


class StoredPageCheck:
    """The same checks for pages and tools that are read from the store."""

    def __init__(self, limits: Callable[[], Limits]) -> None:
        self._limits = limits

    @property
    def most_tools(self) -> int:
        return self._limits().tools_per_tab

    def url(self, domain: str, origin: str, url: str) -> str:
        """The page's address; Unfit if the domain is not the origin's."""
        if domain_of(origin) != domain:
            raise Unfit(f"{domain!r} is not the domain of {origin!r}"[:300])
        return own_url(url, origin)

    def tool(self, tool: Published) -> Published:
        """The tool, checked again; Unfit if it is refused."""
        definition = {
            "name": tool.name,
            "description": tool.description,
            "title": tool.title,
            "inputSchema": Raw(tool.schema),
            "annotations": Raw(tool.annotations),
            "_meta": {CACHE: tool.asked, FORM: tool.patient},
        }
        raw = Raw(msgspec.json.encode(definition))
        return checked(raw, "worker", self._limits(), keeps=tool.cached)


def checked(raw: Raw, kind: Kind, limits: Limits, keeps: bool) -> Published:
    """One tool; Unfit with the reason if it is refused. `keeps`: the site's tools stay listed."""
    if len(raw) > 2 * limits.schema_bytes:
        raise Unfit(f"a tool has more than {2 * limits.schema_bytes} bytes")
    try:
        definition = _decode(raw)
    except (ValueError, RecursionError):
        raise Unfit("a tool cannot be read, or has no name") from None
    if not _NAME.fullmatch(definition.name):
        name = readable(definition.name, 40)
        raise Unfit(f"the tool {name!r} has a name that is not made of A-Z, a-z, 0-9, _ . / -")
    return _published(definition, kind, limits, keeps)


def _published(definition: Definition, kind: Kind, limits: Limits, keeps: bool) -> Published:
    hints, meta = definition.annotations or {}, definition.meta or {}
    hinted = hints.get("title")
    title = definition.title or (hinted if isinstance(hinted, str) else None)
    asked = hints.get("cache") is True or meta.get(CACHE) is True
    return Published(
        name=sys.intern(definition.name),
        description=one_line(definition.description, LONGEST),
        schema=_shared(_schema(definition, kind, limits)),
        title=one_line(title) if title else None,
        annotations=_shared(_annotations(hints)),
        cached=keeps or asked,
        asked=asked,
        patient=meta.get(FORM) is True,
    )


def _shared(written: bytes) -> bytes:
    """One object for equal short texts: the same page is often open in many tabs."""
    return written if len(written) > SHARED_BYTES else _interned(written)


@lru_cache(maxsize=4096)
def _interned(written: bytes) -> bytes:
    return bytes(written)


def _schema(definition: Definition, kind: Kind, limits: Limits) -> bytes:
    schema = definition.input_schema
    if bytes(schema) in (b"null", b'""'):
        if kind not in WITHOUT_SCHEMA:
            raise Unfit(f"the tool {definition.name} has no schema")
        return NO_ARGUMENTS
    try:
        return checked_schema(schema, limits.schema_bytes)
    except Unfit as unfit:
        raise Unfit(f"the tool {definition.name} is refused: {unfit}") from None


def _annotations(hints: dict[str, Any]) -> bytes:
    """The known hints of the right type: clients refuse a whole list for a single wrong one."""
    known = {name: hints[name] for name in HINTS if isinstance(hints.get(name), bool)}
    title = hints.get("title")
    if isinstance(title, str) and title:
        known["title"] = one_line(title)
    return msgspec.json.encode(known, order="deterministic")
