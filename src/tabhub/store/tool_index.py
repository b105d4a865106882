"""Searches tools by words: a full-text index of SQLite in memory, ranked by BM25.

It catches up with the registry of tools only when a search needs it, and then writes only the tools
that have changed.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from tabhub.hub.tools import PAGE_LABEL, Tool, ToolRegistry

MOST_WORDS = 12
LONGEST_QUERY = 1000
LONGEST_WORD = 64
STOP_WORDS = frozenset(
    "a all an and are as at be by can do does for from give has have how i if in into is it "
    "its let make me my need of on or please see show some take that the them this to "
    "tool tools until use want what when where which with you".split()
)
"""Words that say nothing about a tool."""
FEW = 500
"""Ranking this many tools takes no time worth saving."""
ENOUGH = 5
"""If fewer tools have all the words, those with any of them follow."""
MOST_RANKED = 2000
"""Of more matching tools than this, only the first are ranked."""
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
"""The only verb here that depends on a stop word: `log in` is not `log`."""
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
        """Names of tools, best first; nothing for a query without words."""
        words = _patterns(query)
        if not words:
            return
        self._update()
        seen: set[int] = set()
        for ids in self._found(words, _family(family)):
            for id in ids:
                if id not in seen:
                    seen.add(id)
                    yield self._known[id].name

    def _found(self, words: list[str], family: str) -> Iterator[list[int]]:
        """Tools with all words in the name, then all of them anywhere, then any of them."""
        counts = self._counts(words)
        half = max(len(self._known) // 2, FEW)
        # Words that half of all tools have weigh nothing in BM25, and take the longest.
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
        """The number of tools with each word, rarest first, without words that no tool has."""
        found = ((self._count(word), word) for word in dict.fromkeys(words))
        return {word: number for number, word in sorted(found) if number}

    def _rankable(self, rare: dict[str, int]) -> Iterator[str]:
        """As many words as can be ranked, rarest first, since these weigh most."""
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

    def _update(self) -> None:
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


def _patterns(query: str) -> list[str]:
    """The words of a query as patterns, quoted so that none is taken for syntax.

    The last word also matches as a prefix, since the person may still be typing it.
    """
    text = _TWO_WORDS.sub("login", query[:LONGEST_QUERY])
    words = [word[:LONGEST_WORD] for word in _WORD.findall(text)]
    chosen = ([word for word in words if word.lower() not in STOP_WORDS] or words)[:MOST_WORDS]
    return [_pattern(word, word is chosen[-1]) for word in chosen]


def _pattern(word: str, is_last: bool) -> str:
    star = "*" if is_last and len(word) > 1 else ""
    parts = " AND ".join(f'"{part}"' for part in _split(word).split())
    return f'("{word}"{star} OR ({parts}{star}))' if " " in parts else f'"{word}"{star}'


def _family(names: Iterable[str]) -> str:
    words = [f'"{word}"' for name in names for word in _WORD.findall(name)]
    return f" AND family : ({' AND '.join(words)})" if words else ""


def _columns(tool: Tool) -> tuple[str, str, str, str, str]:
    parameters = tool.input_schema.get("properties")
    rest = [
        tool.description.replace(PAGE_LABEL, ""),
        *(_parameter_texts(parameters) if isinstance(parameters, dict) else ()),
    ]
    family = (tool.plugin, tool.site, *sorted(tool.toolsets))
    return (
        _with_split_names(f"{tool.name} {tool.title or ''}"),
        tool.keywords,
        _with_split_names(tool.summary.replace(PAGE_LABEL, "")),
        _with_split_names(" ".join(rest)),
        " ".join(family),
    )


def _parameter_texts(parameters: dict[str, Any]) -> Iterator[str]:
    for name, schema in parameters.items():
        yield name
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            yield schema["description"]


def _with_split_names(text: str) -> str:
    """A text with camelCase names both split into words and as they are."""
    readable = text.encode(errors="replace").decode()
    return _WORD.sub(lambda word: _split_and_whole(word[0]), readable)


def _split_and_whole(word: str) -> str:
    parts = _split(word)
    return word if parts == word else f"{parts} {word}"


def _split(name: str) -> str:
    return _HUMP.sub(" ", name)
