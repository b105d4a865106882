"""What an MCP server serves, apart from how it is carried.

`Backend` answers; `Exchange` is what an answer in progress may say to the client meanwhile.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from tabhub.agents.http.messages import Toolsets
from tabhub.agents.mcp.elicitation import Ask, require_capabilities
from tabhub.config.clients import Client
from tabhub.errors import Internal, ProtocolError, TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.messages import Json, ListenFilter
from tabhub.wire.mcp.versions import SUPPORTED


@dataclass(frozen=True)
class Change:
    """`kind` is tools, prompts, resources, or resource for a single one."""

    kind: str
    uri: str | None = None

    @property
    def method(self) -> str:
        if self.uri is not None:
            return "notifications/resources/updated"
        return f"notifications/{self.kind}/list_changed"

    @property
    def params(self) -> Json:
        return {} if self.uri is None else {"uri": self.uri}

    def wanted_by(self, chosen: ListenFilter) -> bool:
        if self.uri is not None:
            return self.uri in (chosen.resource_subscriptions or ())
        return bool(getattr(chosen, f"{self.kind}_list_changed"))


Listener = Callable[[Change], None]


class Announcer:
    """Who wants to hear of changes; listeners are told at once and must not block."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
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
        """All that waits, at least one; None when there will be no more."""
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

    def has(self, capability: str) -> bool:
        """Whether it has a capability; asked for every request."""
        return capability in self.capabilities()

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


log = logging.getLogger(__name__)

Answer = Callable[[Exchange, Any], Awaitable[m.Result]]
RawParams = msgspec.Raw | msgspec.UnsetType


class ParamsDecoder:
    """Reads a method's parameters; absent ones are an empty object."""

    def __init__(self, kind: type[m.Params]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, raw: RawParams) -> Any:
        try:
            return self._decode(raw if isinstance(raw, msgspec.Raw) else jsonrpc.EMPTY)
        except jsonrpc.UNREADABLE as error:
            raise ProtocolError(f"Wrong params: {error}.", "invalid_params") from None


class Method:
    """A method: its parameters, what it needs of the server, and who answers it."""

    def __init__(
        self, kind: type[m.Params], capability: str | None, answer: Callable[[Backend], Answer]
    ) -> None:
        self.params = ParamsDecoder(kind)
        self.capability = capability
        self.answer = answer


COMMON: dict[str, Method] = {
    "tools/list": Method(m.PageParams, "tools", lambda b: b.list_tools),
    "tools/call": Method(m.CallParams, "tools", lambda b: b.call_tool),
    "resources/list": Method(m.PageParams, "resources", lambda b: b.list_resources),
    "resources/templates/list": Method(m.PageParams, "resources", lambda b: b.list_templates),
    "resources/read": Method(m.UriParams, "resources", lambda b: b.read_resource),
    "prompts/list": Method(m.PageParams, "prompts", lambda b: b.list_prompts),
    "prompts/get": Method(m.GetPromptParams, "prompts", lambda b: b.get_prompt),
    "completion/complete": Method(m.CompleteParams, "completions", lambda b: b.complete),
}
HANDSHAKE = COMMON | {"ping": Method(m.Params, None, lambda b: b.ping)}
SESSIONLESS = COMMON | {"server/discover": Method(m.Params, None, lambda b: b.discover)}


def find(table: dict[str, Method], backend: Backend, name: str) -> Method | None:
    """The method, if the era knows it and the backend can do it."""
    method = table.get(name)
    if method is None or method.capability is None:
        return method
    return method if backend.has(method.capability) else None


def not_found(name: str) -> ProtocolError:
    return ProtocolError(f"There is no method {name!r} here.", "method_not_found")


def error_for(fault: Exception, method: str) -> TabhubError:
    """What a client is told of anything that a handler may raise."""
    if isinstance(fault, TabhubError):
        return fault
    if isinstance(fault, RecursionError):
        return ProtocolError("The parameters are nested too deeply.", "invalid_params")
    log.error("%s failed", method, exc_info=fault)
    return Internal("Something went wrong inside tabhub.")
