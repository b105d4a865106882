"""The sources of all tools, and the runner that calls them."""

import time
from dataclasses import dataclass, field

from tabhub.audit.log import AuditLog
from tabhub.browser.link.browsers import Browsers
from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Source
from tabhub.calls.runner import Runner
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.page_tools import source as page_source
from tabhub.page_tools.core.listing import SOURCE as PAGE_SOURCE
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.extension_pages import BrowserOpener
from tabhub.page_tools.registrations import Pages
from tabhub.store.active_rules import ActiveRules
from tabhub.store.saved_shortcuts import Shortcuts
from tabhub.tools import catalog, diagnostics, session_tools
from tabhub.tools.composite import batch, plan, shortcuts
from tabhub.tools.composite.shortcut_recording import ShortcutObserver, ShortcutRecordings
from tabhub.tools.composite.shortcut_replay import Replays
from tabhub.tools.files import OwnFiles, ToolFolders
from tabhub.tools.tool import SOURCE


@dataclass
class Tooling:
    """Builds every source, the runner above them, and the catalog of built-in tools."""

    home: Home | None
    settings: Settings
    hub: PageHub
    browsers: Browsers
    pages: Pages
    guard: Guard
    rules: ActiveRules
    approvals: Approvals
    audit: AuditLog
    shortcuts: Shortcuts
    sources: dict[str, Source]
    runner: Runner = field(init=False)

    def __post_init__(self) -> None:
        self._recordings = ShortcutRecordings(self.hub.sessions)
        self._replays = Replays(self.hub, self.shortcuts)
        self._in_browser = self._browser_source()
        self.runner = self._runner()
        self._add_browsing()
        self._add_page_tools()
        self._add_composite()
        self._add_dev()
        self.hub.tools.add(*catalog.all_for(self.hub.tools), page_source.LIST_TABS)

    def _browser_source(self) -> catalog.BrowserSource:
        homes = {self.home.root, Home.default().root} if self.home else ()
        return catalog.BrowserSource(
            self.browsers,
            self.hub,
            self.guard,
            self.settings,
            ToolFolders(self.home, self.settings),
            OwnFiles(homes),
            self._replays,
            [ShortcutObserver(self._recordings)],
        )

    def _runner(self) -> Runner:
        return Runner(
            self.hub,
            self.guard,
            self.approvals,
            self.audit,
            self.sources,
            time.monotonic,
            self.settings.limits,
        )

    def _add_browsing(self) -> None:
        hub = self.hub
        self.sources |= {
            SOURCE: self._in_browser,
            session_tools.PERMISSIONS_SOURCE: session_tools.PermissionSource(hub, self.guard),
            session_tools.TURNS_SOURCE: session_tools.TurnSource(hub.sessions),
            page_source.TAB_LIST_SOURCE: page_source.TabListSource(hub),
        }

    def _add_page_tools(self) -> None:
        opener = BrowserOpener(self.browsers, self.hub)
        self.sources[PAGE_SOURCE] = page_source.PageSource(
            self.hub, self.pages, opener, lambda: self.settings.limits
        )

    def _add_composite(self) -> None:
        """Add the sources whose tools call other tools."""
        hub, runner, max_result = self.hub, self.runner, self.settings.limits.result_bytes
        self.sources |= {
            batch.SOURCE: batch.BatchSource(
                runner, hub.sessions, self._in_browser.screenshots, max_result
            ),
            shortcuts.SOURCE: shortcuts.ShortcutSource(
                hub, runner, self.shortcuts, self._recordings, self._replays
            ),
            plan.SOURCE: plan.PlanSource(hub.tools, self.guard, self.approvals, runner.running),
        }

    def _add_dev(self) -> None:
        hidden = () if self.settings.dev else (diagnostics.DEV_UTILS.name,)
        self.guard.without = frozenset(hidden)
        self.sources[diagnostics.DEV_SOURCE] = diagnostics.DevSource(
            lambda: self.settings.dev,
            self.hub,
            self.browsers,
            self.runner.running,
            self.rules.grants,
            self._in_browser.screenshots,
            self._recordings,
        )
