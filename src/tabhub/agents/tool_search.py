"""Listing and searching tools, in pages: the gateway and REST follow the same rules.

A search finds everything that the caller may call, whatever toolsets `/mcp` lists.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Annotated, Any
from zlib import crc32

import msgspec

from tabhub.agents.mcp.backend import Toolsets
from tabhub.calls.authorization import Guard
from tabhub.calls.ports import ToolIndex
from tabhub.config.clients import Client
from tabhub.config.settings import choose_toolsets
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.schemas import BoundedSchema
from tabhub.hub.tools import LONGEST_NAME, Tool, ToolRegistry, shortened
from tabhub.wire.mcp import messages as m

DISABLED = "[Disabled] "
KEPT = 100


class Listing:
    """Lists, written once for all clients that see the same."""

    def __init__(self, tools: ToolRegistry, guard: Guard, usual: Callable[[], Iterable[str]]):
        self._tools = tools
        self._guard = guard
        self._usual = usual
        self._written: dict[tuple[Toolsets, Toolsets, bool], msgspec.Raw] = {}

    def changed(self) -> None:
        self._written.clear()

    def of(self, client: Client, named: Toolsets) -> msgspec.Raw:
        key = (named, client.toolsets, client.read_only)
        known = self._written.get(key)
        if known is None:
            infos = [self.info(tool, client) for tool in self._seen(client, named)]
            known = msgspec.Raw(msgspec.json.encode(infos))
            if len(self._written) < KEPT:
                self._written[key] = known
        return known

    def _seen(self, client: Client, named: Toolsets) -> list[Tool]:
        wanted = choose_toolsets(self._usual()) if client.toolsets is None else client.toolsets
        if named is not None:
            wanted = choose_toolsets(named)
        return [
            tool
            for tool in self._tools
            if (wanted is None or tool.toolsets & wanted) and may_call(client, tool)
        ]

    def is_disabled(self, tool: Tool, client: Client) -> bool:
        """Whether a rule or a setting denies it whatever the call."""
        return self._guard.is_off(tool, client)

    def info(self, tool: Tool, client: Client) -> m.ToolInfo:
        return m.ToolInfo(
            name=tool.name,
            # The names of our own tools say what their titles would; an agent pays for each word.
            title=None if tool.plugin == "browser" else tool.title,
            description=marked(tool.description, self.is_disabled(tool, client)),
            input_schema=_schema(tool),
            annotations=dict(tool.annotations) or msgspec.UNSET,
        )


def whole_schema(tool: Tool) -> Mapping[str, Any] | msgspec.Raw:
    """A tool's schema as it can be written."""
    given = tool.input_schema
    return msgspec.Raw(given.written()) if isinstance(given, BoundedSchema) else given


def _schema(tool: Tool) -> Mapping[str, Any] | msgspec.Raw:
    """Our own tools take no other arguments, each of them, and say so to who gives one."""
    given = whole_schema(tool)
    if tool.plugin != "browser" or isinstance(given, msgspec.Raw):
        return given
    return {key: value for key, value in given.items() if key != "additionalProperties"}


def marked(told: str, disabled: bool) -> str:
    """What is told of a tool, with the mark of those that are off."""
    return DISABLED + told if disabled else told


def may_call(client: Client, tool: Tool) -> bool:
    """Whether the client's token allows it at all."""
    if client.read_only and not tool.is_reading({}):
        return False
    return client.toolsets is None or bool(tool.toolsets & client.toolsets)


MOST_AT_ONCE = 500
SUGGESTED = 3
COMPARED = 50
"""How many tools are looked at for those with a similar name."""

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_AT_ONCE)]


class ToolQuery(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which tools are asked for; without any field, all of them."""

    query: str | None = None
    plugin: str | None = None
    domain: str | None = None
    toolset: str | None = None
    cursor: str | None = None
    limit: Limit | None = None

    @property
    def family(self) -> list[str]:
        return [name for name in (self.plugin, self.domain, self.toolset) if name]

    @property
    def mark(self) -> int:
        """The same for pages of the same list."""
        return crc32(msgspec.json.encode((self.query, self.plugin, self.domain, self.toolset)))


@dataclass(frozen=True)
class SearchPage:
    """One page of tools, and where the next begins."""

    tools: list[Tool]
    next_cursor: str | None


class _Place(msgspec.Struct, array_like=True):
    """The end of a page: a tool that has gone meanwhile still had a position."""

    mark: int
    position: Annotated[int, msgspec.Meta(ge=0)]
    last: str


class ToolSearch:
    """Lists and suggests tools, among those that a client may call."""

    def __init__(self, tools: ToolRegistry, index: ToolIndex) -> None:
        self._tools = tools
        self._index = index

    def page(
        self, wanted: ToolQuery, client: Client, named: Toolsets, limit: int | None
    ) -> SearchPage:
        """At most so many; None for all that there are."""
        tools = self._fitting(wanted, client, named)
        start = 0
        if wanted.cursor:
            known = list(tools)
            start = _start(_place(wanted), known)
            tools = iter(known[start:])
        if limit is None:
            return SearchPage(list(tools), None)
        page = list(islice(tools, limit))
        has_more = next(tools, None) is not None
        return SearchPage(page, _cursor(wanted, start + limit, page[-1]) if has_more else None)

    def has(self, name: str) -> bool:
        return self._tools.find(name) is not None

    def find(self, name: str, client: Client) -> Tool:
        """One that the client may call; an error that names similar ones if there is none."""
        tool = self._tools.find(name)
        if tool is None or not may_call(client, tool):
            raise self.unknown(name, client)
        return tool

    def unknown(self, name: str, client: Client) -> NotFound:
        like = self.like(name, client)
        hint = f" Did you mean {' or '.join(like)}?" if like else ""
        data = {"suggestions": like} if like else None
        return NotFound(
            f"There is no tool called {shortened(name)!r}.{hint}", "unknown_tool", data=data
        )

    def like(self, name: str, client: Client) -> list[str]:
        """The most similar names; to what is no name at all, nothing is similar."""
        if len(name) > LONGEST_NAME:
            return []
        found = (self._tools.get(other) for other in self._index.search(name))
        names = [tool.name for tool in islice(found, COMPARED) if may_call(client, tool)]
        names.sort(key=lambda other: -SequenceMatcher(None, name, other).ratio())
        return names[:SUGGESTED]

    def _fitting(self, wanted: ToolQuery, client: Client, named: Toolsets) -> Iterator[Tool]:
        fits = _rule(wanted, client, named)
        return filter(fits, self._candidates(wanted))

    def _candidates(self, wanted: ToolQuery) -> Iterator[Tool]:
        if not wanted.query or not wanted.query.strip():
            return iter(self._tools)
        return map(self._tools.get, self._index.search(wanted.query, wanted.family))


def _rule(wanted: ToolQuery, client: Client, named: Toolsets) -> Callable[[Tool], bool]:
    of_url = None if named is None else choose_toolsets(named)
    of_query = None if wanted.toolset is None else choose_toolsets([wanted.toolset])

    def fits(tool: Tool) -> bool:
        return (
            (not wanted.plugin or tool.namespace == wanted.plugin)
            and (not wanted.domain or tool.site == wanted.domain)
            and all(sets is None or tool.toolsets & sets for sets in (of_url, of_query))
            and may_call(client, tool)
        )

    return fits


def _cursor(wanted: ToolQuery, position: int, last: Tool) -> str:
    place = _Place(wanted.mark, position, last.name)
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode()


def _place(wanted: ToolQuery) -> _Place:
    try:
        raw = base64.b64decode((wanted.cursor or "").encode(), b"-_", validate=True)
        place = msgspec.json.decode(raw, type=_Place)
    except (binascii.Error, ValueError):
        raise InvalidArguments("There is no such cursor.") from None
    if place.mark != wanted.mark:
        raise InvalidArguments("The cursor belongs to a list with another query or filter.")
    return place


def _start(place: _Place, tools: list[Tool]) -> int:
    """After the tool that was the last; if it has gone, where it was."""
    after = (number for number, tool in enumerate(tools, 1) if tool.name == place.last)
    return next(after, place.position)
