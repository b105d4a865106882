"""Open tabs as MCP resources: the state of each, and views of its page."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import msgspec

from tabhub.agents.mcp.backend import Change
from tabhub.calls.marks import escaped
from tabhub.calls.results import UNTRUSTED, as_told
from tabhub.errors import NotFound
from tabhub.hub import tabs as hub_tabs
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import PAGE_LABEL
from tabhub.permissions.sites import MayTell
from tabhub.wire.mcp import messages as m

JSON = "application/json"
TEMPLATE = "tab://{id}"
_URI = re.compile(r"tab://([0-9]{1,18})(?:/([a-z]+))?")

CallTool = Callable[[str, m.Json], Awaitable[m.CallResult]]
"""Calls a tool with arguments for the client that reads."""


@dataclass(frozen=True)
class TabView:
    """A view of a tab's page, read by a tool that the client must be allowed to call."""

    name: str
    tool: str
    mime: str
    title: str
    description: str

    @property
    def template(self) -> str:
        return f"{TEMPLATE}/{self.name}"


VIEWS = {
    view.name: view
    for view in (
        TabView(
            "text", "browser_get_tab_content", "text/plain", "Text of a tab", "Its visible text."
        ),
        TabView(
            "snapshot",
            "browser_read_page",
            "text/plain",
            "Snapshot of a tab",
            "Its elements as a tree, with refs to act on.",
        ),
        TabView(
            "screenshot",
            "browser_screenshot_tab",
            "image/jpeg",
            "Screenshot of a tab",
            "The visible part of the page.",
        ),
    )
}


class TabResources:
    """Lists and reads tabs by their URIs."""

    def __init__(self, hub: Hub) -> None:
        self._tabs = hub.tabs
        self._routes = hub.routes
        self._ownership = hub.ownership

    def listed(self, may_tell: MayTell) -> list[m.Json]:
        return [_resource(as_told(tab, may_tell)) for tab in self._tabs.all()]

    def templates(self) -> list[m.Json]:
        state = _template(TEMPLATE, "tab", "An open tab", "Address, title, owner and state.", JSON)
        views = (
            _template(view.template, f"tab-{view.name}", view.title, view.description, view.mime)
            for view in VIEWS.values()
        )
        return [state, *views]

    def ids(self, template: object, session: str) -> list[str]:
        """The tab ids that complete a template; for a view only tabs that the session may use."""
        if template == TEMPLATE:
            return [str(tab.id) for tab in self._tabs.all()]
        if template not in {view.template for view in VIEWS.values()}:
            return []
        usable = (tab for tab in self._tabs.all() if self._ownership.may_use(session, tab))
        return [str(tab.id) for tab in usable]

    async def read(self, uri: str, call_tool: CallTool, may_tell: MayTell) -> m.Json:
        tab, view = self._find(uri)
        if view is None:
            text = msgspec.json.encode(self._state(as_told(tab, may_tell))).decode()
            return {"uri": uri, "mimeType": JSON, "text": text, "_meta": {UNTRUSTED: ["/text"]}}
        result = await call_tool(view.tool, {"tabId": tab.id})
        return {"uri": uri, **_content(result)}

    def _find(self, uri: str) -> tuple[Tab, TabView | None]:
        match = _URI.fullmatch(uri)
        tab = self._tabs.find(int(match[1])) if match else None
        view = VIEWS.get(match[2]) if match and match[2] else None
        if match is None or tab is None or (view is None and match[2]):
            raise NotFound(f"There is no resource {uri}.", "unknown_resource", data={"uri": uri})
        return tab, view

    def _state(self, tab: Tab) -> m.Json:
        return {
            "tabId": tab.id,
            "url": tab.url,
            "title": tab.title,
            "owner": self._routes.owner_of(tab),
            "active": tab.active,
            "status": tab.status,
            "browser": tab.browser,
        }


def changes(change: hub_tabs.Change, id: int) -> Iterator[Change]:
    """The changes of resources that a change of a tab causes."""
    if change != "updated":
        yield Change("resources")
        return
    yield Change("resource", uri=f"tab://{id}")
    for name in VIEWS:
        yield Change("resource", uri=f"tab://{id}/{name}")


def _content(result: m.CallResult) -> m.Json:
    image = next((block for block in result.content if block["type"] == "image"), None)
    if image is not None:
        meta = {UNTRUSTED: ["/blob"]}
        return {"mimeType": image["mimeType"], "blob": image["data"], "_meta": meta}
    return {"mimeType": "text/plain", "text": result.content[0]["text"]}


def _template(uri: str, name: str, title: str, description: str, mime: str) -> m.Json:
    return {
        "uriTemplate": uri,
        "name": name,
        "title": title,
        "description": description,
        "mimeType": mime,
    }


def _resource(tab: Tab) -> m.Json:
    return {
        "uri": f"tab://{tab.id}",
        "name": f"tab {tab.id}",
        "description": f"{PAGE_LABEL}{escaped(f'{tab.url} {tab.title}')}".rstrip(),
        "mimeType": JSON,
    }
