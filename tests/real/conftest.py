"""One server and one real browser for all tests of a worker; a fresh tab for each."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.browsers.managed import desktop_with_downloads
from tests.support.product import Product
from tests.support.site import Site, serving

Opener = Callable[[str], Awaitable[int]]
Value = Callable[..., Awaitable[Any]]
Log = Callable[[int], Awaitable[list[Any]]]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, int]]:
    folder = tmp_path_factory.mktemp("real")
    product = Product(folder / "home")
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps(_config(folder)))
    product.environment["XDG_CONFIG_HOME"] = str(desktop_with_downloads(folder))
    arguments = ("start", "--port", "0", "--browser", "--headless")
    with product.running(*arguments, "--browser-arg=--remote-debugging-port=0"):
        yield product, product.wait_browser()["port"]


def _config(folder: Path) -> dict[str, Any]:
    return {
        "downloads": {"folder": str(folder / "saved")},
        "uploads": {"folders": [str(folder / "given")]},
        "permissions": {"tools": {"browser_clear_site_data": "auto"}},
    }


@pytest.fixture
def own(tmp_path: Path) -> Product:
    """A separate home folder in which no server runs yet."""
    return Product(tmp_path / "home")


@pytest.fixture
def saved(product: tuple[Product, int]) -> Path:
    """The folder in which tools may save files."""
    return product[0].home.parent / "saved"


@pytest.fixture
def downloads(product: tuple[Product, int]) -> Path:
    """The folder into which the browser downloads."""
    return product[0].home.parent / "downloads"


@pytest.fixture
def uploads(product: tuple[Product, int]) -> Path:
    """The folder from which tools may upload files."""
    folder = product[0].home.parent / "given"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
async def cdp(product: tuple[Product, int]) -> AsyncIterator[Cdp]:
    async with browser_of(product[0].home) as found:
        yield found


@pytest.fixture(scope="session")
def another_token(product: tuple[Product, int]) -> str:
    return product[0].run("client", "add", "another").stdout.strip()


@pytest.fixture
async def another(product: tuple[Product, int], another_token: str) -> AsyncIterator[Agent]:
    """An agent with another token than the first."""
    running, port = product
    async with running.client(port) as http:
        http.headers["Authorization"] = f"Bearer {another_token}"
        yield Agent(http)


@pytest.fixture
async def agent(product: tuple[Product, int]) -> AsyncIterator[Agent]:
    running, port = product
    async with running.client(port) as http:
        yield Agent(http)


@pytest.fixture
async def emptied(product: tuple[Product, int], site: Site) -> None:
    """No cookies and nothing in the site's storage: an earlier test may have left some."""
    async with browser_of(product[0].home) as browser:
        await browser.send("Storage.clearCookies")
        await browser.clear_storage(site.url, site.other)


@pytest.fixture
async def opened(agent: Agent, emptied: None) -> AsyncIterator[Opener]:
    """Opens pages; their tabs are closed after the test."""
    tabs: list[int] = []

    async def open_page(url: str) -> int:
        tab: int = (await agent.call("browser_open_tab", url=url))["tabId"]
        tabs.append(tab)
        return tab

    yield open_page
    for tab in tabs:
        await agent.result("browser_close_tab", tabId=tab)


@pytest.fixture
def by_tool(agent: Agent) -> Value:
    """Like `in_page`, by our own tool, which does not hang while a page shows a dialog."""

    async def value(code: str, **more: Any) -> Any:
        return (await agent.call("browser_execute_script", code=code, **more))["value"]

    return value


@pytest.fixture
def in_page(agent: Agent, cdp: Cdp) -> Value:
    """Evaluates an expression in a page over CDP; by default in the current tab."""

    async def value(code: str, tabId: int | None = None) -> Any:
        tab = (await agent.call("tabs_context_mcp"))["selectedTabId"] if tabId is None else tabId
        return await cdp.evaluate(await cdp.page_of(tab), code)

    return value


@pytest.fixture
def log(in_page: Value) -> Log:
    """Returns `window.log` of the page, once it has that many entries."""

    async def noted(count: int) -> list[Any]:
        code = f"""await new Promise((done) => {{
          const look = () => window.log.length >= {count} ? done() : setTimeout(look, 10);
          look();
        }}); window.log"""
        found: list[Any] = await in_page(code)
        return found

    return noted
