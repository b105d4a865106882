"""What every interface can do, whatever its protocol: list tools, call one, cancel a call.

A new interface is one small class in a file of its own, listed in `every.py`; all tests of this
folder then hold for it.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tabhub.server.app import App
from tests.support.http_client import client_of

Json = dict[str, Any]
_FENCE = re.compile(r"page content [0-9a-f]+")


@dataclass(frozen=True)
class Place:
    """A running server, and the token for it."""

    port: int
    token: str
    home: Path
    app: App | None = None
    """The server itself, if it runs in this process."""

    def http(self) -> httpx.AsyncClient:
        return client_of(self.port, self.token)


@dataclass
class CallRequest:
    """A call to make."""

    tool: str
    arguments: Json
    operation_id: str | None = None
    progress: list[Json] | None = None
    """Collects the progress, where a test looks at it."""


@dataclass(frozen=True)
class Outcome:
    """What a client got of a call: a result, or an error."""

    content: list[Json] = field(default_factory=list)
    structured: Any = None
    error: Json | None = None

    @property
    def brief(self) -> Any:
        """What is the same on every machine."""
        if self.error is None:
            return self.structured
        return {key: self.error[key] for key in ("code", "reason", "category", "retryable")}


def of_result(result: Json) -> Outcome:
    """From a `CallToolResult`."""
    content = [{**block, "text": _unfenced(block.get("text", ""))} for block in result["content"]]
    structured: Any = result.get("structuredContent")
    if not result.get("isError"):
        return Outcome(content, structured)
    error = {**structured["error"], "message": content[0]["text"]}
    return Outcome(error=plain(error))


def of_error(code: int, message: str, data: Json) -> Outcome:
    return Outcome(error=plain({**data, "code": code, "message": message}))


def plain(error: Json) -> Json:
    """An error as two calls can both have it."""
    return {**error, "message": _unfenced(error["message"])}


def _unfenced(text: str) -> str:
    """Without the number that is another for each result."""
    return _FENCE.sub("page content", text)


class InterfaceClient(ABC):
    """One connected client."""

    reports_progress = True

    @abstractmethod
    async def tools(self) -> set[str]:
        """The names of all tools there are."""

    @abstractmethod
    async def call(self, request: CallRequest) -> Outcome: ...

    async def cancel(self, calling: "asyncio.Task[Outcome]") -> None:
        """Tell the server that the result of a running call is no longer wanted."""
        calling.cancel()
        await asyncio.wait({calling})


class Interface(ABC):
    """One interface: it has a name, and connects clients."""

    name: str
    within = False
    """Whether it needs the server to be in this process."""

    @abstractmethod
    def connect(self, place: Place) -> AbstractAsyncContextManager[InterfaceClient]: ...

    def __repr__(self) -> str:
        return self.name


Connected = AsyncIterator[InterfaceClient]
