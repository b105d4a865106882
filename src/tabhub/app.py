"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from typing import Any

from tabhub.agents.admin import Admin
from tabhub.agents.arrivals import Arrivals
from tabhub.agents.auditing import AuditQuery
from tabhub.agents.crowd import Crowd
from tabhub.agents.health import ToolReport
from tabhub.agents.rates import Rates, Refusal
from tabhub.agents.security import FOR_PAGES, Gatekeeper, refuse
from tabhub.agents.usage import Usage
from tabhub.audit.log import AuditLog
from tabhub.browser.browsers import Browsers
from tabhub.browser.desk import PanelRequests
from tabhub.browser.link import LinkEndpoint
from tabhub.browser.panel_news import PanelNews
from tabhub.browser.panel_state import PanelState
from tabhub.browser.panels import Panels
from tabhub.calls.approval import Approvals
from tabhub.calls.control import Control
from tabhub.calls.guard import Guard
from tabhub.calls.incidents import incident, throttled
from tabhub.calls.source import Source
from tabhub.config.changes import Changes
from tabhub.config.clients import MAIN, SSE, Client, Clients, hash_of, is_token
from tabhub.config.home import Home
from tabhub.config.origins import Origins
from tabhub.config.proof import label_of
from tabhub.config.settings import Settings
from tabhub.departures import Departures
from tabhub.doors import Doors
from tabhub.errors import NotFound, TabhubError
from tabhub.hub import toolsets
from tabhub.hub.hub import Hub
from tabhub.hub.page_tools import Page, Remembered
from tabhub.pages.again import Again
from tabhub.pages.link import LinkPages
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
from tabhub.tooling import Tooling
from tabhub.wire.asgi import Receive, Scope, Send

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
        self.asgi = Gatekeeper(self._route, secret if auth else None, self._client_of, self.audit)
        self.crowd = Crowd()
        self.asgi.origins = Origins(settings.mcp_server.cors_origins)
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._throttled)
        self.departures = self._departures()
        self._doors = doors = self._open_doors()
        self.mcp, self.gateway, self.sse = doors.mcp, doors.gateway, doors.sse
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

    def _open_doors(self) -> Doors:
        return Doors(
            self.settings,
            self.hub,
            self.runner,
            self.guard,
            self.rules,
            self.audit,
            self.rates,
            self.departures,
            self.store,
            self.asgi.refused,
            lambda: self.paths,
        )

    def _departures(self) -> Departures:
        return Departures(
            self.settings,
            self.hub,
            self.browsers,
            self.rules,
            self.rates,
            self.runner.running,
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

    @property
    def paths(self) -> list[str]:
        """Every path that answers; those of REST go on below theirs."""
        return [*self._doors.paths, *self._admin.paths, "/ws", FOR_PAGES]

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
            zip(("mcp", "gateway", "sse"), map(len, self.departures.registers), strict=True)
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
        """From now on it is known how long nobody has come in."""
        self.asgi.app = usage = Usage(self._route, time.monotonic)
        return usage

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        door = self._doors.at(scope["path"]) or self._admin
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
        self._doors.close()
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
