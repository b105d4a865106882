"""Tools that pagekit registers with the browser's WebMCP give the same results as the worker."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from tabhub.cli.server.demo import serve_page
from tests.real.conftest import Opener
from tests.real.looking import page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.page_tools import tool, tool_name, until
from tests.support.browsers.panel import panel_of

pytestmark = pytest.mark.real_browser
Evaluate = Callable[..., Awaitable[Any]]
OFFER = """import("/pagekit/pagekit.js").then(({ registerTool }) =>
  registerTool(%r, "Does something.", null, %s, { annotations: %s }))"""


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_page() as url:
        yield url.rstrip("/")


@pytest.fixture
async def offered(
    agent: Agent, opened: Opener, in_page: Evaluate, shop: str
) -> Callable[..., Awaitable[str]]:
    """Offers a tool in a page of the shop; its full name, once it is listed."""
    tab = await opened(f"{shop}/shop.css")

    async def offer(name: str, handler: str, annotations: str = "{}") -> str:
        await in_page(OFFER % (name, handler, annotations), tabId=tab)
        await tool(agent, shop, name)
        return tool_name(shop, name)

    return offer


@pytest.mark.requirement("MB-01")
@pytest.mark.parametrize("hint", ["destructiveHint", "consequentialHint"])
async def test_a_destructive_tool_needs_approval(
    agent: Agent, offered: Callable[..., Awaitable[str]], cdp: Cdp, hint: str
) -> None:
    name = await offered("wipe", "() => 'wiped'", f"{{ {hint}: true }}")
    with pytest.raises(ToolFailed) as failed:
        await agent.text(name)
    assert failed.value.reason == "approval_unavailable"
    async with panel_of(cdp) as panel:
        call = asyncio.create_task(agent.text(name))
        assert name in await panel.text("article[data-confirmation]")
        assert not call.done()
        await panel.click("article button[data-scope=once]")
        assert await call == "wiped"


@pytest.mark.requirement("MB-01")
@pytest.mark.parametrize("thrown", ["new Error('out of tea')", "'out of tea'"])
async def test_the_message_of_a_handlers_exception_is_reported(
    agent: Agent, offered: Callable[..., Awaitable[str]], thrown: str
) -> None:
    result = await agent.result(await offered("brew", f"() => {{ throw {thrown} }}"))
    assert result["isError"] and page_lines(result["content"][0]["text"]) == "out of tea"
    assert result["structuredContent"]["error"]["reason"] == "script_error"


@pytest.mark.requirement("MB-01")
@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("undefined", "done", None),
        ("'tea'", "tea", None),
        ("({ cups: 2 })", '{"cups":2}', {"cups": 2}),
        ("({ content: [{ type: 'text', text: 'whole' }] })", "whole", None),
    ],
)
async def test_a_return_value_gives_the_same_result_as_by_the_worker(
    agent: Agent, offered: Callable[..., Awaitable[str]], value: str, text: str, structured: Any
) -> None:
    result = await agent.result(await offered("brew", f"() => {value}"))
    assert [block["text"] for block in result["content"]] == [text]
    assert result.get("structuredContent") == structured


@pytest.mark.requirement("MB-01")
async def test_a_tool_registered_again_is_ignored_and_a_changed_one_replaces_it(
    agent: Agent, opened: Opener, in_page: Evaluate, shop: str
) -> None:
    tab = await opened(f"{shop}/shop.css")
    offer = """import("/pagekit/pagekit.js").then(({ registerTool }) => registerTool(%s))"""
    for given in ("'brew', () => 'first'", "'brew', () => 'second'"):
        await in_page(offer % given, tabId=tab)
    name = (await tool(agent, shop, "brew"))["name"]
    assert await agent.text(name) == "first"
    await in_page(offer % "'brew', 'Brews tea.', null, () => 'third'", tabId=tab)
    await until(agent, lambda tools: "Brews tea." in tools[name]["description"])
    assert await agent.text(name) == "third"
