"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from tabhub.agents.admin import Admin
from tabhub.agents.auditing import AuditQuery
from tabhub.agents.belonging import Groups
from tabhub.agents.choosing import Choosing
from tabhub.agents.health import ToolReport
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.gateway import GatewayBackend
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.listing import Listing
from tabhub.agents.mcp.product import ProductBackend
from tabhub.agents.mcp.session import Register
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.openapi import OpenApi
from tabhub.agents.origins import Origins
from tabhub.agents.rates import Rates, Refusal
from tabhub.agents.rest import Rest
from tabhub.agents.security import Gatekeeper, refuse
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
from tabhub.config.clients import CLI, MAIN, PRINTED, SSE, Client, Clients, is_token
from tabhub.config.home import Home
from tabhub.config.keys import differing, take_live
from tabhub.config.secret import load as load_secret
from tabhub.config.settings import Settings, auth_token
from tabhub.config.settings import load as load_settings
from tabhub.errors import AccessError, Internal, NotFound, TabhubError
from tabhub.hub import toolsets
from tabhub.hub.hub import Hub
from tabhub.pages.link import LinkPages
from tabhub.pages.pages import Pages
from tabhub.report import Report
from tabhub.store.agents import AgentImages
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
        self.runner = self._runner()
        self.control = Control(self.hub, self.runner.flights)
        self.hub.tools.add(*catalog.all_for(self.hub.tools))
        AgentImages(self.store, self.hub, time.time())
        self.pages = Pages()
        self._link = LinkEndpoint(
            self.browsers,
            self._desk(),
            LinkPages(self.pages, self.hub, self.browsers),
            settings.limits.ws_bytes,
            settings.recording,
        )
        self._clients = Clients(home) if home else None
        if self._clients is not None:
            self._changes.see_clients(client.name for client in self._clients.list())
        self.asgi = Gatekeeper(self._route, secret if auth else None, self._client_of, self.audit)
        self.entry: AsgiApp = self.asgi
        self.asgi.origins = Origins(settings.mcp_server.cors_origins)
        self.rates = Rates(lambda: self.settings.rates, time.monotonic, self._throttled)
        self._open_doors()
        self.report = self._report()
        self._admin = Admin(self, self.report, secret)
        self._tell_panels()

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
        return [*self._paths, *self._admin.paths, "/ws"]

    @property
    def endpoints(self) -> tuple[McpEndpoint, ...]:
        """The ways in whose sessions outlive their connections."""
        return self.mcp, self.gateway

    @property
    def _sessions(self) -> tuple[Register[Any], ...]:
        return self.mcp.sessions, self.gateway.sessions, self.sse.sessions

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

    def _throttled(self, refusal: Refusal) -> None:
        self.audit.record(throttled(refusal.client.name, refusal.kind, refusal.error))

    def _desk(self) -> Desk:
        state = PanelState(self.hub, self.browsers, self.panels, self.guard, self.rules)
        control, tools = self.control, self.hub.tools
        desk = Desk(self.browsers, self.panels, control, self.rules, tools, state, self.audit)
        self.desk = desk
        return desk

    def _tell_panels(self) -> None:
        news = PanelNews(self.browsers)
        hub = self.hub
        for source in (hub.tabs, hub.sessions, hub.ownership, hub.tools, self.control, self.rules):
            source.on_change(news.changed)

    def count_use(self) -> Usage:
        """From now on it is known how long nobody has come in."""
        self.entry = usage = Usage(self.asgi, time.monotonic)
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
        self._drop(lambda client: client == CLI, stays=lambda key: not self._is_held(key))
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

    def _drop_revoked(self, clients: Clients) -> None:
        """Whose token is no more has no sessions, no tabs and no calls under way either."""
        names = [client.name for client in clients.list()]
        self._changes.see_clients(names)
        known = {MAIN.name, SSE.name, *names}
        self._drop(lambda client: client not in known)
        self.shortcuts.keep_only(known)

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

    def _is_held(self, key: str) -> bool:
        """Whether a session is one that a client has opened, and not what its calls share."""
        return any(key in sessions for sessions in self._sessions)

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
        """End idle sessions, for ever."""
        while True:
            await asyncio.sleep(REAP_SECONDS)
            try:
                self.reap(time.time())
            except Exception:
                log.exception("idle sessions could not be ended this time")

    def reap(self, now: float) -> None:
        for endpoint in self.endpoints:
            for id in endpoint.sessions.reap():
                log.info("session %s was idle and has been ended", id)
        idle = self.hub.sessions.idle(now - self.settings.sessions.idle_minutes * 60)
        for key in idle:
            if not self._is_held(key) and not self.runner.flights.has(key):
                self.release(key)
        self.rules.grants.drop_expired(now)


def _long(token: str | None) -> list[str]:
    """What can be kept out of the record: a word of a few letters would be found everywhere."""
    return [token] if token is not None and len(token) >= SHORTEST_HIDDEN else []
