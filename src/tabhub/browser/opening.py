"""Opens a tab for a session, which owns it before anyone else can see it."""

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


class NewTabPlace(NamedTuple):
    """The session and the browser of a new tab."""

    browsers: Browsers
    hub: Hub
    session: str
    browser: str


async def opened(
    place: NewTabPlace, input: Json, wait_ms: int, progress: Progress
) -> tuple[Tab, Json]:
    """Open a tab in its session's group; returns it with the output of the command."""
    browsers, hub, session, browser = place

    def learn(output: Json) -> tuple[Tab, Json]:
        tab = browsers.moved(browser, msgspec.convert(output, TabState))
        if hub.sessions.find(session) is None:
            browsers.release(tab, CLOSE)
            message = "The session has ended, so its new tab was closed."
            raise NotFound(message, "unknown_session", effect="done")
        hub.ownership.take(session, tab.id)
        return tab, output

    command = {**input, "timeoutMs": wait_ms, "group": browsers.group_of(session, browser)}
    result: tuple[Tab, Json] = await browsers.in_browser(
        browser, "tabs.open", command, progress, Pending(learn=learn)
    )
    return result
