"""What runs the tools: a source for each kind of them, and the runner above."""

import time
from dataclasses import dataclass, field

from tabhub.audit.log import AuditLog
from tabhub.browser.link.browsers import Browsers
from tabhub.calls.approvals import Approvals
from tabhub.calls.guard import Guard
from tabhub.calls.runner import Runner
from tabhub.calls.source import Source
from tabhub.config.settings import Settings
from tabhub.hub.hub import Hub
from tabhub.page_tools import source as page_source
from tabhub.page_tools.registrations import Pages
from tabhub.pages import tab_list
from tabhub.pages.opening import BrowserOpener
from tabhub.store.active_rules import Rules
from tabhub.store.saved_shortcuts import Shortcuts
from tabhub.tools import agent as permissions_check
from tabhub.tools import catalog, dev, turns
from tabhub.tools.composite import batch, plan, shortcuts
from tabhub.tools.composite.shortcut_recording import Recordings, ShortcutObserver
from tabhub.tools.composite.shortcut_replay import Replays
from tabhub.tools.files import Files
from tabhub.tools.tool import SOURCE
from tabhub.tools.upload_folders import UploadFolders


@dataclass
class Tooling:
    """Every source, and the runner that has them."""

    settings: Settings
    hub: Hub
    browsers: Browsers
    pages: Pages
    guard: Guard
    rules: Rules
    approvals: Approvals
    audit: AuditLog
    shortcuts: Shortcuts
    sources: dict[str, Source]
    runner: Runner = field(init=False)

    def __post_init__(self) -> None:
        self._recordings = Recordings(self.hub.sessions)
        self._replays = Replays(self.hub, self.shortcuts)
        self._in_browser = self._browser_source()
        self.runner = self._runner()
        self._add_browsing()
        self._add_page_tools()
        self._add_what_calls_others()
        self._add_dev()
        self.hub.tools.add(*catalog.all_for(self.hub.tools), tab_list.TOOL)

    def _browser_source(self) -> catalog.BrowserSource:
        files = Files(lambda: self.settings.downloads.folder)
        folders = UploadFolders(lambda: self.settings.uploads.folders)
        return catalog.BrowserSource(
            self.browsers,
            self.hub,
            files,
            folders,
            self.guard,
            lambda: self.settings.untrusted_input,
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
            permissions_check.SOURCE: permissions_check.PermissionSource(hub, self.guard),
            turns.SOURCE: turns.TurnSource(hub.sessions),
            tab_list.SOURCE: tab_list.TabListSource(hub),
        }

    def _add_page_tools(self) -> None:
        opener = BrowserOpener(self.browsers, self.hub)
        self.sources[page_source.SOURCE] = page_source.PageSource(
            self.hub, self.pages, opener, lambda: self.settings.limits
        )

    def _add_what_calls_others(self) -> None:
        hub, runner, most = self.hub, self.runner, self.settings.limits.result_bytes
        self.sources |= {
            batch.SOURCE: batch.BatchSource(runner, hub.sessions, self._in_browser.shots, most),
            shortcuts.SOURCE: shortcuts.ShortcutSource(
                hub, runner, self.shortcuts, self._recordings, self._replays
            ),
            plan.SOURCE: plan.PlanSource(hub.tools, self.guard, self.approvals, runner.running),
        }

    def _add_dev(self) -> None:
        self.guard.without = frozenset() if self.settings.dev else frozenset({dev.TOOL.name})
        self.sources[dev.SOURCE] = dev.DevSource(
            lambda: self.settings.dev,
            self.hub,
            self.browsers,
            self.runner.running,
            self.rules.grants,
            self._in_browser.shots,
            self._recordings,
        )
