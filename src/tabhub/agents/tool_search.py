"""Which tools a client sees: the list of `/mcp`, and the search of the gateway and REST.

A search finds every tool that the client may call, whatever toolsets `/mcp` lists.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from heapq import nlargest
from itertools import islice
from typing import Annotated, Any
from zlib import crc32

import msgspec

from tabhub.agents.http.messages import Toolsets
from tabhub.calls.authorization import Guard
from tabhub.calls.ports import ToolIndex
from tabhub.calls.results import UNTRUSTED
from tabhub.config.clients import Client
from tabhub.config.settings import choose_toolsets
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.names import PREFIX, PageToolName, fitted
from tabhub.hub.tools import LONGEST_NAME, BoundedSchema, Tool, ToolRegistry, shortened
from tabhub.wire.mcp import messages as m

DISABLED = "[Disabled] "
PAGE_CLOSED = (
    " A page's tool exists only while a page that publishes it is open and may do so "
    "(the setting pageOrigins; for pages without the extension, tabhub page list)."
)
WORDS_OF_OTHERS = ["/title", "/description", "/inputSchema", "/annotations"]
"""What a page or a plugin has written in the definition of its tool."""
MOST_CACHED_LISTS = 100
MOST_AT_ONCE = 500
SUGGESTIONS = 3
COMPARED = 150
"""How many search results are compared with a name that does not exist."""
MOST_WORDS = 8
MISSPELT = 0.8
"""How alike two words are of which one may be the other, misspelt."""

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_AT_ONCE)]
Schema = Mapping[str, Any] | msgspec.Raw


def may_call(client: Client, tool: Tool) -> bool:
    """Whether the client's token allows the tool at all."""
    if client.read_only and not tool.is_reading({}):
        return False
    return client.toolsets is None or bool(tool.toolsets & client.toolsets)


def marked(text: str, disabled: bool) -> str:
    """A tool's description or summary, with a mark if the tool is disabled."""
    return DISABLED + text if disabled else text


def whole_schema(tool: Tool) -> Schema:
    """A tool's input schema, ready to be encoded."""
    schema = tool.input_schema
    return msgspec.Raw(schema.written()) if isinstance(schema, BoundedSchema) else schema


class Listing:
    """The tool lists of `/mcp`, encoded once for all clients that see the same list."""

    def __init__(
        self, tools: ToolRegistry, guard: Guard, default_toolsets: Callable[[], Iterable[str]]
    ) -> None:
        self._tools = tools
        self._guard = guard
        self._default_toolsets = default_toolsets
        self._encoded: dict[tuple[Toolsets, Toolsets, bool], msgspec.Raw] = {}

    def changed(self) -> None:
        self._encoded.clear()

    def of(self, client: Client, named: Toolsets) -> msgspec.Raw:
        """The list for a client whose URL names these toolsets."""
        key = (named, client.toolsets, client.read_only)
        encoded = self._encoded.get(key)
        if encoded is None:
            infos = [self.info(tool, client) for tool in self._visible(client, named)]
            encoded = msgspec.Raw(msgspec.json.encode(infos))
            if len(self._encoded) < MOST_CACHED_LISTS:
                self._encoded[key] = encoded
        return encoded

    def _visible(self, client: Client, named: Toolsets) -> list[Tool]:
        if named is not None:
            chosen = choose_toolsets(named)
        elif client.toolsets is not None:
            chosen = client.toolsets
        else:
            chosen = choose_toolsets(self._default_toolsets())
        return [
            tool
            for tool in self._tools
            if (chosen is None or tool.toolsets & chosen) and may_call(client, tool)
        ]

    def is_disabled(self, tool: Tool, client: Client) -> bool:
        """Whether a rule or a setting denies every call of the tool."""
        return self._guard.is_off(tool, client)

    def info(self, tool: Tool, client: Client, whole: bool = False) -> m.ToolInfo:
        """A tool as an agent sees it: in a list, or the whole of it."""
        return m.ToolInfo(
            name=tool.name,
            # The names of our own tools say what their titles would; an agent pays for each word.
            title=None if tool.plugin == "browser" else tool.title,
            description=marked(tool.description, self.is_disabled(tool, client)),
            input_schema=_shown_schema(tool) if whole else _listed_schema(tool),
            annotations=dict(tool.annotations) or msgspec.UNSET,
            meta={UNTRUSTED: WORDS_OF_OTHERS} if tool.is_bounded else msgspec.UNSET,
        )


def _shown_schema(tool: Tool) -> Schema:
    """Without `additionalProperties` in our own tools, all of which refuse other arguments."""
    schema = whole_schema(tool)
    if tool.plugin != "browser" or isinstance(schema, msgspec.Raw):
        return schema
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def _listed_schema(tool: Tool) -> Schema:
    """The same, short enough for a list that every agent pays for."""
    schema = _shown_schema(tool)
    if isinstance(schema, msgspec.Raw) or not (tool.unlisted or tool.listed):
        return schema
    properties = {
        name: tool.listed.get(name, value)
        for name, value in schema["properties"].items()
        if name not in tool.unlisted
    }
    return {**schema, "properties": properties}


class ToolQuery(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A search; without any field it finds all tools."""

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


class ToolSearch:
    """Lists and suggests tools, among those that a client may call."""

    def __init__(self, tools: ToolRegistry, index: ToolIndex) -> None:
        self._tools = tools
        self._index = index

    def page(
        self, query: ToolQuery, client: Client, named: Toolsets, limit: int | None
    ) -> SearchPage:
        """A page of at most `limit` tools; None for all of them."""
        matches = _condition(query, client, named)
        tools = (tool for tool in self._candidates(query) if matches(tool))
        start = 0
        if query.cursor:
            found = list(tools)
            start = _start(_position(query), found)
            tools = (tool for tool in found[start:])
        if limit is None:
            return SearchPage(list(tools), None)
        page = list(islice(tools, limit))
        has_more = next(tools, None) is not None
        return SearchPage(page, _cursor(query, start + limit, page[-1]) if has_more else None)

    def has(self, name: str) -> bool:
        return self._tools.find(name) is not None

    def find(self, name: str, client: Client) -> Tool:
        """A tool that the client may call; the error suggests similar names."""
        tool = self._tools.find(name)
        if tool is None or not may_call(client, tool):
            raise self.unknown(name, client)
        return tool

    def unknown(self, name: str, client: Client) -> NotFound:
        similar = self.similar(name, client)
        hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
        more = self._tools.about_missing(name)
        hint = f"{hint} {more}" if more else hint
        data = {"suggestions": similar} if similar else None
        closed = PAGE_CLOSED if name.startswith(PREFIX) else ""
        return NotFound(
            f"There is no tool called {shortened(name)!r}.{closed}{hint}", "unknown_tool", data=data
        )

    def similar(self, name: str, client: Client) -> list[str]:
        """The tools that pages call by this name, then the most similar names of tools.

        If there are none, the tools that are looked for by its words: other servers have other
        names for the same. None for a text too long to be a name.
        """
        if not name or len(name) > LONGEST_NAME:
            return []
        found = (self._tools.get(other) for other in self._index.search(name))
        similarity = _similarity_to(name)
        names = [
            tool.name
            for tool in islice(found, COMPARED)
            if may_call(client, tool) and _may_be_meant(name, tool) and any(similarity(tool.name))
        ]
        close = nlargest(SUGGESTIONS, names, key=similarity)
        close = close or self._joined(name, client) or self._described(name, client)
        return list(dict.fromkeys((*self._of_pages(name, client), *close)))[:SUGGESTIONS]

    def _joined(self, name: str, client: Client) -> list[str]:
        """The tools of our own with the same letters: browser_opentab means browser_open_tab."""
        letters = _letters(name)
        own = (tool for tool in self._tools if tool.plugin == "browser" and may_call(client, tool))
        return [tool.name for tool in own if _letters(tool.name) == letters]

    def _described(self, name: str, client: Client) -> list[str]:
        """The tools that have all its words among their own, without those to be careful with;
        first those whose names are most like it."""
        words = {*_words(name)}
        if name.startswith(PREFIX) or not words:
            return []
        found = (self._tools.get(other) for other in self._index.search(" ".join(words)))
        fits = [
            tool.name
            for tool in islice(found, COMPARED)
            if words <= {*_words(tool.name), *tool.keywords.split()}
            and not tool.is_careful
            and may_call(client, tool)
        ]
        return nlargest(SUGGESTIONS, fits, key=lambda other: _likeness(name, other))

    def _of_pages(self, name: str, client: Client) -> Iterator[str]:
        """The listed names of the page tools that have this name in their pages."""
        return (
            tool.name for tool in self._tools if tool.page_tool == name and may_call(client, tool)
        )

    def _candidates(self, query: ToolQuery) -> Iterator[Tool]:
        if not query.query or not query.query.strip():
            return iter(self._tools)
        return map(self._tools.get, self._index.search(query.query, query.family))


def _may_be_meant(name: str, tool: Tool) -> bool:
    """Whether it is a tool of the same site, if the name is that of a page tool."""
    own = PageToolName(tool.site, "")
    return not name.startswith(PREFIX) or (bool(tool.site) and name.startswith(fitted(own)))


def _words(name: str) -> list[str]:
    """The first words of a tool's name, without the one that most have."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)
    different = dict.fromkeys(word.lower() for word in words)
    return [word for word in different if word != "browser"][:MOST_WORDS]


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, other, name).ratio()


def _similarity_to(name: str) -> Callable[[str], tuple[float, float]]:
    """How many of its words another name has, misspelt or not; then how alike the two are.

    (0, 0) for one that has none: a few common letters make an unrelated tool look meant.
    """
    words, matcher = _words(name), SequenceMatcher(b=name)

    def similarity(other: str) -> tuple[float, float]:
        known = _words(other)
        shared = sum(bool(get_close_matches(word, known, 1, MISSPELT)) for word in words)
        matcher.set_seq1(other)
        return (shared / len(words), matcher.ratio()) if shared else (0.0, 0.0)

    return similarity


def _condition(query: ToolQuery, client: Client, named: Toolsets) -> Callable[[Tool], bool]:
    of_url = None if named is None else choose_toolsets(named)
    of_query = None if query.toolset is None else choose_toolsets([query.toolset])

    def matches(tool: Tool) -> bool:
        return (
            (not query.plugin or tool.namespace == query.plugin)
            and (not query.domain or tool.site == query.domain)
            and all(sets is None or tool.toolsets & sets for sets in (of_url, of_query))
            and may_call(client, tool)
        )

    return matches


class _Position(msgspec.Struct, array_like=True):
    """The end of a page: its last tool, and the position in case that tool is removed."""

    mark: int
    position: Annotated[int, msgspec.Meta(ge=0)]
    last: str


def _cursor(query: ToolQuery, position: int, last: Tool) -> str:
    end = _Position(query.mark, position, last.name)
    return base64.urlsafe_b64encode(msgspec.json.encode(end)).decode()


def _position(query: ToolQuery) -> _Position:
    try:
        raw = base64.b64decode((query.cursor or "").encode(), b"-_", validate=True)
        position = msgspec.json.decode(raw, type=_Position)
    except (binascii.Error, ValueError):
        raise InvalidArguments("There is no such cursor.") from None
    if position.mark != query.mark:
        raise InvalidArguments("The cursor belongs to a list with another query or filter.")
    return position


def _start(end: _Position, tools: list[Tool]) -> int:
    """The index after the last tool of the page before, or where that tool was."""
    after = (number for number, tool in enumerate(tools, 1) if tool.name == end.last)
    return next(after, end.position)
