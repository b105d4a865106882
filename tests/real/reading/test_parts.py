"""A part of a page is read by a selector or by words."""

from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html, page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

PAGE = """<nav><a href=/a>Start</a></nav>
<section><div><h2>Orders</h2></div><ul><li>First order</li><li>Second order</li></ul></section>
<section><h2>Invoices</h2><p>None yet</p></section>
<div id=host></div><iframe srcdoc='<h3>Framed part</h3><p>Inside</p>'></iframe>
<script>host.attachShadow({mode: "closed"}).innerHTML = "<p id=deep>Shadowed</p>"</script>"""


@pytest.mark.parametrize("tool", ["browser_read_page", "read_page"])
async def test_a_tree_is_read_from_a_selector_or_from_words(
    agent: Agent, opened: Opener, site: Site, tool: str
) -> None:
    await opened(html(site, PAGE))
    by_selector = page_lines(await agent.text(tool, selector="section:nth-of-type(2)"))
    assert by_selector.splitlines() == ['heading "Invoices" level=2', '"None yet"']
    assert page_lines(await agent.text(tool, selector="#deep")) == '"Shadowed"'
    by_words = page_lines(await agent.text(tool, find="orders heading"))
    assert '"Second order"' in by_words
    assert "Invoices" not in by_words
    framed = page_lines(await agent.text(tool, find="framed part"))
    assert framed.splitlines() == ['heading "Framed part" level=3', '"Inside"']


async def test_a_text_is_read_from_words(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(html(site, PAGE))
    found = await agent.call("browser_get_tab_content", find="orders")
    assert "Second order" in found["text"]
    assert "Invoices" not in found["text"]


async def test_changes_of_a_part_are_listed_since_a_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, PAGE))
    read = (await agent.call("browser_read_page", selector="section"))["read"]
    code = "document.querySelectorAll('li, p').forEach((e) => { e.textContent = 'New' }); 1"
    await agent.call("browser_execute_script", code=code)
    changed = page_lines(await agent.text("browser_read_page", since=read))
    assert [line.strip() for line in changed.splitlines() if line[0] == "+"] == ['+ "New"'] * 2


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("browser_read_page", {"selector": "a["}, "invalid_arguments"),
        ("browser_read_page", {"selector": "#none"}, "element_not_found"),
        ("browser_read_page", {"find": "unicorn"}, "element_not_found"),
        ("browser_read_page", {"find": "  "}, "invalid_arguments"),
        ("browser_read_page", {"find": "orders", "selector": "p"}, "invalid_arguments"),
        ("browser_read_page", {"ref_id": "ref_1", "selector": "p"}, "invalid_arguments"),
        ("browser_get_tab_content", {"find": "unicorn"}, "element_not_found"),
        ("browser_get_tab_content", {"find": "word " * 10_000}, "invalid_arguments"),
    ],
)
async def test_a_part_that_is_not_there_or_not_clear_has_a_reason(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    await opened(html(site, PAGE))
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    assert failed.value.reason == reason
