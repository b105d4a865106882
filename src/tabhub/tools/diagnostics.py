"""The extension itself: how it is, what it has noted, starting it anew."""

import asyncio
import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tabhub import __version__
from tabhub.browser.link.browsers import Browser, Browsers
from tabhub.browser.link.connection import Connection
from tabhub.calls.call import Call, Source
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.errors import Forbidden, NotFound, Unavailable
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.permissions.grants import Grants
from tabhub.permissions.sites import site_of
from tabhub.tools.composite.shortcut_recording import Recordings
from tabhub.tools.data.browsing_data import iso
from tabhub.tools.reports import MAX_TOKENS, fitting
from tabhub.tools.state import Shots
from tabhub.tools.tool import BROWSER, CLAUDE, CONNECTION, TAB_ID, Context, Json, browser_tool
from tabhub.wire import link_versions as versions
from tabhub.wire.mcp.messages import CallResult

LINES = 100
_TABS = ("debuggedTabs", "dialogTabs")


async def _state(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.state", {})
    known = {name: _numbers(context, output[name]) for name in _TABS}
    held = {str(_number(context, int(tab))): why for tab, why in output["heldTabs"].items()}
    told: Json = {**output, **known, "heldTabs": held, "startedAt": iso(output["startedAt"])}
    browser = context.browsers.get(context.browser)
    shown = {**_described(browser), **told}
    return done("\n".join(f"{name}: {value}" for name, value in shown.items()), shown)


def _numbers(context: Context, natives: list[int]) -> list[int]:
    return [_number(context, native) for native in natives]


def _number(context: Context, native: int) -> int:
    tab = context.hub.tabs.by_native(context.browser, native)
    return native if tab is None else tab.id


def _described(browser: Browser) -> Json:
    return {
        "connectionId": browser.id,
        "browser": f"{browser.info.name} {browser.info.version}".strip(),
        "kind": browser.info.kind,
        "connectedAt": iso(browser.connected_at),
    }


async def _logs(context: Context) -> CallResult:
    given = context.arguments
    names = ("level", "source", "since")
    input: Json = {name: given[name] for name in names if name in given}
    input["limit"] = given.get("limit", LINES)
    output = await context.in_browser(context.browser, "extension.logs", input)
    entries = output["entries"]
    # Where there is room for some only, the latest count.
    lines = fitting((_line(entry) for entry in reversed(entries)), given)
    kept = entries[len(entries) - len(lines) :]
    head = f"{len(kept)} of {output['total']} lines, the latest last:"
    return done("\n".join([head, *reversed(lines)]), {"entries": kept, "total": output["total"]})


def _line(entry: Json) -> str:
    return f"{iso(entry['time'])} [{entry['level']}] {entry['message']}"


async def _side_panel(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.panel", {})
    open_ = output["panels"] > 0
    told = "A panel is open: the person can be asked." if open_ else "No panel is open."
    return done(told, {"open": open_, **output})


async def _check_adapter(context: Context) -> CallResult:
    name = context.arguments["plugin"]
    raise NotFound(f"There is no plugin {name!r}: none is installed.")


async def _reload(context: Context) -> CallResult:
    browser = context.browser
    before = context.browsers.reload_extension(browser)
    return await _back(context, browser, before, "The extension was started anew")


async def _force_reconnect(context: Context) -> CallResult:
    browser = context.browser
    before = await context.browsers.hang_up(browser)
    return await _back(context, browser, before, "The browser has connected anew")


async def _back(context: Context, id: str, before: Connection, done_: str) -> CallResult:
    try:
        async with asyncio.timeout(context.wait_ms / 1000):
            browser = await context.browsers.back(id, before)
    except TimeoutError:
        message = f"The browser {id} was told to, but has not come back yet."
        raise Unavailable(message, effect="done") from None
    return done(f"{done_}: {browser.id}.", _described(browser))


def _tool(name: str, title: str, description: str, run: Any, **more: Any) -> Tool:
    properties = {**more.pop("properties", {}), "connectionId": CONNECTION}
    return browser_tool(
        name=name,
        title=title,
        description=description,
        handler=run,
        properties=properties,
        needs_tab=False,
        toolsets=BROWSER,
        **more,
    )


DEV_SOURCE = "dev"
LOOKING = ("ping", "status", "version", "dump_state")
CHANGING = ("reload_extension", "clear_state", "simulate_disconnect")


def _changes(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("action") in CHANGING


DEV_UTILS = browser_tool(
    name="dev_utils",
    title="Developer's tools",
    description=(
        "For work on tabhub, in dev mode only: its state and yours, forget yours, reload or cut "
        "off the extension."
    ),
    properties={"action": {"enum": [*LOOKING, *CHANGING]}, "tabId": TAB_ID},
    required=("action",),
    source=DEV_SOURCE,
    needs_tab=False,
    toolsets=CLAUDE,
    changes_when=_changes,
)


class DevSource(Source):
    """Runs the one tool; of other agents it tells nothing."""

    def __init__(
        self,
        is_on: Callable[[], bool],
        hub: Hub,
        browsers: Browsers,
        running: RunningCalls,
        grants: Grants,
        shots: Shots,
        recordings: Recordings,
    ) -> None:
        self._is_on = is_on
        self._hub = hub
        self._browsers = browsers
        self._running = running
        self._grants = grants
        self._shots = shots
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
        told: Json = {
            "version": __version__,
            "python": platform.python_version(),
            "link": versions.PROTOCOL,
        }
        return f"tabhub {__version__}", told

    async def _status(self, call: Call) -> tuple[str, Json]:
        browsers = [
            {"name": browser.info.name, "kind": browser.info.kind, "ready": browser.ready}
            for browser in self._browsers.all()
        ]
        told: Json = {
            "uptimeSeconds": int(time.monotonic() - self._started),
            "browsers": browsers,
            "tools": len(self._hub.tools),
            "callsUnderWay": self._running.count(call.session),
        }
        return f"{len(browsers)} connected", told

    async def _dump(self, call: Call) -> tuple[str, Json]:
        """The caller's own state, without addresses and pictures: they may hold secrets."""
        session = self._hub.sessions.find(call.session)
        recording = self._recordings.find(call.session)
        told: Json = {
            "agent": session and {"name": session.name, "color": session.color},
            "answering": bool(session and session.turn),
            "currentTab": self._hub.sessions.current(call.session),
            "tabs": [
                {"tabId": id, "site": site_of(tab.url), "status": tab.status}
                for id in self._hub.ownership.of(call.session)
                if (tab := self._hub.tabs.find(id)) is not None
            ],
            "grants": [
                {"tool": grant.tool, "scope": grant.scope, "site": grant.site}
                for grant in self._grants.all()
                if grant.client == call.client.name and grant.session in (None, call.session)
            ],
            "screenshots": self._shots.of(call.session),
            "recording": recording
            and {"command": recording.command, "steps": len(recording.steps)},
        }
        return "Your state, as the server has it.", told

    async def _reload(self, call: Call) -> tuple[str, Json]:
        self._browsers.latest()
        count = self._browsers.reload_extensions()
        return "The extension starts anew; it will be back in a moment.", {"reloaded": count}

    async def _clear(self, call: Call) -> tuple[str, Json]:
        """What the person has set or allowed stays."""
        self._shots.forget(call.session)
        self._recordings.end(call.session)
        self._hub.sessions.answering(call.session, None)
        self._hub.sessions.leave(call.session)
        cleared = ["screenshots", "recording", "turn", "currentTab"]
        return "Forgotten. Refs end with their pages.", {"cleared": cleared}

    async def _disconnect(self, call: Call) -> tuple[str, Json]:
        browser = self._meant(call)
        await browser.connection.hang_up()
        return "The connection is cut; the extension will come back.", {"browser": browser.id}

    def _meant(self, call: Call) -> Browser:
        given = call.arguments.get("tabId")
        if given is None:
            return self._browsers.latest()
        return self._browsers.get(self._hub.routes.tab(call.session, given).browser)


TOOLS = (
    _tool(
        "extension_get_state",
        "Extension state",
        "How the extension is: version, start, tabs with the debugger on them, open dialogs.",
        _state,
        read_only=True,
    ),
    _tool(
        "extension_get_logs",
        "Extension logs",
        "What the extension has noted of itself, the latest last; nothing from pages.",
        _logs,
        properties={
            "level": {"enum": ["log", "warn", "error", "info", "all"]},
            "source": {"enum": ["background", "offscreen", "all"]},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000,
                "description": f"Default {LINES}.",
            },
            "since": {"type": "number", "description": "Milliseconds since 1970."},
            "maxTokens": MAX_TOKENS,
        },
        read_only=True,
    ),
    _tool(
        "extension_get_side_panel",
        "Side panel",
        "Whether a side panel is open, in which the person is asked.",
        _side_panel,
        read_only=True,
    ),
    _tool(
        "extension_check_adapter",
        "Check adapter",
        "Whether the adapter of a plugin is ready in its tabs.",
        _check_adapter,
        properties={"plugin": {"type": "string"}},
        required=("plugin",),
        read_only=True,
    ),
    _tool(
        "extension_reload",
        "Reload extension",
        "Start the extension anew and wait until it is back. Ends calls under way, emulation and "
        "interception in all its tabs.",
        _reload,
        idempotent=True,
        # Other agents' calls end as well.
        destructive=True,
    ),
    _tool(
        "extension_force_reconnect",
        "Reconnect",
        "Close the link to a browser and wait until it has connected anew. Ends calls under way.",
        _force_reconnect,
        idempotent=True,
        # Other agents' calls end as well.
        destructive=True,
    ),
    DEV_UTILS,
)
