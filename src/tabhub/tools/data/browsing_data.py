"""What the browser remembers: pages that were visited."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.errors import InvalidArguments
from tabhub.tools.budget import MAX_TOKENS, fitting
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.tools.urls import address
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
    return done(listed("page", lines, len(pages)), told)


async def _visits(context: Context) -> CallResult:
    given = context.arguments
    url = address(given["url"])
    output = await context.in_browser(context.browser, "history.visits", {"url": url})
    visits = [{**visit, "visitTime": iso(visit["visitTime"])} for visit in output["visits"]]
    lines = fitting((f"- {visit['visitTime']} by {visit['transition']}" for visit in visits), given)
    told: Json = {"url": url, "visits": visits[: len(lines)], "total": len(visits)}
    return done(f"{_counted('visit', len(lines), len(visits))}\n" + "\n".join(lines), told)


def listed(one: str, lines: list[str], total: int) -> str:
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

TOOLS = (SEARCH_HISTORY, GET_VISITS)
