"""What the browser remembers: pages that were visited."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tabhub.calls.results import done, fenced
from tabhub.errors import InvalidArguments, NotFound, Refused
from tabhub.tools.reports import MAX_TOKENS, fitting, listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

PAGES = 100
MOST = 1000


async def _search(context: Context) -> CallResult:
    given = context.arguments
    times: Json = {
        name: _moment(name, given[name]) for name in ("startTime", "endTime") if name in given
    }
    if len(times) == 2 and times["startTime"] > times["endTime"]:
        raise InvalidArguments("browser_search_history: startTime is after endTime.")
    input: Json = {"query": given["query"], "maxResults": given.get("maxResults", PAGES), **times}
    output = await context.in_browser(context.browser, "history.search", input)
    pages = [_page(page) for page in output["pages"] if context.may_tell(page["url"])]
    lines = fitting((_line(page) for page in pages), given)
    told: Json = {"pages": pages[: len(lines)], "total": len(pages)}
    return done(listed_from_pages("page", lines, len(pages)), told)


async def _visits(context: Context) -> CallResult:
    given = context.arguments
    url = address(given["url"])
    output = await context.in_browser(context.browser, "history.visits", {"url": url})
    visits = [{**visit, "visitTime": iso(visit["visitTime"])} for visit in output["visits"]]
    lines = fitting((f"- {visit['visitTime']} by {visit['transition']}" for visit in visits), given)
    told: Json = {"url": url, "visits": visits[: len(lines)], "total": len(visits)}
    return done(f"{_counted('visit', len(lines), len(visits))}\n" + "\n".join(lines), told)


def listed_from_pages(one: str, lines: list[str], total: int) -> str:
    """Lines that pages have had a hand in, and how many of them there are."""
    head = _counted(one, len(lines), total)
    return f"{head}\n{fenced(chr(10).join(lines))}" if lines else head


def _counted(one: str, shown: int, total: int) -> str:
    many = f"{one.removesuffix('y')}ies" if one.endswith("y") else f"{one}s"
    head = f"1 {one}." if total == 1 else f"{total} {many}."
    return head if shown == total else f"{head} Here are {shown}; raise maxTokens for more."


def iso(milliseconds: float) -> str:
    """A moment as people and programs read it."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(name: str, text: str) -> float:
    try:
        return max(datetime.fromisoformat(text).timestamp() * 1000, 0)
    except (ValueError, OverflowError, OSError):
        raise InvalidArguments(
            f"browser_search_history: {name} {text!r} is not a date like 2026-07-28T12:00:00Z."
        ) from None


def _page(page: Json) -> Json:
    return {**page, "lastVisitTime": iso(page["lastVisitTime"])}


def _line(page: Json) -> str:
    return f"- {page['lastVisitTime']} {page['url']} {page['title']!r}, {page['visitCount']} visits"


def _url(given: Mapping[str, Any]) -> str | None:
    return address(given["url"]) if "url" in given else None


_DATE: Json = {"type": "string", "description": "ISO 8601."}

SEARCH_HISTORY = browser_tool(
    name="browser_search_history",
    title="Search history",
    description="Pages that were visited, the latest first. An empty query finds all.",
    handler=_search,
    properties={
        "query": {"type": "string"},
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST,
            "description": f"Default {PAGES}.",
        },
        "startTime": _DATE,
        "endTime": _DATE,
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    required=("query",),
    # It changes nothing, but in a person's own browser it is about that person: they are asked.
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

GET_VISITS = browser_tool(
    name="browser_get_visits",
    title="Get visits",
    description="When a page was visited, and how it was come to.",
    handler=_visits,
    properties={
        "url": {"type": "string"},
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    required=("url",),
    idempotent=True,
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)


DEPTH = 10


async def _search_bookmarks(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_browser(
        context.browser, "bookmarks.search", {"query": given["query"]}
    )
    found = [node for node in output["bookmarks"] if _may_tell(context, node)]
    lines = fitting((_bookmark_line(node) for node in found), given)
    told: Json = {"bookmarks": found[: len(lines)], "total": len(found)}
    return done(listed_from_pages("bookmark", lines, len(found)), told)


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
    return done(listed_from_pages("entry", kept, len(lines)), {"tree": tree, "total": len(lines)})


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
    yield f"{' ' * depth}{_bookmark_line(node)}{more}"
    for child in node.get("children", ()):
        yield from _lines(child, depth + 1)


def _bookmark_line(node: Json) -> str:
    return f"- {node['id']}: {node['title']!r} {node.get('url', '(folder)')}"


_STRING: Json = {"type": "string"}

SEARCH_BOOKMARKS = browser_tool(
    name="browser_search_bookmarks",
    title="Search bookmarks",
    description="Bookmarks whose title or address has these words.",
    handler=_search_bookmarks,
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


LIMIT = 20
_STATES = ("in_progress", "interrupted", "complete")


async def _download(context: Context) -> CallResult:
    given = context.arguments
    wanted: Json = {key: given[key] for key in ("filename", "saveAs") if key in given}
    input = {**wanted, "url": address(given["url"]), "timeoutMs": context.wait_ms}
    item = await context.in_browser(context.browser, "downloads.start", input)
    if item["state"] == "interrupted":
        told = f"The download of {item['url']} failed: {item.get('error', 'it was interrupted')}."
        raise Refused(told, "navigation_failed", data={"downloadId": item["downloadId"]})
    return done(_download_line(item), item)


async def _list(context: Context) -> CallResult:
    given = context.arguments
    wanted: Json = {key: given[key] for key in ("query", "state") if key in given}
    input = {**wanted, **_scope(context), "limit": given.get("limit", LIMIT)}
    output = await context.in_browser(context.browser, "downloads.list", input)
    items = [item for item in output["downloads"] if context.may_tell(item["url"])]
    output["total"] -= len(output["downloads"]) - len(items)
    counted = f"{len(items)} of {output['total']} downloads, the latest first"
    lines = [_download_line(item) for item in items]

    def shape(count: int) -> Json:
        return {**output, "downloads": items[:count]}

    return listed(given, counted, lines, shape)


async def _status(context: Context) -> CallResult:
    input = {"downloadId": context.arguments["downloadId"], **_scope(context)}
    item = await context.in_browser(context.browser, "downloads.status", input)
    if not context.may_tell(item["url"]):
        raise NotFound(f"There is no download {item['downloadId']} of yours.")
    return done(_download_line(item), item)


def _scope(context: Context) -> Json:
    """What a person has downloaded themselves in their own browser is not told."""
    return {"onlyOurs": not context.browsers.is_managed(context.browser)}


def _download_line(item: Json) -> str:
    of = f" of {item['totalBytes']}" if item["totalBytes"] >= 0 else ""
    fault = f" ({item['error']})" if "error" in item else ""
    return (
        f"Download {item['downloadId']}: {item['state']}{fault}, "
        f"{item['bytesReceived']}{of} bytes, {item['path'] or 'no file yet'} from {item['url']}"
    )


DOWNLOAD_FILE = browser_tool(
    name="browser_download_file",
    title="Download file",
    description=(
        "Download a file into the browser's download folder, wait for its end and tell its final "
        "path. One that takes longer goes on: ask for its status then."
    ),
    handler=_download,
    properties={
        "url": {"type": "string"},
        "filename": {"type": "string", "description": "Below the download folder."},
        "saveAs": {"type": "boolean", "description": "Let the person choose the place."},
        "connectionId": CONNECTION,
    },
    required=("url",),
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)

LIST_DOWNLOADS = browser_tool(
    name="browser_list_downloads",
    title="List downloads",
    description="Downloads, the latest first; in a person's own browser those that agents began.",
    handler=_list,
    properties={
        "query": {"type": "string", "description": "In the file's name or address."},
        "state": {"enum": list(_STATES)},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": f"Default {LIMIT}.",
        },
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    needs_tab=False,
    toolsets=BROWSER,
)

GET_DOWNLOAD_STATUS = browser_tool(
    name="browser_get_download_status",
    title="Download status",
    description="How far a download has come, and the final path of its file.",
    handler=_status,
    properties={"downloadId": {"type": "integer"}, "connectionId": CONNECTION},
    required=("downloadId",),
    read_only=True,
    needs_tab=False,
    toolsets=BROWSER,
)


TOOLS = (
    SEARCH_HISTORY,
    GET_VISITS,
    SEARCH_BOOKMARKS,
    CREATE_BOOKMARK,
    LIST_BOOKMARK_TREE,
    DOWNLOAD_FILE,
    LIST_DOWNLOADS,
    GET_DOWNLOAD_STATUS,
)
