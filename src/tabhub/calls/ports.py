"""What `calls` needs from others, and what it hands them."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Raw, Struct

from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Takes progress, total and a message."""

Clock = Callable[[], float]
"""Seconds that only ever go forward."""


class Call(Struct, frozen=True):
    """A call as a door hands it over; the arguments have not been looked at yet."""

    tool: str
    arguments: Raw | None
    session: str
    caller: str
    progress: Progress
    operation_id: str | None = None


class Job(Struct, frozen=True):
    """A call that is valid and knows its tab: what a source gets to run."""

    tool: Tool
    arguments: dict[str, Any]
    session: str
    tab: Tab | None
    progress: Progress
    seconds: float


class Source(Protocol):
    """Runs the tools of one kind."""

    async def run(self, job: Job) -> CallResult: ...
