"""The JSON-RPC methods of the extension's link (`/ws`) and of the page worker's link (`/page`).

One row for each method. The server decodes and dispatches by these tables and sends nothing else.
The extension's lists (`extension/worker/shared/link-methods.js`) and the tables of `docs/link.md`
and `docs/protocol.md` are generated from them, and the tests that try every message read them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from tabhub.errors import ProtocolError
from tabhub.wire import (
    link,
    pages,
    panel,
    panel_audit,
    panel_calls,
    panel_views,
    plugin_requests,
    plugin_reviews,
    plugins,
)

Sender = Literal["server", "extension", "panel", "page"]
"""`panel`: a page of the extension; the extension's worker forwards its requests."""
Kind = Literal["request", "notification", "either"]
"""`either`: the sender may choose; a request gets a response."""
Receiver = Literal[
    "connection",
    "browsers",
    "admission",
    "pages",
    "plugins",
    "panel",
    "dispatcher",
    "relay",
    "worker",
]
"""The part of the other side that handles a method; the last three are not in the server."""


class LinkMethod(msgspec.Struct, frozen=True):
    """A method: who sends it, its params, and its result."""

    name: str
    sender: Sender
    receiver: Receiver
    kind: Kind
    params: type[msgspec.Struct] = link.Nothing
    result: type[msgspec.Struct] = link.Nothing
    about: str = ""


class Link:
    """The methods of one path, by direction."""

    def __init__(self, *rows: LinkMethod) -> None:
        self.rows = rows
        self.sent = _by_name(row for row in rows if row.sender == "server")
        """The methods that the server sends."""
        self.received = _by_name(row for row in rows if row.sender != "server")
        """The methods that the server accepts."""

    def taken_by(self, receiver: Receiver) -> list[LinkMethod]:
        """The methods that one part of the server handles."""
        return [row for row in self.received.values() if row.receiver == receiver]

    def require_sent(self, method: str, params: object) -> None:
        """Raise for a message that is not in the table, which is a bug of ours."""
        row = self.sent.get(method)
        if row is None or not isinstance(params, row.params):
            raise TypeError(f"{method} with {type(params).__name__} is not in the table.")


def _by_name(rows: Iterable[LinkMethod]) -> dict[str, LinkMethod]:
    found: dict[str, LinkMethod] = {}
    for row in rows:
        if row.name in found:
            raise ValueError(f"{row.name} is in the table twice.")
        found[row.name] = row
    return found


class Handlers:
    """The handlers of one part of the server, by method.

    A method without a handler, or a handler without a method, is an error at construction.
    """

    def __init__(self, rows: list[LinkMethod], handlers: Mapping[str, Callable[..., Any]]) -> None:
        different = {row.name for row in rows} ^ handlers.keys()
        if different:
            raise LookupError(f"Table and handlers differ: {', '.join(sorted(different))}.")
        self._all = {
            row.name: (msgspec.json.Decoder(row.params).decode, handlers[row.name]) for row in rows
        }

    def __contains__(self, method: object) -> bool:
        return method in self._all

    def handle(self, method: str, params: msgspec.Raw, *context: Any) -> Any:
        """Decode the params and call the handler, with the context first."""
        found = self._all.get(method)
        if found is None:
            raise ProtocolError(f"There is no method {method!r} here.", "method_not_found")
        decode, handler = found
        try:
            decoded = decode(params)
        except msgspec.DecodeError as error:
            raise ProtocolError(f"{method}: {error}.", "invalid_params") from None
        return handler(*context, decoded)


EXTENSION = Link(
    LinkMethod(
        "sync.full",
        "server",
        "dispatcher",
        "notification",
        link.SyncFull,
        about="The first message on every connection. `maxBytes` is the largest message that the "
        "server accepts, `recording` the number of entries to keep for each tab, 0 for none, "
        "`pageOrigins` the setting of that name: content scripts ask no other page for tools. "
        "`commands` is sent only in development (`TABHUB_DEVELOPMENT=1`): the JSON Schema of every "
        "command's input, with which the extension validates what it receives.",
    ),
    LinkMethod(
        "tool.dispatch",
        "server",
        "dispatcher",
        "request",
        link.Dispatch,
        link.Dispatched,
        "Run a command; see below.",
    ),
    LinkMethod(
        "browser/executeTool",
        "server",
        "dispatcher",
        "request",
        pages.Execute,
        pages.Outcome,
        "Call a page tool. `callId` is its `dispatchId` in `tool.cancel` and "
        "`tool.progress`; `payload` is a `CallToolResult`, or without success an error message.",
    ),
    LinkMethod(
        "tool.cancel",
        "server",
        "dispatcher",
        "notification",
        link.Cancel,
        about="The caller no longer waits for the result: stop what can be stopped.",
    ),
    LinkMethod(
        "extension.reload",
        "server",
        "dispatcher",
        "notification",
        about="Restart the extension.",
    ),
    LinkMethod(
        "pages.origins",
        "server",
        "dispatcher",
        "notification",
        link.PageOrigins,
        about="The setting `pageOrigins` has changed.",
    ),
    LinkMethod(
        "plugin.update",
        "server",
        "dispatcher",
        "notification",
        plugins.PluginUpdate,
        about="The code of a plugin may run, or has changed, or its settings have.",
    ),
    LinkMethod(
        "plugin.uninstall",
        "server",
        "dispatcher",
        "request",
        plugins.PluginUninstall,
        plugins.PluginUninstalled,
        "A plugin was removed, turned off, or has changed since its review: its adapter is torn "
        "down in every tab, and nothing of it is run any longer. The result names the tabs.",
    ),
    LinkMethod("pong", "server", "dispatcher", "notification", about="The response to `ping`."),
    LinkMethod(
        "plugins.changed",
        "server",
        "relay",
        "notification",
        about="Plugins have come, changed or gone; the panel gets its list again.",
    ),
    LinkMethod(
        "tool.invocationStart",
        "server",
        "relay",
        "notification",
        panel_calls.InvocationStart,
        about="A call of any tool begins; the panel shows it. Sent to every browser but those that "
        "say that no panel is open, with the names of tool and agent and without arguments. It can "
        "arrive after the call's first `tool.dispatch`, and again when another panel opens or the "
        "call goes to another tab.",
    ),
    LinkMethod(
        "tool.invocationEnd",
        "server",
        "relay",
        "notification",
        panel_calls.InvocationEnd,
        about="That call has ended; `tabId` is the tab that it opened, if it did. A call that was "
        "refused, or whose result was kept from an earlier one, has no start; of those at most 50 "
        "a second are sent, and all are in `calls.recent`.",
    ),
    LinkMethod(
        "confirmation.request",
        "server",
        "relay",
        "notification",
        panel.Confirmation,
        about="A call waits for the person's decision.",
    ),
    LinkMethod(
        "confirmation.closed",
        "server",
        "relay",
        "notification",
        panel.ConfirmationClosed,
        about="The call no longer waits.",
    ),
    LinkMethod(
        "confirmation.missed",
        "server",
        "relay",
        "notification",
        panel.ConfirmationMissed,
        about="A call was refused at once because no person could be asked: no browser of theirs "
        "was connected, and no panel was open.",
    ),
    LinkMethod(
        "state.changed",
        "server",
        "relay",
        "notification",
        about="The panel's state has changed; get it with `config.getState`.",
    ),
    LinkMethod(
        "tab.syncAll",
        "extension",
        "browsers",
        "notification",
        link.SyncAll,
        about="The first message on every connection: all tabs of the browser.",
    ),
    LinkMethod(
        "tab.stateChanged",
        "extension",
        "browsers",
        "request",
        link.StateChanged,
        about="A tab was opened, changed or closed.",
    ),
    LinkMethod(
        "sync.requestFull",
        "extension",
        "plugins",
        "request",
        about="The file of a plugin is missing. The server writes the files again, then sends "
        "`sync.full`, then answers.",
    ),
    LinkMethod(
        "plugin.code",
        "extension",
        "plugins",
        "request",
        plugins.PluginCodeRead,
        plugins.PluginCodePiece,
        about="The code itself, for an extension into whose folder the server cannot write: the "
        "bytes with this digest, if the plugin may run. `not_found` otherwise.",
    ),
    LinkMethod(
        "plugin.readiness",
        "extension",
        "plugins",
        "notification",
        plugins.PluginReadiness,
        about="In which tabs plugins are ready, or why they are not: every tab on a new "
        "connection, then changes.",
    ),
    LinkMethod(
        "plugin.log",
        "extension",
        "plugins",
        "notification",
        plugins.PluginLog,
        about="What a plugin has logged in a page.",
    ),
    LinkMethod(
        "panel.changed",
        "extension",
        "browsers",
        "notification",
        link.PanelChanged,
        about="The number of open panels.",
    ),
    LinkMethod(
        "browser/registerTools",
        "extension",
        "pages",
        "notification",
        pages.RegisterTools,
        about="A document publishes tools; sent again for each document on every new connection.",
    ),
    LinkMethod(
        "browser/updateTools",
        "extension",
        "pages",
        "notification",
        pages.UpdateTools,
        about="All tools that a document publishes now; empty when it has withdrawn them.",
    ),
    LinkMethod(
        "browser/unregisterTools",
        "extension",
        "pages",
        "notification",
        pages.Document,
        about="The document is gone.",
    ),
    LinkMethod(
        "tool.progress",
        "extension",
        "connection",
        "notification",
        link.Progress,
        about="The progress of a dispatched command or a page tool.",
    ),
    LinkMethod(
        "frames.allowed",
        "extension",
        "connection",
        "request",
        link.FramesAsked,
        link.FramesAllowed,
        "A dispatched command (with `frames`) asks which frames of other sites it may enter.",
    ),
    LinkMethod(
        "files.read",
        "extension",
        "connection",
        "request",
        link.FileRead,
        link.FilePiece,
        "The next bytes of a file, in base64, for a dispatched `page.upload` or "
        "`downloads.save`; empty at the end.",
    ),
    LinkMethod(
        "ping",
        "extension",
        "connection",
        "notification",
        about="Every 20 s: only application messages keep a service worker alive.",
    ),
    LinkMethod(
        "config.getState",
        "panel",
        "panel",
        "request",
        result=panel.State,
        about="Everything that the panel shows.",
    ),
    LinkMethod(
        "confirmation.response",
        "panel",
        "panel",
        "request",
        panel.ConfirmationResponse,
        panel.ConfirmationOutcome,
        "`seconds` is how long the approval lasts. `accepted` is false if the call was decided "
        "before.",
    ),
    LinkMethod(
        "confirmation.outline",
        "panel",
        "panel",
        "request",
        panel.ConfirmationOutline,
        about="Outline in the page what a waiting call would be done to, or no longer; `not_found` "
        "if the call no longer waits. It ends by itself with the call, and when no panel is open. "
        "Pictures and readings of the page never have it.",
    ),
    LinkMethod(
        "config.setToolPermission",
        "panel",
        "panel",
        "request",
        panel.SetToolPermission,
        about="Null removes the setting, so that more general rules apply.",
    ),
    LinkMethod(
        "config.setPluginPermission",
        "panel",
        "panel",
        "request",
        panel.SetPluginPermission,
        about="Null removes the setting, so that more general rules apply.",
    ),
    LinkMethod(
        "config.setSkipPermissions",
        "panel",
        "panel",
        "request",
        panel.SetSkipPermissions,
        about="Applies until it is switched off or the server ends.",
    ),
    LinkMethod(
        "config.setPluginSettings",
        "panel",
        "panel",
        "request",
        panel.SetPluginSettings,
        about="Null removes a value. If one is wrong, none is changed.",
    ),
    LinkMethod(
        "agent.pause",
        "panel",
        "panel",
        "request",
        panel.AgentPause,
        about="Pause or resume an agent.",
    ),
    LinkMethod(
        "agents.stop",
        "panel",
        "panel",
        "request",
        panel.AgentsStop,
        about="Stop or resume all agents.",
    ),
    LinkMethod(
        "calls.recent",
        "panel",
        "panel",
        "request",
        result=panel_calls.RecentCalls,
        about="The calls that have ended since the server began, at most 100.",
    ),
    LinkMethod(
        "call.cancel",
        "panel",
        "panel",
        "request",
        panel_calls.CallCancel,
        about="End a running call, with `cancelled_by_person` for the agent; `not_found` if it has "
        "ended.",
    ),
    LinkMethod(
        "audit.list",
        "panel",
        "panel",
        "request",
        panel_audit.AuditList,
        panel_audit.AuditRows,
        "A page of the audit log, newest first: calls of agents, and what the person did.",
    ),
    LinkMethod(
        "audit.export",
        "panel",
        "panel",
        "request",
        panel_audit.AuditExport,
        panel_audit.AuditText,
        "The same as a part of a file: the entries as they are kept, one JSON object a line, or a "
        "table. Ask again with `before` until `next` is null.",
    ),
    LinkMethod(
        "tool.describe",
        "panel",
        "panel",
        "request",
        panel_views.ToolNamed,
        panel_views.ToolDescribed,
        "A tool with the schema of its arguments.",
    ),
    LinkMethod(
        "tool.run",
        "panel",
        "panel",
        "request",
        panel_views.ToolRun,
        panel_views.ToolRan,
        "The person tries a tool, in any tab. No question is asked; rules that forbid the tool or "
        "the site, and reviews of plugins, apply as to agents.",
    ),
    LinkMethod(
        "clients.list",
        "panel",
        "panel",
        "request",
        result=panel_views.ClientList,
        about="The clients, and the commands that connect agents.",
    ),
    LinkMethod(
        "client.revoke",
        "panel",
        "panel",
        "request",
        panel_views.ClientRevoke,
        about="Revoke the token of a client; `not_found` if there is none.",
    ),
    LinkMethod(
        "settings.list",
        "panel",
        "panel",
        "request",
        result=panel_views.SettingList,
        about="The settings that the panel can change.",
    ),
    LinkMethod(
        "settings.set",
        "panel",
        "panel",
        "request",
        panel_views.SettingSet,
        panel_views.SettingOutcome,
        "Change a setting in `config.json`; a value with which the server could not start is "
        "refused, and nothing changes.",
    ),
    LinkMethod(
        "plugin.logs",
        "panel",
        "panel",
        "request",
        plugins.PluginLogsAsked,
        plugins.PluginLogLines,
        "What a plugin has logged.",
    ),
    LinkMethod(
        "tab.share",
        "panel",
        "panel",
        "request",
        panel.TabShare,
        about="Share a tab with all agents, or stop sharing it.",
    ),
    LinkMethod(
        "tab.takeBack",
        "panel",
        "panel",
        "request",
        panel.TabTakeBack,
        about="Give an agent's tab back to the person.",
    ),
    LinkMethod(
        "grant.revoke", "panel", "panel", "request", panel.GrantRevoke, about="Remove a grant."
    ),
    LinkMethod(
        "page.pair",
        "panel",
        "panel",
        "request",
        panel.PagePair,
        about="The decision about a page that waits at `/page`; `not_found` if it no longer waits.",
    ),
    LinkMethod(
        "config.setPageLevel",
        "panel",
        "panel",
        "request",
        panel.SetPageLevel,
        about="The level of calls through an allowed origin's page worker; `not_found` for any "
        "other origin.",
    ),
    LinkMethod(
        "plugin.search",
        "panel",
        "panel",
        "request",
        plugin_requests.PluginSearch,
        plugin_requests.PluginResults,
        "Search the npm registry for plugins.",
    ),
    LinkMethod(
        "plugin.install",
        "panel",
        "panel",
        "request",
        plugin_requests.PluginInstall,
        plugin_requests.PluginInstalled,
        "Install a plugin from the npm registry; it runs once the person has reviewed it.",
    ),
    LinkMethod(
        "plugin.updateFromRegistry",
        "panel",
        "panel",
        "request",
        plugin_requests.PluginNamed,
        plugin_requests.PluginInstalled,
        "Fetch the latest version; it waits for a review beside a reviewed one.",
    ),
    LinkMethod(
        "plugin.remove",
        "panel",
        "panel",
        "request",
        plugin_requests.PluginNamed,
        plugin_requests.PluginRemoved,
        "Remove an installed plugin with its settings, its level and its review.",
    ),
    LinkMethod(
        "plugin.removeBySpecifier",
        "panel",
        "panel",
        "request",
        plugin_requests.PluginSpecified,
        plugin_requests.PluginRemoved,
        "The same by the name of the package, also for one that cannot be read.",
    ),
    LinkMethod(
        "plugin.checkUpdates",
        "panel",
        "panel",
        "request",
        result=plugin_requests.OutdatedPlugins,
        about="Ask the registry which installed plugins have newer versions; nothing is fetched.",
    ),
    LinkMethod(
        "folder.open",
        "panel",
        "panel",
        "request",
        plugin_requests.FolderOpen,
        about="Show the folder of a plugin in the system's file manager; no other folder.",
    ),
    LinkMethod(
        "plugin.getReview",
        "panel",
        "panel",
        "request",
        plugin_reviews.GetReview,
        plugin_reviews.ReviewShown,
        "What the person reads before they approve a plugin, or the update that waits.",
    ),
    LinkMethod(
        "plugin.getSource",
        "panel",
        "panel",
        "request",
        plugin_reviews.GetSource,
        plugin_reviews.SourceShown,
        "A part of one file of the plugin.",
    ),
    LinkMethod(
        "plugin.approve",
        "panel",
        "panel",
        "request",
        plugin_reviews.ApprovePlugin,
        about="Open the plugin for exactly these files; if one differs by now, nothing changes.",
    ),
)

PAGE = Link(
    LinkMethod(
        "page/hello",
        "page",
        "admission",
        "notification",
        pages.PageHello,
        about="The first message of a page. `id` is that of the token that it keeps.",
    ),
    LinkMethod(
        "page/proof",
        "server",
        "worker",
        "notification",
        pages.PageProof,
        about="The server knows the token of that id: the bytes of SHA-256 of "
        "`<port>:<challenge>:<key>`. A program on another port cannot pass this on.",
    ),
    LinkMethod(
        "page/token",
        "page",
        "admission",
        "notification",
        pages.PageToken,
        about="The token, after the page has checked the proof.",
    ),
    LinkMethod(
        "page/unpaired",
        "server",
        "worker",
        "notification",
        pages.PageUnpaired,
        about="The page has no token that the server knows, and waits for the person. The socket "
        "stays open for two minutes. If the page sends anything meanwhile, the socket is closed.",
    ),
    LinkMethod(
        "page/paired",
        "server",
        "worker",
        "notification",
        pages.PagePaired,
        about="The person has confirmed the code of this page, which keeps this for the next time.",
    ),
    LinkMethod(
        "page/ready",
        "server",
        "worker",
        "notification",
        pages.PageReady,
        about="The server accepts the page's messages from now on.",
    ),
    LinkMethod(
        "browser/executeTool",
        "server",
        "worker",
        "request",
        pages.Execute,
        pages.Outcome,
        "Call a tool of a tab. `payload` is a `CallToolResult`, or an error message. An "
        "error's `data.reason` is `tab_not_found`, `no_tab_for_tool` (the page has not received "
        "it), `page_may_have_received` or `cancelled`.",
    ),
    LinkMethod(
        "tool.cancel",
        "server",
        "worker",
        "notification",
        link.Cancel,
        about="The caller no longer waits for the result.",
    ),
    LinkMethod("pong", "server", "worker", "notification", about="The response to `ping`."),
    LinkMethod(
        "browser/registerTools",
        "page",
        "pages",
        "either",
        pages.RegisterWorkerTab,
        about="A tab with all its tools; sent again whenever something changes.",
    ),
    LinkMethod(
        "browser/updateTools",
        "page",
        "pages",
        "either",
        pages.UpdateWorkerTools,
        about="The new list of tools.",
    ),
    LinkMethod(
        "browser/unregisterTools",
        "page",
        "pages",
        "either",
        pages.WorkerTab,
        about="The tab has closed.",
    ),
    LinkMethod(
        "browser/activeTab",
        "page",
        "pages",
        "either",
        pages.ActiveTab,
        about="The tab that is active; null if none of this origin is.",
    ),
    LinkMethod(
        "tool.progress",
        "page",
        "connection",
        "either",
        link.Progress,
        about="`dispatchId` is the `callId` of the call.",
    ),
    LinkMethod("ping", "page", "connection", "either", about="Answered with `pong`."),
)
