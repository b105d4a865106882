"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from functools import partial
from typing import Any

from tabhub.agents.admin import Admin, AuditQuery
from tabhub.agents.http.connections import Connections
from tabhub.agents.http.rates import Rates, Refusal
from tabhub.agents.http.security import AccessControl, record_refusal
from tabhub.agents.http.usage import Usage
from tabhub.agents.openapi import OpenApi
from tabhub.agents.routes import Router
from tabhub.audit.log import AuditLog
from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.endpoint import LinkEndpoint
from tabhub.browser.panel.panel_approvals import Panels
from tabhub.browser.panel.panel_requests import PanelRequests
from tabhub.browser.panel.panel_state import PanelNews, PanelState
from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Source
from tabhub.calls.ports import incident, throttled
from tabhub.calls.running import Control
from tabhub.config.clients import MAIN, SSE, Client, Clients, hash_of, is_token
from tabhub.config.origins import Origins
from tabhub.config.paths import Home
from tabhub.config.secret import Challenges, label_of
from tabhub.config.settings import Settings, choose_toolsets
from tabhub.errors import NotFound, TabhubError
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page, Remembered
from tabhub.page_tools.extension_pages import LinkPages
from tabhub.page_tools.intake import Again
from tabhub.page_tools.pairing import Pairing
from tabhub.page_tools.persistence import PageImages
from tabhub.page_tools.registrations import Pages
from tabhub.page_tools.worker import PREFIX as BY_WORKER
from tabhub.page_tools.worker import WorkerEndpoint
from tabhub.server.endpoints import Endpoints
from tabhub.server.reload import Changes, Reloading, hidden, with_flags
from tabhub.server.session_ends import SessionEnds, SessionLog
from tabhub.server.status import Report, ToolReport
from tabhub.server.tooling import Tooling
from tabhub.store.active_rules import Rules
from tabhub.store.images import AgentImages
from tabhub.store.saved_shortcuts import Shortcuts
from tabhub.store.store import Store
from tabhub.wire.asgi import App as AsgiApp

log = logging.getLogger(__name__)

REAP_SECONDS = 30.0
LOOK_SECONDS = 3.0
"""How often we look whether a token was revoked without a word to us."""
PATIENCE = 30.0
"""Page tools have clocks of their own; the runner's only ends what these do not."""


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
        choose_toolsets(settings.toolsets)
        self._dev = dev
        self.settings = with_flags(settings, dev)
        self.hub = PageHub()
        self.hub.ownership.shares_active = share_active_tab
        self.store = Store(home.db if home else None)
        secrets = [secret, *hidden(settings.mcp_server.auth_token)]
        self.audit = AuditLog(home.audit if home else None, settings.audit, secrets)
        self.rules = Rules(home, settings, self.store, skip=skip_permissions)
        self.browsers = Browsers(self.hub)
        self.panels = Panels(self.browsers)
        self.sources: dict[str, Source] = {}
        self.guard = Guard(
            self.rules.permissions,
            self.hub.ownership,
            self.browsers.is_managed,
            time.time,
            self.sources,
        )
        self.hub.pages.configure(settings.exposure, settings.limits.max_call_seconds + PATIENCE)
        self.hub.pages.on_named(self.rules.meet)
        self.rules.follow(self.hub.pages.meaning)
        self.pages = Pages(self.hub, lambda: self.settings, self.audit)
        self.approvals = Approvals(self.panels, lambda: self.rules.terms)
        self.shortcuts = Shortcuts(self.store)
        self.runner = self._equip().runner
        self.control = Control(self.hub, self.runner.running)
        AgentImages(self.store, self.hub, time.time())
        self.pairing = Pairing(home, settings.worker_origins)
        self._worker = WorkerEndpoint(
            self.pages, self.pairing, self.audit, settings.limits.ws_bytes
        )
        self._page_images = self._remembering()
        self._link = LinkEndpoint(
            self.browsers,
            self._panel_requests(),
            LinkPages(self.pages, self.hub, self.browsers),
            settings.limits.ws_bytes,
            settings.recording,
        )
        self._clients = Clients(home) if home else None
        self.connections = Connections()
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._throttled)
        self.session_ends = self._make_session_ends()
        self._endpoints = endpoints = self._make_endpoints()
        self.mcp, self.gateway, self.sse = endpoints.mcp, endpoints.gateway, endpoints.sse
        self.report = self._report()
        challenges = Challenges()
        self._admin = Admin(self, self.report, secret, challenges)
        self.router = self._make_router()
        self.asgi = AccessControl(
            self.router.dispatch, secret if auth else None, self._client_of, self.audit, challenges
        )
        self.asgi.origins = Origins(settings.mcp_server.cors_origins)
        self._tell_panels()
        SessionLog(self.hub.sessions, self.session_ends.has_session)
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

    def _equip(self) -> Tooling:
        return Tooling(
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

    def _make_endpoints(self) -> Endpoints:
        return Endpoints(
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

    def _make_router(self) -> Router:
        handlers: dict[str, AsgiApp | None] = {
            **self._endpoints.handlers,
            **self._admin.handlers,
            "openapi": OpenApi(lambda: self.router.routes),
            "link": self._link,
            "page_worker": self._worker,
        }
        return Router(handlers, self.rates.admin)

    def _make_session_ends(self) -> SessionEnds:
        return SessionEnds(
            self.settings,
            self.hub,
            self.browsers,
            self.rules,
            self.rates,
            self.runner.running,
            self.connections,
        )

    def _reloader(self, home: Home | None, changes: Changes) -> Reloading:
        return Reloading(
            home=home,
            settings=self.settings,
            dev=self._dev,
            secret=self._admin.secret,
            clients=self._clients,
            changes=changes,
            session_ends=self.session_ends,
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
            running=self.runner.running,
            approvals=self.approvals,
            tools=tools,
            sessions=self._session_counts,
            waiting_pages=self.pairing.waiting,
        )

    def _session_counts(self) -> dict[str, int]:
        return dict(
            zip(("mcp", "gateway", "sse"), map(len, self.session_ends.registers), strict=True)
        )

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

    def _panel_requests(self) -> PanelRequests:
        pairing = self.pairing
        state = PanelState(self.hub, self.browsers, self.panels, self.guard, self.rules, pairing)
        control, tools = self.control, self.hub.tools
        given = (self.browsers, self.panels, control, self.rules, tools, state, self.audit)
        requests = PanelRequests(*given, pairing)
        self.panel_requests = requests
        return requests

    def _tell_panels(self) -> None:
        news = PanelNews(self.browsers)
        hub, pairing = self.hub, self.pairing
        seen = (hub.tabs, hub.sessions, hub.ownership, hub.tools, self.control, self.rules, pairing)
        for source in seen:
            source.on_change(news.changed)

    def count_use(self) -> Usage:
        """Measure from now on how long nobody has used the server."""
        self.asgi.app = usage = Usage(self.router.dispatch, time.monotonic)
        return usage

    def audited(self, query: AuditQuery) -> list[bytes]:
        wanted = {key: getattr(query, key) for key in ("plugin", "tool", "client", "success")}
        return self.audit.lines(query.limit, query.begin(), **wanted)

    def configure(self, plugin: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Change the settings of a plugin."""
        raise NotFound(f"There is no plugin called {plugin!r}.")

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
        self._endpoints.close()
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
        self.session_ends.reap(now)
        self.pages.tidy()
        self._page_images.alive(now)
