"""Files that the browser downloads, and where they end up."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import NotFound, Refused
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.reports import listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

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
    return done(_line(item), item)


async def _list(context: Context) -> CallResult:
    given = context.arguments
    wanted: Json = {key: given[key] for key in ("query", "state") if key in given}
    input = {**wanted, **_scope(context), "limit": given.get("limit", LIMIT)}
    output = await context.in_browser(context.browser, "downloads.list", input)
    items = [item for item in output["downloads"] if context.may_tell(item["url"])]
    output["total"] -= len(output["downloads"]) - len(items)
    counted = f"{len(items)} of {output['total']} downloads, the latest first"
    lines = [_line(item) for item in items]

    def shape(count: int) -> Json:
        return {**output, "downloads": items[:count]}

    return listed(given, counted, lines, shape)


async def _status(context: Context) -> CallResult:
    input = {"downloadId": context.arguments["downloadId"], **_scope(context)}
    item = await context.in_browser(context.browser, "downloads.status", input)
    if not context.may_tell(item["url"]):
        raise NotFound(f"There is no download {item['downloadId']} of yours.")
    return done(_line(item), item)


def _scope(context: Context) -> Json:
    """What a person has downloaded themselves in their own browser is not told."""
    return {"onlyOurs": not context.browsers.is_managed(context.browser)}


def _line(item: Json) -> str:
    of = f" of {item['totalBytes']}" if item["totalBytes"] >= 0 else ""
    fault = f" ({item['error']})" if "error" in item else ""
    return (
        f"Download {item['downloadId']}: {item['state']}{fault}, "
        f"{item['bytesReceived']}{of} bytes, {item['path'] or 'no file yet'} from {item['url']}"
    )


def _url(given: Mapping[str, Any]) -> str | None:
    return address(given["url"]) if "url" in given else None


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

TOOLS = (DOWNLOAD_FILE, LIST_DOWNLOADS, GET_DOWNLOAD_STATUS)
