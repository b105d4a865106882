"""One server and one real browser for all tests of a worker; a fresh tab for each."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.support.agent import Agent
from tests.support.product import Product
from tests.support.site import Site, serving

Opener = Callable[[str], Awaitable[int]]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, int]]:
    product = Product(tmp_path_factory.mktemp("real") / "home")
    arguments = ("start", "--port", "0", "--browser", "--headless")
    with product.running(*arguments, "--browser-arg=--remote-debugging-port=0"):
        yield product, product.wait_browser()["port"]


@pytest.fixture
async def agent(product: tuple[Product, int]) -> AsyncIterator[Agent]:
    running, port = product
    async with running.client(port) as http:
        yield Agent(http)


@pytest.fixture
async def opened(agent: Agent) -> AsyncIterator[Opener]:
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
def in_page(agent: Agent) -> Callable[..., Awaitable[Any]]:
    """What an expression is in a page: the tests' own way of looking."""

    async def value(code: str, **more: Any) -> Any:
        return (await agent.call("browser_execute_script", code=code, **more))["value"]

    return value
