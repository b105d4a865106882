"""The hub: what there is, who has it, and where a call goes."""

from tabhub.hub.ownership import Ownership
from tabhub.hub.routing import Routes
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import ToolRegistry
from tabhub.page_tools.core.registry import PageHub
from tabhub.page_tools.core.tab_choice import PageRoutes


class Hub:
    """One of each, made for each other."""

    def __init__(self) -> None:
        self.tools = ToolRegistry()
        self.tabs = Tabs()
        self.sessions = AgentSessions()
        self.ownership = Ownership(self.tabs)
        self.routes = Routes(self.tabs, self.sessions, self.ownership)
        self.pages = PageHub(self.tools)
        self.page_routes = PageRoutes(self.pages, self.tabs)
