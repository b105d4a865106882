"""Pages as plain text and as HTML."""

import re

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, html, page_lines, seen_in
from tests.support.agent import Agent, ToolFailed
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

STORY = """<title>Story</title><nav>Home About</nav>
<main><h1>The story</h1><p>It was a <b>dark</b> night,<br>and it rained.</p>
<pre>a  b
c</pre><ul><li>one</li><li>two</li></ul><table><tr><td>x</td><td>y</td></tr></table>
<p hidden>hidden words</p>
<p style="visibility:hidden">unseen<b style="visibility:visible">seen</b></p>
<details><summary>More</summary>folded</details><textarea>typed</textarea><script>code()</script>
</main><footer>Imprint</footer>"""
TEXT = """The story

It was a dark night,
and it rained.

a  b
c

one
two
x\ty

seen

More"""


async def test_the_main_content_is_read_as_a_person_sees_it(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, STORY))
    result = await agent.result("browser_get_tab_content")
    shape = result["structuredContent"]
    assert shape["text"] == page_lines(result["content"][0]["text"]) == TEXT
    assert (shape["source"], shape["title"], shape["truncated"]) == ("main", "Story", False)
    assert " main [end " in result["content"][0]["text"]
    assert ". For all of it: selector body.)" in result["content"][0]["text"]
    whole = (await agent.call("browser_get_tab_content", selector="body"))["text"]
    assert whole.startswith("Home About\n\nThe story")
    assert whole.endswith("Imprint")


@pytest.mark.document("CB-tools-6")
async def test_the_claude_name_has_title_address_and_source_before_the_text(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, STORY))
    lines = page_lines(await agent.text("get_page_text")).splitlines()
    assert lines[0] == "Title: Story"
    assert lines[1].startswith(f"URL: {site.url}/html?")
    assert lines[2:4] == ["Source element: <main>", "---"]
    assert "\n".join(lines[4:]) == TEXT


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("<nav>n</nav><article>The one article</article>", "article"),
        ("<main>much more text around it<article>one</article></main>", "main"),
        ("<main>x<article>nearly all of the text</article></main>", "article"),
        ("<main><article>one</article><article>two</article></main>", "main"),
        ("<article>one</article><article>two</article>", "body"),
        ("<main></main><p>words</p>", "body"),
        ("<main hidden>unseen</main><p>words</p>", "body"),
        ("<div role=main>by its role</div><p>words</p>", "div"),
    ],
)
async def test_main_content_is_the_article_or_main_element_if_the_page_has_one(
    agent: Agent, opened: Opener, site: Site, body: str, source: str
) -> None:
    await opened(html(site, body))
    assert (await agent.call("browser_get_tab_content"))["source"] == source


async def test_the_text_has_all_words_that_the_browser_shows(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    for page in ("targets", "inner"):
        await opened(site.page(page))
        visible = await seen_in(product[0].home, site.page(page), "document.body.innerText")
        assert (await agent.call("browser_get_tab_content"))["text"].split() == visible.split()


async def test_text_and_html_have_all_frames_and_shadow_roots_in_their_places(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    text = (await agent.call("browser_get_tab_content"))["text"]
    near, far, deep = (text.index(f"Press {name}") for name in ("near", "far", "deep"))
    assert near < far < deep < text.index("Boxed words")
    markup = (await agent.call("browser_get_page_html"))["html"]
    for words in ("Press near", "Press deep", "Boxed words", "Press shadowed"):
        assert words in markup
    assert re.search(r'<iframe title="far"[^>]*><!DOCTYPE html>', markup)
    await opened(site.page("shadow"))
    text = (await agent.call("browser_get_tab_content"))["text"]
    assert text == "Open card\n\nSlotted label Nested button Closed button"
    markup = (await agent.call("browser_get_page_html"))["html"]
    assert '<closed-card><template shadowrootmode="closed"><button>Closed' in markup
    assert '<span slot="label">Slotted label</span></open-card>' in markup


async def test_one_element_is_read_by_ref_or_selector_and_a_frame_by_its_element(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    found = await agent.call("browser_query_elements", selector="iframe[title=boxed], h1")
    refs = {element["tag"]: element["ref"] for element in found["elements"]}
    assert (await agent.call("browser_get_tab_content", ref=refs["h1"]))["text"] == "Outer"
    assert (await agent.call("browser_get_page_html", ref=refs["h1"]))["html"] == "<h1>Outer</h1>"
    assert (await agent.call("browser_get_tab_content", ref=refs["iframe"]))[
        "text"
    ] == "Boxed words"
    inner = await agent.call("browser_get_page_html", selector="[aria-label='field deep']")
    assert inner["html"] == '<input aria-label="field deep">'


async def test_html_is_the_browsers_own_serialization(
    agent: Agent, opened: Opener, in_page: Value, site: Site, product: tuple[Product, int]
) -> None:
    address = html(site, "<p title='a &amp; \"b\"'>1 &lt; 2 &amp;&nbsp;3</p><!--c--><br><svg/>")
    await opened(address)
    page_html = (await agent.call("browser_get_page_html"))["html"]
    assert page_html == await seen_in(
        product[0].home, address, "document.documentElement.outerHTML"
    )


@pytest.mark.parametrize(
    ("tool", "key"), [("browser_get_tab_content", "text"), ("browser_get_page_html", "html")]
)
async def test_a_long_page_is_cut_and_its_parts_make_the_whole(
    agent: Agent, opened: Opener, site: Site, tool: str, key: str
) -> None:
    await opened(html(site, "".join(f"<p>Line {n} 😀</p>" for n in range(300))))
    whole = (await agent.call(tool))[key]
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = await agent.result(tool, maxTokens=400, offset=offset)
        shape = result["structuredContent"]
        assert len(shape[key]) <= 1600
        assert shape["truncated"] is ("Cut here" in result["content"][0]["text"])
        parts.append(shape[key])
        offset = shape.get("next")
    assert len(parts) > 2
    assert "".join(parts) == whole
    assert whole.startswith((await agent.call(tool, maxLength=30))[key])


@pytest.mark.parametrize(
    ("tool", "key"), [("browser_get_tab_content", "text"), ("browser_get_page_html", "html")]
)
async def test_a_huge_text_is_read_up_to_the_requested_length(
    agent: Agent, opened: Opener, in_page: Value, site: Site, tool: str, key: str
) -> None:
    await opened(site.page("form"))
    # The browser takes long to lay out such a text; hidden text is read all the same.
    await in_page(
        "document.body.style.contentVisibility = 'hidden';"
        "document.body.textContent = 'word '.repeat(14000000); 1"
    )
    result = await agent.call(tool, maxLength=5000)
    assert (len(result[key]), result["truncated"], result["next"]) == (5000, True, 5000)
    assert (await agent.call(tool, maxLength=5000, offset=5000))["next"] == 10_000
    assert await in_page("1+1") == 2


async def test_a_page_without_text_says_so(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(html(site, "<canvas></canvas><img alt=x>"))
    assert (await agent.call("browser_get_tab_content"))["text"] == ""
    with pytest.raises(ToolFailed) as failed:
        await agent.call("get_page_text")
    assert failed.value.reason == "element_not_found"


@pytest.mark.parametrize("tool", ["browser_get_tab_content", "browser_get_page_html"])
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"selector": "a["}, "invalid_arguments"),
        ({"selector": "a", "ref": "ref_1"}, "invalid_arguments"),
        ({"selector": "#none"}, "element_not_found"),
        ({"ref": "ref_99999"}, "stale_ref"),
        ({"maxLength": 200_001}, "invalid_arguments"),
    ],
)
async def test_an_impossible_read_gets_a_reason(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, object], reason: str
) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    assert failed.value.reason == reason


async def test_no_reading_tool_waits_for_a_page_that_shows_a_dialog(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed):
        await by_tool("alert('stop')")
    for tool, arguments in (
        ("browser_get_tab_content", {}),
        ("browser_get_page_html", {}),
        ("browser_find", {"query": "send"}),
        ("browser_query_elements", {"selector": "p"}),
        ("browser_wait_for_element", {"selector": "p"}),
        ("browser_get_element_styles", {"selector": "p"}),
    ):
        with pytest.raises(ToolFailed) as failed:
            await agent.call(tool, **arguments)
        assert failed.value.reason == "dialog_open"


async def test_the_advice_in_a_cut_page_text_names_arguments_of_the_called_tool(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "".join(f"<p>Line {n}</p>" for n in range(100))))
    text = await agent.text("get_page_text", max_chars=200)
    assert "with offset" in text and "raise max_chars" in text and "read_page by ref_id" in text
    assert "selector" not in text
