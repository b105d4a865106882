"""Tools for scaffold.example."""

from msgspec import Struct

from tabhub.sdk import Page, Plugin, PluginError, tool

HEADINGS = "[...document.querySelectorAll('h1, h2, h3')].map((found) => found.textContent.trim())"


class PageInfo(Struct):
    """What a page shows."""

    title: str
    url: str
    headings: list[str]


class ScaffoldName(Plugin):
    """Tools for scaffold.example."""

    name = "scaffold-name"
    title = "Scaffold Title"
    version = "0.1.0"
    match = ("https://scaffold.example/*",)
    homepage = "https://home.scaffold.example/"

    async def ready(self, page: Page) -> bool:
        """Whether the tools can be used now; many plugins check that the person is logged in."""
        return await page.has("body")

    @tool(read_only=True)
    async def get_page(self, page: Page) -> PageInfo:
        """The title, the address and the headings of the page."""
        headings = await page.evaluate(HEADINGS)
        return PageInfo(await page.title(), page.url, headings[:50])

    @tool(read_only=True)
    async def read_path(self, page: Page, path: str) -> str:
        """Read something of the site as its own pages do, with the person's session.

        Args:
            path: Such as /api/orders.
        """
        if not path.startswith("/"):
            raise PluginError("path must begin with /", "validation")
        response = await page.request("GET", path)
        return response.text[:20_000]
