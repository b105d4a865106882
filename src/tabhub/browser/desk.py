"""What a person says in the side panel. Only the link carries it: no agent can say any of this."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from tabhub.browser.browsers import Browsers
from tabhub.browser.panels import Panels
from tabhub.calls.control import Control
from tabhub.calls.incidents import incident
from tabhub.calls.ports import AuditSink
from tabhub.config.clients import MAIN
from tabhub.config.settings import LevelWord
from tabhub.errors import NotFound, ProtocolError, TabhubError
from tabhub.hub.tools import ToolRegistry
from tabhub.wire import link

Json = dict[str, Any]
LOOK = "config.getState"
P = TypeVar("P", bound=link.Params)
Handler = Callable[[str, msgspec.Raw], Json]


class Rules(Protocol):
    """The permissions that a person sets."""

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None: ...

    def set_skip(self, skip: bool) -> None: ...

    def revoke(self, grant: str) -> bool: ...


class Knocks(Protocol):
    """Pages that wait to be let in."""

    def decide(self, origin: str, code: str, allowed: bool) -> None: ...


class Desk:
    """A closed list of methods."""

    def __init__(
        self,
        browsers: Browsers,
        panels: Panels,
        control: Control,
        rules: Rules,
        tools: ToolRegistry,
        state: Callable[[str], Json],
        audit: AuditSink,
        knocks: Knocks,
    ) -> None:
        self._browsers = browsers
        self._panels = panels
        self._control = control
        self._rules = rules
        self._tools = tools
        self._state = state
        self._audit = audit
        self._knocks = knocks
        self._handlers: dict[str, Handler] = {
            LOOK: lambda browser, params: self._state(browser),
            "config.setToolPermission": _taking(link.SetToolPermission, self._set_tool),
            "config.setPluginPermission": _taking(link.SetPluginPermission, self._set_plugin),
            "config.setSkipPermissions": _taking(link.SetSkipPermissions, self._set_skip),
            "config.setPluginSettings": _taking(link.SetPluginSettings, self._set_settings),
            "confirmation.response": _taking(link.ConfirmationResponse, self._respond),
            "agent.pause": _taking(link.AgentPause, self._pause),
            "agents.stop": _taking(link.AgentsStop, self._stop),
            "tab.share": _taking(link.TabShare, self._share),
            "tab.takeBack": _taking(link.TabTakeBack, self._take_back),
            "grant.revoke": _taking(link.GrantRevoke, self._revoke),
            "page.pair": _taking(link.PagePair, self._pair),
        }

    @property
    def methods(self) -> list[str]:
        return list(self._handlers)

    def hear(self, browser: str, method: str, params: msgspec.Raw) -> Json:
        handler = self._handlers.get(method)
        if handler is None:
            raise ProtocolError(f"There is no method {method!r} here.", "method_not_found")
        if method == LOOK:
            return handler(browser, params)
        return self._noted(method, params, lambda: handler(browser, params))

    def _noted(self, method: str, params: msgspec.Raw, act: Callable[[], Json]) -> Json:
        """What a person does is in the record beside what agents do."""
        failed: TabhubError | None = None
        try:
            return act()
        except Exception as error:
            failed = error if isinstance(error, TabhubError) else ProtocolError(str(error))
            raise
        finally:
            told = msgspec.json.decode(params)
            given = told if isinstance(told, dict) else {}
            self._audit.record(incident("panel", MAIN.name, method, given, failed))

    def _respond(self, told: link.ConfirmationResponse) -> Json:
        return self._panels.respond(told)

    def _set_tool(self, told: link.SetToolPermission) -> Json:
        tool = self._tools.get(told.tool)
        if tool.plugin != told.plugin:
            raise NotFound(f"{told.plugin!r} has no tool {told.tool!r}.", "unknown_tool")
        self._rules.set_level("tools", tool.name, told.permission)
        return {}

    def _set_plugin(self, told: link.SetPluginPermission) -> Json:
        self._require_plugin(told.plugin)
        self._rules.set_level("plugins", told.plugin, told.permission)
        return {}

    def _set_skip(self, told: link.SetSkipPermissions) -> Json:
        self._rules.set_skip(told.skip)
        return {}

    def _set_settings(self, told: link.SetPluginSettings) -> Json:
        self._require_plugin(told.plugin)
        raise NotFound(f"{told.plugin!r} has no settings.")

    def _require_plugin(self, name: str) -> None:
        if not any(tool.plugin == name for tool in self._tools if name):
            raise NotFound(f"There is no plugin {name!r}.")

    def _pause(self, told: link.AgentPause) -> Json:
        self._control.pause(told.session, told.paused)
        return {}

    def _stop(self, told: link.AgentsStop) -> Json:
        self._control.stop(told.stopped)
        return {}

    def _share(self, told: link.TabShare) -> Json:
        tab = self._control.share(told.tab_id, told.shared)
        if not told.shared:
            self._browsers.soon(tab, "tabs.release", {})
        return {}

    def _take_back(self, told: link.TabTakeBack) -> Json:
        self._browsers.soon(self._control.take_back(told.tab_id), "tabs.ungroup", {})
        return {}

    def _pair(self, told: link.PagePair) -> Json:
        self._knocks.decide(told.origin, told.code, told.allowed)
        return {}

    def _revoke(self, told: link.GrantRevoke) -> Json:
        if not self._rules.revoke(told.id):
            raise NotFound("That grant is not there any more.")
        return {}


def _taking(kind: type[P], act: Callable[[P], Json]) -> Handler:
    """A handler that reads its parameters first; what is wrong with them, the link says."""
    decode = msgspec.json.Decoder(kind).decode
    return lambda browser, params: act(decode(params))
