"""The source of plugin tools: finds the best tab for a call, and runs it in the page there.

A call is sent once, to one page. Another tab is tried only if the plugin has not begun.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.call import Call, Source
from tabhub.calls.marks import quoted
from tabhub.calls.ports import Undelivered
from tabhub.config.settings import Limits
from tabhub.errors import (
    Forbidden,
    InvalidArguments,
    NotFound,
    Refused,
    TabhubError,
    Unavailable,
)
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab, as_number
from tabhub.hub.texts import one_line
from tabhub.hub.tools import Tool
from tabhub.plugins.active import ActivePlugin, ActivePlugins
from tabhub.plugins.package import PluginTool
from tabhub.plugins.plugin_logs import PluginLogs
from tabhub.plugins.plugin_results import failure_of, result_of
from tabhub.plugins.python.python_calls import PythonCalls
from tabhub.plugins.readiness import PluginInTab, Readiness, TabReadiness, Word
from tabhub.plugins.tools import INSTANCE
from tabhub.wire.link import Dispatch
from tabhub.wire.mcp.messages import CallResult

LONGEST_WORDS = 300
"""Of what a page says why a plugin is not ready."""
NOT_BEGUN = frozenset({"adapter_not_ready", "tab_url_mismatch", "extension_disconnected"})
"""Errors of the extension after which another tab may be tried."""
NOT_BEGUN_IN_PROCESS = frozenset({"adapter_not_ready"})
"""The same of a plugin in Python, whose tool may have begun before the page was gone."""


class PluginRouter:
    """Finds the tab of a plugin tool's call."""

    def __init__(self, hub: Hub, plugins: ActivePlugins, readiness: Readiness) -> None:
        self._hub = hub
        self._plugins = plugins
        self._readiness = readiness

    async def route(
        self, tool: Tool, session: str, requested: object, arguments: Mapping[str, Any]
    ) -> Tab | None:
        """The tab; None for a plugin that may not run, about which permissions say more."""
        plugin = self._plugins.find(tool.plugin)
        if plugin is None or plugin.closed is not None:
            return None
        instance = _instance(plugin, arguments)
        if requested is not None:
            return self._named(plugin, requested, instance)
        found = self.candidates(plugin, instance)
        if not found:
            raise _no_tab(plugin, instance)
        current = self._hub.sessions.current(session)
        best = (each for each in found if each.readiness.ready == found[0].readiness.ready)
        own = (each.tab for each in best if each.tab.id == current)
        return next(own, found[0].tab)

    def candidates(self, plugin: ActivePlugin, instance: str | None) -> list[PluginInTab]:
        """The tabs that a call could go to, the best first."""
        tabs = self._readiness.tabs_of(plugin)
        return [found for found in tabs if instance in (None, found.instance)]

    def _named(self, plugin: ActivePlugin, requested: object, instance: str | None) -> Tab:
        number = as_number(requested) if isinstance(requested, str) else requested
        if not isinstance(number, int) or isinstance(number, bool):
            raise InvalidArguments("tabId must be the number of a tab. Nothing was done.")
        tab = self._hub.tabs.get(number)
        if not plugin.matches(tab.url):
            raise _mismatch(f"Tab {tab.id} shows a page that {plugin.name} is not for.")
        if instance is not None and plugin.instance_of(tab.url) != instance:
            raise _mismatch(f"Tab {tab.id} is not at the instance {instance} of {plugin.name}.")
        return tab


def _instance(plugin: ActivePlugin, arguments: Mapping[str, Any]) -> str | None:
    """The instance that the arguments name; it is needed where there are several."""
    if len(plugin.instances) < 2:
        return None
    given = arguments.get(INSTANCE)
    if not isinstance(given, str) or given not in plugin.instances:
        names = ", ".join(plugin.instances)
        raise InvalidArguments(f"instance must be one of {names}. Nothing was done.")
    return given


def _mismatch(sentence: str) -> Refused:
    return Refused(f"{sentence} Nothing was done.", "tab_url_mismatch", effect="none")


def _no_tab(plugin: ActivePlugin, instance: str | None) -> NotFound:
    address = plugin.homepage if instance is None else plugin.instances[instance]
    opening = f"Open {address} first, for example with browser_open_tab." if address else ""
    advice = " ".join(filter(None, (plugin.setting_advice, opening)))
    word: Word = "no_tab"
    return NotFound(
        f"No open tab is for {plugin.name}, so nothing was done. {advice}".rstrip(),
        "no_tab_for_tool",
        data={"readiness": word, **({"homepage": address} if address else {})},
    )


class _PluginTarget(NamedTuple):
    """What a call runs, and where."""

    plugin: ActivePlugin
    tool: PluginTool
    tab: Tab


class PluginSource(Source):
    """Runs plugin tools."""

    quotes_pages = False
    """Each result names its words itself: here the plugin chooses the members."""

    def __init__(
        self,
        hub: Hub,
        browsers: Browsers,
        plugins: ActivePlugins,
        readiness: Readiness,
        logs: PluginLogs,
        limits: Callable[[], Limits],
        python: PythonCalls,
    ) -> None:
        self.router: PluginRouter = PluginRouter(hub, plugins, readiness)
        self._hub = hub
        self._browsers = browsers
        self._plugins = plugins
        self._readiness = readiness
        self._logs = logs
        self._limits = limits
        self._python = python
        self._running: Counter[str] = Counter()

    async def run(self, call: Call) -> CallResult:
        target = self._target(call)
        with self._slot(target.plugin.name), self._logs.listening(call, target.plugin.name):
            output = await self._send(call, target)
        self._set_current_tab(call, target.tab)
        return result_of(output, target.tab.key, self._limits().result_bytes)

    def _target(self, call: Call) -> _PluginTarget:
        plugin = self._plugins.find(call.tool.plugin)
        if plugin is None or plugin.closed is not None or call.tab is None:
            word = "off" if plugin is None else plugin.closed
            raise Forbidden(
                f"{call.tool.plugin} may not run any longer; nothing was done.",
                "permission_off",
                data={"readiness": word},
            )
        return _PluginTarget(plugin, _tool_of(plugin, call.tool), call.tab)

    @contextmanager
    def _slot(self, plugin: str) -> Iterator[None]:
        most = self._limits().calls_per_plugin
        if self._running[plugin] >= most:
            raise Unavailable(
                f"{most} calls of {plugin} are running, so nothing was done. Wait until some of "
                "them have finished, then try again.",
                "too_many_calls",
            )
        self._running[plugin] += 1
        try:
            yield
        finally:
            self._running[plugin] -= 1
            if not self._running[plugin]:
                del self._running[plugin]

    async def _send(self, call: Call, target: _PluginTarget) -> Any:
        plugin, tool, _ = target
        given = {name: value for name, value in call.arguments.items() if name != INSTANCE}
        input = {**tool.defaults, **(given if plugin.instances else call.arguments)}
        try:
            if plugin.package.python is not None:
                return await self._in_process(call, target, input)
            return await self._in_page(call, target, input)
        except TabhubError as error:
            is_python = plugin.package.python is not None
            if error.reason in (NOT_BEGUN_IN_PROCESS if is_python else NOT_BEGUN):
                raise self._not_begun(call, target, error) from None
            raise failure_of(error) from None

    async def _in_process(self, call: Call, target: _PluginTarget, input: dict[str, Any]) -> Any:
        output = await self._python.run(call, target.plugin, target.tool, input)
        self._readiness.note(target.tab, target.plugin.name, TabReadiness(True))
        return output

    async def _in_page(self, call: Call, target: _PluginTarget, input: dict[str, Any]) -> Any:
        plugin, tool, tab = target
        request = Dispatch(
            plugin=plugin.name,
            tool=tool.name,
            input=input,
            tab_id=tab.native_id,
            dispatch_id="",
            site=call.site,
        )
        connection = self._browsers.get(tab.browser).connection
        return await connection.call_plugin(request, _progress(call))

    def _not_begun(self, call: Call, target: _PluginTarget, error: TabhubError) -> Exception:
        """The error of a tab that did not take the call; another one is tried if it is ready."""
        plugin, _, tab = target
        reason: Any = error.extra.get("readiness", "not_injected")
        self._readiness.note(tab, plugin.name, TabReadiness(False, reason, error.message))
        # The page may have chosen these words: its adapter has thrown them.
        words = quoted(one_line(error.message, LONGEST_WORDS))
        refused = Unavailable(
            f"{plugin.name} cannot be used in tab {tab.id} ({reason}): {words} Nothing was done.",
            "adapter_not_ready",
            data={"readiness": reason, "tabId": tab.id},
        )
        if call.requested_tab is not None:
            return refused
        others = self.router.candidates(plugin, _instance(plugin, call.arguments))
        return Undelivered(refused) if others and others[0].readiness.ready else refused

    def _set_current_tab(self, call: Call, tab: Tab) -> None:
        """Make the tab the session's current one, if the session's other tools can use it."""
        known = self._hub.tabs.find(tab.id)
        if known is not None and self._hub.ownership.may_use(call.session, known):
            self._hub.sessions.use(call.session, known.id)


def _tool_of(plugin: ActivePlugin, tool: Tool) -> PluginTool:
    known = plugin.tools.get(tool.name)
    if known is None:
        raise NotFound(f"{plugin.name} has no tool {tool.name} any more.", "unknown_tool")
    return known


def _progress(call: Call) -> Any:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        await call.report(done, total or None, quoted(one_line(message)) if message else None)

    return progress
