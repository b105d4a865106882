"""What every way in can do, whatever it speaks: list tools, call one, take a call back.

A new way in is one small class in a file of its own, listed in `every.py`; all tests of this
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
from tests.support.eventually import PATIENCE
from tests.support.no_tls import NO_TLS

Json = dict[str, Any]
_FENCE = re.compile(r"page content [0-9a-f]+")


@dataclass(frozen=True)
class Place:
    """A running server, and what opens it."""

    port: int
    token: str
    home: Path
    app: App | None = None
    """Where it runs in this very process."""

    def http(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"http://127.0.0.1:{self.port}"
        return httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE, verify=NO_TLS)


@dataclass
class CallRequest:
    """A call that somebody wants made."""

    tool: str
    arguments: Json
    operation_id: str | None = None
    heard: list[Json] | None = None
    """Where progress goes, for who wants to hear of it."""


@dataclass(frozen=True)
class Outcome:
    """What a door told of a call: a result, or why there is none."""

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
    """A `CallToolResult`, by whatever door."""
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


class Door(ABC):
    """One client that has come in."""

    tells_progress = True

    @abstractmethod
    async def tools(self) -> set[str]:
        """The names of all tools there are."""

    @abstractmethod
    async def call(self, request: CallRequest) -> Outcome: ...

    async def take_back(self, calling: "asyncio.Task[Outcome]") -> None:
        """Let the server know that a call under way is not wanted any more."""
        calling.cancel()
        await asyncio.wait({calling})


class Entrance(ABC):
    """A way in: it has a name, and lets a client in."""

    name: str
    within = False
    """Whether it needs the server to be in this process."""

    @abstractmethod
    def enter(self, place: Place) -> AbstractAsyncContextManager[Door]: ...

    def __repr__(self) -> str:
        return self.name


Entered = AsyncIterator[Door]
