"""Finds tools by words: SQLite's full-text index, ranked by BM25, in memory.

It follows the registry of tools, but only when somebody searches: what nobody asks for costs
nothing, and of a change only the tools that came, went or differ are written.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from tabhub.hub.tools import Tool, ToolRegistry

MOST_WORDS = 12
LONGEST_QUERY = 1000
LONGEST_WORD = 64
IDLE = frozenset(
    "a all an and are as at be by can do does for from give has have how i if in into is it "
    "its let make me my need of on or please see show some take that the them this to "
    "tool tools until use want what when where which with you".split()
)
"""Words that tell nothing of a tool."""
FEW = 500
"""So many tools are ranked in no time."""
ENOUGH = 5
"""Where fewer tools have all the words, those that have any of them follow."""
MOST_RANKED = 2000
"""Of more tools than this that fit as well as each other, only the first are ranked."""
WEIGHTS = (10, 8, 4, 1, 0)
"""How much a word counts in a tool's name, its keywords, its summary, the rest, and its family."""

_SCHEMA = """
CREATE VIRTUAL TABLE tools USING fts5(
    name, keywords, summary, rest, family, tokenize = 'porter unicode61 remove_diacritics 2'
)
"""
_FIRST = f"SELECT rowid FROM tools WHERE tools MATCH ? LIMIT {MOST_RANKED}"
_FEW = f"SELECT rowid FROM tools WHERE tools MATCH ? LIMIT {ENOUGH}"
_COUNT = "SELECT count(*) FROM tools WHERE tools MATCH ?"
_ANYWHERE = "{{name keywords summary rest}} : ({})"
_RANKED = f"""
SELECT id FROM (
    SELECT rowid AS id, bm25(tools, {", ".join(map(str, WEIGHTS))}) AS score
    FROM tools WHERE tools MATCH ? LIMIT {MOST_RANKED}
) ORDER BY score, id
"""
_TWO_WORDS = re.compile(r"\b(?:log|sign)[\s-]*(?:in|on|into)\b", re.IGNORECASE)
"""The only verb here that is told from another by an idle word."""
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class FullTextIndex:
    """The `ToolIndex` of a registry."""

    def __init__(self, tools: ToolRegistry) -> None:
        self._tools = tools
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.execute(_SCHEMA)
        self._rows: dict[str, int] = {}
        self._known: dict[int, Tool] = {}
        self._next = 1
        self._is_stale = True
        tools.on_change(self._changed)

    def search(self, query: str, family: Iterable[str] = ()) -> Iterator[str]:
        """Names of tools, the best first; nothing for a query without words."""
        words = _meant(query)
        if not words:
            return
        self._follow()
        told: set[int] = set()
        for ids in self._found(words, _family(family)):
            for id in ids:
                if id not in told:
                    told.add(id)
                    yield self._known[id].name

    def _found(self, words: list[str], family: str) -> Iterator[list[int]]:
        """Those with all words in the name, then with all of them anywhere, or with any."""
        counts = self._counts(words)
        half = max(len(self._known) // 2, FEW)
        # BM25 gives no weight to words that half of all tools have, and takes longest for them.
        rare = {word: number for word, number in counts.items() if number <= half}
        if not rare:
            every = " AND ".join(counts)
            if every:
                yield self._ids(_FIRST, f"name : ({every}){family}")
                yield self._ids(_FIRST, _ANYWHERE.format(every) + family)
            return
        every = " AND ".join(rare)
        yield self._ids(_RANKED, f"name : ({every}){family}")
        few = self._ids(_FEW, _ANYWHERE.format(every) + family)
        if len(few) >= ENOUGH or len(rare) == 1:
            yield self._ids(_RANKED, _ANYWHERE.format(every) + family)
            return
        ranked = self._ids(_RANKED, _ANYWHERE.format(" OR ".join(self._rankable(rare))) + family)
        yield sorted(few, key=lambda id: ranked.index(id) if id in ranked else -1)
        yield ranked

    def _counts(self, words: list[str]) -> dict[str, int]:
        """In how many tools each word is, the rarest first; words that are in none are left out."""
        found = ((self._count(word), word) for word in dict.fromkeys(words))
        return {word: number for number, word in sorted(found) if number}

    def _rankable(self, rare: dict[str, int]) -> Iterator[str]:
        """As many words as can be ranked, the rarest first: they have the most weight."""
        total = 0
        for word, number in rare.items():
            if total and total + number > MOST_RANKED:
                return
            total += number
            yield word

    def _count(self, word: str) -> int:
        found = self._database.execute(_COUNT, (_ANYWHERE.format(word),)).fetchone()
        return int(found[0])

    def _ids(self, sql: str, pattern: str) -> list[int]:
        return [id for (id,) in self._database.execute(sql, (pattern,))]

    def close(self) -> None:
        self._database.close()

    def _changed(self) -> None:
        self._is_stale = True

    def _follow(self) -> None:
        if not self._is_stale:
            return
        gone = [id for id, tool in self._known.items() if self._tools.find(tool.name) is not tool]
        self._database.execute("BEGIN")
        with self._database:
            self._drop(gone)
            self._add([tool for tool in self._tools if tool.name not in self._rows])
        self._is_stale = False

    def _drop(self, ids: list[int]) -> None:
        self._database.executemany("DELETE FROM tools WHERE rowid = ?", ((id,) for id in ids))
        for id in ids:
            del self._rows[self._known.pop(id).name]

    def _add(self, tools: list[Tool]) -> None:
        ids = range(self._next, self._next + len(tools))
        self._next = ids.stop
        rows = ((id, *_columns(tool)) for id, tool in zip(ids, tools, strict=True))
        self._database.executemany(
            "INSERT INTO tools (rowid, name, keywords, summary, rest, family)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        for id, tool in zip(ids, tools, strict=True):
            self._known[id], self._rows[tool.name] = tool, id


def _meant(query: str) -> list[str]:
    """The words of a query as patterns; in quotes none is ever syntax.

    The last one may still be being typed.
    """
    asked = _TWO_WORDS.sub("login", query[:LONGEST_QUERY])
    words = [word[:LONGEST_WORD] for word in _WORD.findall(asked)]
    told = ([word for word in words if word.lower() not in IDLE] or words)[:MOST_WORDS]
    return [_pattern(word, word is told[-1]) for word in told]


def _pattern(word: str, is_last: bool) -> str:
    star = "*" if is_last and len(word) > 1 else ""
    parts = " AND ".join(f'"{part}"' for part in _split(word).split())
    return f'("{word}"{star} OR ({parts}{star}))' if " " in parts else f'"{word}"{star}'


def _family(names: Iterable[str]) -> str:
    words = [f'"{word}"' for name in names for word in _WORD.findall(name)]
    return f" AND family : ({' AND '.join(words)})" if words else ""


def _columns(tool: Tool) -> tuple[str, str, str, str, str]:
    parameters = tool.input_schema.get("properties")
    rest = [tool.description, *(_told(parameters) if isinstance(parameters, dict) else ())]
    family = (tool.plugin, tool.site, *sorted(tool.toolsets))
    return (
        _both(f"{tool.name} {tool.title or ''}"),
        tool.keywords,
        _both(tool.summary),
        _both(" ".join(rest)),
        " ".join(family),
    )


def _told(parameters: dict[str, Any]) -> Iterator[str]:
    for name, schema in parameters.items():
        yield name
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            yield schema["description"]


def _both(text: str) -> str:
    """A text with the words of camelCase names apart and together; all else is apart already."""
    readable = text.encode(errors="replace").decode()
    return _WORD.sub(lambda word: _apart_and_together(word[0]), readable)


def _apart_and_together(word: str) -> str:
    parts = _split(word)
    return word if parts == word else f"{parts} {word}"


def _split(name: str) -> str:
    return _HUMP.sub(" ", name)
