"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from tabhub.agents.admin import Admin
from tabhub.agents.arrivals import Arrivals
from tabhub.agents.auditing import AuditQuery
from tabhub.agents.belonging import Groups
from tabhub.agents.choosing import Choosing
from tabhub.agents.crowd import Crowd, Seat
from tabhub.agents.health import ToolReport
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.gateway import GatewayBackend
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.listing import Listing
from tabhub.agents.mcp.product import ProductBackend
from tabhub.agents.mcp.session import Register
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
from tabhub.config.clients import CLI, MAIN, PRINTED, SSE, Client, Clients, hash_of, is_token
from tabhub.config.home import Home
from tabhub.config.keys import differing, take_live
from tabhub.config.origins import Origins
from tabhub.config.proof import label_of
from tabhub.config.secret import load as load_secret
from tabhub.config.settings import Settings, auth_token
from tabhub.config.settings import load as load_settings
from tabhub.errors import AccessError, Internal, NotFound, TabhubError
from tabhub.hub import toolsets
from tabhub.hub.hub import Hub
from tabhub.pages import source as page_source
from tabhub.pages import tab_list
from tabhub.pages.link import LinkPages
from tabhub.pages.opening import BrowserOpener
from tabhub.pages.pages import Pages
from tabhub.pages.pairing import Pairing
from tabhub.pages.worker_endpoint import WorkerEndpoint
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
        self.settings = self._with_flags(settings)
        self._home = home
        self._changes = Changes(settings)
        self.hub = Hub()
        self.hub.ownership.shares_active = share_active_tab
        self.store = Store(home.db if home else None)
        secrets = [secret, *_long(settings.mcp_server.auth_token)]
        self.audit = AuditLog(home.audit if home else None, settings.audit, secrets)
        self.rules = Rules(home, settings, self.store, skip=skip_permissions)
        self.browsers = Browsers(self.hub)
        self.panels = Panels(self.browsers)
        self.guard = Guard(
            self.rules.permissions, self.hub.ownership, self.browsers.is_managed, time.time
        )
        self.hub.pages.configure(settings.exposure, settings.limits.max_call_seconds + PATIENCE)
        self.pages = Pages(self.hub, lambda: self.settings, self.audit)
        self.runner = self._runner()
        self.control = Control(self.hub, self.runner.flights)
        self.hub.tools.add(*catalog.all_for(self.hub.tools), tab_list.TOOL)
        AgentImages(self.store, self.hub, time.time())
        self.pairing = Pairing(home, settings.worker_origins)
        self._worker = WorkerEndpoint(
            self.pages, self.pairing, self.audit, settings.limits.ws_bytes
        )
        self._page_images = PageImages(self.store, self.hub.pages, time.time())
        self._link = LinkEndpoint(
            self.browsers,
            self._desk(),
            LinkPages(self.pages, self.hub, self.browsers),
            settings.limits.ws_bytes,
            settings.recording,
        )
        self._clients = Clients(home) if home else None
        self._tokens = self._clients.marks() if self._clients else {}
        self._changes.see_clients(self._tokens)
        self.asgi = Gatekeeper(self._route, secret if auth else None, self._client_of, self.audit)
        self.crowd = Crowd()
        self.asgi.origins = Origins(settings.mcp_server.cors_origins)
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._throttled)
        self._open_doors()
        self.report = self._report()
        self._admin = Admin(self, self.report, secret, self.asgi.challenges)
        self._tell_panels()
        Arrivals(self.hub.sessions, self._has_session)

    def _runner(self) -> Runner:
        files = Files(lambda: self.settings.downloads.folder)
        folders = UploadFolders(lambda: self.settings.uploads.folders)
        self.shortcuts = Shortcuts(self.store)
        recordings = Recordings(self.hub.sessions)
        replays = Replays(self.hub, self.shortcuts)
        in_browser = catalog.BrowserSource(self.browsers, self.hub, files, folders, self.guard)
        self.sources: dict[str, Source] = {
            SOURCE: RecordedSource(in_browser, recordings, replays),
            permissions_check.SOURCE: permissions_check.PermissionSource(self.hub, self.guard),
            turns.SOURCE: turns.TurnSource(self.hub.sessions),
            page_source.SOURCE: page_source.PageSource(
                self.hub,
                self.pages,
                BrowserOpener(self.browsers, self.hub),
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
            {page_source.SOURCE: page_source.PageRouter(self.hub)},
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
        given = (self.hub, self.runner, listing, choosing, guard, audit, self.release)
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
        self._paths = self._ways_in()

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

    @property
    def endpoints(self) -> tuple[McpEndpoint, ...]:
        """The ways in whose sessions outlive their connections."""
        return self.mcp, self.gateway

    @property
    def _sessions(self) -> tuple[Register[Any], ...]:
        return self.mcp.sessions, self.gateway.sessions, self.sse.sessions

    def _has_session(self, key: str) -> bool:
        return any(key in sessions for sessions in self._sessions)

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
        )

    def _session_counts(self) -> dict[str, int]:
        return dict(zip(("mcp", "gateway", "sse"), map(len, self._sessions), strict=True))

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
        """Read settings, policy and secret again; with a fault in any, all stays as it was."""
        started = time.perf_counter()
        fault: TabhubError | None = None
        try:
            waiting = [] if self._home is None else self._read_again(self._home)
        except (TabhubError, OSError) as error:
            fault = error if isinstance(error, TabhubError) else Internal(str(error))
            raise fault from None
        finally:
            took = self.report.reloads.note(started, fault)
            news = self._changes.told()
            self.audit.record(incident("admin", MAIN.name, "reload", news, fault))
        told = {"plugins": 0, "durationMs": took}
        return {**told, "restart": waiting} if waiting else told

    def in_force(self) -> dict[str, Any]:
        """The settings as they hold now, and where the file says otherwise."""
        told: dict[str, Any] = {
            "settings": self.report.settings_told(),
            "differs": [],
            "fault": None,
        }
        if self._home is None:
            return told
        try:
            fresh = self._with_flags(load_settings(self._home))
        except (TabhubError, OSError) as error:
            return {**told, "fault": str(error)}
        return {**told, "differs": differing(fresh, self.settings)}

    def _with_flags(self, settings: Settings) -> Settings:
        """What a file says, where flags and the environment do not say more."""
        settings.dev = settings.dev or self._dev
        settings.mcp_server.auth_token = auth_token(settings)
        return settings

    def _read_again(self, home: Home) -> list[str]:
        """The keys of settings that only the next start takes."""
        clients = Clients(home)
        clients.list()  # Raises if it cannot be read: then nothing is dropped.
        self._drop_revoked(clients)
        fresh, auth = self._with_flags(load_settings(home)), load_secret(home)
        toolsets.chosen(fresh.toolsets)
        self.rules.reload(fresh)
        self._changes.see_settings(fresh)
        self._take(fresh)
        if auth is not None and auth.secret != self._admin.secret:
            self._take_secret(clients, auth.secret)
        return differing(fresh, self.settings)

    def _take_secret(self, clients: Clients, secret: str) -> None:
        """The old one, and what was computed from it, lets nobody in any more, nor stay."""
        self._changes.see_secret()
        self.audit.hide(secret)
        self._admin.secret = secret
        self.asgi.take_secret(secret)
        for name in (PRINTED, CLI):
            clients.computed(name, secret)
        self._drop(lambda client: client in (MAIN.name, PRINTED))
        # The command line goes on under its new token, with its tabs.
        self._drop(lambda client: client == CLI, stays=lambda key: not self._has_session(key))
        self.browsers.cut_all()

    def _take(self, fresh: Settings) -> None:
        """Of the settings, what can change while the server runs."""
        token = fresh.mcp_server.auth_token
        if token != self.settings.mcp_server.auth_token:
            for secret in _long(token):
                self.audit.hide(secret)
            self._drop(lambda client: client == SSE.name)
        self.asgi.origins = Origins(fresh.mcp_server.cors_origins)
        take_live(fresh, self.settings)
        self.pages.keep_allowed()
        self.pairing.take(fresh.worker_origins)

    def _drop_revoked(self, clients: Clients) -> None:
        """Whose token is no more has no sessions, no tabs and no calls under way either."""
        marks, before = clients.marks(), self._tokens
        self._changes.see_clients(marks)
        known = {MAIN.name, SSE.name, *marks}
        renewed = {name for name, mark in marks.items() if before.get(name, mark) != mark}
        self._tokens = marks
        self._drop(lambda client: client not in known or client in renewed)
        self.shortcuts.keep_only(known)

    def notice_revoked(self) -> None:
        """Whoever revokes a token tells us, if they can; we look ourselves as well."""
        if self._clients is None:
            return
        marks = self._clients.marks()
        if any(marks.get(name) != mark for name, mark in self._tokens.items()):
            self._drop_revoked(self._clients)
            self.audit.record(incident("admin", MAIN.name, "reload", self._changes.told()))
        self._tokens = marks

    def _drop(
        self, which: Callable[[str], bool], stays: Callable[[str], bool] = lambda key: False
    ) -> None:
        """Put clients out; what they have under way ends also where their session stays."""
        gone = {agent.key for agent in self.hub.sessions.all() if which(agent.client)}
        for endpoint in self.endpoints:
            # One that has called nothing yet still hears the news.
            sessions = endpoint.sessions.all()
            gone |= {one.id for one in sessions if which(one.visitor.client.name)}
        error = AccessError("The token of this client was revoked.")
        self.runner.flights.end(error, lambda flight: flight.session in gone)
        self.sse.end_of(which, error)
        for key in gone:
            if not stays(key):
                self.end_session(key)
        seats = self.crowd.of(which)
        if seats:
            asyncio.get_running_loop().call_later(FAREWELL_SECONDS, _send_away, seats)

    def end_session(self, key: str) -> None:
        """End a session of whichever kind."""
        for sessions in self._sessions:
            if key in sessions:
                sessions.end(key)
                return
        self.release(key)

    def release(self, session: str) -> None:
        """An agent has gone: its tabs are closed, or left to the person."""
        self.rates.forget(session)
        self.rules.grants.end_session(session)
        tabs = self.hub.ownership.end(session)
        self.hub.sessions.end(session)
        command = "tabs.close" if self.settings.sessions.close_tabs_on_end else "tabs.ungroup"
        for tab in map(self.hub.tabs.find, tabs):
            if tab is not None:
                self.browsers.let_go(tab, command)

    def close(self) -> None:
        self.index.close()
        self.store.close()
        self.audit.close()

    async def reap_sessions(self) -> None:
        """End the sessions of who was revoked, and idle ones, for ever."""
        due = time.monotonic() + REAP_SECONDS
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                self.audit.settle(time.time())
                self.notice_revoked()
                if time.monotonic() >= due:
                    due = time.monotonic() + REAP_SECONDS
                    self.reap(time.time())
            except Exception:
                log.exception("sessions could not be ended this time")

    def reap(self, now: float) -> None:
        for endpoint in self.endpoints:
            for id in endpoint.sessions.reap():
                log.info("session %s was idle and has been ended", id)
        idle = self.hub.sessions.idle(now - self.settings.sessions.idle_minutes * 60)
        for key in idle:
            if not self._has_session(key) and not self.runner.flights.has(key):
                self.release(key)
        self.rules.grants.drop_expired(now)
        self.pages.tidy()
        self._page_images.alive(now)


def _send_away(seats: list[Seat]) -> None:
    for seat in seats:
        seat.leave()


def _long(token: str | None) -> list[str]:
    """What can be kept out of the record: a word of a few letters would be found everywhere."""
    return [token] if token is not None and len(token) >= SHORTEST_HIDDEN else []
