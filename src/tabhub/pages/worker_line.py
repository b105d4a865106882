"""One socket of the page worker library: the tabs of one origin in one browser."""

from typing import ClassVar

import msgspec

from tabhub.browser.link.connection import Connection
from tabhub.calls.ports import Progress
from tabhub.errors import NotFound, ProtocolError, TabhubError, Unavailable, from_reason
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.page_tools.registrations import Pages
from tabhub.wire import worker
from tabhub.wire.methods import PAGE, Handlers
from tabhub.wire.pages import Execute, Outcome

MOST_TABS = 200
LONGEST_URL, LONGEST_TITLE = 2000, 500

_SAID = {
    "tab_not_found": "The tab is not there any more.",
    "no_tab_for_tool": "The tab does not have this tool any more.",
    "page_may_have_received": "The page has gone during this call; it may have received it.",
    "cancelled": "The call was taken back.",
    "extension_disconnected": "The page's connection has just broken off; nothing was sent.",
    "too_large": "The call is too large for the page.",
}
"""What a page can say of a call, in our words: its own could pretend to be anybody's."""


class WorkerLine:
    """The `PageTransport` of one origin; what it says counts for that origin alone."""

    def __init__(
        self, name: str, origin: str, pages: Pages, claims: "dict[str, WorkerLine]"
    ) -> None:
        self.name = name
        self.origin = origin
        self._pages = pages
        self._claims = claims
        self._tabs: set[str] = set()
        self._active: str | None = None
        self.connection: Connection | None = None

    def hear(self, method: str, params: msgspec.Raw) -> None:
        """One message; an error says what is wrong with it."""
        self._HANDLERS.handle(method, params, self)

    def close(self) -> None:
        """The socket has gone, and its tabs with it."""
        for tab in list(self._tabs):
            self._forget(tab)
        self._pages.disconnect(self.name)

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        if self.connection is None or page.tab not in self._tabs:
            raise NotFound(_SAID["tab_not_found"], "tab_not_found")
        named = msgspec.structs.replace(message, tab_id=page.tab)
        try:
            return await self.connection.execute(named, progress)
        except TabhubError as error:
            raise _in_our_words(error) from None

    def _register(self, told: worker.RegisterWorkerTab) -> None:
        self._claim(told.tab_id)
        self._pages.register(
            Registration(
                self._ref(told.tab_id),
                self.origin,
                told.url[:LONGEST_URL],
                told.title[:LONGEST_TITLE],
                told.tools,
                told.capabilities,
            )
        )

    def _claim(self, tab: str) -> None:
        """An id belongs to one socket: the newest of its origin, never to another origin's."""
        holder = self._claims.get(tab)
        if holder is not None and holder is not self:
            if holder.origin != self.origin:
                raise ProtocolError(f"The id {tab} is another site's.")
            holder.lose(tab)
        if tab not in self._tabs and len(self._tabs) >= MOST_TABS:
            raise Unavailable(f"{self.origin} has {MOST_TABS} tabs here already.", "too_many_calls")
        self._tabs.add(tab)
        self._claims[tab] = self

    def lose(self, tab: str) -> None:
        """The same tab has come back by a newer socket."""
        self._pages.gone(self._ref(tab))
        self._forget(tab)

    def _update(self, told: worker.UpdateWorkerTools) -> None:
        self._pages.update(self._ref(told.tab_id), told.tools)

    def _gone(self, told: worker.WorkerTab) -> None:
        self.lose(told.tab_id)
        if self._active == told.tab_id:
            # Which one is looked at instead, the worker says next.
            self._active = None

    def _forget(self, tab: str) -> None:
        self._tabs.discard(tab)
        self._claims.pop(tab, None)

    def _activated(self, told: worker.ActiveTab) -> None:
        tab = told.tab_id
        before, self._active = self._active, tab
        if tab is not None:
            self._ref(tab)
            self._pages.looked_at(tab, self.origin)
        elif before is not None:
            self._pages.hidden(before, self.origin)

    def _ref(self, tab: str) -> PageRef:
        if tab not in self._tabs:
            raise NotFound(f"There is no tab {tab} here.", "tab_not_found")
        return PageRef(self.name, tab)

    _HANDLERS: ClassVar = Handlers(
        PAGE.taken_by("pages"),
        {
            "browser/registerTools": _register,
            "browser/updateTools": _update,
            "browser/unregisterTools": _gone,
            "browser/activeTab": _activated,
        },
    )


def _in_our_words(error: TabhubError) -> TabhubError:
    said = _SAID.get(error.reason)
    if said is None:
        return Unavailable("The page's answer makes no sense.", "invalid_response")
    return from_reason(error.reason, said)
