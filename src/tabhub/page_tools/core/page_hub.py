"""The hub of a server that offers page tools. Other rooms see only the plain hub."""

from tabhub.hub.hub import Hub
from tabhub.page_tools.core.registry import PageRegistry
from tabhub.page_tools.core.tab_choice import PageRoutes


class PageHub(Hub):
    """A hub that also knows what pages publish and where their tools run."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = PageRegistry(self.tools)
        self.page_routes = PageRoutes(self.pages, self.tabs)
