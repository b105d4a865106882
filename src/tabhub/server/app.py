"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from functools import partial
from typing import Any

from tabhub.agents.admin import Admin
from tabhub.agents.call_stream import CallStream
from tabhub.agents.http.connections import Connections
from tabhub.agents.http.rates import Rates, Refusal
from tabhub.agents.http.routing import HttpRouter
from tabhub.agents.http.security import AccessControl, record_refusal
from tabhub.agents.http.usage import Usage
from tabhub.agents.routes import ROUTES, OpenApi
from tabhub.audit.log import AuditLog
from tabhub.audit.view import AuditView
from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.code_pairing import CodePairing
from tabhub.browser.link.endpoint import LinkEndpoint
from tabhub.browser.panel.call_feed import CallFeed
from tabhub.browser.panel.panel_approvals import Panels
from tabhub.browser.panel.panel_requests import PanelRequests, Views
from tabhub.browser.panel.panel_state import PanelNotifier, PanelStateBuilder
from tabhub.browser.panel.request_subjects import RequestSubjects
from tabhub.browser.panel.tool_trial import ToolTrial
from tabhub.browser.remote.proxy_access import ProxyAccess
from tabhub.browser.remote.remote_browsers import RemoteBrowsers
from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Source
from tabhub.calls.ports import throttled
from tabhub.calls.running import Control
from tabhub.config.clients import SSE, Client, Clients, is_token
from tabhub.config.paths import Home
from tabhub.config.secret import Challenges
from tabhub.config.settings import Origins, Settings, choose_toolsets
from tabhub.hub.tabs import Tab
from tabhub.page_tools.core.memory import Remembered
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page
from tabhub.page_tools.extension_pages import ExtensionPages
from tabhub.page_tools.intake import StoredPageCheck
from tabhub.page_tools.pairing import Pairing
from tabhub.page_tools.persistence import PagePersistence
from tabhub.page_tools.registrations import Pages
from tabhub.page_tools.worker import PREFIX as BY_WORKER
from tabhub.page_tools.worker import WorkerEndpoint
from tabhub.plugins.agent_review import SOURCE as REVIEW_SOURCE
from tabhub.plugins.agent_review import InspectionSource
from tabhub.plugins.development.folder_trust import FolderTrust
from tabhub.plugins.development.folder_watcher import FolderWatcher
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.person_review import PersonReview
from tabhub.plugins.python_source.described_plugins import Descriptions
from tabhub.plugins.review import Reviews
from tabhub.plugins.tools import PluginGate, PluginTools
from tabhub.server.administration import (
    Administration,
    ConfigChanges,
    Reloading,
    redactable,
    with_flags,
)
from tabhub.server.client_view import ClientView
from tabhub.server.endpoints import Endpoints
from tabhub.server.plugin_management import PluginManagement
from tabhub.server.plugin_runtime import PluginRuntime
from tabhub.server.plugin_status import PluginReport
from tabhub.server.session_ends import SessionEnds, SessionLog
from tabhub.server.setting_view import SettingView
from tabhub.server.status import Report, ToolReport
from tabhub.server.tooling import Tooling
from tabhub.store.active_rules import ActiveRules
from tabhub.store.client_times import ClientTimes
from tabhub.store.saved_shortcuts import Shortcuts
from tabhub.store.saved_state import SavedSessions
from tabhub.store.store import Store
from tabhub.wire.asgi import App as AsgiApp

log = logging.getLogger(__name__)

REAP_SECONDS = 30.0
REVOCATION_CHECK_SECONDS = 3.0
"""How often the file of tokens is checked, as its editor may not notify the server."""
PAGE_CALL_GRACE_SECONDS = 30.0
"""Page tools have their own time limits; the runner's ends only calls that these miss."""


class App:
    """The whole server as one ASGI application; without a home it writes no file."""

    def __init__(
        self,
        settings: Settings,
        secret: str,
        *,
        auth: bool = True,
        home: Home | None = None,
        skip_permissions: bool = False,
        share_active_tab: bool = False,
        dev: bool = False,
        via_proxy: ProxyAccess | None = None,
    ) -> None:
        choose_toolsets(settings.toolsets)
        self.settings = with_flags(settings, dev)
        self.is_dev = dev
        """Whether linked plugins run without a review. Only the flag does that: a setting would
        last for ever."""
        self._build_state(home, secret, share_active_tab)
        self._build_permissions(home, skip_permissions)
        self._build_tools(home)
        self._restore_pages(home)
        self._build_link(home)
        self._build_endpoints(home)
        self._build_administration(home, secret, dev)
        self._remote = None if via_proxy is None else self._reach_through(via_proxy)
        self._build_http(secret, auth)
        self._refresh_panels_on_changes()
        SessionLog(self.hub.sessions, self.session_ends.has_session)

    def _build_state(self, home: Home | None, secret: str, share_active_tab: bool) -> None:
        """Create what is remembered: the hub in memory, the store and the audit log on disk."""
        self.hub = PageHub()
        self.hub.ownership.shares_active = share_active_tab
        self.store = Store(home.db if home else None)
        secrets = [secret, *redactable(self.settings.mcp_server.auth_token)]
        self.audit = AuditLog(home.audit if home else None, self.settings.audit, secrets)
        self.audit.recover()
        self.shortcuts = Shortcuts(self.store)
        self.client_times = ClientTimes(self.store)

    def _build_permissions(self, home: Home | None, skip: bool) -> None:
        self.rules = ActiveRules(home, self.settings, self.store, skip=skip)
        self.browsers = Browsers(self.hub)
        self.panels = Panels(self.browsers)
        self.rules.on_change(self.panels.answer_decided)
        self.approvals = Approvals(self.panels, lambda: self.rules.terms)
        self.sources: dict[str, Source] = {}
        self.guard = Guard(
            self.rules.permissions,
            self.hub.ownership,
            self.browsers.is_permissive,
            time.time,
            self.sources,
        )

    def _build_tools(self, home: Home | None) -> None:
        registry, limits = self.hub.pages, self.settings.limits
        registry.configure(
            self.settings.exposure, limits.max_call_seconds + PAGE_CALL_GRACE_SECONDS
        )
        registry.on_named(self.rules.meet)
        self.rules.follow(registry.meaning)
        self.pages = Pages(self.hub, lambda: self.settings, self.audit)
        tooling = Tooling(
            home,
            self.settings,
            self.hub,
            self.browsers,
            self.pages,
            self.guard,
            self.rules,
            self.approvals,
            self.audit,
            self.shortcuts,
            self.sources,
        )
        self.runner = tooling.runner
        self._build_plugins(home)
        self.control = Control(self.hub, self.runner.running)

    def _build_plugins(self, home: Home | None) -> None:
        tools, rules = self.hub.tools, self.rules
        own = frozenset(tool.name for tool in tools)
        installed = home.plugins if home else None
        trust = [FolderTrust(installed)] if self.is_dev else []
        self.reviews = Reviews(home, partial(rules.set_level, "plugins"), *trust)
        described = Descriptions(home.plugin_descriptions if home else None)
        self.plugins = Plugins(
            installed, lambda: self.settings, own, described, keeps_working=self.is_dev
        )
        self.plugin_management = management = PluginManagement(
            home, self.settings, self.plugins, self.reviews.is_open, self._forget_plugin
        )
        self.plugin_gate = PluginGate(tools, self.reviews, self.guard)
        self.plugin_runtime = runtime = PluginRuntime(
            home,
            self.hub,
            self.browsers,
            lambda: self.settings.limits,
            self.plugins.all,
            self.plugin_gate,
            management.values,
            self.runner.decide_again,
            self.plugins,
        )
        self.sources |= runtime.sources
        self.plugin_tools = PluginTools(tools, self.plugins, self.reviews, management.instances)
        self.plugin_report = PluginReport(self.plugins, self.reviews, self.plugin_gate, management)
        self.plugin_report.in_tabs = runtime.in_tabs
        for part in (self.plugins, self.reviews, rules, management):
            part.on_change(runtime.refresh)
        self.sources[REVIEW_SOURCE] = InspectionSource(
            self.plugins,
            self.reviews,
            self.approvals,
            self.runner.running,
            time.monotonic,
            self.plugins.reload,
        )
        self._watcher = FolderWatcher(self.plugins.linked_stamps, self.plugins.reload)
        if self.settings.dev:
            # Before they are read: what is written meanwhile is a change.
            self._watcher.begin()
        self.plugins.reload()
        management.on_change(self.plugin_tools.refresh)

    async def watch_folders(self) -> None:
        """Loop, in dev mode only: take the changes of plugins that the person works on."""
        if self.settings.dev:
            self.plugin_report.file_watcher = self._watcher.summary
            await self._watcher.watch()

    def _find_plugins(self) -> int:
        """Look for plugins and reviews again; returns how many plugins there are."""
        self.reviews.reload()
        self.plugins.descriptions.forget_refusals()
        self.plugin_runtime.python.supervision.forget_failures()
        found = self.plugins.reload()
        for browser in self.browsers.all():
            self._link.greet_again(browser.id)
        return found

    def _forget_plugin(self, name: str) -> None:
        """A plugin that is installed again has to be reviewed again, and has no level."""
        self.reviews.forget(name)
        self.rules.set_level("plugins", name, None)

    def _restore_pages(self, home: Home | None) -> None:
        """Load agents, tabs and page tools from the store, and drop what is no longer allowed."""
        SavedSessions(self.store, self.hub, time.monotonic())
        self.pairing = pairing = Pairing(home, self.settings.worker_origins, self.store, self.rules)
        pages, registry = self.pages, self.hub.pages
        check = StoredPageCheck(lambda: self.settings.limits)
        self._page_persistence = PagePersistence(self.store, registry, check, time.time())
        pairing.on_change(lambda: setattr(self.settings, "worker_origins", pairing.allowed))
        pairing.on_parted(lambda has_left: pages.forget(lambda kept: has_left(kept.origin)))

        def is_unpaired(page: Page | Remembered) -> bool:
            return page.transport.startswith(BY_WORKER) and page.origin not in pairing

        # The settings may have changed while no server ran.
        pages.take_settings()
        pages.forget(is_unpaired)
        registry.forget_restored(is_unpaired)

    def _build_link(self, home: Home | None) -> None:
        """Create the two WebSocket endpoints: for the extension, and for page workers."""
        limits = self.settings.limits
        state = PanelStateBuilder(
            self.hub,
            self.browsers,
            self.panels,
            self.guard,
            self.rules,
            self.pairing,
            self.plugin_report,
            self._tools_in,
        )
        self.call_feed = calls = CallFeed(self.browsers, self.runner.running)
        grants = self.rules.permissions.grants
        self.panel_requests = PanelRequests(
            self.browsers,
            self.panels,
            self.control,
            self.rules,
            self.hub.tools,
            state,
            self.audit,
            self.pairing,
            self.plugin_management,
            PersonReview(self.plugins, self.reviews, self.plugins.reload),
            calls,
            RequestSubjects(self.hub, self.panels, grants, calls),
            self._panel_views(home),
        )
        self._link = LinkEndpoint(
            self.browsers,
            self.panel_requests,
            ExtensionPages(self.pages, self.hub, self.browsers),
            self.plugin_runtime.messages,
            limits.ws_bytes,
            self.settings,
        )
        self._worker = WorkerEndpoint(self.pages, self.pairing, self.audit, limits.ws_bytes)

    def _tools_in(self, tab: Tab) -> int:
        """How many tools the page of a tab publishes, frames included."""
        return sum(len(page.tools) for page in self.hub.pages.storage.in_tab(tab.key))

    def _panel_views(self, home: Home | None) -> Views:
        """What the panel shows of rooms that are not the browser's."""
        by_flag = frozenset({"dev"} if self.is_dev else ())
        # Administration is built later, since it needs the endpoints.
        settings = SettingView(
            home, self.settings, by_flag, lambda: self.report, lambda: self._reloading
        )
        clients = ClientView(
            self.settings,
            lambda: self._clients,
            self.client_times,
            lambda: self.session_ends,
            lambda: self._reloading,
        )
        return {
            **AuditView(self.audit, self.hub.tools.title_of).handlers,
            **ToolTrial(self.hub, self.browsers, self.runner).handlers,
            **clients.handlers,
            **settings.handlers,
            "plugin.logs": self.plugin_runtime.logs.lines,
        }

    def _build_endpoints(self, home: Home | None) -> None:
        """Create the endpoints for agents."""
        self._clients = Clients(home) if home else None
        self.connections = Connections()
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._record_throttled)
        self.session_ends = SessionEnds(
            self.settings,
            self.hub,
            self.browsers,
            self.rules,
            self.rates,
            self.runner.running,
            self.connections,
        )
        self._endpoints = endpoints = Endpoints(
            self.settings,
            self.hub,
            self.runner,
            self.guard,
            self.rules,
            self.audit,
            self.rates,
            self.session_ends,
            self.store,
            partial(record_refusal, self.audit),
        )
        self.mcp, self.gateway, self.sse = endpoints.mcp, endpoints.gateway, endpoints.sse

    def _record_throttled(self, refusal: Refusal) -> None:
        self.audit.record(throttled(refusal.client.name, refusal.kind, refusal.error))

    def _build_administration(self, home: Home | None, secret: str, dev: bool) -> None:
        tools = ToolReport(self.hub.tools, self.guard)
        self.hub.tools.on_change(tools.changed)
        self.rules.on_change(tools.changed)
        self.code_pairing = CodePairing(lambda: self._admin.secret, time.monotonic)
        self.report = Report(
            settings=self.settings,
            hub=self.hub,
            browsers=self.browsers,
            rules=self.rules,
            audit=self.audit,
            rates=self.rates,
            running=self.runner.running,
            approvals=self.approvals,
            tools=tools,
            plugins=self.plugin_report,
            sessions=self.session_ends.counts,
            waiting_pages=self.pairing.waiting,
            clients_seen=self.client_times.all,
            waiting_extensions=self.code_pairing.waiting,
        )
        self._reloading = Reloading(
            home=home,
            settings=self.settings,
            dev=dev,
            secret=secret,
            clients=self._clients,
            changes=ConfigChanges(self.settings),
            session_ends=self.session_ends,
            rules=self.rules,
            shortcuts=self.shortcuts,
            client_times=self.client_times,
            audit=self.audit,
            reloads=self.report.reloads,
            take_settings=self._take_settings,
            take_secret=self._take_secret,
            find_plugins=self._find_plugins,
        )

    def _take_settings(self, fresh: Settings) -> None:
        self.asgi.origins = Origins(fresh.mcp_server.cors_origins)
        self.pages.take_settings()
        self._link.take_settings()
        self.pairing.take(fresh.worker_origins)
        self._page_persistence.reload()
        self.plugin_management.changed()

    def _take_secret(self, secret: str) -> None:
        self._admin.secret = secret
        self.asgi.take_secret(secret)

    def _build_http(self, secret: str, auth: bool) -> None:
        """Create the ASGI application: access control, then the router, then the handlers."""
        challenges = Challenges()
        self.call_stream = CallStream(self.call_feed, self.approvals)
        actions = Administration(
            self.settings,
            self._clients,
            self.browsers,
            self.audit,
            self.report,
            self._reloading,
            self.pairing,
            self.code_pairing,
            self.plugin_management,
        )
        self._admin = Admin(actions, self.report, secret, challenges)
        handlers: dict[str, AsgiApp | None] = {
            **self._endpoints.handlers,
            **self._admin.handlers,
            "calls": self.call_stream,
            "openapi": OpenApi(lambda: self.router.routes),
            "link": self._link,
            "page_worker": self._worker,
        }
        self.router = HttpRouter(ROUTES, handlers, self.rates.admin)
        self.asgi = AccessControl(
            self.router.dispatch,
            ROUTES,
            secret if auth else None,
            self._find_client,
            self.audit,
            challenges,
        )
        self.asgi.origins = Origins(self.settings.mcp_server.cors_origins)
        self.asgi.seen = self.client_times.seen

    def _find_client(self, token: str) -> Client | None:
        if is_token(token, self.settings.mcp_server.auth_token):
            return SSE
        return self._clients.find(token) if self._clients else None

    def _refresh_panels_on_changes(self) -> None:
        news = PanelNotifier(self.browsers)
        hub = self.hub
        shown = (hub.tabs, hub.sessions, hub.ownership, hub.tools)
        of_plugins = (self.plugins, self.reviews, self.plugin_management)
        for part in (*shown, self.control, self.rules, self.pairing, *of_plugins):
            part.on_change(news.changed)
        self.plugin_runtime.readiness.on_change(news.changed)
        self.client_times.on_new(news.changed)

    def _reach_through(self, access: ProxyAccess) -> RemoteBrowsers:
        """Use the browsers that a proxy has, besides those of this machine."""
        remote = RemoteBrowsers(access, self._link.serve_remote, self.settings.limits.ws_bytes)
        self.report.proxy = remote.summary
        self.browsers.absence = remote.absence
        return remote

    async def follow_proxy(self) -> None:
        """Loop: keep a link to every browser that the proxy has, if there is one."""
        if self._remote is not None:
            await self._remote.run()

    def count_use(self) -> Usage:
        """Start to measure how long the server is unused."""
        self.asgi.app = usage = Usage(self.router.dispatch, time.monotonic)
        return usage

    def reload(self) -> dict[str, Any]:
        """Read settings, policy, clients and secret again."""
        return self._reloading.reload()

    async def look_after(self) -> None:
        """Loop: end sessions that are idle or whose token was revoked."""
        due = time.monotonic() + REAP_SECONDS
        while True:
            await asyncio.sleep(REVOCATION_CHECK_SECONDS)
            try:
                self.audit.settle(time.time())
                self._reloading.notice_revoked()
                if time.monotonic() >= due:
                    due = time.monotonic() + REAP_SECONDS
                    self.tidy(time.monotonic())
            except Exception:
                log.exception("looking after the sessions failed")

    def tidy(self, now: float) -> None:
        """End sessions that are idle by the monotonic clock, and forget unused pages."""
        self.session_ends.reap(now)
        self.rules.grants.drop_expired(time.time())
        self.pages.tidy()
        self._page_persistence.alive(time.time())

    def close(self) -> None:
        self._endpoints.close()
        self.store.close()
        self.audit.close()
