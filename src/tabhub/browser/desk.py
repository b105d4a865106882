"""What a person says in the side panel. Only the link carries it: no agent can say any of this."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from tabhub.browser.browsers import Browsers
from tabhub.browser.panels import Panels
from tabhub.calls.control import Control
from tabhub.calls.ports import AuditSink
from tabhub.calls.record import incident
from tabhub.config.clients import MAIN
from tabhub.config.settings import LevelWord
from tabhub.errors import NotFound, ProtocolError, TabhubError
from tabhub.hub.tools import ToolRegistry
from tabhub.wire import panel
from tabhub.wire.link import Nothing, Params
from tabhub.wire.methods import EXTENSION, Handlers

LOOK = "config.getState"
P = TypeVar("P", bound=Params)


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
        state: Callable[[str], panel.State],
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
        self._handlers = Handlers(
            EXTENSION.taken_by("panel"),
            {
                LOOK: lambda browser, told: self._state(browser),
                "config.setToolPermission": _said(self._set_tool),
                "config.setPluginPermission": _said(self._set_plugin),
                "config.setSkipPermissions": _said(self._set_skip),
                "config.setPluginSettings": _said(self._set_settings),
                "confirmation.response": _said(self._respond),
                "agent.pause": _said(self._pause),
                "agents.stop": _said(self._stop),
                "tab.share": _said(self._share),
                "tab.takeBack": _said(self._take_back),
                "grant.revoke": _said(self._revoke),
                "page.pair": _said(self._pair),
            },
        )

    def hear(self, browser: str, method: str, params: msgspec.Raw) -> Any:
        if method == LOOK or method not in self._handlers:
            return self._handlers.handle(method, params, browser)
        return self._noted(method, params, lambda: self._handlers.handle(method, params, browser))

    def _noted(self, method: str, params: msgspec.Raw, act: Callable[[], Any]) -> Any:
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

    def _respond(self, told: panel.ConfirmationResponse) -> panel.ConfirmationOutcome:
        return self._panels.respond(told)

    def _set_tool(self, told: panel.SetToolPermission) -> Nothing:
        tool = self._tools.get(told.tool)
        if tool.plugin != told.plugin:
            raise NotFound(f"{told.plugin!r} has no tool {told.tool!r}.", "unknown_tool")
        self._rules.set_level("tools", tool.name, told.permission)
        return Nothing()

    def _set_plugin(self, told: panel.SetPluginPermission) -> Nothing:
        self._require_plugin(told.plugin)
        self._rules.set_level("plugins", told.plugin, told.permission)
        return Nothing()

    def _set_skip(self, told: panel.SetSkipPermissions) -> Nothing:
        self._rules.set_skip(told.skip)
        return Nothing()

    def _set_settings(self, told: panel.SetPluginSettings) -> Nothing:
        self._require_plugin(told.plugin)
        raise NotFound(f"{told.plugin!r} has no settings.")

    def _require_plugin(self, name: str) -> None:
        if not any(tool.plugin == name for tool in self._tools if name):
            raise NotFound(f"There is no plugin {name!r}.")

    def _pause(self, told: panel.AgentPause) -> Nothing:
        self._control.pause(told.session, told.paused)
        return Nothing()

    def _stop(self, told: panel.AgentsStop) -> Nothing:
        self._control.stop(told.stopped)
        return Nothing()

    def _share(self, told: panel.TabShare) -> Nothing:
        tab = self._control.share(told.tab_id, told.shared)
        if not told.shared:
            self._browsers.soon(tab, "tabs.release", {})
        return Nothing()

    def _take_back(self, told: panel.TabTakeBack) -> Nothing:
        self._browsers.soon(self._control.take_back(told.tab_id), "tabs.ungroup", {})
        return Nothing()

    def _pair(self, told: panel.PagePair) -> Nothing:
        self._knocks.decide(told.origin, told.code, told.allowed)
        return Nothing()

    def _revoke(self, told: panel.GrantRevoke) -> Nothing:
        if not self._rules.revoke(told.id):
            raise NotFound("That grant is not there any more.")
        return Nothing()


def _said(act: Callable[[P], Any]) -> Callable[[str, P], Any]:
    """A handler of what a person may say in any browser."""
    return lambda browser, told: act(told)
