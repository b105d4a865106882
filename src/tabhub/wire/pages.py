"""Messages about the tools that pages publish. `docs/protocol.md` says when each is sent."""

from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import Params

Kind = Literal["native", "mcp-b", "polyfill", "worker"]
"""How a page's tools are reached."""


class Capabilities(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """What a page says it can do."""

    multi_tab_support: bool = False
    cache_supported: bool = False
    elicitation: bool = False


class Document(Params, kw_only=True):
    """Which document of a tab is meant."""

    tab_id: int
    frame_id: int = 0
    document_id: str = ""


class RegisterTools(Document, kw_only=True):
    """`browser/registerTools`: all that a document publishes, with the origin the browser names."""

    origin: str
    url: str = ""
    tab_url: str = ""
    """The same, as MCP-B calls it."""
    tools: list[msgspec.Raw]
    kind: Kind = "native"
    capabilities: Capabilities | None = None
    worker_id: str | None = None
    """The tab as the page worker library calls it, if the page uses that."""
    extensions: dict[str, Any] | None = None


class UpdateTools(Document, kw_only=True):
    """`browser/updateTools`: the new list, as a whole."""

    tools: list[msgspec.Raw]
    extensions: dict[str, Any] | None = None


class Execute(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """`browser/executeTool`: run one tool of one document."""

    tool_name: str
    args: dict[str, Any]
    call_id: str = ""
    timeout_ms: int | msgspec.UnsetType = msgspec.UNSET
    """When nobody waits for the answer any longer, whatever progress is told."""
    tab_id: int | str = 0
    frame_id: int = 0
    document_id: str = ""
    kind: Kind | msgspec.UnsetType = msgspec.UNSET
    extensions: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """What the page itself has sent along with its tools."""


class Outcome(Params, kw_only=True):
    """The answer to `browser/executeTool`: a `CallToolResult` or text, or why it failed."""

    success: bool
    payload: Any = None


PROTOCOL = "tabhub-page"
PROBE = "tabhub-probe"
"""What a window asks with that only wants to know whether it may come here at all."""
UNPAIRED = 4003
"""Close code: the person has not allowed this origin."""
TOO_MUCH = 4008
"""Close code: more came than a page may send."""

TabId = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|fallback_\d{1,16}_[0-9a-z]{1,16})$"
    ),
]
"""A UUID, or what a page makes up that has no `crypto`."""


class PageUnpaired(Params):
    """`page/unpaired`: a person has yet to allow this origin."""

    origin: str
    code: str
    message: str


class PageReady(Params):
    """`page/ready`: the server takes the page's messages from here on."""

    origin: str


class WorkerTab(Params):
    """`browser/unregisterTools`: the tab has closed."""

    tab_id: TabId


class UpdateWorkerTools(WorkerTab):
    """`browser/updateTools`: the new list, as a whole."""

    tools: list[msgspec.Raw]


class RegisterWorkerTab(UpdateWorkerTools):
    """`browser/registerTools`: a tab, and all that it offers."""

    url: str = ""
    title: str = ""
    capabilities: Capabilities = Capabilities(multi_tab_support=True)


class ActiveTab(Params):
    """`browser/activeTab`: the tab the person looks at; null: at none of this origin."""

    tab_id: TabId | None
