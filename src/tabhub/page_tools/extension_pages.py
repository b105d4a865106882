"""Pages in browsers with the extension: registrations and calls over the link, and new tabs."""

from typing import ClassVar, Protocol

import msgspec

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.opening import NewTabPlace, opened
from tabhub.calls.call import Call
from tabhub.calls.time_limit import Progress
from tabhub.errors import NotFound
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.registrations import Pages
from tabhub.page_tools.transports import PageListeners, ToolsUpdate
from tabhub.wire.methods import EXTENSION, Handlers
from tabhub.wire.pages import Capabilities, Document, Execute, Outcome, RegisterTools, UpdateTools

PREFIX = "link:"
"""Begins the names of these transports; the profile follows."""
WAIT_MS = 15_000


class ExtensionPages(PageListeners):
    """The `PageTransport` of every connected browser."""

    def __init__(self, pages: Pages, hub: PageHub, browsers: Browsers) -> None:
        super().__init__()
        pages.listen(self)
        self._pages = pages
        self._tabs = hub.tabs
        self._browsers = browsers
        browsers.on_activated(lambda tab: pages.activated(tab.id))
        browsers.on_listed(self._listed)

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> None:
        """Take one message of an extension about its pages."""
        self._HANDLERS.handle(method, params, self, profile)

    def joined(self, profile: str) -> None:
        self._pages.resume(PREFIX + profile, self)

    def left(self, profile: str) -> None:
        self._pages.suspend(PREFIX + profile)

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        profile = page.transport.removeprefix(PREFIX)
        tab = self._tabs.find(page.tab) if isinstance(page.tab, int) else None
        if tab is None:
            raise NotFound(f"Tab {page.tab} has closed.", "tab_not_found", effect="none")
        named = msgspec.structs.replace(
            message, tab_id=tab.native_id, frame_id=page.frame, document_id=page.document
        )
        return await self._browsers.get(profile).connection.execute(named, progress)

    def _listed(self, profile: str) -> None:
        numbers = {tab.native_id for tab in self._tabs.of_browser(profile)}
        self._pages.only_in(PREFIX + profile, numbers)

    def _registered(self, profile: str, params: RegisterTools) -> None:
        ref = self._ref(profile, params)
        tab = self._tabs.by_native(profile, params.tab_id)
        self.received(
            Registration(
                ref,
                params.origin,
                params.url or params.tab_url,
                "" if tab is None else tab.title,
                params.tools,
                params.capabilities or Capabilities(),
                kind=params.kind,
                worker_id=params.worker_id or "",
                extensions=params.extensions,
                embedding=(params.embedding or "foreign") if ref.frame else "own",
            )
        )

    def _updated(self, profile: str, params: UpdateTools) -> None:
        self.received(ToolsUpdate(self._ref(profile, params), params.tools, params.extensions))

    def _gone(self, profile: str, params: Document) -> None:
        # The extension reports a closed tab before its pages; they were removed with it.
        if self._tabs.by_native(profile, params.tab_id) is not None:
            self.disconnect(self._ref(profile, params))

    def _ref(self, profile: str, params: Document) -> PageRef:
        tab = self._tabs.by_native(profile, params.tab_id)
        if tab is None:
            raise NotFound(f"There is no tab {params.tab_id}.", "tab_not_found")
        return PageRef(PREFIX + profile, tab.id, params.frame_id, params.document_id)

    _HANDLERS: ClassVar = Handlers(
        EXTENSION.taken_by("pages"),
        {
            "browser/registerTools": _registered,
            "browser/updateTools": _updated,
            "browser/unregisterTools": _gone,
        },
    )


class Opener(Protocol):
    """Opens tabs for page tools that no tab has."""

    def browser_for(self, tool: Tool) -> str | None:
        """The browser in which a tab for a tool would be opened; None if any will do."""

    async def ready(self, tool: Tool) -> None:
        """Wait until it is known whose browser that is."""

    def require(self, browser: str) -> None:
        """Raise if that browser is not connected."""

    async def open(self, call: Call, url: str) -> Tab: ...


class BrowserOpener:
    """Opens the tab in the browser that had the tool, where the person is probably signed in."""

    def __init__(self, browsers: Browsers, hub: PageHub) -> None:
        self._browsers = browsers
        self._hub = hub

    def browser_for(self, tool: Tool) -> str | None:
        entry = self._hub.pages.find(tool.name)
        place = None if entry is None else self._hub.pages.place(entry)
        transport = "" if place is None else place.transport
        return transport.removeprefix(PREFIX) if transport.startswith(PREFIX) else None

    async def ready(self, tool: Tool) -> None:
        await self._browsers.ready(self.browser_for(tool))

    def require(self, browser: str) -> None:
        self._browsers.get(browser)

    async def open(self, call: Call, url: str) -> Tab:
        known = self.browser_for(call.tool)
        browser = (self._browsers.latest() if known is None else self._browsers.get(known)).id
        place = NewTabPlace(self._browsers, self._hub, call.session, browser)
        tab, output = await opened(place, {"url": url, "active": False}, WAIT_MS, call.report)
        if "groupId" in output:
            self._hub.ownership.grouped(call.session, browser, output["groupId"])
        self._hub.sessions.use(call.session, tab.id)
        return tab
