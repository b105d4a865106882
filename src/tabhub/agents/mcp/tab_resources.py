"""Open tabs as MCP resources: what is known of each, and ways of looking into it."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import msgspec

from tabhub.agents.mcp.backend import Change
from tabhub.calls.ports import MayTell
from tabhub.calls.results import as_told
from tabhub.errors import NotFound
from tabhub.hub import tabs as hub_tabs
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.wire.mcp import messages as m

JSON = "application/json"
TEMPLATE = "tab://{id}"
_URI = re.compile(r"tab://([0-9]{1,18})(?:/([a-z]+))?")

Look = Callable[[str, m.Json], Awaitable[m.CallResult]]
"""Calls a tool with arguments, as the client that reads."""


@dataclass(frozen=True)
class View:
    """A way of looking into a tab: the tool that does it, for those who may call that tool."""

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
        View("text", "browser_get_tab_content", "text/plain", "Text of a tab", "What it says."),
        View(
            "snapshot",
            "browser_read_page",
            "text/plain",
            "Snapshot of a tab",
            "Its elements as a tree, with refs to act on.",
        ),
        View(
            "screenshot",
            "browser_screenshot_tab",
            "image/jpeg",
            "Screenshot of a tab",
            "What is in view.",
        ),
    )
}


class TabResources:
    """Names, reads and follows tabs by their addresses."""

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
        """The numbers that make an address of a template: what cannot be looked into is no help."""
        if template == TEMPLATE:
            return [str(tab.id) for tab in self._tabs.all()]
        if template not in {view.template for view in VIEWS.values()}:
            return []
        usable = (tab for tab in self._tabs.all() if self._ownership.may_use(session, tab))
        return [str(tab.id) for tab in usable]

    async def read(self, uri: str, look: Look, may_tell: MayTell) -> m.Json:
        tab, view = self._meant(uri)
        if view is None:
            text = msgspec.json.encode(self._state(as_told(tab, may_tell))).decode()
            return {"uri": uri, "mimeType": JSON, "text": text}
        result = await look(view.tool, {"tabId": tab.id})
        return {"uri": uri, **_shown(result)}

    def _meant(self, uri: str) -> tuple[Tab, View | None]:
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
    """The news that followers of resources hear when a tab changes."""
    if change != "updated":
        yield Change("resources")
        return
    yield Change("resource", uri=f"tab://{id}")
    for name in VIEWS:
        yield Change("resource", uri=f"tab://{id}/{name}")


def _shown(result: m.CallResult) -> m.Json:
    picture = next((block for block in result.content if block["type"] == "image"), None)
    if picture is not None:
        return {"mimeType": picture["mimeType"], "blob": picture["data"]}
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
        "name": tab.title or tab.url or f"tab {tab.id}",
        "description": tab.url,
        "mimeType": JSON,
    }
