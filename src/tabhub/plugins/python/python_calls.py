"""Calls of plugins in Python: from the process of the plugin to the page, and back."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.calls.call import Call
from tabhub.calls.marks import quoted
from tabhub.errors import Forbidden, InvalidArguments, TabhubError, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.hub.texts import one_line
from tabhub.permissions.sites import site_of
from tabhub.plugins.active import ActivePlugin
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package, PluginTool
from tabhub.plugins.plugin_results import PluginFailed, PluginFailure
from tabhub.plugins.python import process_messages as messages
from tabhub.plugins.python.page_operations import PageOperations, PageServices
from tabhub.plugins.python.plugin_process import CallOutcome, PluginProcess, ProcessEnded
from tabhub.plugins.python.supervision import NotWanted, Supervision
from tabhub.plugins.readiness import TabReadiness
from tabhub.wire.plugins import PluginLogEntry

log = logging.getLogger(__name__)

READY_SECONDS = 5.0
LONGEST_WORDS = 1000
OWN_REASONS = frozenset(
    {
        "tab_not_found",
        "navigated_away",
        "extension_disconnected",
        "page_may_have_received",
        "timeout",
        "needs_person",
        "debugger_busy",
    }
)
"""Why an operation failed whatever the plugin has asked for: the call fails for that reason."""
LOADING = TabReadiness(False, "not_injected", "The page is still loading.")


class PythonCalls:
    """Runs the tools of plugins in Python, and asks whether they are ready."""

    def __init__(self, services: PageServices, discovered: Plugins) -> None:
        self._services = services
        self._discovered = discovered
        self.supervision = Supervision(self._printed)
        self._describing: dict[str, asyncio.Task[None]] = {}

    async def run(
        self, call: Call, plugin: ActivePlugin, tool: PluginTool, arguments: Mapping[str, Any]
    ) -> Any:
        """The value that a tool returns in the call's tab; an error if it fails."""
        tab = call.tab
        assert tab is not None
        if not _checks_ready(plugin) and tab.status == "loading":
            raise _not_ready(LOADING)
        operations = PageOperations(self._services, plugin, tab, call)
        try:
            done = await self._called(plugin, tool.name, arguments, tab, operations)
        except ProcessEnded as ended:
            raise self._ended(plugin, tool, str(ended), operations) from None
        return _value(tool, done, operations)

    def _ended(
        self, plugin: ActivePlugin, tool: PluginTool, why: str, operations: PageOperations
    ) -> TabhubError:
        done = (
            "The page may have received something: look at it before you try again."
            if operations.may_have_changed
            else "The page has received nothing."
        )
        failed: TabhubError = PluginFailed(
            f"{plugin.name} could not finish {tool.name}: {why}. {done}",
            PluginFailure(code="process_ended", retryable=not operations.may_have_changed),
        )
        if not operations.may_run:
            # Its process was ended for that reason.
            failed = Forbidden(f"{plugin.name} may not run any longer. {done}", "permission_off")
        return failed.with_effect(_effect(operations))

    async def readiness(self, plugin: ActivePlugin, tab: Tab) -> TabReadiness:
        """Whether a plugin is ready in a tab."""
        if tab.status == "loading":
            return LOADING
        if not _checks_ready(plugin):
            return TabReadiness(True)
        operations = PageOperations(self._services, plugin, tab, None)
        try:
            done = await self._called(plugin, "", {}, tab, operations)
        except ProcessEnded as ended:
            return TabReadiness(False, "threw", f"Its process has ended: {ended}.")
        except TabhubError as error:
            return TabReadiness(False, "threw", error.message)
        return _readiness(done.outcome)

    def refresh(self) -> None:
        """Describe plugins that were reviewed, and end processes whose plugin may not run."""
        usable = [plugin for plugin in self._services.plugins if plugin.closed is None]
        packages = [plugin.package for plugin in usable if plugin.package.python is not None]
        self.supervision.keep_only(packages)
        for package in packages:
            if package.is_complete and self._discovered.stays_working(package):
                self.supervision.keep_code(package)
            if not package.is_complete and package.name not in self._describing:
                task = asyncio.ensure_future(self._describe(package))
                self._describing[package.name] = task

    async def stop(self) -> None:
        tasks = list(self._describing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.supervision.stop()

    async def _called(
        self,
        plugin: ActivePlugin,
        tool: str,
        arguments: Mapping[str, Any],
        tab: Tab,
        operations: PageOperations,
    ) -> CallOutcome:
        process = await self._supervised(plugin.package)
        seconds = READY_SECONDS if _checks_ready(plugin) else 0.0
        page, settings = (tab.url, tab.key), _settings_in(plugin, tab)
        succeeded = False
        try:
            done = await process.call(operations, tool, arguments, page, settings, seconds)
            succeeded = True
            return done
        finally:
            operations.close()
            self.supervision.used(process, succeeded=succeeded)

    async def _supervised(self, package: Package) -> PluginProcess:
        try:
            return await self.supervision.process_of(package)
        except OSError as error:
            raise Unavailable(
                f"The process of {package.name} cannot be started: {error.strerror}. Nothing was "
                "done.",
                "server_unavailable",
            ) from None

    async def _describe(self, package: Package) -> None:
        """Start a process for what it says about itself; then the plugin's tools can be listed."""
        known = self._discovered.descriptions
        try:
            process = await self._supervised(package)
            found = known.put(package, process.description)
            if isinstance(found, TabhubError):
                log.warning("the plugin %s is refused: %s", package.name, found.message)
        except NotWanted:
            # If it may run again by now, it is described below.
            pass
        except TabhubError as error:
            known.refuse(package, InvalidArguments(f"This plugin is not loaded: {error.message}"))
        finally:
            self._describing.pop(package.name, None)
        self._discovered.reload()
        # Its files may have changed meanwhile, and that version has not been described.
        self.refresh()

    def _printed(self, plugin: str, line: str) -> None:
        self._services.logs.take_printed(plugin, PluginLogEntry(message=line))


def _checks_ready(plugin: ActivePlugin) -> bool:
    return plugin.package.python is not None and plugin.package.python.checks_ready


def _settings_in(plugin: ActivePlugin, tab: Tab) -> dict[str, Any]:
    """The settings for a tab: of those of type url, the address of its site."""
    site = site_of(tab.url)
    here = {
        name: next((url for url in named.values() if site_of(url) == site), None)
        for name, named in plugin.code.urls.items()
    }
    return {**plugin.code.settings, **here}


def _readiness(outcome: messages.Outcome) -> TabReadiness:
    if isinstance(outcome, messages.NotReady):
        return TabReadiness(False, outcome.reason, one_line(outcome.message, 300))
    if isinstance(outcome, messages.Raised):
        return TabReadiness(False, "threw", one_line(outcome.message, 300))
    return TabReadiness(True)


def _value(tool: PluginTool, done: CallOutcome, operations: PageOperations) -> Any:
    outcome = done.outcome
    if isinstance(outcome, messages.NotReady):
        raise _not_ready(_readiness(outcome))
    if isinstance(outcome, messages.Raised):
        raise _failed(tool, outcome, done.error, operations)
    try:
        return msgspec.json.decode(outcome.value)
    except msgspec.DecodeError as error:
        failure = PluginFailure(code="no_json")
        raise PluginFailed(f"The result of {tool.name} is no JSON: {error}.", failure) from None


def _not_ready(found: TabReadiness) -> Unavailable:
    return Unavailable(found.message, "adapter_not_ready", data={"readiness": found.reason})


def _failed(
    tool: PluginTool,
    outcome: messages.Raised,
    error: TabhubError | None,
    operations: PageOperations,
) -> TabhubError:
    if error is not None and (isinstance(error, Forbidden) or error.reason in OWN_REASONS):
        return error.with_effect(_effect(operations))
    try:
        failure = msgspec.convert(
            {
                "code": outcome.code,
                "retryable": outcome.retryable,
                "category": outcome.category,
                "retryAfterMs": outcome.retry_after_ms,
            },
            PluginFailure,
        )
    except msgspec.ValidationError:
        failure = PluginFailure(code=outcome.code, retryable=outcome.retryable)
    words = quoted(one_line(outcome.message, LONGEST_WORDS))
    return PluginFailed(f"{tool.name} has failed: {words}", failure)


def _effect(operations: PageOperations) -> Any:
    return "unknown" if operations.may_have_changed else "none"
