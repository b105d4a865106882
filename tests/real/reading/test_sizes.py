"""Pages are read in few characters, and every omission is reported."""

import pytest

from bench.browser.pages import item_page, large_page
from tests.real.conftest import Opener
from tests.real.looking import html, page_lines, seen_in
from tests.support.agent import Agent
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("TH-26")
async def test_max_tokens_limits_a_read_and_the_result_says_how_to_continue(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(large_page(site))
    result = await agent.result("browser_read_page", maxTokens=200)
    text = result["content"][0]["text"]
    assert len(page_lines(text)) <= 800
    assert f"Go on with offset {result['structuredContent']['next']}" in text


@pytest.mark.requirement("TH-20")
async def test_large_pages_fit_their_sizes_with_every_element_in_them(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    await opened(large_page(site))
    large = await agent.text("browser_read_page", max_chars=1_000_000)
    assert len(large.encode()) <= 80_000
    count = "document.querySelectorAll('a, button').length"
    elements = await seen_in(product[0].home, large_page(site), count)
    assert large.count("[ref_") == elements + 1
    assert [n for n in range(1000) if f'heading "Row {n}"' not in large] == []
    await opened(item_page(site))
    items = await agent.text("browser_read_page")
    assert len(items.encode()) <= 10_000
    assert [n for n in range(500) if f'"Item {n}"' not in items] == []


async def test_a_headings_level_is_listed_where_it_differs_from_the_previous_one(
    agent: Agent, opened: Opener, site: Site
) -> None:
    frame = "<iframe srcdoc='<h3>Inner</h3>'></iframe>"
    body = f"<h1>A</h1><h2>B</h2><h2>C</h2><h2></h2><h2>D</h2>{frame}<h2>E</h2>"
    await opened(html(site, body))
    lines = page_lines(await agent.text("browser_read_page")).splitlines()
    headings = [line.strip().removeprefix("heading ") for line in lines if "heading" in line]
    assert headings == [
        '"A" level=1',
        '"B" level=2',
        '"C"',
        '"D" level=2',
        '"Inner" level=3',
        '"E" level=2',
    ]


async def test_links_within_the_page_have_no_address_and_others_do(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<a href='#a'>Here</a><a href='#/b'>Route</a><a href='/c'>There</a>"))
    lines = page_lines(await agent.text("browser_read_page")).splitlines()
    assert ["href" in line for line in lines] == [False, True, True]
    assert 'href="#/b"' in lines[1]


async def test_the_interactive_filter_includes_off_screen_elements(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    address = html(
        site,
        "<div id=d></div><script>d.innerHTML = Array.from({length: 9000}, (_, n) => "
        "`<p><button>B${n}</button></p>`).join('')</script>",
    )
    await opened(address)
    count = "document.querySelectorAll('button').length"
    assert await seen_in(product[0].home, address, count) == 9000
    text = await agent.text("browser_read_page", filter="interactive", max_chars=3_000_000)
    assert text.count('button "B') == 9000


@pytest.mark.requirement("TH-20")
async def test_little_is_written_around_an_answer_of_one_line(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<button id=b onclick='this.after(1)'>Go</button>"))
    calls: list[tuple[str, dict[str, object], str]] = [
        ("browser_execute_script", {"code": "1+1"}, "2"),
        ("browser_read_page", {}, 'button "Go" [ref_1]'),
        ("browser_click_element", {"selector": "#b"}, '+"1"'),
        ("browser_get_tab_content", {}, "Go 1"),
    ]
    for tool, arguments, answer in calls:
        text = await agent.text(tool, **arguments)
        assert answer in text
        assert len(text.encode()) - len(answer) <= 60, text
