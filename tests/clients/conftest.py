"""One server and one real browser for all foreign clients, and the tools they must find."""

import os
import sys
from dataclasses import dataclass

import pytest

from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog
from tests.real.conftest import product, site
from tests.support.product import Product
from tests.support.site import Site

__all__ = ["OVER_SSE", "TOOLS", "Endpoint", "endpoint", "product", "site"]

TOOLS = [*(tool.name for tool in catalog.ALL if "core" in tool.toolsets), LIST_TABS.name]
OVER_SSE = [tool.name for tool in catalog.ALL if "sse" in tool.toolsets]


@dataclass(frozen=True)
class Endpoint:
    """Where agents connect, their credentials, and two pages to visit."""

    url: str
    secret: str
    page: str
    next_page: str
    home: str

    @property
    def sse_url(self) -> str:
        return self.url.replace("/mcp", "/sse")

    @property
    def bridge(self) -> list[str]:
        """The command that a client starts for stdin and stdout."""
        behind = ["--gateway"] if self.url.endswith("/gateway") else []
        return [sys.executable, "-m", "tabhub", "start", "--stdio", *behind]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that make it find this server."""
        path = os.environ.get("PYTHONPATH")
        return {"TABHUB_HOME": self.home} | ({"PYTHONPATH": path} if path else {})

    @property
    def authorization(self) -> str:
        return f"Bearer {self.secret}"


@pytest.fixture(scope="session")
def endpoint(product: tuple[Product, int], site: Site) -> Endpoint:
    running, port = product
    url = f"http://127.0.0.1:{port}/mcp"
    pages = site.page("form"), site.page("targets")
    return Endpoint(url, running.secret, *pages, str(running.home))
