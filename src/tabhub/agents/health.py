"""What `/health` tells of tools and plugins, worked out once until something changes."""

import time
from typing import Any

from tabhub.calls.guard import Guard
from tabhub.config.clients import MAIN
from tabhub.errors import TabhubError
from tabhub.hub.tools import ToolRegistry

Json = dict[str, Any]
BROWSER = "browser"

NO_PLUGINS: Json = {
    "plugins": 0,
    "pluginDetails": [],
    "failedPlugins": [],
    "discoveryErrors": [],
    "fileWatcher": {
        "watchedPlugins": 0,
        "pendingPlugins": 0,
        "lastPollAt": None,
        "pollDetections": 0,
    },
}


class ToolReport:
    """The tools there are, and which of them are switched off."""

    def __init__(self, tools: ToolRegistry, guard: Guard) -> None:
        self._tools = tools
        self._guard = guard
        self._known: Json | None = None

    def changed(self) -> None:
        self._known = None

    def told(self) -> Json:
        if self._known is None:
            self._known = self._look()
        return self._known

    def _look(self) -> Json:
        browser = [tool for tool in self._tools if tool.plugin == BROWSER]
        plugins = [tool for tool in self._tools if tool.plugin not in ("", BROWSER)]
        off = [tool.name for tool in browser if self._guard.is_off(tool, MAIN)]
        return {
            "toolCount": len(self._tools),
            "browserToolCount": len(browser),
            "pluginToolCount": len(plugins),
            "browserToolNames": [tool.name for tool in browser],
            "disabledBrowserTools": off,
        }


class Reloads:
    """How often the settings were read again, when last, how long that took, and what was wrong."""

    def __init__(self) -> None:
        self._count = 0
        self._timestamp = 0
        self._duration = 0
        self._fault: str | None = None
        self.signal: str | None = None
        """The signal at which the server reads its files again; none where there are none."""

    def note(self, started: float, fault: TabhubError | None = None) -> int:
        """One has ended that began at this moment of `perf_counter`; its milliseconds."""
        self._count += fault is None
        self._timestamp = int(time.time() * 1000)
        self._duration = int((time.perf_counter() - started) * 1000)
        self._fault = None if fault is None else fault.message
        return self._duration

    def told(self) -> Json:
        return {
            "reloadCount": self._count,
            "lastReloadTimestamp": self._timestamp,
            "lastReloadDurationMs": self._duration,
            "lastReloadError": self._fault,
            "reloadSignal": self.signal,
        }
