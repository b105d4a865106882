"""Opens a tab for a tool that no tab has."""

from typing import Protocol

from tabhub.browser.browsers import Browsers
from tabhub.browser.opening import Place, opened
from tabhub.calls.ports import Job
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab

WAIT_MS = 15_000


class Opener(Protocol):
    """Opens tabs."""

    async def open(self, job: Job, url: str) -> Tab: ...


class BrowserOpener:
    """Opens them in the browser that connected last, as the caller's own."""

    def __init__(self, browsers: Browsers, hub: Hub) -> None:
        self._browsers = browsers
        self._hub = hub

    async def open(self, job: Job, url: str) -> Tab:
        browser = self._browsers.latest().id
        place = Place(self._browsers, self._hub, job.session, browser)
        tab, told = await opened(place, {"url": url, "active": False}, WAIT_MS, job.progress)
        if "groupId" in told:
            self._hub.ownership.grouped(job.session, browser, told["groupId"])
        self._hub.sessions.use(job.session, tab.id)
        return tab
