"""Finding elements by words and by selectors, and reading their styles."""

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, html, page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

SHOP = """<title>Shop</title><h1>Winter sale</h1>
<nav><a href=/in>Sign in</a> <a href=/new>Create account</a></nav>
<input type=search placeholder="What are you looking for?" aria-label="Search">
<button aria-label="Basket"><svg width=9 height=9></svg></button>
<label>Newsletter <input type=checkbox></label>
<select aria-label="Sort by"><option>Price<option>Name</select>
<p>Free delivery for orders above 50 euros.</p>
<div style="margin-top:5000px"><button>Remove all items</button></div>
<button style="display:none">Invisible unicorn</button>
"""


async def best(agent: Agent, query: str) -> str:
    matches = (await agent.call("browser_find", query=query))["matches"]
    return f"{matches[0]['role']} {matches[0]['name']}" if matches else ""


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Sign in", "link Sign in"),
        ("login", "link Sign in"),
        ("the log in link", "link Sign in"),
        ("register", "link Create account"),
        ("shopping cart button", "button Basket"),
        ("serach field", "searchbox Search"),
        ("looking for", "searchbox Search"),
        ("newsletter checkbox", "checkbox Newsletter"),
        ("sort dropdown", "combobox Sort by"),
        ("delete", "button Remove all items"),
        ("free delivery", "text Free delivery for orders above 50 euros."),
        ("heading", "heading Winter sale"),
        ("red remove button", "button Remove all items"),
    ],
)
async def test_elements_are_found_by_words_synonyms_roles_and_misspellings(
    agent: Agent, opened: Opener, site: Site, query: str, found: str
) -> None:
    await opened(html(site, SHOP))
    assert await best(agent, query) == found


@pytest.mark.parametrize("tool", ["browser_find", "find"])
@pytest.mark.parametrize("query", ["invisible unicorn", "purple elephant button", "?!", "checkout"])
async def test_a_search_without_matches_is_no_error(
    agent: Agent, opened: Opener, site: Site, tool: str, query: str
) -> None:
    await opened(html(site, SHOP))
    result = await agent.result(tool, query=query)
    assert not result.get("isError")
    assert result["structuredContent"]["matches"] == []
    assert result["content"][0]["text"].startswith("Nothing on the page matches")


@pytest.mark.document("CB-tools-4")
async def test_a_match_can_be_clicked_by_its_ref_and_has_a_reason(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, SHOP + "<script>onclick = e => document.title = e.target.id</script>"))
    result = await agent.result("find", query="delete")
    match = result["structuredContent"]["matches"][0]
    head, _, line = page_lines(result["content"][0]["text"]).partition(": ")
    assert result["content"][0]["text"].startswith("1 match.\n\n")
    assert head == f"- {match['ref']}"
    assert line == 'button "Remove all items" - name has "remove" for "delete"'
    assert (await agent.call("browser_click_element", ref=match["ref"]))["trusted"] is True


async def test_find_reaches_all_frames_and_shadow_roots(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    for name in ("Press near", "Press far", "Press deep", "Written button", "Press shadowed"):
        found = await agent.result("browser_find", query=name)
        first = found["structuredContent"]["matches"][0]
        assert (first["role"], first["name"]) == ("button", name), found["content"]
    await opened(site.page("shadow"))
    for name in ("Nested button", "Closed button"):
        assert await best(agent, name) == f"button {name}"


async def test_the_first_search_on_a_page_reaches_every_frame(
    agent: Agent, opened: Opener, site: Site
) -> None:
    source = f"{site.other}/inner.html"
    frames = "".join(f"<iframe src='{source}?name={number}'></iframe>" for number in range(40))
    await opened(html(site, f"<title>Many</title><h1>Many frames</h1>{frames}"))
    assert (await agent.call("browser_query_elements", selector="button"))["total"] == 40


async def test_at_most_twenty_matches_are_listed_with_a_note_of_more(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<button>Delete</button>" * 35))
    result = await agent.result("browser_find", query="delete")
    assert len(result["structuredContent"]["matches"]) == 20
    assert result["structuredContent"]["total"] == 35
    assert "35 matches. Here are 20" in result["content"][0]["text"]
    assert len((await agent.call("browser_find", query="delete", limit=30))["matches"]) == 30
    few = await agent.result("browser_find", query="delete", maxTokens=50)
    assert len(page_lines(few["content"][0]["text"])) <= 200
    assert len(few["structuredContent"]["matches"]) < 20


async def test_elements_are_queried_in_all_frames_and_shadow_roots(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("frames"))
    found = await agent.call("browser_query_elements", selector="button")
    assert {element["text"] for element in found["elements"]} == {
        "Press near",
        "Press far",
        "Press deep",
        "Written button",
        "Press shadowed",
    }
    assert (found["total"], {element["tag"] for element in found["elements"]}) == (5, {"button"})
    far = next(e["ref"] for e in found["elements"] if e["text"] == "Press far")
    await agent.call("browser_click_element", ref=far)
    after = await agent.call("browser_query_elements", selector="button")
    assert "far was pressed true" in {element["text"] for element in after["elements"]}


async def test_a_query_returns_the_requested_attributes_up_to_its_limit(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<a href=/x data-n=1 class=c>One</a>" * 150))
    some = await agent.call("browser_query_elements", selector="a", limit=3, attributes=["data-n"])
    assert [element["attributes"] for element in some["elements"]] == [{"data-n": "1"}] * 3
    assert some["total"] == 150
    result = await agent.result("browser_query_elements", selector="a")
    assert result["structuredContent"]["elements"][0]["attributes"] == {"href": "/x", "class": "c"}
    assert len(result["structuredContent"]["elements"]) == 100
    assert "150 elements. Here are 100" in result["content"][0]["text"]
    few = await agent.call("browser_query_elements", selector="a", maxTokens=50)
    assert 0 < len(few["elements"]) < 10
    none = await agent.call("browser_query_elements", selector="video")
    assert (none["elements"], none["total"]) == ([], 0)


async def test_styles_are_the_computed_ones_including_custom_properties(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    body = "<p id=p style='color:rgb(1,2,3);--mine:7px;width:120px;position:fixed;left:5px'>x</p>"
    await opened(html(site, body))
    result = await agent.call("browser_get_element_styles", selector="#p")
    assert (result["styles"]["color"], result["styles"]["position"]) == ("rgb(1, 2, 3)", "fixed")
    assert (result["box"]["x"], result["box"]["width"]) == (5, 120)
    properties = ["--mine", "display"]
    by_ref = await agent.call(
        "browser_get_element_styles", ref=result["ref"], properties=properties
    )
    assert by_ref["styles"] == {"--mine": "7px", "display": "block"}
    short = await agent.text("browser_get_element_styles", selector="#p", maxTokens=50)
    assert "properties left out" in short


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("browser_query_elements", {"selector": "a["}, "invalid_arguments"),
        ("browser_query_elements", {"selector": "a", "limit": 101}, "invalid_arguments"),
        ("browser_get_element_styles", {"selector": "a["}, "invalid_arguments"),
        ("browser_get_element_styles", {"selector": "#none"}, "element_not_found"),
        ("browser_get_element_styles", {"ref": "ref_99999"}, "stale_ref"),
        ("browser_get_element_styles", {}, "invalid_arguments"),
        ("browser_find", {"query": ""}, "invalid_arguments"),
        ("browser_find", {"query": "x", "maxTokens": 1}, "invalid_arguments"),
    ],
)
async def test_an_invalid_search_gets_a_reason(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, object], reason: str
) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    assert failed.value.reason == reason


async def test_two_hundred_thousand_elements_are_searched_queried_and_read_in_bounded_time(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await in_page("document.body.innerHTML = '<p><b>word</b></p>'.repeat(100000); 1")
    found = await agent.call("browser_find", query="word", limit=3)
    assert len(found["matches"]) == 3
    assert (await agent.call("browser_query_elements", selector="b", limit=1))["total"] == 100000
    for tool in ("browser_get_tab_content", "browser_get_page_html", "get_page_text"):
        assert (await agent.call(tool))["truncated"] is True
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_wait_for_element", selector="#none", timeout=100)
    assert failed.value.reason == "timeout"
    assert await in_page("1+1") == 2


async def test_a_query_within_an_element_finds_only_its_descendants(
    agent: Agent, opened: Opener, site: Site
) -> None:
    row = "<li><button>{0}</button><div><template shadowrootmode=open><b>{0}</b></template></div>"
    await opened(html(site, "<ul>" + row.format("one") + row.format("two") + "</ul>"))
    query = "browser_query_elements"
    rows = (await agent.call(query, selector="li"))["elements"]
    for place, word in zip(rows, ("one", "two"), strict=True):
        inside = await agent.call(query, selector="button, b, li", ref=place["ref"])
        assert [(element["tag"], element["text"]) for element in inside["elements"]] == [
            *(("button", word), ("b", word))
        ]
        assert (await agent.call(query, ref=place["ref"]))["elements"] == [place]
    host = (await agent.call(query, selector="div"))["elements"][1]
    assert [
        element["text"]
        for element in (await agent.call(query, selector="*", ref=host["ref"]))["elements"]
    ] == ["two"]
    assert "Nothing in ref_" in await agent.text(query, selector="i", ref=host["ref"])
    with pytest.raises(ToolFailed) as refused:
        await agent.call(query)
    assert refused.value.reason == "invalid_arguments"
