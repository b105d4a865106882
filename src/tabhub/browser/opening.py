"""A tab for a session: its own before anybody else hears of it."""

from typing import Any, NamedTuple

import msgspec

from tabhub.browser.link.browsers import CLOSE, Browsers
from tabhub.browser.link.pending import Pending
from tabhub.calls.time_limit import Progress
from tabhub.errors import NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.wire.link import TabState

Json = dict[str, Any]


class Place(NamedTuple):
    """Whose tab is to be opened, and where."""

    browsers: Browsers
    hub: Hub
    session: str
    browser: str


async def opened(place: Place, input: Json, wait_ms: int, progress: Progress) -> tuple[Tab, Json]:
    """The new tab, in its session's group, and what the browser told of it."""
    browsers, hub, session, browser = place

    def learn(output: Json) -> tuple[Tab, Json]:
        tab = browsers.moved(browser, msgspec.convert(output, TabState))
        if hub.sessions.find(session) is None:
            browsers.let_go(tab, CLOSE)
            message = "The session has ended; its tab is closed again."
            raise NotFound(message, "unknown_session", effect="done")
        hub.ownership.take(session, tab.id)
        return tab, output

    asked = {**input, "timeoutMs": wait_ms, "group": browsers.group_of(session, browser)}
    found: tuple[Tab, Json] = await browsers.in_browser(
        browser, "tabs.open", asked, progress, Pending(learn=learn)
    )
    return found
