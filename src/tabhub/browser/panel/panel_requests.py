"""Handles what a person does in the side panel. It comes by the link only: no agent can send it."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Protocol, TypeVar

import msgspec

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.panel.call_feed import CallFeed
from tabhub.browser.panel.panel_approvals import Panels
from tabhub.browser.panel.request_subjects import RequestSubjects
from tabhub.calls.ports import AuditSink, incident
from tabhub.calls.running import Control
from tabhub.config.clients import MAIN
from tabhub.config.setting_list import form_settings
from tabhub.config.settings import LevelWord
from tabhub.errors import NotFound, ProtocolError, TabhubError
from tabhub.hub.tools import ToolRegistry
from tabhub.wire import panel, plugin_reviews
from tabhub.wire.link import LinkStruct, Nothing
from tabhub.wire.methods import EXTENSION, Handlers
from tabhub.wire.plugin_requests import (
    OutdatedPlugins,
    PluginInstalled,
    PluginRemoved,
    PluginResults,
)

GET_STATE = "config.getState"
READING = frozenset(
    {
        GET_STATE,
        "audit.export",
        "audit.list",
        "calls.recent",
        "clients.list",
        "confirmation.outline",
        "plugin.getReview",
        "plugin.getSource",
        "plugin.logs",
        "settings.list",
        "tool.describe",
    }
)
"""Requests that are not in the audit log, since they change nothing."""
UNAUDITED = READING | {"tool.run"}
"""With one whose call is in the log by itself."""
Json = dict[str, Any]
P = TypeVar("P", bound=LinkStruct)
Views = Mapping[str, Callable[[Any], Any]]
"""Handlers of other parts of the server, by method."""


class PersonRules(Protocol):
    """The permissions that a person sets."""

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None: ...

    def set_skip(self, skip: bool) -> None: ...

    def revoke(self, grant: str) -> bool: ...


class PairingRequests(Protocol):
    """Pages that wait until a person allows them."""

    def decide(
        self, origin: str, code: str, allowed: bool, level: LevelWord | None = None
    ) -> None: ...

    def set_level(self, origin: str, level: LevelWord | None) -> None: ...


class PluginRequests(Protocol):
    """What a person does with plugins; most of it asks the npm registry, and takes a while."""

    def configure(self, name: str, given: Mapping[str, Any]) -> None: ...

    def search(self, query: str) -> Awaitable[PluginResults]: ...

    def install(self, specifier: str) -> Awaitable[PluginInstalled]: ...

    def update(self, name: str) -> Awaitable[PluginInstalled]: ...

    def remove(self, name: str) -> Awaitable[PluginRemoved]: ...

    def remove_package(self, specifier: str) -> Awaitable[PluginRemoved]: ...

    def check_updates(self) -> Awaitable[OutdatedPlugins]: ...

    def open_folder(self, path: str) -> Awaitable[None]: ...


class ReviewRequests(Protocol):
    """Plugins that the person reviews."""

    def show(self, params: plugin_reviews.GetReview) -> plugin_reviews.ReviewShown: ...

    def source(self, params: plugin_reviews.GetSource) -> plugin_reviews.SourceShown: ...

    def approve(self, params: plugin_reviews.ApprovePlugin) -> Nothing: ...


class PanelRequests:
    """Handles the methods that a panel may send: a closed list."""

    def __init__(
        self,
        browsers: Browsers,
        panels: Panels,
        control: Control,
        rules: PersonRules,
        tools: ToolRegistry,
        state: Callable[[str], panel.State],
        audit: AuditSink,
        pairing: PairingRequests,
        plugins: PluginRequests,
        reviews: ReviewRequests,
        calls: CallFeed,
        subjects: RequestSubjects,
        views: Views,
    ) -> None:
        self._browsers = browsers
        self._panels = panels
        self._control = control
        self._rules = rules
        self._tools = tools
        self._state = state
        self._audit = audit
        self._pairing = pairing
        self._plugins = plugins
        self._subjects = subjects
        self._handlers = Handlers(
            EXTENSION.taken_by("panel"),
            {
                GET_STATE: lambda browser, params: self._state(browser),
                "config.setToolPermission": _anywhere(self._set_tool),
                "config.setPluginPermission": _anywhere(self._set_plugin),
                "config.setSkipPermissions": _anywhere(self._set_skip),
                "config.setPluginSettings": _anywhere(self._set_settings),
                "confirmation.response": _anywhere(self._respond),
                "confirmation.outline": _anywhere(self._outline),
                "agent.pause": _anywhere(self._pause),
                "agents.stop": _anywhere(self._stop),
                **{name: _anywhere(handler) for name, handler in calls.handlers.items()},
                "tab.share": _anywhere(self._share),
                "tab.takeBack": _anywhere(self._take_back),
                "grant.revoke": _anywhere(self._revoke),
                "page.pair": _anywhere(self._pair),
                "config.setPageLevel": _anywhere(self._set_page),
                "plugin.search": _anywhere(lambda params: plugins.search(params.query)),
                "plugin.install": _anywhere(lambda params: plugins.install(params.name)),
                "plugin.updateFromRegistry": _anywhere(lambda params: plugins.update(params.name)),
                "plugin.remove": _anywhere(lambda params: plugins.remove(params.name)),
                "plugin.removeBySpecifier": _anywhere(
                    lambda params: plugins.remove_package(params.specifier)
                ),
                "plugin.checkUpdates": _anywhere(lambda params: plugins.check_updates()),
                "folder.open": _anywhere(lambda params: plugins.open_folder(params.path)),
                "plugin.getReview": _anywhere(reviews.show),
                "plugin.getSource": _anywhere(reviews.source),
                "plugin.approve": _anywhere(reviews.approve),
                **{name: _anywhere(handler) for name, handler in views.items()},
            },
        )

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> Any:
        def act() -> Any:
            return self._handlers.handle(method, params, profile)

        if method in UNAUDITED or method not in self._handlers:
            return act()
        decoded = msgspec.json.decode(params)
        given = decoded if isinstance(decoded, dict) else {}
        about = self._subjects.of(method, given)
        return self._audited(method, {**given, "about": about} if about else given, act)

    def _audited(self, method: str, arguments: Json, act: Callable[[], Any]) -> Any:
        """Write what the person does to the audit log, as what agents do."""
        try:
            result = act()
        except Exception as error:
            self._record(method, arguments, error)
            raise
        if isawaitable(result):
            return self._audited_later(method, arguments, result)
        self._record(method, arguments)
        return result

    async def _audited_later(self, method: str, arguments: Json, act: Awaitable[Any]) -> Any:
        try:
            result = await act
        except Exception as error:
            self._record(method, arguments, error)
            raise
        self._record(method, arguments)
        return result

    def _record(self, method: str, arguments: Json, error: Exception | None = None) -> None:
        failed = error if isinstance(error, TabhubError | None) else ProtocolError(str(error))
        secret = _secret_params(method, arguments)
        self._audit.record(incident("panel", MAIN.name, method, arguments, failed, secret))

    def _respond(self, params: panel.ConfirmationResponse) -> panel.ConfirmationOutcome:
        return self._panels.respond(params)

    def _outline(self, params: panel.ConfirmationOutline) -> Nothing:
        self._panels.outline(params)
        return Nothing()

    def _set_tool(self, params: panel.SetToolPermission) -> Nothing:
        tool = self._tools.get(params.tool)
        if tool.plugin != params.plugin:
            raise NotFound(f"{params.plugin!r} has no tool {params.tool!r}.", "unknown_tool")
        self._rules.set_level("tools", tool.name, params.permission)
        return Nothing()

    def _set_plugin(self, params: panel.SetPluginPermission) -> Nothing:
        self._require_plugin(params.plugin)
        self._rules.set_level("plugins", params.plugin, params.permission)
        return Nothing()

    def _set_skip(self, params: panel.SetSkipPermissions) -> Nothing:
        self._rules.set_skip(params.skip)
        return Nothing()

    def _set_settings(self, params: panel.SetPluginSettings) -> Nothing:
        self._plugins.configure(params.plugin, params.settings)
        return Nothing()

    def _require_plugin(self, name: str) -> None:
        if not any(tool.plugin == name for tool in self._tools if name):
            raise NotFound(f"There is no plugin {name!r}.")

    def _pause(self, params: panel.AgentPause) -> Nothing:
        self._control.pause(params.session, params.paused)
        return Nothing()

    def _stop(self, params: panel.AgentsStop) -> Nothing:
        self._control.stop(params.stopped)
        return Nothing()

    def _share(self, params: panel.TabShare) -> Nothing:
        tab = self._control.share(params.tab_id, params.shared)
        if not params.shared:
            self._browsers.dispatch_in_background(tab, "tabs.release", {})
        return Nothing()

    def _take_back(self, params: panel.TabTakeBack) -> Nothing:
        self._browsers.dispatch_in_background(
            self._control.take_back(params.tab_id), "tabs.ungroup", {}
        )
        return Nothing()

    def _pair(self, params: panel.PagePair) -> Nothing:
        self._pairing.decide(params.origin, params.code, params.allowed, params.level)
        return Nothing()

    def _set_page(self, params: panel.SetPageLevel) -> Nothing:
        self._pairing.set_level(params.origin, params.level)
        return Nothing()

    def _revoke(self, params: panel.GrantRevoke) -> Nothing:
        if not self._rules.revoke(params.id):
            raise NotFound("This grant no longer exists.")
        return Nothing()


def _secret_params(method: str, params: Json) -> frozenset[str]:
    """The params that the audit log does not show."""
    if method == "config.setPluginSettings":
        return frozenset({"settings"})
    is_other = method == "settings.set" and str(params.get("key")) not in form_settings()
    return frozenset({"value"}) if is_other else frozenset()


def _anywhere(act: Callable[[P], Any]) -> Callable[[str, P], Any]:
    """A handler for a request that does not depend on the browser."""
    return lambda browser, params: act(params)
