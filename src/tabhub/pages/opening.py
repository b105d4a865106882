"""Opens a tab for a tool that no tab has."""

from typing import Protocol

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.opening import Place, opened
from tabhub.calls.call import Call
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.page_tools.extension_pages import PREFIX

WAIT_MS = 15_000


class Opener(Protocol):
    """Opens tabs."""

    def browser_for(self, tool: Tool) -> str | None:
        """The browser that a tab for a tool would be opened in; None if any will do."""

    async def open(self, call: Call, url: str) -> Tab: ...


class BrowserOpener:
    """Opens them as the caller's own, where the person is known to the site as before."""

    def __init__(self, browsers: Browsers, hub: Hub) -> None:
        self._browsers = browsers
        self._hub = hub

    def browser_for(self, tool: Tool) -> str | None:
        """The browser that a tool was published in last; None if any will do."""
        entry = self._hub.pages.find(tool.name)
        place = None if entry is None else self._hub.pages.place(entry)
        way = "" if place is None else place.way
        return way.removeprefix(PREFIX) if way.startswith(PREFIX) else None

    async def open(self, call: Call, url: str) -> Tab:
        known = self.browser_for(call.tool)
        browser = (self._browsers.latest() if known is None else self._browsers.get(known)).id
        place = Place(self._browsers, self._hub, call.session, browser)
        tab, told = await opened(place, {"url": url, "active": False}, WAIT_MS, call.report)
        if "groupId" in told:
            self._hub.ownership.grouped(call.session, browser, told["groupId"])
        self._hub.sessions.use(call.session, tab.id)
        return tab
