"""What an MCP server serves, apart from how it is carried.

`Backend` answers; `Exchange` is what an answer in progress may say to the client meanwhile.
"""

from abc import ABC, abstractmethod
from typing import Any

from tabhub.agents.mcp.announce import Announcer
from tabhub.agents.mcp.elicitation import Ask, require_capabilities
from tabhub.config.clients import Client
from tabhub.errors import ProtocolError
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.versions import SUPPORTED

Toolsets = frozenset[str] | None
"""The toolsets that a client's URL names; None for the usual ones."""


class Exchange(ABC):
    """One request while it is being answered."""

    def __init__(
        self,
        *,
        version: str,
        client: m.ClientInfo,
        capabilities: m.Json,
        session: str,
        caller: Client,
        toolsets: Toolsets,
        meta: m.Json,
        log_level: m.LogLevel | None,
    ) -> None:
        self.version = version
        self.client = client
        self.capabilities = capabilities
        self.session = session
        """The agent's session in the hub: what it has done before is found under this key."""
        self.caller = caller
        """Whose credential was shown: the same for all sessions of one client."""
        self.toolsets = toolsets
        """The toolsets that the client's URL names; None for the usual ones."""
        self.meta = meta
        self.log_level = log_level
        self.state: Any = None
        """What an earlier round of the same request left behind (see `ask`)."""

    @abstractmethod
    async def notify(self, method: str, params: m.Json) -> None:
        """Send a notification on this request's own stream."""

    @abstractmethod
    async def exchange(self, asks: dict[str, Ask], state: Any) -> dict[str, Any]:
        """Put questions to the client and return the answers by key."""

    def forget_answers(self) -> None:
        """Take no answer that came with the request itself."""
        return

    async def close_stream(self) -> None:
        """Let go of the connection; the client comes back for the rest. Not every era can."""
        return

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        token = self.meta.get("progressToken")
        if not isinstance(token, int | str):
            return
        said = {"progressToken": token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {k: v for k, v in said.items() if v is not None}
        )

    async def log(self, level: m.LogLevel, data: Any, logger: str | None = None) -> None:
        """Tell the client, if it wants to hear this level."""
        if self.log_level is None:
            return
        if m.LOG_LEVELS.index(level) < m.LOG_LEVELS.index(self.log_level):
            return
        said = {"level": level, "data": data} | ({"logger": logger} if logger else {})
        await self.notify("notifications/message", said)

    async def ask(self, asks: dict[str, Ask], state: Any = None) -> dict[str, Any]:
        """Ask the person (elicitation) or the model (sampling) behind the client.

        In the sessionless era the whole request comes again with the answers, so a handler that
        asks must be able to run from its start again; `state` travels with it, signed.
        """
        require_capabilities(asks, self.capabilities)
        return await self.exchange(asks, state)


class Backend(ABC):
    """An MCP server's content. A subclass overrides what it has and says so in `capabilities`."""

    info: m.Implementation
    instructions: str | None = None

    def __init__(self, news: Announcer | None = None) -> None:
        self.news = Announcer() if news is None else news

    @abstractmethod
    def capabilities(self) -> m.Json:
        """What it has, as MCP declares it."""

    def input_schema(self, name: str) -> Any:
        """The schema of one tool, or None when there is no such tool."""
        return None

    async def ping(self, exchange: Exchange, params: m.Params) -> m.Result:
        return m.Result()

    async def discover(self, exchange: Exchange, params: m.Params) -> m.Result:
        return m.DiscoverResult(
            supported_versions=SUPPORTED,
            capabilities=self.capabilities(),
            instructions=self.instructions,
        )

    async def list_tools(self, exchange: Exchange, params: m.PageParams) -> m.ToolList:
        raise _absent("tools")

    async def call_tool(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        raise _absent("tools")

    async def list_resources(self, exchange: Exchange, params: m.PageParams) -> m.ResourceList:
        raise _absent("resources")

    async def list_templates(self, exchange: Exchange, params: m.PageParams) -> m.TemplateList:
        raise _absent("resources")

    async def read_resource(self, exchange: Exchange, params: m.UriParams) -> m.ReadResult:
        raise _absent("resources")

    async def list_prompts(self, exchange: Exchange, params: m.PageParams) -> m.PromptList:
        raise _absent("prompts")

    async def get_prompt(self, exchange: Exchange, params: m.GetPromptParams) -> m.PromptResult:
        raise _absent("prompts")

    async def complete(self, exchange: Exchange, params: m.CompleteParams) -> m.CompleteResult:
        raise _absent("completions")

    def session_ended(self, session: str) -> None:
        """An agent's session is over; whatever was kept for it can go."""
        return


def _absent(what: str) -> ProtocolError:
    return ProtocolError(f"This server has no {what}.", "method_not_found")
