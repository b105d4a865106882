"""Looking into the server and shaking it, for those who work on tabhub. Off unless switched on."""

import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tabhub import __version__
from tabhub.browser.link.browsers import Browser, Browsers
from tabhub.calls.call import Call
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.calls.source import Source
from tabhub.errors import Forbidden
from tabhub.hub.hub import Hub
from tabhub.permissions.grants import Grants
from tabhub.permissions.sites import site_of
from tabhub.tools.composite.shortcut_recording import Recordings
from tabhub.tools.state import Shots
from tabhub.tools.tool import CLAUDE, TAB_ID, Json, browser_tool
from tabhub.wire import link_versions as versions
from tabhub.wire.mcp.messages import CallResult

SOURCE = "dev"
LOOKING = ("ping", "status", "version", "dump_state")
CHANGING = ("reload_extension", "clear_state", "simulate_disconnect")


def _changes(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("action") in CHANGING


TOOL = browser_tool(
    name="dev_utils",
    title="Developer's tools",
    description=(
        "For work on tabhub, in dev mode only: its state and yours, forget yours, reload or cut "
        "off the extension."
    ),
    properties={"action": {"enum": [*LOOKING, *CHANGING]}, "tabId": TAB_ID},
    required=("action",),
    source=SOURCE,
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
