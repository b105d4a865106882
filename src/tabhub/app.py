"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from typing import Any

from tabhub.agents.admin import Admin
from tabhub.agents.arrivals import Arrivals
from tabhub.agents.auditing import AuditQuery
from tabhub.agents.belonging import Groups
from tabhub.agents.choosing import Choosing
from tabhub.agents.crowd import Crowd
from tabhub.agents.health import ToolReport
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.gateway import GatewayBackend
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.listing import Listing
from tabhub.agents.mcp.product import ProductBackend
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.openapi import OpenApi
from tabhub.agents.rates import Rates, Refusal
from tabhub.agents.rest import Rest
from tabhub.agents.security import FOR_PAGES, Gatekeeper, refuse
from tabhub.agents.usage import Usage
from tabhub.audit.log import AuditLog
from tabhub.browser.browsers import Browsers
from tabhub.browser.desk import Desk
from tabhub.browser.link import LinkEndpoint
from tabhub.browser.panel_news import PanelNews
from tabhub.browser.panel_state import PanelState
from tabhub.browser.panels import Panels
from tabhub.calls.approval import Approvals
from tabhub.calls.control import Control
from tabhub.calls.guard import Guard
from tabhub.calls.ports import Source
from tabhub.calls.record import incident, throttled
from tabhub.calls.runner import Runner
from tabhub.config.changes import Changes
from tabhub.config.clients import MAIN, SSE, Client, Clients, hash_of, is_token
from tabhub.config.home import Home
from tabhub.config.origins import Origins
from tabhub.config.proof import label_of
from tabhub.config.settings import Settings
from tabhub.departures import Departures
from tabhub.errors import NotFound, TabhubError
from tabhub.hub import toolsets
from tabhub.hub.hub import Hub
from tabhub.hub.page_tools import Page, Remembered
from tabhub.pages import source as page_source
from tabhub.pages import tab_list
from tabhub.pages.again import Again
from tabhub.pages.link import LinkPages
from tabhub.pages.opening import BrowserOpener
from tabhub.pages.pages import Pages
from tabhub.pages.pairing import Pairing
from tabhub.pages.worker_endpoint import PREFIX as BY_WORKER
from tabhub.pages.worker_endpoint import WorkerEndpoint
from tabhub.reloading import Reloading, hidden, with_flags
from tabhub.report import Report
from tabhub.store.agents import AgentImages
from tabhub.store.pages import PageImages
from tabhub.store.rules import Rules
from tabhub.store.shortcuts import Shortcuts
from tabhub.store.store import Store
from tabhub.store.tool_index import FullTextIndex
from tabhub.tools import batch, catalog, dev, permissions_check, plan, shortcuts, turns
from tabhub.tools.files import Files
from tabhub.tools.shortcut_recording import RecordedSource, Recordings
from tabhub.tools.shortcut_replay import Replays
from tabhub.tools.tool import SOURCE
from tabhub.tools.upload_folders import UploadFolders
from tabhub.wire.asgi import App as AsgiApp
from tabhub.wire.asgi import Receive, Scope, Send

log = logging.getLogger(__name__)

REAP_SECONDS = 30.0
LOOK_SECONDS = 3.0
"""How often we look whether a token was revoked without a word to us."""
FAREWELL_SECONDS = 1.0
"""How long who was let go may read what was said to them."""
PATIENCE = 30.0
"""Page tools have clocks of their own; the runner's only ends what these do not."""
SHORTEST_HIDDEN = 8


class App:
    """The whole server as one ASGI application; without a home it leaves nothing behind."""

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
    ) -> None:
        toolsets.chosen(settings.toolsets)
        self._dev = dev
        self.settings = with_flags(settings, dev)
        self.hub = Hub()
        self.hub.ownership.shares_active = share_active_tab
        self.store = Store(home.db if home else None)
        secrets = [secret, *hidden(settings.mcp_server.auth_token)]
        self.audit = AuditLog(home.audit if home else None, settings.audit, secrets)
        self.rules = Rules(home, settings, self.store, skip=skip_permissions)
        self.browsers = Browsers(self.hub)
        self.panels = Panels(self.browsers)
        self.guard = Guard(
            self.rules.permissions, self.hub.ownership, self.browsers.is_managed, time.time
        )
        self.hub.pages.configure(settings.exposure, settings.limits.max_call_seconds + PATIENCE)
        self.hub.pages.on_named(self.rules.meet)
        self.rules.follow(self.hub.pages.meaning)
        self.pages = Pages(self.hub, lambda: self.settings, self.audit)
        self.runner = self._runner()
        self.control = Control(self.hub, self.runner.flights)
        self.hub.tools.add(*catalog.all_for(self.hub.tools), tab_list.TOOL)
        AgentImages(self.store, self.hub, time.time())
        self.pairing = Pairing(home, settings.worker_origins)
        self._worker = WorkerEndpoint(
            self.pages, self.pairing, self.audit, settings.limits.ws_bytes
        )
        self._page_images = self._remembering()
        self._link = LinkEndpoint(
            self.browsers,
            self._desk(),
            LinkPages(self.pages, self.hub, self.browsers),
            settings.limits.ws_bytes,
            settings.recording,
        )
        self._clients = Clients(home) if home else None
        self.asgi = Gatekeeper(self._route, secret if auth else None, self._client_of, self.audit)
        self.crowd = Crowd()
        self.asgi.origins = Origins(settings.mcp_server.cors_origins)
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._throttled)
        self.departures = self._departures()
        self._open_doors()
        self.report = self._report()
        self._admin = Admin(self, self.report, secret, self.asgi.challenges)
        self._tell_panels()
        Arrivals(self.hub.sessions, self.departures.has_session)
        self._reloading = self._reloader(home, Changes(settings))

    def _remembering(self) -> PageImages:
        pages, pairing, known = self.pages, self.pairing, self.hub.pages
        check = Again(lambda: self.settings.limits)
        images = PageImages(self.store, known, check, time.time())
        pairing.on_parted(lambda has_left: pages.forget(lambda kept: has_left(kept.origin)))

        def is_unpaired(one: Page | Remembered) -> bool:
            return one.way.startswith(BY_WORKER) and one.origin not in pairing

        # The settings may have changed while no server ran.
        pages.take_settings()
        pages.forget(is_unpaired)
        known.restored(is_unpaired)
        return images

    def _runner(self) -> Runner:
        files = Files(lambda: self.settings.downloads.folder)
        folders = UploadFolders(lambda: self.settings.uploads.folders)
        self.shortcuts = Shortcuts(self.store)
        recordings = Recordings(self.hub.sessions)
        replays = Replays(self.hub, self.shortcuts)
        opener = BrowserOpener(self.browsers, self.hub)
        self.guard.opens_in = opener.browser_for
        in_browser = catalog.BrowserSource(
            self.browsers,
            self.hub,
            files,
            folders,
            self.guard,
            lambda: self.settings.untrusted_input,
        )
        self.sources: dict[str, Source] = {
            SOURCE: RecordedSource(in_browser, recordings, replays),
            permissions_check.SOURCE: permissions_check.PermissionSource(self.hub, self.guard),
            turns.SOURCE: turns.TurnSource(self.hub.sessions),
            page_source.SOURCE: page_source.PageSource(
                self.hub,
                self.pages,
                opener,
                lambda: self.settings.limits,
            ),
            tab_list.SOURCE: tab_list.TabListSource(self.hub),
        }
        self.approvals = approvals = Approvals(self.panels, lambda: self.rules.terms)
        runner = Runner(
            self.hub,
            self.guard,
            approvals,
            self.audit,
            self.sources,
            time.monotonic,
            self.settings.limits,
            {page_source.SOURCE: page_source.PageRouter(self.hub, self.pages)},
        )
        self.sources[batch.SOURCE] = batch.BatchSource(
            runner, self.hub.sessions, in_browser.shots, self.settings.limits.result_bytes
        )
        self.sources[shortcuts.SOURCE] = shortcuts.ShortcutSource(
            self.hub, runner, self.shortcuts, recordings, replays
        )
        self.sources[dev.SOURCE] = dev.DevSource(
            lambda: self.settings.dev,
            self.hub,
            self.browsers,
            runner.flights,
            self.rules.grants,
            in_browser.shots,
            recordings,
        )
        self.guard.without = frozenset() if self.settings.dev else frozenset({dev.TOOL.name})
        self.sources[plan.SOURCE] = plan.PlanSource(
            self.hub.tools, self.guard, approvals, runner.flights
        )
        return runner

    def _open_doors(self) -> None:
        tools, guard, audit = self.hub.tools, self.guard, self.audit
        self.index = FullTextIndex(tools)
        listing = Listing(tools, guard, lambda: self.settings.toolsets)
        choosing = Choosing(tools, self.index)
        given = (self.hub, self.runner, listing, choosing, guard, audit, self.departures.release)
        product = ProductBackend(*given)
        tools.on_refresh(listing.changed)
        tools.on_change(product.tools_changed)
        self.hub.tabs.on_change(product.tab_changed)
        self.rules.on_change(product.tools_changed)
        self.mcp = self._endpoint(product, "sessions")
        self.gateway = self._endpoint(GatewayBackend(*given, product.news), "gateway-sessions")
        groups, most = Groups(self.hub.sessions, audit), self.settings.limits.body_bytes
        self.rest = Rest(self.runner, listing, choosing, groups, most)
        self.sse = self._sse(product)
        self.departures.endpoints = self.mcp, self.gateway
        self.departures.sse = self.sse
        self._paths = self._ways_in()

    def _departures(self) -> Departures:
        return Departures(
            self.settings,
            self.hub,
            self.browsers,
            self.rules,
            self.rates,
            self.runner.flights,
            self.crowd,
        )

    def _reloader(self, home: Home | None, changes: Changes) -> Reloading:
        return Reloading(
            home=home,
            settings=self.settings,
            dev=self._dev,
            secret=self._admin.secret,
            clients=self._clients,
            changes=changes,
            departures=self.departures,
            rules=self.rules,
            shortcuts=self.shortcuts,
            audit=self.audit,
            reloads=self.report.reloads,
            take_settings=self._take_settings,
            take_secret=self._take_secret,
        )

    def _take_settings(self, fresh: Settings) -> None:
        self.asgi.origins = Origins(fresh.mcp_server.cors_origins)
        self.pages.take_settings()
        self.pairing.take(fresh.worker_origins)
        self._page_images.reload()

    def _take_secret(self, secret: str) -> None:
        self._admin.secret = secret
        self.asgi.take_secret(secret)

    def _endpoint(self, backend: Backend, shelf: str) -> McpEndpoint:
        return McpEndpoint(
            backend,
            clock=time.monotonic,
            idle_seconds=self.settings.sessions.idle_minutes * 60,
            max_body=self.settings.limits.body_bytes,
            memory=self.store.shelf(shelf),
            refused=self.asgi.refused,
            admit=self.rates.session,
        )

    @property
    def paths(self) -> list[str]:
        """Every path that answers; those of REST go on below theirs."""
        return [*self._paths, *self._admin.paths, "/ws", FOR_PAGES]

    def _sse(self, backend: Backend) -> SseEndpoint:
        return SseEndpoint(
            backend,
            clock=time.monotonic,
            max_body=self.settings.limits.body_bytes,
            refused=self.asgi.refused,
            admit=self.rates.session,
            throttle=self.rates.message,
            groups=lambda: self.settings.sessions.group_on_connect,
        )

    def _report(self) -> Report:
        tools = ToolReport(self.hub.tools, self.guard)
        self.hub.tools.on_change(tools.changed)
        self.rules.on_change(tools.changed)
        return Report(
            settings=self.settings,
            hub=self.hub,
            browsers=self.browsers,
            rules=self.rules,
            audit=self.audit,
            rates=self.rates,
            flights=self.runner.flights,
            approvals=self.approvals,
            tools=tools,
            sessions=self._session_counts,
            knocks=self.pairing.waiting,
        )

    def _session_counts(self) -> dict[str, int]:
        return dict(
            zip(("mcp", "gateway", "sse"), map(len, self.departures.registers), strict=True)
        )

    def _ways_in(self) -> dict[str, AsgiApp]:
        doors: dict[str, AsgiApp] = {
            "/mcp": self.mcp,
            "/mcp/": self.mcp,
            "/mcp/gateway": self.gateway,
            "/mcp/gateway/": self.gateway,
            "/tools": self.rest,
            "/tools/": self.rest,
            "/openapi.json": OpenApi(lambda: self.paths),
        }
        if self.settings.mcp_server.enabled:
            doors |= {"/sse": self.sse.stream, "/message": self.sse.message}
        return doors

    def _client_of(self, token: str) -> Client | None:
        if is_token(token, self.settings.mcp_server.auth_token):
            return SSE
        return self._clients.find(token) if self._clients else None

    def hash_labelled(self, label: str) -> str | None:
        """The hash of a token by which we can prove ourselves to who has it."""
        token = self.settings.mcp_server.auth_token
        if token and label_of(hash_of(token)) == label:
            return hash_of(token)
        return self._clients.hash_labelled(label) if self._clients and label else None

    def _throttled(self, refusal: Refusal) -> None:
        self.audit.record(throttled(refusal.client.name, refusal.kind, refusal.error))

    def _desk(self) -> Desk:
        pairing = self.pairing
        state = PanelState(self.hub, self.browsers, self.panels, self.guard, self.rules, pairing)
        control, tools = self.control, self.hub.tools
        given = (self.browsers, self.panels, control, self.rules, tools, state, self.audit)
        desk = Desk(*given, pairing)
        self.desk = desk
        return desk

    def _tell_panels(self) -> None:
        news = PanelNews(self.browsers)
        hub, pairing = self.hub, self.pairing
        seen = (hub.tabs, hub.sessions, hub.ownership, hub.tools, self.control, self.rules, pairing)
        for source in seen:
            source.on_change(news.changed)

    def count_use(self) -> Usage:
        """From now on it is known how long nobody has come in."""
        self.asgi.app = usage = Usage(self._route, time.monotonic)
        return usage

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        path: str = scope["path"]
        door = self.rest if path.startswith("/tools/") else self._paths.get(path, self._admin)
        await door(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/ws":
            await self._link(scope, receive, send)
        elif scope["path"] == FOR_PAGES:
            await self._worker(scope, receive, send)
        else:
            await refuse(scope, send, NotFound(f"There is nothing at {scope['path']}."))

    def audited(self, query: AuditQuery) -> list[bytes]:
        wanted = {key: getattr(query, key) for key in ("plugin", "tool", "client", "success")}
        return self.audit.lines(query.limit, query.begin(), **wanted)

    def configure(self, plugin: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Change the settings of a plugin."""
        raise NotFound(f"There is no plugin called {plugin!r}.")

    def throttle(self, client: Client) -> None:
        self.rates.admin(client)

    def reload_extensions(self) -> int:
        told = self.browsers.reload_extensions()
        self.audit.record(incident("admin", MAIN.name, "extension reload"))
        return told

    def reload(self) -> dict[str, Any]:
        """Read settings, policy, clients and secret again."""
        return self._reloading.reload()

    def in_force(self) -> dict[str, Any]:
        """The settings as they hold now, and where the file says otherwise."""
        told: dict[str, Any] = {"settings": self.report.settings_told(), "fault": None}
        try:
            return {**told, "differs": self._reloading.differences()}
        except (TabhubError, OSError) as error:
            return {**told, "differs": [], "fault": str(error)}

    def close(self) -> None:
        self.index.close()
        self.store.close()
        self.audit.close()

    async def look_after(self) -> None:
        """End the sessions of who was revoked, and idle ones, for ever."""
        due = time.monotonic() + REAP_SECONDS
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                self.audit.settle(time.time())
                self._reloading.notice_revoked()
                if time.monotonic() >= due:
                    due = time.monotonic() + REAP_SECONDS
                    self.tidy(time.time())
            except Exception:
                log.exception("sessions could not be ended this time")

    def tidy(self, now: float) -> None:
        """Let go of what nobody has used for long."""
        self.departures.reap(now)
        self.pages.tidy()
        self._page_images.alive(now)
