"""Messages about page tools, from the extension and from page workers; see `docs/protocol.md`."""

from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import LinkStruct

PROTOCOL = "tabhub-page"
PROBE = "tabhub-probe"
"""The subprotocol of a window that only asks whether it may connect."""
UNPAIRED = 4003
"""Close code: the person has not allowed this page."""
TOO_MUCH = 4008
"""Close code: the page has sent more than it may."""

TabId = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|fallback_\d{1,16}_[0-9a-z]{1,16})$"
    ),
]
"""A UUID, or the substitute that a page without `crypto` makes."""
Kind = Literal["native", "mcp-b", "polyfill", "worker"]
"""How the tools of a page are called."""


Embedding = Literal["own", "allowed", "foreign"]
"""How a document is in its tab: every document around it has its origin, or each that has another
allows the one inside to publish tools (`allow="tools"`), or neither."""


class Capabilities(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """What a page claims to support."""

    multi_tab_support: bool = False
    cache_supported: bool = False
    elicitation: bool = False


class Document(LinkStruct, kw_only=True):
    """Identifies a document in a tab."""

    tab_id: int
    frame_id: int = 0
    document_id: str = ""


class RegisterTools(Document, kw_only=True):
    """`browser/registerTools`: all tools of a document; the browser reports its origin."""

    origin: str
    url: str = ""
    tab_url: str = ""
    """The same under MCP-B's name."""
    tools: list[msgspec.Raw]
    kind: Kind = "native"
    capabilities: Capabilities | None = None
    worker_id: str | None = None
    """The page worker's id of the tab, if the page uses that library."""
    embedding: Embedding | None = None
    """How a frame is in its tab; `foreign` if it is missing."""
    extensions: dict[str, Any] | None = None


class UpdateTools(Document, kw_only=True):
    """`browser/updateTools`: the new list of tools."""

    tools: list[msgspec.Raw]
    extensions: dict[str, Any] | None = None


NOT_RECEIVED = frozenset({"tab_not_found", "navigated_away"})
"""Reasons of an answer to `browser/executeTool` if the page has not received the call; if it may
have, the reason is page_may_have_received."""


class Execute(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """`browser/executeTool`: run one tool of one document."""

    tool_name: str
    args: dict[str, Any]
    call_id: str = ""
    timeout_ms: int | msgspec.UnsetType = msgspec.UNSET
    """After this time the caller no longer waits, even if progress is reported."""
    tab_id: int | str = 0
    frame_id: int = 0
    document_id: str = ""
    kind: Kind | msgspec.UnsetType = msgspec.UNSET
    extensions: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """What the page has sent along with its tools."""


class Outcome(LinkStruct, kw_only=True):
    """The result of `browser/executeTool`: a `CallToolResult` or text, or an error message."""

    success: bool
    payload: Any = None


Short = Annotated[str, msgspec.Meta(max_length=200)]


class PageHello(LinkStruct, kw_only=True):
    """`page/hello`: the page's first message."""

    id: Short | None = None
    """Of the token that it keeps, if it has one."""
    challenge: Short


class PageProof(LinkStruct):
    """`page/proof`: the server knows the key that belongs to the page's token."""

    proof: list[int]
    """The bytes of SHA-256 of `<port>:<challenge>:<key>`."""


class PageToken(LinkStruct):
    """`page/token`: the page proves that it was paired."""

    token: Short


class PagePaired(LinkStruct):
    """`page/paired`: what the page keeps in order to prove itself the next time."""

    id: str
    key: str
    """With it the server proves itself, before the page sends its token."""
    token: str


class PageUnpaired(LinkStruct):
    """`page/unpaired`: the person has not allowed this page yet."""

    origin: str
    code: str
    message: str


class PageReady(LinkStruct):
    """`page/ready`: the server accepts the page's messages from now on."""

    origin: str


class WorkerTab(LinkStruct):
    """`browser/unregisterTools`: the tab has closed."""

    tab_id: TabId


class UpdateWorkerTools(WorkerTab):
    """`browser/updateTools`: the new list of tools."""

    tools: list[msgspec.Raw]
    extensions: dict[str, Any] | None = None
    """What each call is to bring back to the page."""


class RegisterWorkerTab(UpdateWorkerTools):
    """`browser/registerTools`: a tab with all its tools."""

    url: str = ""
    title: str = ""
    capabilities: Capabilities = Capabilities(multi_tab_support=True)


class ActiveTab(LinkStruct):
    """`browser/activeTab`: the tab that is active; null if none of this origin is."""

    tab_id: TabId | None
