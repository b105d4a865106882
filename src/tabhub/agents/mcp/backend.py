"""What an MCP server serves, apart from how it is carried.

`Backend` answers requests; `Exchange` is one request, by which an answer in progress can notify
and ask its client; `Announcer` publishes changes of lists and resources.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabhub.agents.http.messages import Toolsets
from tabhub.agents.mcp.elicitation import ClientQuestion, require_capabilities
from tabhub.config.clients import Client
from tabhub.errors import ProtocolError
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.versions import SUPPORTED


@dataclass(frozen=True)
class Change:
    """A change of a list (tools, prompts or resources) or of a single resource."""

    kind: str
    """tools, prompts, resources, or resource for a single one."""
    uri: str | None = None
    """Of a single resource."""

    @property
    def method(self) -> str:
        if self.uri is not None:
            return "notifications/resources/updated"
        return f"notifications/{self.kind}/list_changed"

    @property
    def params(self) -> m.Json:
        return {} if self.uri is None else {"uri": self.uri}

    def matches(self, chosen: m.ListenFilter) -> bool:
        if self.uri is not None:
            return self.uri in (chosen.resource_subscriptions or ())
        return bool(getattr(chosen, f"{self.kind}_list_changed"))


Listener = Callable[[Change], None]


class Announcer:
    """Publishes changes to its listeners, which are called at once and must not block."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; returns what removes it."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    def announce(self, change: Change) -> None:
        for listener in list(self._listeners.values()):
            listener(change)


class Inbox:
    """Changes that wait for one slow client; the same change never waits twice."""

    def __init__(self) -> None:
        self._waiting: dict[Change, None] = {}
        self._closed = False
        self._arrived = asyncio.Event()

    def put(self, change: Change) -> None:
        self._waiting[change] = None
        self._arrived.set()

    def close(self) -> None:
        self._closed = True
        self._arrived.set()

    async def take(self) -> list[Change] | None:
        """Wait for changes and return all of them; None once the inbox is closed."""
        await self._arrived.wait()
        self._arrived.clear()
        changes, self._waiting = list(self._waiting), {}
        return None if self._closed else changes


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
        """The key of the agent's session in the hub."""
        self.caller = caller
        """The client whose token was shown: the same for all its sessions."""
        self.toolsets = toolsets
        self.meta = meta
        self.log_level = log_level
        self.state: Any = None
        """What an earlier round of the same request left (see `ask`)."""

    @abstractmethod
    async def notify(self, method: str, params: m.Json) -> None:
        """Send a notification on this request's own stream."""

    @abstractmethod
    async def ask_client(self, asks: dict[str, ClientQuestion], state: Any) -> dict[str, Any]:
        """Send questions to the client and return the answers by key."""

    def forget_answers(self) -> None:
        """Ignore the answers that came with the request itself."""
        return

    async def close_stream(self) -> None:
        """Close the connection, where the revision lets the client resume the stream."""
        return

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        token = self.meta.get("progressToken")
        if not isinstance(token, int | str):
            return
        params = {"progressToken": token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {k: v for k, v in params.items() if v is not None}
        )

    async def log(self, level: m.LogLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client wants messages of this level."""
        if self.log_level is None or not m.is_wanted(level, self.log_level):
            return
        params = {"level": level, "data": data} | ({"logger": logger} if logger else {})
        await self.notify("notifications/message", params)

    async def ask(self, asks: dict[str, ClientQuestion], state: Any = None) -> dict[str, Any]:
        """Ask the person (elicitation) or the model (sampling) of the client.

        In the sessionless era the client sends the whole request again, with the answers, so a
        handler that asks must be able to start over; `state` travels with the request, signed.
        """
        require_capabilities(asks, self.capabilities)
        return await self.ask_client(asks, state)


class Backend(ABC):
    """An MCP server's content. A subclass overrides what it has and says so in `capabilities`."""

    info: m.Implementation
    instructions: str | None = None

    def __init__(self, news: Announcer | None = None) -> None:
        self.news = Announcer() if news is None else news

    @abstractmethod
    def capabilities(self) -> m.Json:
        """The capabilities, as MCP declares them."""

    def has(self, capability: str) -> bool:
        """Whether it has a capability; asked for every request."""
        return capability in self.capabilities()

    def input_schema(self, name: str) -> Any:
        """The schema of one tool, or None when there is no such tool."""
        return None

    async def ping(self, exchange: Exchange, params: m.RequestParams) -> m.Result:
        return m.Result()

    async def discover(self, exchange: Exchange, params: m.RequestParams) -> m.Result:
        return m.DiscoverResult(
            supported_versions=SUPPORTED,
            capabilities=self.capabilities(),
            instructions=self.instructions,
        )

    async def list_tools(self, exchange: Exchange, params: m.PageParams) -> m.ToolList:
        raise _absent("tools")

    async def call_tool(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        raise _absent("tools")

    async def list_resources(self, exchange: Exchange, params: m.PageParams) -> m.McpResourceList:
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
        """Release what was kept for a session that has ended."""
        return


def _absent(capability: str) -> ProtocolError:
    return ProtocolError(f"This server has no {capability}.", "method_not_found")
