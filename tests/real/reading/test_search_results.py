"""What a search says of its results: states, rows, dialogs in front, near misses, loading."""

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, html, page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

ROWS = "".join(
    f"<tr><td><a href=/b/{n}>Book {n:03}</a><td>Karel Novak<td>5.{n}<td><button>Delete</button>"
    for n in range(1, 60)
)


async def line(agent: Agent, query: str) -> str:
    """The first line of what a search lists."""
    return page_lines(await agent.text("browser_find", query=query)).splitlines()[0]


async def test_near_misses_are_listed_if_nothing_matches(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<a href=/a>Your account</a><button>Go</button><p>Other words</p>"))
    result = await agent.result("browser_find", query="delete account permanently")
    data = result["structuredContent"]
    assert (data["matches"], data["total"]) == ([], 0)
    assert [near["name"] for near in data["nearest"]] == ["Your account"]
    text = result["content"][0]["text"]
    assert text.startswith("Nothing on the page matches 'delete account permanently'. The nearest:")
    assert f"- {data['nearest'][0]['ref']}: link" in page_lines(text)
    by_role = await agent.call("browser_find", query="checkout button")
    assert [near["name"] for near in by_role["nearest"]] == ["Go"]
    none = await agent.result("browser_find", query="unicorn")
    assert none["content"][0]["text"] == "Nothing on the page matches 'unicorn'."


async def test_fields_have_their_state_and_value(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(
        html(
            site,
            "<input aria-label=Mail type=email value=a@b.c required>"
            "<input type=checkbox aria-label=News checked disabled>"
            "<input type=password aria-label=Key value=s3cret>"
            "<select aria-label=Size><option>Small<option selected>Large</select>",
        )
    )
    assert '(email) value="a@b.c" required - ' in await line(agent, "mail field")
    assert "(checkbox) checked disabled - " in await line(agent, "news")
    assert 'value="Large"' in await line(agent, "size")
    assert 'value="••••••"' in await line(agent, "key")
    found = await agent.call("browser_find", query="mail")
    assert found["matches"][0]["state"] == 'value="a@b.c" required'


async def test_an_element_of_a_table_has_its_row_and_is_found_by_its_words(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(
        html(
            site,
            f"<table>{ROWS}</table><script>onclick = e => {{ seen = "
            "e.target.closest('tr').innerText }</script>",
        )
    )
    found = await agent.call("browser_find", query="delete Book 037")
    assert found["matches"][0]["name"] == "Delete"
    assert found["matches"][0]["row"] == "Book 037 | Karel Novak | 5.37 | Delete"
    await agent.call("browser_click_element", ref=found["matches"][0]["ref"])
    assert "Book 037" in await in_page("seen")
    assert '- in row "Book 041 | Karel Novak | 5.41 | Delete"' in await line(agent, "Book 041")


@pytest.mark.parametrize("symbol", ["+", "×", "⋮", "★"])
async def test_single_symbols_are_found(
    agent: Agent, opened: Opener, site: Site, symbol: str
) -> None:
    others = "".join(f"<button>{other}</button>" for other in "+×⋮★")
    await opened(html(site, f"<p>1 + 2 × 3 ★ 4</p>{others}"))
    found = (await agent.call("browser_find", query=symbol))["matches"]
    assert (found[0]["role"], found[0]["name"]) == ("button", symbol)


async def test_symbols_are_found_by_what_they_mean(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<button>×</button><button>+</button><button>⋮</button>"))
    for words, symbol in (("close", "×"), ("add button", "+"), ("more", "⋮")):
        assert (await agent.call("browser_find", query=words))["matches"][0]["name"] == symbol


async def test_text_in_a_drawing_is_found(agent: Agent, opened: Opener, site: Site) -> None:
    dots = "<circle r=2 cx=5 cy=5 />" * 300
    small = "<svg width=30 height=30><text y=20>Tiny</text></svg>"
    label = "<text x=9 y=90><tspan>Revenue</tspan> <tspan>2031</tspan></text>"
    await opened(html(site, f"<svg width=200 height=100>{dots}{label}</svg>{small}"))
    for words in ("revenue 2031", "tiny"):
        assert (
            words in (await agent.call("browser_find", query=words))["matches"][0]["name"].lower()
        )


BEHIND = """<div id=app {shut}><button>Publish</button><button>Save</button></div>
<div role=presentation><div role=dialog aria-modal=true aria-label="Edit book">
<button>Save</button></div></div>"""


@pytest.mark.parametrize("shut", ["aria-hidden=true", "inert"])
async def test_what_a_dialog_shuts_off_is_said_to_be_behind_it(
    agent: Agent, opened: Opener, site: Site, shut: str
) -> None:
    await opened(html(site, BEHIND.format(shut=shut)))
    result = await agent.result("browser_find", query="publish button")
    match = result["structuredContent"]["matches"][0]
    dialog = match["behind"]
    assert (match["name"], dialog["role"], dialog["name"]) == ("Publish", "dialog", "Edit book")
    text = result["content"][0]["text"]
    assert text.startswith("1 match. What the page shows in front has none.")
    assert f'behind dialog "Edit book" ({dialog["ref"]})' in page_lines(text)
    inside = await agent.text("browser_read_page", ref_id=dialog["ref"])
    assert 'button "Save"' in inside
    # What is in the dialog itself comes alone.
    saves = (await agent.call("browser_find", query="save"))["matches"]
    assert [("behind" in save) for save in saves] == [False]


async def test_what_is_outside_a_modal_dialog_is_behind_it(
    agent: Agent, opened: Opener, site: Site
) -> None:
    body = "<button>Publish</button><dialog id=d aria-label=Ask><button>Yes</button></dialog>"
    await opened(html(site, f"{body}<script>d.showModal()</script>"))
    assert 'behind dialog "Ask" (ref_' in await line(agent, "publish")
    assert "behind" not in await line(agent, "yes")


async def test_what_is_shut_off_without_a_dialog_is_said_to_be_so(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<div inert><button>Publish</button></div>"))
    assert (await line(agent, "publish")).endswith("shut off by the page")


async def test_a_search_says_that_the_page_is_still_loading(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<p>Here</p>"))
    assert "still loading" not in await agent.text("browser_find", query="orders")
    with site.holding():
        await in_page(f"document.open(); document.write('<p>Soon<script src={site.url}/held>'); 1")
        assert "(The page is still loading.)" in await agent.text("browser_find", query="orders")


@pytest.mark.parametrize("tool", ["browser_find", "find"])
@pytest.mark.parametrize("query", ["   ", "\t\n", "word " * 10_000])
async def test_a_description_without_words_or_with_too_many_is_refused(
    agent: Agent, opened: Opener, site: Site, tool: str, query: str
) -> None:
    await opened(html(site, "<button>Save</button>"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, query=query)
    assert failed.value.reason == "invalid_arguments"


@pytest.mark.parametrize("query", [".*", "[a-z]+", "(", "\\", "$^", "(?:x)*+?"])
async def test_characters_of_regular_expressions_are_only_characters(
    agent: Agent, opened: Opener, site: Site, query: str
) -> None:
    await opened(html(site, "<button>Save</button><button>Send</button>"))
    assert (await agent.call("browser_find", query=query))["matches"] == []
