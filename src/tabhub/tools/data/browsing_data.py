"""What the browser keeps of browsing: history, bookmarks and downloads."""

from asyncio import to_thread
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.errors import Forbidden, InvalidArguments, NotFound, Refused, TabhubError
from tabhub.tools.reports import (
    MAX_TOKENS,
    counted_lines,
    fitting,
    listed,
    shown_count,
    timestamp,
)
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, address, browser_tool
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult

DEFAULT_PAGES, MAX_PAGES = 100, 1000
DEFAULT_DEPTH = 10
DEFAULT_DOWNLOADS = 20
DOWNLOAD_STATES = ("in_progress", "interrupted", "complete")


async def _search_history(context: Context) -> CallResult:
    arguments = context.arguments
    times: Json = {
        name: _milliseconds(name, arguments[name])
        for name in ("startTime", "endTime")
        if name in arguments
    }
    if len(times) == 2 and times["startTime"] > times["endTime"]:
        raise InvalidArguments("browser_search_history: startTime is after endTime.")
    limit = arguments.get("maxResults", DEFAULT_PAGES)
    input: Json = {"query": arguments["query"], "maxResults": limit, **times}
    output = await context.in_browser(context.browser, "history.search", input)
    pages = [_page_data(page) for page in output["pages"] if context.may_show(page["url"])]
    lines = fitting((_page_line(page) for page in pages), arguments)
    data: Json = {"pages": pages[: len(lines)], "total": len(pages)}
    return done(counted_lines("page", lines, len(pages)), data)


def _milliseconds(name: str, text: str) -> float:
    try:
        return max(datetime.fromisoformat(text).timestamp() * 1000, 0)
    except (ValueError, OverflowError, OSError):
        raise InvalidArguments(
            f"browser_search_history: {name} {text!r} is not a date like 2026-07-28T12:00:00Z."
        ) from None


def _page_data(page: Json) -> Json:
    return {**page, "lastVisitTime": timestamp(page["lastVisitTime"])}


def _page_line(page: Json) -> str:
    return f"- {page['lastVisitTime']} {page['url']} {page['title']!r}, {page['visitCount']} visits"


async def _get_visits(context: Context) -> CallResult:
    arguments = context.arguments
    url = address(arguments["url"])
    output = await context.in_browser(context.browser, "history.visits", {"url": url})
    visits = [{**visit, "visitTime": timestamp(visit["visitTime"])} for visit in output["visits"]]
    lines = [f"- {visit['visitTime']} by {visit['transition']}" for visit in visits]
    kept = fitting(lines, arguments)
    data: Json = {"url": url, "visits": visits[: len(kept)], "total": len(visits)}
    return done("\n".join([shown_count("visit", len(kept), len(visits)), *kept]), data)


async def _search_bookmarks(context: Context) -> CallResult:
    arguments = context.arguments
    input = {"query": arguments["query"]}
    output = await context.in_browser(context.browser, "bookmarks.search", input)
    bookmarks = [node for node in output["bookmarks"] if _may_show(context, node)]
    lines = fitting((_bookmark_line(node) for node in bookmarks), arguments)
    data: Json = {"bookmarks": bookmarks[: len(lines)], "total": len(bookmarks)}
    return done(counted_lines("bookmark", lines, len(bookmarks)), data)


async def _list_bookmark_tree(context: Context) -> CallResult:
    arguments = context.arguments
    input = {key: arguments[key] for key in ("parentId",) if key in arguments}
    input["maxDepth"] = arguments.get("maxDepth", DEFAULT_DEPTH)
    output = await context.in_browser(context.browser, "bookmarks.tree", input)
    nodes = [node for node in (_visible(context, node) for node in output["tree"]) if node]
    lines = [line for node in nodes for line in _tree_lines(node, 0)]
    kept = fitting(lines, arguments)
    left = [len(kept)]
    tree = [node for node in (_first_nodes(node, left) for node in nodes) if node is not None]
    return done(counted_lines("entry", kept, len(lines)), {"tree": tree, "total": len(lines)})


async def _create_bookmark(context: Context) -> CallResult:
    arguments = context.arguments
    input: Json = {key: arguments[key] for key in ("title", "parentId") if key in arguments}
    input["url"] = address(arguments["url"])
    node = await context.in_browser(context.browser, "bookmarks.create", input)
    return done(f"Created bookmark {node['id']} in folder {node['parentId']}.", node)


def _may_show(context: Context, node: Json) -> bool:
    return "url" not in node or context.may_show(node["url"])


def _visible(context: Context, node: Json) -> Json | None:
    """The node with those of its descendants that may be shown."""
    if not _may_show(context, node):
        return None
    if "children" not in node:
        return node
    children = [_visible(context, child) for child in node["children"]]
    return {**node, "children": [child for child in children if child is not None]}


def _first_nodes(node: Json, left: list[int]) -> Json | None:
    """As much of a tree as there are lines left, in the order of its lines."""
    if left[0] <= 0:
        return None
    left[0] -= 1
    if "children" not in node:
        return node
    children = [_first_nodes(child, left) for child in node["children"]]
    return {**node, "children": [child for child in children if child is not None]}


def _tree_lines(node: Json, depth: int) -> Iterator[str]:
    more = f" ({node['childCount']} inside)" if "childCount" in node else ""
    yield f"{' ' * depth}{_bookmark_line(node)}{more}"
    for child in node.get("children", ()):
        yield from _tree_lines(child, depth + 1)


def _bookmark_line(node: Json) -> str:
    return f"- {node['id']}: {node['title']!r} {node.get('url', '(folder)')}"


async def _download_file(context: Context) -> CallResult:
    arguments = context.arguments
    input: Json = {key: arguments[key] for key in ("filename", "saveAs") if key in arguments}
    input |= {"url": address(arguments["url"]), "timeoutMs": context.wait_ms}
    context.files.require_name(arguments.get("filename", "file"))
    item = await context.in_browser(context.browser, "downloads.start", input)
    if not context.may_show(item["url"]):
        raise Forbidden("The download led to a walled site.", "permission_off", effect="done")
    if item["state"] == "interrupted":
        fault = item.get("error", "it was interrupted")
        raise Refused(
            f"The download of {quoted(item['url'])} failed: {quoted(fault)}.",
            "navigation_failed",
            data={"downloadId": item["downloadId"]},
        )
    if not arguments.get("saveAs"):
        name = arguments.get("filename", PurePath(item["path"]).name)
        client = context.call.client.name
        context.saved_downloads.begin(context.browser, item["downloadId"], name, client)
    item = await _in_folder(context, item)
    return done(quoted(_download_line(item)), item)


async def _in_folder(context: Context, item: Json) -> Json:
    """The download; once it is complete, with its file below the client's folder for files.

    A browser saves only below its own folder, so the file is moved from there.
    """
    kept, key = context.saved_downloads, (context.browser, item["downloadId"])
    client, is_complete = context.call.client.name, item["state"] == "complete"
    if is_complete:
        kept.claim(*key, item["url"], PurePath(item["path"]).name, client)
    path, name = kept.path(*key), kept.name(*key, client)
    if path is None and name is not None and is_complete:
        try:
            path = str(await to_thread(context.files.take_in, Path(item["path"]), name))
        except TabhubError as error:
            # It has been downloaded, and may be moved when it is asked about the next time.
            return {**item, "notMoved": error.message}
        kept.moved(*key, path)
    if path is None and is_complete:
        path = await to_thread(context.files.moved_here, Path(item["path"]))
    return item if path is None else {**item, "path": path}


async def _list_downloads(context: Context) -> CallResult:
    arguments = context.arguments
    input: Json = {key: arguments[key] for key in ("query", "state") if key in arguments}
    input |= {**_scope(context), "limit": arguments.get("limit", DEFAULT_DOWNLOADS)}
    output = await context.in_browser(context.browser, "downloads.list", input)
    shown = (item for item in output["downloads"] if context.may_show(item["url"]))
    items = [await _in_folder(context, item) for item in shown]
    output["total"] -= len(output["downloads"]) - len(items)
    head = f"{len(items)} of {output['total']} downloads, the latest first"
    lines = [_download_line(item) for item in items]

    def data(count: int) -> Json:
        return {**output, "downloads": items[:count]}

    return listed(arguments, head, lines, data, from_page=True)


async def _get_download_status(context: Context) -> CallResult:
    input = {"downloadId": context.arguments["downloadId"], **_scope(context)}
    item = await context.in_browser(context.browser, "downloads.status", input)
    if not context.may_show(item["url"]):
        raise NotFound(f"There is no download {item['downloadId']} of yours.")
    item = await _in_folder(context, item)
    return done(quoted(_download_line(item)), item)


def _scope(context: Context) -> Json:
    """In a person's own browser, only downloads that agents started."""
    return {"onlyOurs": not context.browsers.is_managed(context.browser)}


def _download_line(item: Json) -> str:
    of = f" of {item['totalBytes']}" if item["totalBytes"] >= 0 else ""
    fault = f" ({item['error']})" if "error" in item else ""
    return (
        f"Download {item['downloadId']}: {item['state']}{fault}, "
        f"{item['bytesReceived']}{of} bytes, {item['path'] or 'no file yet'} from {item['url']}"
        f"{_stays(item)}"
    )


def _stays(item: Json) -> str:
    return (
        f". It stays where the browser saved it: {item['notMoved']}" if "notMoved" in item else ""
    )


def _target_url(arguments: Mapping[str, Any]) -> str | None:
    return address(arguments["url"]) if "url" in arguments else None


_STRING: Json = {"type": "string"}
_DATE: Json = {"type": "string", "description": "ISO 8601."}

SEARCH_HISTORY = browser_tool(
    name="browser_search_history",
    title="Search history",
    description="Pages that were visited, the latest first. An empty query finds all.",
    handler=_search_history,
    properties={
        "query": {"type": "string"},
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_PAGES,
            "description": f"Default {DEFAULT_PAGES}.",
        },
        "startTime": _DATE,
        "endTime": _DATE,
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    required=("query",),
    # It changes nothing but is private, so it does not count as reading: a person is asked.
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

GET_VISITS = browser_tool(
    name="browser_get_visits",
    title="Get visits",
    description="When a page was visited, and how it was reached.",
    handler=_get_visits,
    properties={
        "url": {"type": "string"},
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    required=("url",),
    idempotent=True,
    needs_tab=False,
    address_of=_target_url,
    toolsets=BROWSER,
)

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
    # As for the history.
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

CREATE_BOOKMARK = browser_tool(
    name="browser_create_bookmark",
    title="Create bookmark",
    description="Add a bookmark.",
    handler=_create_bookmark,
    properties={
        "title": _STRING,
        "url": _STRING,
        "parentId": {"type": "string", "description": "A folder. Default the browser's choice."},
        "connectionId": CONNECTION,
    },
    required=("title", "url"),
    needs_tab=False,
    address_of=_target_url,
    toolsets=BROWSER,
)

LIST_BOOKMARK_TREE = browser_tool(
    name="browser_list_bookmark_tree",
    title="List bookmarks",
    description="Bookmarks and their folders as a tree, or the content of one folder.",
    handler=_list_bookmark_tree,
    properties={
        "parentId": {"type": "string", "description": "A folder. Default all of them."},
        "maxDepth": {"type": "integer", "minimum": 1, "description": f"Default {DEFAULT_DEPTH}."},
        "maxTokens": MAX_TOKENS,
        "connectionId": CONNECTION,
    },
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

DOWNLOAD_FILE = browser_tool(
    name="browser_download_file",
    title="Download file",
    description=(
        "Download a file into the folder for downloads, wait for its end and return its final "
        "path. One that takes longer goes on: ask for its status then."
    ),
    handler=_download_file,
    properties={
        "url": {"type": "string"},
        "filename": {"type": "string", "description": "Below that folder."},
        "saveAs": {"type": "boolean", "description": "Let the person choose the place."},
        "connectionId": CONNECTION,
    },
    required=("url",),
    needs_tab=False,
    address_of=_target_url,
    toolsets=BROWSER,
    does=(Ability.WRITE_FILES,),
)

LIST_DOWNLOADS = browser_tool(
    name="browser_list_downloads",
    title="List downloads",
    description="Downloads, the latest first; in a person's own browser those that agents started.",
    handler=_list_downloads,
    properties={
        "query": {"type": "string", "description": "In the file's name or address."},
        "state": {"enum": list(DOWNLOAD_STATES)},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": f"Default {DEFAULT_DOWNLOADS}.",
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
    handler=_get_download_status,
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
