"""Messages between the server and the extension. `docs/link.md` says when each is sent."""

import re
from typing import Annotated, Any, Literal

import msgspec

_ANSWER_ID = re.compile(rb'\{"jsonrpc":"2\.0","id":"([^"\\]{1,64})",')
SUBPROTOCOLS = ("tabhub", "opentabs")
"""What a client may call the link; the second name is accepted for the sake of others."""

CUT = 4002
"""The code a connection is closed with that was to be cut."""
REPLACED = 4001
"""Close code: the same profile has connected again."""


class Params(msgspec.Struct, rename="camel", kw_only=True):
    """Base: camelCase on the wire."""


class Nothing(Params):
    """No params, or a result that says no more than that it was done."""


class ServerInfo(Params):
    name: str
    version: str


class Recording(Params):
    """How much the extension keeps of each tab; 0 for nothing."""

    console_entries: int
    network_entries: int


class SyncFull(Params):
    """`sync.full`: what the server says of itself."""

    protocol: int
    server: ServerInfo
    max_bytes: int
    """The largest message that the server takes."""
    recording: Recording
    plugins: list[Any]
    commands: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Only in development: the JSON Schema of each command's input, to check it by."""


class TabState(Params):
    """A tab as its browser describes it."""

    tab_id: int
    url: str = ""
    title: str = ""
    active: bool = False
    window_id: int = 0
    index: int = 0
    status: str = "complete"
    group_id: int | None = None
    focused_window: bool = False


class BrowserInfo(Params):
    name: str = "browser"
    version: str = ""
    user_agent: str = ""
    kind: Literal["managed", "personal"] = "personal"
    """Whether tabhub started it for agents, or it is a person's own."""
    instance: str = ""
    """Another one for every start of the browser."""
    panels: int = 0
    """How many side panels are open."""


class SyncAll(Params):
    """`tab.syncAll`: everything the browser has open."""

    browser: BrowserInfo = msgspec.field(default_factory=BrowserInfo)
    tabs: list[TabState] = msgspec.field(default_factory=list)


class StateChanged(Params):
    """`tab.stateChanged`: what has happened to one tab."""

    tab_id: int
    state: Literal["opened", "updated", "activated", "closed", "replaced"]
    tab: TabState | None = None
    replaced_by: int | None = None
    opened_by: int | None = None
    """The tab whose page opened this one."""


class ProgressTold(Params):
    """`tool.progress`: how far a dispatched tool has come."""

    dispatch_id: str
    progress: float
    total: float | None = None
    message: str | None = None


class Dispatch(Params):
    """`tool.dispatch`: run one command."""

    plugin: str
    tool: str
    input: Any
    tab_id: int | None
    dispatch_id: str
    site: str | None = None
    """The site that was decided about: on any other the command must not run."""
    frames: bool = False
    """Whether to ask (`frames.allowed`) before it enters frames of other sites."""
    untrusted: bool = False
    """Whether a script may make the input where the debugger cannot be used."""


class Cancel(Params):
    """`tool.cancel`: nobody waits for the answer any more."""

    dispatch_id: str


class FramesAsked(Params):
    """`frames.allowed`: into frames of which of these sites may a command go?"""

    dispatch_id: str
    sites: list[str]


class FramesAllowed(Params):
    """The result of `frames.allowed`: the sites whose frames may be entered."""

    sites: list[str]


class FileRead(Params):
    """`files.read`: a piece of a file that a command uploads."""

    dispatch_id: str
    index: Annotated[int, msgspec.Meta(ge=0)]
    offset: Annotated[int, msgspec.Meta(ge=0)]


class FilePiece(Params):
    """The result of `files.read`: the next bytes of the file, empty at its end."""

    data: str
    """In base64."""


def answered_id(body: bytes) -> str | None:
    """The id of a response that cannot be read as a whole, so that its call need not wait."""
    found = _ANSWER_ID.match(body)
    return found[1].decode() if found else None


class Dispatched(Params):
    """The result of a `tool.dispatch`."""

    output: Any = None


class PanelChanged(Params):
    """`panel.changed`: how many side panels a browser has open."""

    open: Annotated[int, msgspec.Meta(ge=0)]
