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


class SyncFull(LinkStruct):
    """`sync.full`: the server introduces itself."""

    protocol: int
    server: ServerInfo
    max_bytes: int
    """The largest message that the server accepts."""
    recording: Recording
    plugins: list[Any]
    commands: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Only in development: the JSON Schema of each command's input, for validation."""


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
    panels: int = 0
    """How many side panels are open."""


class SyncAll(LinkStruct):
    """`tab.syncAll`: all tabs of the browser."""

    browser: BrowserInfo = msgspec.field(default_factory=BrowserInfo)
    tabs: list[TabState] = msgspec.field(default_factory=list)


class StateChanged(LinkStruct):
    """`tab.stateChanged`: a tab was opened, changed or closed."""

    tab_id: int
    state: Literal["opened", "updated", "activated", "closed", "replaced"]
    tab: TabState | None = None
    replaced_by: int | None = None
    opened_by: int | None = None
    """The tab whose page opened this one."""


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
