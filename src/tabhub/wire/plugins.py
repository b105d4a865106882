"""Messages about plugins between the server and the extension. `docs/link.md` says when each is
sent."""

from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import LinkStruct, PluginCode

PageReason = Literal["not_injected", "not_ready", "timed_out", "threw", "needs_reload"]
"""Why a plugin cannot be used in a tab, as far as the extension can tell."""
LogLevel = Literal["debug", "info", "warning", "error"]


class PluginUpdate(LinkStruct):
    """`plugin.update`: the code, the pages or the settings of one plugin have changed."""

    plugin: PluginCode


class PluginCodeRead(LinkStruct):
    """`plugin.code`: asks for bytes of a plugin's code, from an offset on."""

    plugin: str
    digest: str
    """SHA-256 in hex."""
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0


class PluginCodePiece(LinkStruct):
    """The result of `plugin.code`."""

    data: str
    """The next bytes, in base64."""
    size: int
    """The number of all bytes."""


class PluginUninstall(LinkStruct):
    """`plugin.uninstall`: the code of a plugin may not run any longer."""

    name: str


class PluginUninstalled(LinkStruct):
    """The result of `plugin.uninstall`."""

    torn_down: list[int] = msgspec.field(default_factory=list)
    """Tabs in which its adapter has ended."""
    need_reload: list[int] = msgspec.field(default_factory=list)
    """Tabs in which some of its code may still run until they are reloaded."""


class PluginTab(LinkStruct):
    """Whether a plugin can be used in a tab, and if not, why."""

    tab_id: int
    plugin: str
    ready: bool
    reason: PageReason | msgspec.UnsetType = msgspec.UNSET
    message: str | msgspec.UnsetType = msgspec.UNSET


class PluginReadiness(LinkStruct):
    """`plugin.readiness`: where plugins have become ready, or are not any longer."""

    tabs: list[PluginTab]


class PluginLogEntry(LinkStruct):
    """What a plugin has logged; the page may have written it instead."""

    message: str
    level: LogLevel = "info"
    data: Any = None


class PluginLog(LinkStruct):
    """`plugin.log`: entries of one plugin in one tab."""

    plugin: str
    entries: list[PluginLogEntry]
    tab_id: int | None = None


class PluginLogsAsked(LinkStruct):
    """`plugin.logs`."""

    plugin: str


class PluginLogLine(LinkStruct):
    """What a plugin has logged; a page that it runs in may have written it."""

    time: int
    """Milliseconds since 1970."""
    level: LogLevel
    text: str


class PluginLogLines(LinkStruct):
    """The result of `plugin.logs`: the last lines, the newest last."""

    lines: list[PluginLogLine]
