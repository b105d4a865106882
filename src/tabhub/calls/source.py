"""The port for sources of tools: what runs them, and what is special about them.

What is plain data stands in each `Tool`: the site it belongs to (`site`), its name space (`plugin`,
`namespace`), the names that rules know it by (`same_as`, `plain_name`), and a schema that somebody
else wrote (`BoundedSchema`). What depends on the moment is asked of the source.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from tabhub.calls.call import Call
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult


class Router(Protocol):
    """Finds tabs for the tools of one source, whoever's they are."""

    async def route(self, tool: Tool, session: str, wanted: object) -> Tab | None:
        """The tab that a call goes to; None if one must be opened for it."""


class Source(ABC):
    """Runs the tools of one kind."""

    router: Router | None = None
    """Finds the tabs of its tools; without one they are the session's own and the shared ones."""

    @abstractmethod
    async def run(self, call: Call) -> CallResult:
        """Run a call that may be made. What it does to the arguments it does to a copy."""

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        """The browser that a call without a tab acts in; None for the one connected last."""
        return None if tool.is_bounded else arguments.get("connectionId")

    def browser_of(self, tool: Tool, session: str) -> str | None:
        """The browser that a call without arguments would go to now; empty if nobody knows."""
        return self.opens_in(tool, {})
