"""Messages between the server and the extension. `docs/link.md` says when each is sent."""

import re
from typing import Annotated, Any, Literal

import msgspec

_RESPONSE_ID = re.compile(rb'\{"jsonrpc":"2\.0","id":"([^"\\]{1,64})",')
SUBPROTOCOLS = ("tabhub", "opentabs")
"""Accepted WebSocket subprotocols; the second one is for compatibility."""

CUT = 4002
"""Close code: the server asks the extension to connect again."""
REPLACED = 4001
"""Close code: the same profile has connected again."""

CallOutcome = Literal["done", "failed", "refused", "cancelled"]
"""How a call ended; a refused one was never given to its tool."""


class LinkStruct(msgspec.Struct, rename="camel", kw_only=True):
    """Base: camelCase on the wire."""


class Nothing(LinkStruct):
    """No params, or a result without members."""


class ServerInfo(LinkStruct):
    name: str
    version: str


class Recording(LinkStruct):
    """How many entries the extension keeps for each tab; 0 for none."""

    console_entries: int
    network_entries: int


class PluginCode(LinkStruct):
    """A plugin whose code the extension may run in pages, until the server says otherwise."""

    name: str
    version: str
    url_patterns: list[str]
    exclude_patterns: list[str]
    adapter: str
    """The digest of the adapter's bytes, SHA-256 in hex; its file is `adapters/NAME-DIGEST.js`."""
    pre_script: str | None
    """The digest of the script that runs when a document starts."""
    settings: dict[str, Any]
    """What pages get, without the settings of type url."""
    urls: dict[str, dict[str, str]]
    """The settings of type url: addresses by the name of the instance."""


class SyncFull(LinkStruct):
    """`sync.full`: the server introduces itself."""

    protocol: int
    server: ServerInfo
    max_bytes: int
    """The largest message that the server accepts."""
    recording: Recording
    plugins: list[PluginCode]
    """Those whose code may run in pages."""
    page_origins: list[str]
    """Patterns of the origins whose pages may publish tools; no other page is asked for any."""
    commands: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Only in development: the JSON Schema of each command's input, for validation."""


class PageOrigins(LinkStruct):
    """`pages.origins`: the setting has changed."""

    page_origins: list[str]


class TabState(LinkStruct):
    """A tab as the browser describes it."""

    tab_id: int
    url: str = ""
    title: str = ""
    active: bool = False
    window_id: int = 0
    index: int = 0
    status: str = "complete"
    group_id: int | None = None
    focused_window: bool = False


class BrowserInfo(LinkStruct):
    name: str = "browser"
    version: str = ""
    user_agent: str = ""
    kind: Literal["managed", "personal"] = "personal"
    """Whether tabhub started the browser for agents, or it is the person's own."""
    instance: str = ""
    """Differs for every start of the browser."""
    panels: int | None = None
    """How many side panels are open; other extensions than tabhub's do not say."""


class KnownTab(LinkStruct):
    """A tab as OpenTabs describes it for one plugin."""

    tab_id: int
    url: str = ""
    title: str = ""
    ready: bool = False


class PluginTabs(LinkStruct):
    """The tabs of one plugin, as OpenTabs describes them."""

    state: Literal["closed", "unavailable", "ready"]
    tabs: list[KnownTab] = msgspec.field(default_factory=list)


class SyncAll(LinkStruct):
    """`tab.syncAll`: all tabs of the browser."""

    browser: BrowserInfo = msgspec.field(default_factory=BrowserInfo)
    tabs: list[TabState] | dict[str, PluginTabs] = msgspec.field(default_factory=list)
    """From an extension of OpenTabs: the tabs of each plugin, by its name."""


class StateChanged(LinkStruct):
    """`tab.stateChanged`: a tab was opened, changed or closed; or, from an extension of OpenTabs,
    the tabs of a plugin have changed."""

    state: Literal["opened", "updated", "activated", "closed", "replaced", "unavailable", "ready"]
    """The last two, and `closed` with a plugin, are those of OpenTabs."""
    tab_id: int | None = None
    tab: TabState | None = None
    replaced_by: int | None = None
    opened_by: int | None = None
    """The tab whose page opened this one."""
    plugin: str | None = None
    tabs: list[KnownTab] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        if (self.tab_id is None) == (self.plugin is None):
            raise ValueError("expected one of tabId and plugin")
        if self.plugin is None and self.state in ("unavailable", "ready"):
            raise ValueError("a plugin is missing")


class Progress(LinkStruct):
    """`tool.progress`: the progress of a dispatched command."""

    dispatch_id: str
    progress: float
    total: float | None = None
    message: str | None = None


class Dispatch(LinkStruct):
    """`tool.dispatch`: run one command."""

    plugin: str
    tool: str
    input: Any
    tab_id: int | None
    dispatch_id: str
    site: str | None = None
    """The site that the permission is for; on any other site the command must not run."""
    frames: bool = False
    """Whether the extension must ask (`frames.allowed`) before it enters frames of other sites."""
    untrusted: bool = False
    """Whether a script may produce the input where the debugger cannot be used."""


class Cancel(LinkStruct):
    """`tool.cancel`: the caller no longer waits for the result."""

    dispatch_id: str


class FramesAsked(LinkStruct):
    """`frames.allowed`: asks which of these sites' frames a command may enter."""

    dispatch_id: str
    sites: list[str]
    reading: bool = False
    """Whether it asks instead where the result may say what has changed."""


class FramesAllowed(LinkStruct):
    """The result of `frames.allowed`: the sites whose frames may be entered."""

    sites: list[str]


class FileRead(LinkStruct):
    """`files.read`: asks for a part of a file that a command uploads."""

    dispatch_id: str
    index: Annotated[int, msgspec.Meta(ge=0)]
    offset: Annotated[int, msgspec.Meta(ge=0)]


class FilePiece(LinkStruct):
    """The result of `files.read`: the next bytes of the file; empty at the end."""

    data: str
    """In base64."""


class Dispatched(LinkStruct):
    """The result of `tool.dispatch`."""

    output: Any = None


class PanelChanged(LinkStruct):
    """`panel.changed`: how many side panels a browser has open."""

    open: Annotated[int, msgspec.Meta(ge=0)]


def answered_id(body: bytes) -> str | None:
    """The id of a response that cannot be decoded, so that its call fails at once."""
    found = _RESPONSE_ID.match(body)
    return found[1].decode() if found else None
