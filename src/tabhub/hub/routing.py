"""Which tab a call goes to: the one it names, else the session's current one. Never a guess."""

from tabhub.errors import NotFound
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tab, Tabs


def route(tabs: Tabs, sessions: AgentSessions, session: str, tab_id: int | None) -> Tab:
    wanted = sessions.current(session) if tab_id is None else tab_id
    if wanted is None:
        raise NotFound(
            "This session has no current tab. Open one with browser_open_tab, or pass the tabId "
            "of one that browser_list_tabs shows.",
            "no_current_tab",
        )
    return tabs.get(wanted)
