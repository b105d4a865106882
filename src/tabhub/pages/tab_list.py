"""`list_browser_tabs`: the tabs whose pages publish tools."""

import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from tabhub.calls.call import Call
from tabhub.calls.source import Source
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.storage import Page, TabKey
from tabhub.permissions.sites import site_of
from tabhub.wire.mcp.messages import CallResult, text

SOURCE = "page-tabs"
TOOL = Tool(
    name="list_browser_tabs",
    title="List tabs with tools",
    description="Tabs whose pages offer tools.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    source=SOURCE,
    annotations={"readOnlyHint": True},
    needs_tab=False,
    plugin="browser",
    toolsets=frozenset({"pages"}),
)


class TabListSource(Source):
    """Looks at what the hub knows."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def run(self, call: Call) -> CallResult:
        pages = [page for page in self._hub.pages.storage.all() if not page.is_restored]
        may_tell = call.may_tell
        if may_tell is not None:
            pages = [page for page in pages if may_tell(page.domain)]
        tabs: dict[tuple[TabKey, str], list[Page]] = {}
        for page in pages:
            owner = page.domain if isinstance(page.tab, str) else ""
            tabs.setdefault((page.tab, owner), []).append(page)
        told = [self._told(tab, found) for (tab, _), found in tabs.items()]
        told = [one for one in told if may_tell is None or may_tell(site_of(one["url"]))]
        return CallResult(
            content=[text(msgspec.json.encode(told).decode())], structured_content=told
        )

    def _told(self, tab: TabKey, pages: list[Page]) -> dict[str, Any]:
        shown = min(pages, key=lambda page: page.ref.frame)
        known = self._hub.tabs.find(tab) if isinstance(tab, int) else None
        is_active = any(tab in self._hub.pages.in_front(page.domain) for page in pages)
        seen = time.time() if is_active else max(page.seen for page in pages)
        return {
            "tabId": tab,
            "url": shown.url if known is None else known.url,
            "title": shown.title if known is None else known.title,
            "isActive": is_active,
            "lastSeen": _iso(seen),
        }


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
