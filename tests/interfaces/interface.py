"""The operations of a client over every interface: list tools, call one, cancel a call.

A new interface is one small class in a file of its own, listed in `every.py`; all tests of this
folder then run for it.
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
_FENCE = re.compile(r"\[(page|end) [0-9a-f]+\]")


@dataclass(frozen=True)
class Place:
    """A running server, and a token for it."""

    port: int
    token: str
    home: Path
    app: App | None = None
    """The app, if the server runs in this process."""

    def http(self) -> httpx.AsyncClient:
        return client_of(self.port, self.token)


@dataclass
class CallRequest:
    """A call to make."""

    tool: str
    arguments: Json
    operation_id: str | None = None
    progress: list[Json] | None = None
    """Collects the progress, if the caller wants it."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call for its client: a result or an error."""

    content: list[Json] = field(default_factory=list)
    structured: Any = None
    error: Json | None = None

    @property
    def brief(self) -> Any:
        """The part that is the same on every machine."""
        if self.error is None:
            return self.structured
        return {key: self.error[key] for key in ("code", "reason", "category", "retryable")}


def of_result(result: Json) -> Outcome:
    """The outcome of a `CallToolResult`."""
    content = [{**block, "text": _unfenced(block.get("text", ""))} for block in result["content"]]
    structured: Any = result.get("structuredContent")
    if not result.get("isError"):
        return Outcome(content, structured)
    error = {**structured["error"], "message": content[0]["text"]}
    return Outcome(error=plain(error))


def of_error(code: int, message: str, data: Json) -> Outcome:
    return Outcome(error=plain({**data, "code": code, "message": message}))


def plain(error: Json) -> Json:
    """An error without the members that differ between two calls."""
    return {**error, "message": _unfenced(error["message"])}


def _unfenced(text: str) -> str:
    """Without the numbers that differ in each result."""
    return _FENCE.sub(r"[\1]", text)


class InterfaceClient(ABC):
    """One connected client."""

    reports_progress = True

    @abstractmethod
    async def tools(self) -> set[str]:
        """The names of all tools."""

    @abstractmethod
    async def call(self, request: CallRequest) -> Outcome: ...

    async def cancel(self, calling: "asyncio.Task[Outcome]") -> None:
        """Cancel a running call."""
        calling.cancel()
        await asyncio.wait({calling})


class Interface(ABC):
    """A way to connect to the server."""

    name: str
    needs_app = False
    """Whether the server must run in this process."""

    @abstractmethod
    def connect(self, place: Place) -> AbstractAsyncContextManager[InterfaceClient]: ...

    def __repr__(self) -> str:
        return self.name


Connected = AsyncIterator[InterfaceClient]
