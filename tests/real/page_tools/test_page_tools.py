"""Page tools as agents list and call them, end to end in a real browser."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.real.looking import html, page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.page_tools import clean, listed, tool, tool_name, until, withdrawn
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]
Opener = Callable[[str], Awaitable[int]]
Evaluate = Callable[..., Awaitable[Any]]


@pytest.fixture(autouse=True)
async def tidy(agent: Agent, site: Site) -> AsyncIterator[None]:
    async with clean(agent, site.url, site.other):
        yield


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, int]]:
    """A browser without WebMCP of its own."""
    product = Product(tmp_path_factory.mktemp("plain") / "home")
    arguments = ("start", "--port", "0", "--browser", "--headless")
    with product.running(*arguments, "--browser-arg=--disable-features=WebMCP"):
        yield product, product.wait_browser()["port"]


@pytest.fixture
async def plain_agent(plain: tuple[Product, int]) -> AsyncIterator[Agent]:
    product, port = plain
    async with product.client(port) as http:
        yield Agent(http)


def described(found: dict[str, Any]) -> None:
    assert found["title"] == "Title of double"
    assert "Does double" in found["description"]
    assert found["inputSchema"]["properties"]["a"] == {"type": "number"}
    assert found["inputSchema"]["required"] == ["a"]
    assert found["annotations"]["readOnlyHint"] is True


async def call_tool(agent: Agent, origin: str, name: str, **arguments: Any) -> Any:
    return json.loads(await agent.text(tool_name(origin, name), **arguments))


async def refused(agent: Agent, origin: str, name: str, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool_name(origin, name), **arguments)
    return failed.value


async def happens(in_page: Evaluate, tab: int, code: str) -> None:
    """Wait until an expression is true in a page."""
    await eventually(lambda: in_page(f"Boolean({code})", tabId=tab))


async def works(agent: Agent, origin: str) -> None:
    described(await tool(agent, origin, "double"))
    assert await call_tool(agent, origin, "double", a=21) == {"doubled": 42, "where": origin}
    failed = await agent.result(tool_name(origin, "fail"), a=1)
    assert failed["isError"]
    assert (await refused(agent, origin, "double", a="x")).reason == "invalid_arguments"


@pytest.mark.requirement("MB-01")
@pytest.mark.document("MB-overview-5")
async def test_tools_of_webmcp_in_the_browser_are_listed_and_called(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("tools"))
    await works(agent, site.url)


@pytest.mark.requirement("MB-01")
@pytest.mark.document("MB-server-1", "MB-principles-1", "MB-flows-1")
@pytest.mark.parametrize("page", ["tools-global", "tools-polyfill", "tools-transport"])
async def test_tools_of_servers_and_polyfills_are_listed_and_called(
    plain_agent: Agent, site: Site, page: str
) -> None:
    tab = (await plain_agent.call("browser_open_tab", url=site.page(page)))["tabId"]
    await works(plain_agent, site.url)
    await plain_agent.call("browser_close_tab", tabId=tab)
    await withdrawn(plain_agent, site.url, "double")


@pytest.mark.requirement("MB-02")
async def test_forms_are_listed_and_called_and_a_person_may_send_one(
    agent: Agent, opened: Opener, site: Site, in_page: Evaluate
) -> None:
    tab = await opened(site.page("tools-form"))
    found = await tool(agent, site.url, "search")
    assert found["inputSchema"]["required"] == ["q"]
    assert await call_tool(agent, site.url, "search", q="tea") == {"form": "search", "q": "tea"}
    waiting = asyncio.create_task(call_tool(agent, site.url, "order", note="soon"))
    await happens(in_page, tab, "document.forms[1].note.value === 'soon'")
    await in_page("document.querySelector('#order').click()", tabId=tab)
    assert await waiting == {"form": "order", "note": "soon"}


@pytest.mark.requirement("MB-05")
@pytest.mark.document("MB-overview-4", "MB-server-2", "MB-flows-2")
async def test_the_list_follows_registrations_of_a_page(
    agent: Agent, opened: Opener, site: Site, in_page: Evaluate
) -> None:
    tab = await opened(site.page("tools"))
    await tool(agent, site.url, "never")
    await in_page("publish('later')", tabId=tab)
    await tool(agent, site.url, "later")
    await in_page("withdraw('double')", tabId=tab)
    await withdrawn(agent, site.url, "double")
    for name in ("later", "fail", "never"):
        await in_page(f"withdraw('{name}')", tabId=tab)
    await withdrawn(agent, site.url, "later")


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-overview-2")
async def test_tools_disappear_with_their_page_and_reappear_with_it(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("tools"))
    await tool(agent, site.url, "never")
    await agent.call("browser_navigate_tab", tabId=tab, url="reload")
    await tool(agent, site.url, "never")
    assert (await call_tool(agent, site.url, "double", a=2))["doubled"] == 4
    await agent.call("browser_navigate_tab", tabId=tab, url=site.page("form"))
    await withdrawn(agent, site.url, "double")
    await agent.call("browser_navigate_tab", tabId=tab, url="back")
    await tool(agent, site.url, "never")
    assert (await call_tool(agent, site.url, "double", a=3))["doubled"] == 6


@pytest.mark.requirement("MB-08")
async def test_a_call_in_a_page_that_crashes_says_that_the_page_may_have_received_it(
    agent: Agent, opened: Opener, site: Site, in_page: Evaluate, cdp: Cdp
) -> None:
    tab = await opened(site.page("tools"))
    await tool(agent, site.url, "never")
    calling = asyncio.create_task(refused(agent, site.url, "never", a=1))
    await happens(in_page, tab, "window.asked === 1")
    await cdp.crash(await cdp.page_of(tab))
    assert (await calling).reason == "page_may_have_received"
    await withdrawn(agent, site.url, "never")


@pytest.mark.requirement("MB-07")
async def test_tabs_in_two_windows_are_distinguished(
    agent: Agent, opened: Opener, site: Site, in_page: Evaluate
) -> None:
    first = await opened(site.page("tools"))
    window = await agent.call("browser_create_window", url=site.page("tools"))
    other = window["tabIds"][0] if "tabIds" in window else window["tabId"]
    found = await tool(agent, site.url, "never")
    assert "tabId" in found["inputSchema"]["properties"]
    for tab, number in ((first, 1), (other, 2)):
        await in_page(f"window.number = {number}", tabId=tab)
        await in_page(
            f"publish('which{number}', {{execute: async () => String(window.number)}})", tabId=tab
        )
    for tab, number in ((first, 1), (other, 2)):
        await tool(agent, site.url, f"which{number}")
        assert await call_tool(agent, site.url, f"which{number}", a=1) == number
        assert (await call_tool(agent, site.url, "double", a=number, tabId=tab))[
            "doubled"
        ] == 2 * number
    await agent.call("browser_close_tab", tabId=other)


@pytest.mark.requirement("MB-11")
async def test_tools_of_frames_belong_to_the_frames_site(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("tools-frames"))
    for origin in (site.url, site.other):
        await tool(agent, origin, "steps")
        found = await agent.result(tool_name(origin, "double"), a=1)
        text = found["content"][0]["text"]
        # The page allows the other frame; what that says is marked.
        assert json.loads(text if origin == site.url else page_lines(text))["where"] == origin


@pytest.mark.requirement("MB-11")
async def test_a_frame_of_another_origin_publishes_no_tools_unless_the_person_allows_it(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    frames = "".join(
        f'<iframe src="{origin}/tools-transport.html"></iframe>'
        for origin in (site.other, site.url)
    )
    tab = await opened(html(site, frames))
    await tool(agent, site.url, "double")
    assert tool_name(site.other, "double") not in await listed(agent)
    try:
        assert product[0].run("config", "set", "frameOrigins", f'["{site.other}"]').returncode == 0
        await agent.call("browser_navigate_tab", url="reload", tabId=tab)
        await tool(agent, site.other, "double")
        text = await agent.text(tool_name(site.other, "double"), a=1)
        assert json.loads(page_lines(text))["doubled"] == 2
    finally:
        product[0].run("config", "unset", "frameOrigins")
    await until(agent, lambda tools: tool_name(site.other, "double") not in tools)


@pytest.mark.requirement("MB-11")
async def test_a_hostile_page_is_bounded_and_does_not_affect_other_tabs(
    agent: Agent, opened: Opener, site: Site, in_page: Evaluate
) -> None:
    await opened(f"{site.other}/tools.html")
    await tool(agent, site.other, "never")
    start = tool_name(site.url, "")
    for how in ("many", "schema", "deep", "odd", "forged"):
        tab = await opened(f"{site.page('tools-hostile')}?how={how}")
        found = await until(agent, lambda tools: [name for name in tools if name.startswith(start)])
        assert len(found) <= 500, how
        assert tool_name(site.url, "big") not in found
        await in_page("void setInterval(() => flood(20), 20)", tabId=tab)
        assert (await call_tool(agent, site.other, "double", a=4))["doubled"] == 8
        await agent.call("browser_close_tab", tabId=tab)
        await until(agent, lambda tools: not [name for name in tools if name.startswith(start)])
    assert not [name for name in await listed(agent) if "bank" in name]


async def test_hostile_results_end_with_a_reason(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(site.page("tools-hostile"))
    await tool(agent, site.url, "good")
    assert (await refused(agent, site.url, "huge")).reason == "too_large"
    assert (await refused(agent, site.url, "nothing")).reason == "invalid_response"
    assert await agent.text(tool_name(site.url, "good")) == "fine"
