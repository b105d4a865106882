"""Bookmarks: search, list, create."""

from collections.abc import Iterator, Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.tools.budget import MAX_TOKENS, fitting
from tabhub.tools.data.browsing_data import listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

DEPTH = 10


async def _search(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_browser(
        context.browser, "bookmarks.search", {"query": given["query"]}
    )
    found = [node for node in output["bookmarks"] if _may_tell(context, node)]
    lines = fitting((_line(node) for node in found), given)
    told: Json = {"bookmarks": found[: len(lines)], "total": len(found)}
    return done(listed("bookmark", lines, len(found)), told)


async def _tree(context: Context) -> CallResult:
    given = context.arguments
    input = {key: given[key] for key in ("parentId",) if key in given}
    asked = {**input, "maxDepth": given.get("maxDepth", DEPTH)}
    output = await context.in_browser(context.browser, "bookmarks.tree", asked)
    nodes = [node for node in (_told_of(context, node) for node in output["tree"]) if node]
    lines = [line for node in nodes for line in _lines(node, 0)]
    kept = fitting(lines, given)
    left = [len(kept)]
    tree = [node for node in (_first(node, left) for node in nodes) if node is not None]
    return done(listed("entry", kept, len(lines)), {"tree": tree, "total": len(lines)})


async def _create(context: Context) -> CallResult:
    given = context.arguments
    input: Json = {key: given[key] for key in ("title", "parentId") if key in given}
    asked = {**input, "url": address(given["url"])}
    node = await context.in_browser(context.browser, "bookmarks.create", asked)
    return done(f"Created bookmark {node['id']} in folder {node['parentId']}.", node)


def _may_tell(context: Context, node: Json) -> bool:
    return "url" not in node or context.may_tell(node["url"])


def _told_of(context: Context, node: Json) -> Json | None:
    """The node with those below it that may be told of."""
    if not _may_tell(context, node):
        return None
    if "children" not in node:
        return node
    children = [_told_of(context, child) for child in node["children"]]
    return {**node, "children": [child for child in children if child is not None]}


def _first(node: Json, left: list[int]) -> Json | None:
    """As much of a tree as there are lines left, in the order in which it is written."""
    if left[0] <= 0:
        return None
    left[0] -= 1
    if "children" not in node:
        return node
    children = [_first(child, left) for child in node["children"]]
    return {**node, "children": [child for child in children if child is not None]}


def _lines(node: Json, depth: int) -> Iterator[str]:
    more = f" ({node['childCount']} inside)" if "childCount" in node else ""
    yield f"{' ' * depth}{_line(node)}{more}"
    for child in node.get("children", ()):
        yield from _lines(child, depth + 1)


def _line(node: Json) -> str:
    return f"- {node['id']}: {node['title']!r} {node.get('url', '(folder)')}"


def _url(given: Mapping[str, Any]) -> str | None:
    return address(given["url"]) if "url" in given else None


_STRING: Json = {"type": "string"}

SEARCH_BOOKMARKS = browser_tool(
    name="browser_search_bookmarks",
    title="Search bookmarks",
    description="Bookmarks whose title or address has these words.",
    handler=_search,
    properties={
        "query": {"type": "string", "minLength": 1},
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    required=("query",),
    # As for the history: nothing changes, but it is about the person.
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

CREATE_BOOKMARK = browser_tool(
    name="browser_create_bookmark",
    title="Create bookmark",
    description="Add a bookmark.",
    handler=_create,
    properties={
        "title": _STRING,
        "url": _STRING,
        "parentId": {"type": "string", "description": "A folder. Default the browser's choice."},
        "connectionId": CONNECTION,
    },
    required=("title", "url"),
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)

LIST_BOOKMARK_TREE = browser_tool(
    name="browser_list_bookmark_tree",
    title="List bookmarks",
    description="Bookmarks and their folders as a tree, or what is in one folder.",
    handler=_tree,
    properties={
        "parentId": {"type": "string", "description": "A folder. Default all of them."},
        "maxDepth": {"type": "integer", "minimum": 1, "description": f"Default {DEPTH}."},
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

TOOLS = (SEARCH_BOOKMARKS, CREATE_BOOKMARK, LIST_BOOKMARK_TREE)
