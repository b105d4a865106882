"""What runs the tools of one kind."""

from typing import Protocol

from tabhub.calls.call import Call
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult


class Router(Protocol):
    """Finds tabs for the tools of one source, whoever's they are."""

    async def route(self, tool: Tool, session: str, wanted: object) -> Tab | None:
        """The tab that a call goes to; None if one must be opened for it."""


class Source(Protocol):
    """Runs the tools of one kind."""

    async def run(self, call: Call) -> CallResult: ...
