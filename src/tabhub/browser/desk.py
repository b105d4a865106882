"""What a person does in the side panel. Only the link carries it: no agent can send any of this."""

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


class PairingRequests(Protocol):
    """Pages that wait until a person allows them."""

    def decide(self, origin: str, code: str, allowed: bool) -> None: ...


class PanelRequests:
    """Handles the methods that a panel may send: a closed list."""

    def __init__(
        self,
        browsers: Browsers,
        panels: Panels,
        control: Control,
        rules: Rules,
        tools: ToolRegistry,
        state: Callable[[str], Json],
        audit: AuditSink,
        pairing: PairingRequests,
    ) -> None:
        self._browsers = browsers
        self._panels = panels
        self._control = control
        self._rules = rules
        self._tools = tools
        self._state = state
        self._audit = audit
        self._pairing = pairing
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
            decoded = msgspec.json.decode(params)
            given = decoded if isinstance(decoded, dict) else {}
            self._audit.record(incident("panel", MAIN.name, method, given, failed))

    def _respond(self, params: link.ConfirmationResponse) -> Json:
        return self._panels.respond(params)

    def _set_tool(self, params: link.SetToolPermission) -> Json:
        tool = self._tools.get(params.tool)
        if tool.plugin != params.plugin:
            raise NotFound(f"{params.plugin!r} has no tool {params.tool!r}.", "unknown_tool")
        self._rules.set_level("tools", tool.name, params.permission)
        return {}

    def _set_plugin(self, params: link.SetPluginPermission) -> Json:
        self._require_plugin(params.plugin)
        self._rules.set_level("plugins", params.plugin, params.permission)
        return {}

    def _set_skip(self, params: link.SetSkipPermissions) -> Json:
        self._rules.set_skip(params.skip)
        return {}

    def _set_settings(self, params: link.SetPluginSettings) -> Json:
        self._require_plugin(params.plugin)
        raise NotFound(f"{params.plugin!r} has no settings.")

    def _require_plugin(self, name: str) -> None:
        if not any(tool.plugin == name for tool in self._tools if name):
            raise NotFound(f"There is no plugin {name!r}.")

    def _pause(self, params: link.AgentPause) -> Json:
        self._control.pause(params.session, params.paused)
        return {}

    def _stop(self, params: link.AgentsStop) -> Json:
        self._control.stop(params.stopped)
        return {}

    def _share(self, params: link.TabShare) -> Json:
        tab = self._control.share(params.tab_id, params.shared)
        if not params.shared:
            self._browsers.soon(tab, "tabs.release", {})
        return {}

    def _take_back(self, params: link.TabTakeBack) -> Json:
        self._browsers.soon(self._control.take_back(params.tab_id), "tabs.ungroup", {})
        return {}

    def _pair(self, params: link.PagePair) -> Json:
        self._pairing.decide(params.origin, params.code, params.allowed)
        return {}

    def _revoke(self, params: link.GrantRevoke) -> Json:
        if not self._rules.revoke(params.id):
            raise NotFound("That grant is not there any more.")
        return {}


def _taking(kind: type[P], act: Callable[[P], Json]) -> Handler:
    """A handler that reads its parameters first; what is wrong with them, the link says."""
    decode = msgspec.json.Decoder(kind).decode
    return lambda browser, params: act(decode(params))
