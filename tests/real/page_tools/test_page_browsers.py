"""Page tools of several browsers at one server, and after a restart of the server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tabhub.cli.server.demo import serve_page
from tests.support.agent import Agent
from tests.support.browsers.cdp import browser_of
from tests.support.browsers.managed import DEBUGGED
from tests.support.browsers.page_tools import TabId, listed, tool_name
from tests.support.browsers.plain import TAB_ID
from tests.support.browsers.shops import Shops
from tests.support.eventually import eventually, eventually_sync
from tests.support.product import Product

pytestmark = pytest.mark.real_browser
MUG = {"sku": "mug"}


@asynccontextmanager
async def in_a_browser(
    product: Product, profile: Path, site: str, port: int, agent: Agent
) -> AsyncIterator[Shops]:
    """A browser with its own profile, connected to the running server."""
    before = len(ready(product))
    arguments = ("browser", "--headless", "--user-data-dir", str(profile), DEBUGGED)
    with product.running(*arguments):
        eventually_sync(lambda: len(ready(product)) > before, "the extension to connect")
        async with browser_of(profile.parent) as cdp:
            yield Shops(cdp, site, port, agent)


def ready(product: Product) -> list[str]:
    return [browser["id"] for browser in product.status()["browsers"] if browser["ready"]]


async def turn_to(here: Shops, page: str) -> None:
    """Bring a page to the front, after another one."""
    await here.show(await here.open("about:blank"))
    await here.show(page)


class Two:
    """The same page in two browsers: `here` stays, and `there` may disconnect."""

    def __init__(self, product: Product, here: Shops, there: Shops) -> None:
        self.product = product
        self.here = here
        self.there = there
        self.leaves = AsyncExitStack()

    async def open(self) -> None:
        # The hub renames a tab whose number another browser uses, so its own list counts.
        self.page = await self.here.open(self.here.native)
        await self.here.tool("view_cart")
        (self.tab,) = await self.here.holders("view_cart")
        self.other = await self.there.open(self.there.native)
        both = await eventually(
            lambda: self.here.holders("view_cart"), until=lambda found: len(found) >= 2
        )
        (self.other_tab,) = set(both) - {self.tab}

    async def bought(self) -> list[int]:
        return [*await self.here.bought(self.page), *await self.there.bought(self.other)]

    async def buy_here(self) -> TabId:
        return await bought_after_turning(self.here, self.page, self.tab)

    async def buy_there(self) -> TabId:
        return await bought_after_turning(self.there, self.other, self.other_tab)

    async def leave(self) -> None:
        await self.leaves.aclose()
        eventually_sync(lambda: len(ready(self.product)) == 1, "the browser to have left")


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    product = Product(tmp_path / "home")
    with serve_page() as url, product.running("start", "--port", "0"):
        port = product.wait_running()
        async with product.client(port) as http, AsyncExitStack() as stack:
            place = (url.rstrip("/"), port, Agent(http))
            staying = in_a_browser(product, tmp_path / "one/profile", *place)
            here = await stack.enter_async_context(staying)
            leaves = await stack.enter_async_context(AsyncExitStack())
            leaving = in_a_browser(product, tmp_path / "two/profile", *place)
            found = Two(product, here, await leaves.enter_async_context(leaving))
            found.leaves = leaves
            await found.open()
            yield found


@pytest.mark.requirement("MT-03")
@pytest.mark.requirement("MB-07")
async def test_the_same_page_in_two_browsers_is_two_tabs_and_calls_go_to_the_latest_active(
    two: Two,
) -> None:
    both = [tab["tabId"] for tab in await two.here.tabs()]
    assert len(both) == 2
    named = [name for name in await listed(two.here.agent) if name.endswith("view_cart")]
    assert named == [tool_name(two.here.site, "view_cart")]
    for tab in both:
        assert await two.here.used("add_to_cart", **MUG, tabId=tab) == tab
    assert await two.bought() == [1, 1]
    first, second = await two.buy_here(), await two.buy_there()
    assert {first, second} == set(both)
    assert await two.buy_here() == first
    assert await two.bought() == [3, 2]


@pytest.mark.requirement("MB-07")
@pytest.mark.document("MB-disconnect-6")
async def test_a_browser_that_disconnects_leaves_the_tools_of_another(two: Two) -> None:
    await two.buy_there()
    first = await two.buy_here()
    await two.leave()
    assert await two.here.used("add_to_cart", **MUG) == first
    assert await two.here.used("view_cart", tabId=first) == first
    assert await two.here.bought(two.page) == [2]


@pytest.mark.requirement("MB-08")
async def test_when_the_active_browser_disconnects_calls_go_to_another(two: Two) -> None:
    first = await two.buy_here()
    await two.buy_there()
    await two.leave()
    # Its tabs may reconnect for a minute, but get no calls until then.
    assert await two.here.used("add_to_cart", **MUG) == first
    assert await two.here.bought(two.page) == [2]


async def bought_after_turning(here: Shops, page: str, tab: TabId) -> TabId:
    """Bring a page to the front, call the tool and return the tab that ran it."""
    (before,) = await here.bought(page)
    await turn_to(here, page)
    # Until the news arrives, the tab of the other browser is still the active one.
    await here.looked_at(tab)
    used = await here.used("add_to_cart", **MUG)
    assert used == tab and await here.bought(page) == [before + 1]
    return used


@pytest.mark.requirement("MB-10")
@pytest.mark.document("MB-disconnect-7")
@pytest.mark.parametrize("via", ["native", "worker"])
async def test_after_a_server_restart_the_tools_of_open_pages_are_listed_again(
    tmp_path: Path, via: str
) -> None:
    product = Product(tmp_path / "home")
    with serve_page() as url:
        site = url.rstrip("/")
        async with AsyncExitStack() as stack:
            with product.running("start", "--port", "0"):
                port = product.wait_running()
                assert product.run("page", "allow", site).returncode == 0
                async with product.client(port) as http:
                    here = await stack.enter_async_context(
                        in_a_browser(product, tmp_path / "one/profile", site, port, Agent(http))
                    )
                    page = await here.open(here.native if via == "native" else here.shop)
                    await here.until(page, "window.kept = 1")
                    tab = await here.number(page)
                    await here.have("view_cart", tab)
                    assert await here.used("add_to_cart", **MUG) == tab
                product.run("stop")
            with product.running("start", "--port", str(port)):
                product.wait_browser()
                async with product.client(port) as http:
                    here.agent = Agent(http)
                    await here.have("view_cart", tab)
                    assert await here.used("add_to_cart", **MUG) == tab
                    assert await here.bought(page) == [2]
                    assert await here.value(page, "window.kept") == 1
                    assert [entry["tabId"] for entry in await here.tabs()] == [tab]
                    if via == "worker":
                        worker = await here.value(page, TAB_ID)
                        assert await here.used("view_cart", tabId=worker) == tab
