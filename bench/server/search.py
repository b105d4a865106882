"""CPU for finding a tool by words among 10,000, against a scan of every text."""

import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from bench.rows import Row
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.store.tool_index import FullTextIndex

TOOLS = 10_000
PAGE = 15
LIMIT = 5
ROUNDS = 30
VERBS = "get set list create delete update send read search find open close post move copy share"
THINGS = "user message channel file issue page order invoice ticket event note task project board"
QUERIES = {
    "two words": "send message",
    "a sentence": "how do I send an invoice to a user of a project",
    "a common word": "user",
    "a word in every tool": "account",
    "half a word": "invo",
    "a name": "site_7_read_ticket",
    "nothing": "zebra",
}


def measure() -> Iterator[Row]:
    tools = ToolRegistry()
    tools.add(*(example_tool(number) for number in range(TOOLS)))
    index = FullTextIndex(tools)
    filled = _milliseconds(lambda: next(index.search("user")))
    yield Row(f"index {TOOLS:,} tools, once", filled, " ms", 1000)
    texts = [f"{tool.name} {tool.description}".lower() for tool in tools]
    for name, query in QUERIES.items():
        yield _row(name, partial(_page, index, query), partial(_scan, texts, query))
    tools.add(example_tool(TOOLS))
    yield Row("the first search after a change", _milliseconds(lambda: _page(index, "user")), " ms")


def _row(name: str, search: Callable[[], object], scan: Callable[[], object]) -> Row:
    turns = [(_milliseconds(search), _milliseconds(scan)) for _ in range(ROUNDS)]
    ours, plain = (median(column) for column in zip(*turns, strict=True))
    note = f"{ours / plain:.1f}× a scan of every text, {plain:.1f} ms"
    return Row(f"search {TOOLS:,} tools, {name}", ours, " ms", LIMIT, note)


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return (time.thread_time() - begin) * 1000


def _page(index: FullTextIndex, query: str) -> list[str]:
    return [name for name, _ in zip(index.search(query), range(PAGE), strict=False)]


def _scan(texts: list[str], query: str) -> list[str]:
    words = query.split()
    return [text for text in texts if all(word in text for word in words)][:PAGE]


def example_tool(number: int) -> Tool:
    chance = random.Random(number)
    verb, thing = chance.choice(VERBS.split()), chance.choice(THINGS.split())
    site, others = f"site_{chance.randrange(300)}", chance.sample(THINGS.split(), 2)
    return Tool(
        name=f"{site}_{verb}_{thing}_{number}",
        description=f"Can {verb} a {thing} in your account. Takes a {' or a '.join(others)} too.",
        input_schema={
            "type": "object",
            "properties": {
                f"{thing}Id": {"type": "string", "description": f"Which {thing} it is about."},
                "limit": {"type": "integer", "description": "How many to give at most."},
            },
        },
        source="bench",
        plugin=site,
        toolsets=frozenset({"plugins"}),
    )
