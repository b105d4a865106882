"""The state that the side panel shows, and the notification that it has changed."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.panel.panel_approvals import Panels
from tabhub.calls.approvals import Terms
from tabhub.calls.authorization import Guard
from tabhub.config.clients import MAIN
from tabhub.config.settings import LevelWord
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import AgentSession
from tabhub.hub.tabs import Tab
from tabhub.hub.texts import one_line, title_and_address
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import Grant
from tabhub.permissions.verdict import Allow, Ask
from tabhub.wire import panel
from tabhub.wire.link import Nothing

Json = dict[str, Any]
MOST_PAGE_TOOLS = 500
"""Pages may publish more than a person reads, and the whole state is sent after each change."""
GATHER_SECONDS = 0.1


class RulesView(Protocol):
    """What the panel shows of the rules."""

    terms: Terms

    @property
    def policy_name(self) -> str | None: ...

    def level_of(self, tool: str) -> panel.Permission | None:
        """The level that config.json sets for a tool, if it does."""


class PairingView(Protocol):
    """The pages that wait until a person allows them, and the origins that are allowed."""

    def waiting(self) -> list[Json]: ...

    def levels(self) -> dict[str, LevelWord | None]: ...


class PluginView(Protocol):
    """The plugins that there are, and the folders that have none that can be loaded."""

    def in_panel(self) -> list[panel.PluginShown]: ...

    def failed(self) -> list[panel.FailedPluginShown]: ...


class PanelStateBuilder:
    """Makes the result of `config.getState`."""

    def __init__(
        self,
        hub: Hub,
        browsers: Browsers,
        panels: Panels,
        guard: Guard,
        rules: RulesView,
        pairing: PairingView,
        plugins: PluginView,
        tools_in: Callable[[Tab], int],
    ) -> None:
        self._hub = hub
        self._browsers = browsers
        self._panels = panels
        self._guard = guard
        self._rules = rules
        self._pairing = pairing
        self._plugins = plugins
        self._tools_in = tools_in
        """How many tools the page of a tab publishes."""
        self._clock_began = time.time() - time.monotonic()
        """When the monotonic clock began, in seconds since 1970."""

    def __call__(self, browser: str) -> panel.State:
        permissions = self._guard.permissions
        tools, left_out = self._tools()
        return panel.State(
            browser=browser,
            kind="managed" if self._browsers.is_managed(browser) else "personal",
            skip_permissions=permissions.skip,
            stopped=self._hub.sessions.stopped,
            unattended=self._rules.terms.unattended,
            policy_file=self._rules.policy_name,
            agents=[self._agent(agent) for agent in self._hub.sessions.all()],
            tabs=[self._tab(tab) for tab in self._hub.tabs.all()],
            confirmations=self._panels.pending(),
            tools=[self._tool(tool, browser) for tool in tools],
            tools_left_out=left_out,
            plugins=self._plugins.in_panel(),
            failed_plugins=self._plugins.failed(),
            grants=[_grant(grant) for grant in permissions.grants.all()],
            knocks=[panel.WaitingPage(**request) for request in self._pairing.waiting()],
            pages=[
                panel.AllowedPage(origin=origin, level=level)
                for origin, level in self._pairing.levels().items()
            ],
        )

    def _tools(self) -> tuple[list[Tool], int]:
        """The tools to show: all but too many page tools; and how many of those are left out."""
        own = [tool for tool in self._hub.tools if tool.page is None]
        of_pages = [tool for tool in self._hub.tools if tool.page is not None]
        return own + of_pages[:MOST_PAGE_TOOLS], len(of_pages[MOST_PAGE_TOOLS:])

    def _agent(self, agent: AgentSession) -> panel.AgentShown:
        return panel.AgentShown(
            session=agent.key,
            name=agent.name,
            client=agent.client,
            color=agent.color,
            paused=agent.paused,
            answering=agent.turn is not None,
            current=agent.current,
            tabs=self._hub.ownership.of(agent.key),
            connected=not agent.asleep,
            last_seen=None if agent.asleep else int((self._clock_began + agent.used) * 1000),
        )

    def _tab(self, tab: Tab) -> panel.TabShown:
        owner = self._hub.ownership.owner(tab.id)
        title, url = title_and_address(tab.title, tab.url)
        return panel.TabShown(
            tab_id=tab.id,
            native_id=tab.native_id,
            browser=tab.browser,
            title=title,
            url=url,
            active=tab.active,
            focused_window=tab.focused_window,
            owner=owner,
            shared=self._hub.ownership.is_shared(tab),
            status=tab.status,
            tools=self._tools_in(tab),
            paused=owner is not None and self._hub.sessions.is_halted(owner),
        )

    def _tool(self, tool: Tool, browser: str) -> panel.ToolShown:
        return panel.ToolShown(
            name=tool.name,
            title=one_line(tool.title or "") or tool.name,
            plugin=tool.plugin,
            site=tool.site,
            permission=self._rules.level_of(tool.name),
            effective=self._effective(tool, browser),
        )

    def _effective(self, tool: Tool, browser: str) -> panel.Permission:
        verdict = self._guard.about(tool, MAIN, self._browsers.is_managed(browser))
        if isinstance(verdict, Allow):
            return "auto"
        return "ask" if isinstance(verdict, Ask) else "off"


def _grant(grant: Grant) -> panel.GrantShown:
    return panel.GrantShown(
        id=grant.id,
        scope=grant.scope,
        tool=grant.tool,
        client=grant.client,
        site=grant.site,
        expires=None if grant.expires is None else int(grant.expires * 1000),
    )


class PanelNotifier:
    """Notifies the panels of changes; those of a short time are sent as one notification."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._waiting: asyncio.TimerHandle | None = None
        browsers.on_panels(self.changed)

    def changed(self, *_: object) -> None:
        if self._waiting is None and self._browsers.has_panel:
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(GATHER_SECONDS, self._notify)

    def _notify(self) -> None:
        self._waiting = None
        self._browsers.notify_all("state.changed", Nothing())
