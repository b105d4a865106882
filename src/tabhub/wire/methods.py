"""The JSON-RPC methods of the extension's link (`/ws`) and of the page worker's (`/page`).

One row a method. The server decodes and dispatches by it and sends nothing else, the extension's
own lists (`extension/worker/shared/link-methods.js`) and the tables of `docs/link.md` and
`docs/protocol.md` are written from it, and the tests that try every message read it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from tabhub.errors import ProtocolError
from tabhub.wire import link, pages, panel
from tabhub.wire import pages as worker

Sender = Literal["server", "extension", "panel", "page"]
"""`panel`: a page of the extension, whose requests its worker passes on."""
Kind = Literal["request", "notification", "either"]
"""`either`: as the sender likes; a request is answered."""
Receiver = Literal["connection", "browsers", "pages", "panel", "dispatcher", "relay", "worker"]
"""The part of the other side that takes a method: the last three are not in the server."""


class Method(msgspec.Struct, frozen=True):
    """Who sends a method, with which params, and what comes back."""

    name: str
    sender: Sender
    receiver: Receiver
    kind: Kind
    params: type[msgspec.Struct] = link.Nothing
    result: type[msgspec.Struct] = link.Nothing
    """Of a request."""
    about: str = ""


class Link:
    """The methods of one path, by direction."""

    def __init__(self, *rows: Method) -> None:
        self.rows = rows
        self.sent = _by_name(row for row in rows if row.sender == "server")
        """What the server sends."""
        self.received = _by_name(row for row in rows if row.sender != "server")
        """What the server takes."""

    def taken_by(self, receiver: Receiver) -> list[Method]:
        """The methods that one part of the server has to handle."""
        return [row for row in self.received.values() if row.receiver == receiver]

    def require_sent(self, method: str, params: object) -> None:
        """Refuse to send what is not in the table; that is a fault of ours."""
        row = self.sent.get(method)
        if row is None or not isinstance(params, row.params):
            raise TypeError(f"{method} with {type(params).__name__} is not in the table.")


def _by_name(rows: Iterable[Method]) -> dict[str, Method]:
    found: dict[str, Method] = {}
    for row in rows:
        if row.name in found:
            raise ValueError(f"{row.name} is in the table twice.")
        found[row.name] = row
    return found


class Handlers:
    """What one part of the server does with each of its methods.

    A method without a handler, or a handler without a method, is an error at construction.
    """

    def __init__(self, rows: list[Method], handlers: Mapping[str, Callable[..., Any]]) -> None:
        unlike = {row.name for row in rows} ^ handlers.keys()
        if unlike:
            raise LookupError(f"Table and handlers differ: {', '.join(sorted(unlike))}.")
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
    Method(
        "sync.full",
        "server",
        "dispatcher",
        "notification",
        link.SyncFull,
        about="First on every connection. `maxBytes` is the largest message that the server takes, "
        "`recording` how much to keep of each tab, 0 for nothing. `commands` comes only in "
        "development (`TABHUB_DEVELOPMENT=1`): the JSON Schema of every command's input, by which "
        "the extension then checks what it gets.",
    ),
    Method(
        "tool.dispatch",
        "server",
        "dispatcher",
        "request",
        link.Dispatch,
        link.Dispatched,
        "Run a command, see below.",
    ),
    Method(
        "browser/executeTool",
        "server",
        "dispatcher",
        "request",
        pages.Execute,
        pages.Outcome,
        "Call a tool of a page. `callId` is its `dispatchId` in `tool.cancel` and "
        "`tool.progress`; `payload` is a `CallToolResult`, or without success a sentence.",
    ),
    Method(
        "tool.cancel",
        "server",
        "dispatcher",
        "notification",
        link.Cancel,
        about="Nobody waits for the answer any more: stop what can be stopped.",
    ),
    Method(
        "extension.reload",
        "server",
        "dispatcher",
        "notification",
        about="Start the extension again.",
    ),
    Method("pong", "server", "dispatcher", "notification", about="The answer to `ping`."),
    Method(
        "confirmation.request",
        "server",
        "relay",
        "notification",
        panel.Confirmation,
        about="A call waits for a person's decision.",
    ),
    Method(
        "confirmation.closed",
        "server",
        "relay",
        "notification",
        panel.ConfirmationClosed,
        about="The call no longer waits.",
    ),
    Method(
        "confirmation.missed",
        "server",
        "relay",
        "notification",
        panel.ConfirmationMissed,
        about="A call was refused at once, because no panel was open.",
    ),
    Method(
        "state.changed",
        "server",
        "relay",
        "notification",
        about="Ask again with `config.getState`.",
    ),
    Method(
        "tab.syncAll",
        "extension",
        "browsers",
        "notification",
        link.SyncAll,
        about="First on every connection: all tabs of the browser.",
    ),
    Method(
        "tab.stateChanged",
        "extension",
        "browsers",
        "request",
        link.StateChanged,
        about="What has happened to one tab.",
    ),
    Method(
        "panel.changed",
        "extension",
        "browsers",
        "notification",
        link.PanelChanged,
        about="How many panels are open now.",
    ),
    Method(
        "browser/registerTools",
        "extension",
        "pages",
        "notification",
        pages.RegisterTools,
        about="A document publishes tools; sent again for each of them on every new connection.",
    ),
    Method(
        "browser/updateTools",
        "extension",
        "pages",
        "notification",
        pages.UpdateTools,
        about="All that a document publishes now; none when it has withdrawn them.",
    ),
    Method(
        "browser/unregisterTools",
        "extension",
        "pages",
        "notification",
        pages.Document,
        about="The document has gone.",
    ),
    Method(
        "tool.progress",
        "extension",
        "connection",
        "notification",
        link.ProgressTold,
        about="How far a dispatched command or a page's tool has come.",
    ),
    Method(
        "frames.allowed",
        "extension",
        "connection",
        "request",
        link.FramesAsked,
        link.FramesAllowed,
        "A dispatched command (with `frames`) meets frames of other sites: which may it enter?",
    ),
    Method(
        "files.read",
        "extension",
        "connection",
        "request",
        link.FileRead,
        link.FilePiece,
        "The next bytes of a file, in base64, for a dispatched `page.upload` or "
        "`downloads.save`; empty at its end.",
    ),
    Method(
        "ping",
        "extension",
        "connection",
        "notification",
        about="Every 20 s: only application messages keep a service worker alive.",
    ),
    Method(
        "config.getState",
        "panel",
        "panel",
        "request",
        result=panel.State,
        about="All that the panel shows.",
    ),
    Method(
        "confirmation.response",
        "panel",
        "panel",
        "request",
        panel.ConfirmationResponse,
        panel.ConfirmationOutcome,
        "`seconds`: how long the approval lasts. `accepted` is false when the call was decided "
        "before.",
    ),
    Method(
        "config.setToolPermission",
        "panel",
        "panel",
        "request",
        panel.SetToolPermission,
        about="Null: what the more general rules say.",
    ),
    Method(
        "config.setPluginPermission",
        "panel",
        "panel",
        "request",
        panel.SetPluginPermission,
        about="Null: what the more general rules say.",
    ),
    Method(
        "config.setSkipPermissions",
        "panel",
        "panel",
        "request",
        panel.SetSkipPermissions,
        about="Until it is switched off or the server ends.",
    ),
    Method(
        "config.setPluginSettings",
        "panel",
        "panel",
        "request",
        panel.SetPluginSettings,
        about="An error until a plugin has settings.",
    ),
    Method("agent.pause", "panel", "panel", "request", panel.AgentPause),
    Method("agents.stop", "panel", "panel", "request", panel.AgentsStop, about="All agents."),
    Method("tab.share", "panel", "panel", "request", panel.TabShare, about="With all agents."),
    Method(
        "tab.takeBack",
        "panel",
        "panel",
        "request",
        panel.TabTakeBack,
        about="An agent's tab becomes the person's.",
    ),
    Method("grant.revoke", "panel", "panel", "request", panel.GrantRevoke),
    Method(
        "page.pair",
        "panel",
        "panel",
        "request",
        panel.PagePair,
        about="The decision about a page that waits at `/page`; `not_found` if it waits no more.",
    ),
)

PAGE = Link(
    Method(
        "page/unpaired",
        "server",
        "worker",
        "notification",
        worker.PageUnpaired,
        about="Nobody has allowed this origin yet; the socket stays open for two minutes and goes "
        "on when a person does. A page that sends anything meanwhile is closed.",
    ),
    Method(
        "page/ready",
        "server",
        "worker",
        "notification",
        worker.PageReady,
        about="From here on the page's messages are taken.",
    ),
    Method(
        "browser/executeTool",
        "server",
        "worker",
        "request",
        pages.Execute,
        pages.Outcome,
        "Call a tool of a tab. `payload` is a `CallToolResult`, or the text of the failure. An "
        "error's `data.reason` is `tab_not_found`, `no_tab_for_tool` (the page has not received "
        "it), `page_may_have_received` or `cancelled`.",
    ),
    Method(
        "tool.cancel",
        "server",
        "worker",
        "notification",
        link.Cancel,
        about="Nobody waits for the answer any more.",
    ),
    Method("pong", "server", "worker", "notification", about="The answer to `ping`."),
    Method(
        "browser/registerTools",
        "page",
        "pages",
        "either",
        worker.RegisterWorkerTab,
        about="A tab with all its tools; sent again whenever any of it changes.",
    ),
    Method(
        "browser/updateTools",
        "page",
        "pages",
        "either",
        worker.UpdateWorkerTools,
        about="Only the tools, as a whole.",
    ),
    Method(
        "browser/unregisterTools",
        "page",
        "pages",
        "either",
        worker.WorkerTab,
        about="The tab has closed.",
    ),
    Method(
        "browser/activeTab",
        "page",
        "pages",
        "either",
        worker.ActiveTab,
        about="The tab that the person looks at; null: none of this origin.",
    ),
    Method(
        "tool.progress",
        "page",
        "connection",
        "either",
        link.ProgressTold,
        about="`dispatchId` is the `callId` of the call.",
    ),
    Method("ping", "page", "connection", "either", about="Answered with `pong`."),
)
