"""The way to pages, whatever it is: one message out, one back (MCP-B's `TabHubTransport`)."""

from typing import Protocol

from tabhub.calls.ports import Progress
from tabhub.page_tools.core.storage import PageRef
from tabhub.wire.pages import Execute, Outcome

__all__ = ["Execute", "Outcome", "PageRef", "PageTransport"]


class PageTransport(Protocol):
    """Carries calls to pages. What comes from them goes to `Pages`."""

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        """Send once. What `PageSource` reads in an error: whether the page may have received it."""
