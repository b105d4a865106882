"""The hub: tools, tabs, sessions and ownership together, and the tab that a call goes to."""

from tabhub.errors import Forbidden, NotFound
from tabhub.hub.ownership import Ownership
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.tools import ToolRegistry

LISTED_TABS = 20
"""How many of an agent's tabs an error lists."""


class Routes:
    """Finds the tab of a call, and refuses one that the session may not use."""

    def __init__(self, tabs: Tabs, sessions: AgentSessions, ownership: Ownership) -> None:
        self._tabs = tabs
        self._sessions = sessions
        self._ownership = ownership

    def tab(self, session: str, tab_id: int | None) -> Tab:
        tab = self._default(session) if tab_id is None else self._tabs.get(tab_id)
        if not self._ownership.may_use(session, tab):
            raise self._foreign(session, tab)
        return tab

    def at_hand(self, session: str) -> Tab | None:
        """A session's current tab, else its first tab; None if it has none."""
        current = self._sessions.current(session)
        tabs = self._ownership.of(session) if current is None else [current]
        return self.tab(session, tabs[0]) if tabs else None

    def owner_of(self, tab: Tab) -> str | None:
        """The agent that owns a tab, with its client; None for the person's own."""
        owner = self._ownership.owner(tab.id)
        session = None if owner is None else self._sessions.find(owner)
        return None if session is None else session.shown

    def _default(self, session: str) -> Tab:
        current = self._sessions.current(session)
        if current is not None:
            return self._tabs.get(current)
        if self._ownership.shares_active:
            for tab in self._tabs.all():
                if tab.active and tab.focused_window:
                    return tab
        raise NotFound(
            "This session has no current tab. Open one with browser_open_tab, or pass the tabId "
            "of one of yours that browser_list_tabs shows.",
            "no_current_tab",
        )

    def _foreign(self, session: str, tab: Tab) -> Forbidden:
        owner = self.owner_of(tab)
        whose = "is the person's own" if owner is None else f"belongs to the agent {owner!r}"
        own = self._ownership.of(session)
        yours = ", ".join(str(id) for id in own[:LISTED_TABS]) or "none yet"
        return Forbidden(
            f"Tab {tab.id} {whose}, so your tools do not reach it. Your tabs: {yours}. Open one "
            "with browser_open_tab, or ask the person to share that tab in tabhub's side panel.",
            "foreign_tab",
            data={"tabId": tab.id, "owner": owner, "yours": own},
        )


class Hub:
    """The parts of the hub, connected with each other."""

    def __init__(self) -> None:
        self.tools = ToolRegistry()
        self.tabs = Tabs()
        self.sessions = AgentSessions()
        self.ownership = Ownership(self.tabs)
        self.routes = Routes(self.tabs, self.sessions, self.ownership)
