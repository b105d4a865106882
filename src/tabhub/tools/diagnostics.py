"""Diagnosing tabhub itself: the state, logs and restart of the extension, and dev_utils."""

import asyncio
import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tabhub import __version__
from tabhub.browser.link.browsers import Browser, Browsers
from tabhub.browser.link.connection import LinkConnection
from tabhub.calls.call import Call, Source
from tabhub.calls.marks import fenced_lines
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.errors import Forbidden, Unavailable
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Handler, Tool
from tabhub.permissions.grants import Grants
from tabhub.permissions.sites import WALLED, is_walled, site_of
from tabhub.tools.composite.shortcut_recording import ShortcutRecordings
from tabhub.tools.reports import MAX_TOKENS, fitting, timestamp
from tabhub.tools.state import Screenshots
from tabhub.tools.tool import BROWSER, CLAUDE, CONNECTION, TAB_ID, Context, Json, browser_tool
from tabhub.wire import link_versions as versions
from tabhub.wire.mcp.messages import CallResult

DEFAULT_LINES = 100
PLUGIN_STATUS_SOURCE = "plugin-status"
"""The source of tools about plugins, in the room of plugins."""
DEV_SOURCE = "dev"
DEV_READING = ("ping", "status", "version", "dump_state")
DEV_CHANGING = ("reload_extension", "clear_state", "simulate_disconnect")
_TAB_LISTS = ("debuggedTabs", "dialogTabs")


async def _get_state(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.state", {})
    lists = {name: [_tab_id(context, native) for native in output[name]] for name in _TAB_LISTS}
    held = {str(_tab_id(context, int(native))): why for native, why in output["heldTabs"].items()}
    data: Json = {
        **_browser_data(context.browsers.get(context.browser)),
        **output,
        **lists,
        "heldTabs": held,
        "startedAt": timestamp(output["startedAt"]),
    }
    return done("\n".join(f"{name}: {value}" for name, value in data.items()), data)


def _tab_id(context: Context, native: int) -> int:
    tab = context.hub.tabs.by_native(context.browser, native)
    return native if tab is None else tab.id


def _browser_data(browser: Browser) -> Json:
    return {
        "connectionId": browser.id,
        "browser": f"{browser.info.name} {browser.info.version}".strip(),
        "kind": browser.info.kind,
        "connectedAt": timestamp(browser.connected_at),
    }


async def _get_logs(context: Context) -> CallResult:
    arguments = context.arguments
    names = ("level", "source", "since")
    input: Json = {name: arguments[name] for name in names if name in arguments}
    input["limit"] = arguments.get("limit", DEFAULT_LINES)
    output = await context.in_browser(context.browser, "extension.logs", input)
    entries, total = output["entries"], output["total"]
    # If there is not room for all, the latest are kept.
    lines = fitting((_log_line(entry) for entry in reversed(entries)), arguments)
    kept = entries[len(entries) - len(lines) :]
    head = f"{len(kept)} of {total} lines, the latest last:"
    body = [fenced_lines(reversed(lines))] if lines else []
    return done("\n".join([head, *body]), {"entries": kept, "total": total})


def _log_line(entry: Json) -> str:
    return f"{timestamp(entry['time'])} [{entry['level']}] {entry['message']}"


async def _get_side_panel(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.panel", {})
    is_open = output["panels"] > 0
    if is_open:
        sentence = "A panel is open: the person can be asked."
    elif context.browsers.has_person:
        sentence = "No panel is open: the person is notified when a call needs their approval."
    else:
        sentence = "No panel is open."
    return done(sentence, {"open": is_open, **output})


async def _reload(context: Context) -> CallResult:
    before = context.browsers.reload_extension(context.browser)
    return await _reconnected(context, context.browser, before, "The extension was restarted")


async def _force_reconnect(context: Context) -> CallResult:
    browser = context.browser
    before = await context.browsers.hang_up(browser)
    return await _reconnected(context, browser, before, "The browser has reconnected")


async def _reconnected(
    context: Context, id: str, before: LinkConnection, sentence: str
) -> CallResult:
    """Wait for another connection of the browser than the one before."""
    try:
        async with asyncio.timeout(context.wait_ms / 1000):
            browser = await context.browsers.back(id, before)
    except TimeoutError:
        message = f"The browser {id} was disconnected, but has not reconnected yet."
        raise Unavailable(message, effect="done") from None
    return done(f"{sentence}: {browser.id}.", _browser_data(browser))


def _extension_tool(
    name: str, title: str, description: str, handler: Handler, **fields: Any
) -> Tool:
    properties = {**fields.pop("properties", {}), "connectionId": CONNECTION}
    return browser_tool(
        name=name,
        title=title,
        description=description,
        handler=handler,
        properties=properties,
        needs_tab=False,
        toolsets=BROWSER,
        **fields,
    )


def _dev_changes(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("action") in DEV_CHANGING


DEV_UTILS = browser_tool(
    name="dev_utils",
    title="Developer's tools",
    description=(
        "For work on tabhub, in dev mode only: its state and yours, forget yours, reload or "
        "disconnect the extension."
    ),
    properties={"action": {"enum": [*DEV_READING, *DEV_CHANGING]}, "tabId": TAB_ID},
    required=("action",),
    source=DEV_SOURCE,
    needs_tab=False,
    toolsets=CLAUDE,
    changes_when=_dev_changes,
)


class DevSource(Source):
    """Runs dev_utils, which shows and changes only what belongs to the caller."""

    quotes_pages = False

    def __init__(
        self,
        is_on: Callable[[], bool],
        hub: Hub,
        browsers: Browsers,
        running: RunningCalls,
        grants: Grants,
        screenshots: Screenshots,
        recordings: ShortcutRecordings,
    ) -> None:
        self._is_on = is_on
        self._hub = hub
        self._browsers = browsers
        self._running = running
        self._grants = grants
        self._screenshots = screenshots
        self._recordings = recordings
        self._started = time.monotonic()
        self._actions: dict[str, Callable[[Call], Awaitable[tuple[str, Json]]]] = {
            "ping": self._ping,
            "status": self._status,
            "version": self._version,
            "dump_state": self._dump,
            "reload_extension": self._reload,
            "clear_state": self._clear,
            "simulate_disconnect": self._disconnect,
        }

    async def run(self, call: Call) -> CallResult:
        if not self._is_on():
            raise Forbidden(
                "dev_utils is off. It is for work on tabhub itself; the person switches it on "
                'with `tabhub start --dev` or "dev": true in config.json.',
                "permission_off",
            )
        return done(*await self._actions[call.arguments["action"]](call))

    async def _ping(self, call: Call) -> tuple[str, Json]:
        return "pong", {"pong": True, "time": int(time.time() * 1000)}

    async def _version(self, call: Call) -> tuple[str, Json]:
        data: Json = {
            "version": __version__,
            "python": platform.python_version(),
            "link": versions.PROTOCOL,
        }
        return f"tabhub {__version__}", data

    async def _status(self, call: Call) -> tuple[str, Json]:
        browsers = [
            {"name": browser.info.name, "kind": browser.info.kind, "ready": browser.ready}
            for browser in self._browsers.all()
        ]
        data: Json = {
            "uptimeSeconds": int(time.monotonic() - self._started),
            "browsers": browsers,
            "tools": len(self._hub.tools),
            "callsUnderWay": self._running.count(call.session),
        }
        return f"{len(browsers)} connected", data

    async def _dump(self, call: Call) -> tuple[str, Json]:
        """The caller's own state, without addresses and pictures: they may hold secrets."""
        session = self._hub.sessions.find(call.session)
        recording = self._recordings.find(call.session)
        data: Json = {
            "agent": session and {"name": session.name, "color": session.color},
            "answering": bool(session and session.turn),
            "currentTab": self._hub.sessions.current(call.session),
            "tabs": self._tabs(call),
            "grants": [
                {"tool": grant.tool, "scope": grant.scope, "site": grant.site}
                for grant in self._grants.all()
                if grant.client == call.client.name and grant.session in (None, call.session)
            ],
            "screenshots": self._screenshots.ids_of(call.session),
            "recording": recording
            and {"command": recording.command, "steps": len(recording.steps)},
        }
        return "Your state, as the server has it.", data

    def _tabs(self, call: Call) -> list[Json]:
        tabs = (self._hub.tabs.find(id) for id in self._hub.ownership.of(call.session))
        return [
            {"tabId": tab.id, "site": self._site(call, tab.url), "status": tab.status}
            for tab in tabs
            if tab is not None
        ]

    @staticmethod
    def _site(call: Call, url: str) -> str:
        return WALLED if is_walled(url, call.may_tell) else site_of(url)

    async def _reload(self, call: Call) -> tuple[str, Json]:
        self._browsers.latest()  # raises if no browser is connected
        count = self._browsers.reload_extensions()
        return "The extension restarts; it reconnects in a moment.", {"reloaded": count}

    async def _clear(self, call: Call) -> tuple[str, Json]:
        """Forget the caller's own state; what the person has set or allowed stays."""
        self._screenshots.forget(call.session)
        self._recordings.end(call.session)
        self._hub.sessions.answering(call.session, None)
        self._hub.sessions.leave(call.session)
        cleared = ["screenshots", "recording", "turn", "currentTab"]
        return "Forgotten. Refs end with their pages.", {"cleared": cleared}

    async def _disconnect(self, call: Call) -> tuple[str, Json]:
        browser = self._browser(call)
        await browser.connection.hang_up()
        return "Disconnected; the extension will reconnect.", {"browser": browser.id}

    def _browser(self, call: Call) -> Browser:
        tab = call.arguments.get("tabId")
        if tab is None:
            return self._browsers.latest()
        return self._browsers.get(self._hub.routes.tab(call.session, tab).browser)


TOOLS = (
    _extension_tool(
        "extension_get_state",
        "Extension state",
        "The extension's version, start, tabs with the debugger on them, open dialogs.",
        _get_state,
        read_only=True,
    ),
    _extension_tool(
        "extension_get_logs",
        "Extension logs",
        "The extension's own log, the latest last; nothing from pages.",
        _get_logs,
        properties={
            "level": {"enum": ["log", "warn", "error", "info", "all"]},
            "source": {"enum": ["background", "offscreen", "all"]},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000,
                "description": f"Default {DEFAULT_LINES}.",
            },
            "since": {"type": "number", "description": "Milliseconds since 1970."},
            "maxTokens": MAX_TOKENS,
        },
        read_only=True,
    ),
    _extension_tool(
        "extension_get_side_panel",
        "Side panel",
        "Whether a side panel is open, in which the person is asked.",
        _get_side_panel,
        read_only=True,
    ),
    browser_tool(
        name="extension_check_adapter",
        title="Check adapter",
        description="Whether the adapter of a plugin is ready in its tabs, or why it is not.",
        properties={"plugin": {"type": "string"}},
        required=("plugin",),
        source=PLUGIN_STATUS_SOURCE,
        read_only=True,
        needs_tab=False,
        toolsets=BROWSER,
    ),
    browser_tool(
        name="plugin_list_tabs",
        title="List tabs of plugins",
        description="The tabs that each plugin can be used in, or why it cannot.",
        properties={"plugin": {"type": "string"}},
        source=PLUGIN_STATUS_SOURCE,
        read_only=True,
        needs_tab=False,
        toolsets=BROWSER,
    ),
    _extension_tool(
        "extension_reload",
        "Reload extension",
        "Restart the extension and wait until it is back. Ends running calls, emulation and "
        "interception in all its tabs.",
        _reload,
        idempotent=True,
        # It ends other agents' calls too.
        destructive=True,
    ),
    _extension_tool(
        "extension_force_reconnect",
        "Reconnect",
        "Close the link to a browser and wait until it has reconnected. Ends running calls.",
        _force_reconnect,
        idempotent=True,
        # It ends other agents' calls too.
        destructive=True,
    ),
    DEV_UTILS,
)
