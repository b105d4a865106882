"""The messages of extensions about plugins: readiness, logs, missing files."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from tabhub.errors import NotFound
from tabhub.plugins.active import ActivePlugins
from tabhub.plugins.plugin_logs import PluginLogs
from tabhub.plugins.readiness import Readiness
from tabhub.wire import link
from tabhub.wire.link import PluginCode, PluginTabs
from tabhub.wire.methods import EXTENSION, Handlers
from tabhub.wire.plugins import PluginCodePiece, PluginCodeRead, PluginLog, PluginReadiness

PIECE_BYTES = 1024 * 1024
"""How much of a plugin's code one message has."""


class ExtensionPlugins:
    """Takes what every connected browser says about plugins."""

    def __init__(self, plugins: ActivePlugins, readiness: Readiness, logs: PluginLogs) -> None:
        self._plugins = plugins
        self._readiness = readiness
        self._logs = logs
        self.greet: Callable[[str], None] = lambda profile: None
        """Sends `sync.full` to a browser."""
        plugins.left_over = readiness.left_over

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> Any:
        return self._HANDLERS.handle(method, params, self, profile)

    def codes(self) -> list[PluginCode]:
        return self._plugins.codes()

    def left(self, profile: str) -> None:
        """A browser has no connection any more: it reports everything on the next one."""
        self._readiness.forget(profile)

    def tabs_known(self, profile: str, plugin: str, tabs: PluginTabs) -> None:
        """An extension of OpenTabs has reported the tabs of a plugin."""
        self._readiness.take_known(profile, plugin, tabs.tabs)

    def _reported(self, profile: str, params: PluginReadiness) -> None:
        self._readiness.take(profile, params.tabs)

    def _logged(self, profile: str, params: PluginLog) -> None:
        self._logs.take(profile, params)

    def _request_full(self, profile: str, _: link.Nothing) -> None:
        self._plugins.write_files()
        self.greet(profile)

    def _code(self, _: str, params: PluginCodeRead) -> PluginCodePiece:
        code = self._plugins.code(params.plugin, params.digest)
        if code is None:
            raise NotFound(f"{params.plugin} may run no such code.")
        piece = code[params.offset : params.offset + PIECE_BYTES]
        return PluginCodePiece(data=b64encode(piece).decode(), size=len(code))

    _HANDLERS: ClassVar = Handlers(
        EXTENSION.taken_by("plugins"),
        {
            "plugin.code": _code,
            "plugin.readiness": _reported,
            "plugin.log": _logged,
            "sync.requestFull": _request_full,
        },
    )
