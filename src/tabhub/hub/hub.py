"""The hub: what there is, who has it, and where a call goes."""

from tabhub.errors import Forbidden, NotFound
from tabhub.hub.ownership import Ownership
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.tools import ToolRegistry

SHOWN_TABS = 20


class Routes:
    """Finds tabs for calls."""

    def __init__(self, tabs: Tabs, sessions: AgentSessions, ownership: Ownership) -> None:
        self._tabs = tabs
        self._sessions = sessions
        self._ownership = ownership

    def tab(self, session: str, tab_id: int | None) -> Tab:
        wanted = self._default(session) if tab_id is None else self._tabs.get(tab_id)
        if not self._ownership.may_use(session, wanted):
            raise self._foreign(session, wanted)
        return wanted

    def at_hand(self, session: str) -> Tab | None:
        """A session's current tab or the first of its own, for what can do without one."""
        current = self._sessions.current(session)
        known = self._ownership.of(session) if current is None else [current]
        return self.tab(session, known[0]) if known else None

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

    def owner_of(self, tab: Tab) -> str | None:
        """The agent whose tab it is, with its client; None for the person's own."""
        owner = self._ownership.owner(tab.id)
        session = None if owner is None else self._sessions.find(owner)
        return None if session is None else session.shown

    def _foreign(self, session: str, tab: Tab) -> Forbidden:
        owner = self.owner_of(tab)
        whose = "is the person's own" if owner is None else f"belongs to the agent {owner!r}"
        own = self._ownership.of(session)
        yours = ", ".join(str(id) for id in own[:SHOWN_TABS]) or "none yet"
        return Forbidden(
            f"Tab {tab.id} {whose}, so your tools do not reach it. Your tabs: {yours}. Open one "
            "with browser_open_tab, or ask the person to share that tab in tabhub's side panel.",
            "foreign_tab",
            data={"tabId": tab.id, "owner": owner, "yours": own},
        )


class Hub:
    """One of each, made for each other."""

    def __init__(self) -> None:
        self.tools = ToolRegistry()
        self.tabs = Tabs()
        self.sessions = AgentSessions()
        self.ownership = Ownership(self.tabs)
        self.routes = Routes(self.tabs, self.sessions, self.ownership)
