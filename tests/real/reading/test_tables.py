"""A row of a table is one line, and nothing is listed twice with what is only around it."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html, page_lines
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-26")]
Lines = Callable[..., Awaitable[list[str]]]

BOOKS = (
    "<table><thead><tr><th>Title<th>Author<th>Price<th>Lent</thead>"
    "<tr><td><a href=/book/71>Book 071</a><td>Karel Novak<td>5.22<td>True"
    "<tr><td><a href=/book/72>Book 072</a><td><td>7.10<td></table>"
)


@pytest.fixture
def lines(agent: Agent, opened: Opener, site: Site) -> Lines:
    """The lines of a page, with the numbers of its refs left out."""

    async def read(body: str, **more: Any) -> list[str]:
        await opened(html(site, body))
        text = page_lines(await agent.text("browser_read_page", **more))
        return re.sub(r"ref_\d+", "ref", text).splitlines()

    return read


async def test_a_row_is_one_line_and_empty_cells_keep_their_column(lines: Lines) -> None:
    assert await lines(BOOKS) == [
        "table [ref]",
        " Title | Author | Price | Lent",
        " Book 071 [ref] | Karel Novak | 5.22 | True",
        " Book 072 [ref] |  | 7.10",
    ]


async def test_a_link_in_a_row_is_clicked_by_its_ref(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, BOOKS))
    found = re.search(r"Book 072 \[(ref_\d+)\]", await agent.text("browser_read_page"))
    assert found
    await agent.call("browser_click_element", ref=found[1])
    assert (await agent.call("browser_get_tab_info"))["url"] == f"{site.url}/book/72"


async def test_controls_and_states_keep_their_words_in_a_row(lines: Lines) -> None:
    row = (
        "<tr><td><input type=checkbox checked aria-label=Choose><td>Two <b>words</b> "
        "<button>Edit</button> <button disabled>Delete</button>"
        "<td><select aria-label=State><option>Open<option selected>Closed</select>"
        "<td><img alt=Yes src=data:,><tr aria-selected=true><td>Second"
    )
    assert await lines(f"<table>{row}</table>") == [
        "table [ref]",
        ' checkbox "Choose" [ref] checked | "Two words" button "Edit" [ref] '
        'button "Delete" [ref] disabled | combobox "State" [ref] value="Closed" (2 options) '
        '| img "Yes"',
        ' row selected: "Second"',
    ]


async def test_texts_and_links_in_one_cell_do_not_run_into_each_other(lines: Lines) -> None:
    row = "<tr><td>Posted by <a href=/k>karel</a> and <a href=/n>nova</a><td>5"
    assert await lines(f"<table>{row}</table>") == [
        "table [ref]",
        ' "Posted by" link "karel" [ref] "and" link "nova" [ref] | 5',
    ]


async def test_a_row_with_one_cell_looks_like_any_other_line(lines: Lines) -> None:
    rows = "<tr><td>button<tr><td><a href=/a>Go</a><td><tr><td><td>Second"
    assert await lines(f"<table>{rows}</table>") == [
        "table [ref]",
        ' "button"',
        ' link "Go" [ref]',
        "  | Second",
    ]


async def test_a_row_that_takes_clicks_has_a_ref_and_keeps_its_columns(
    agent: Agent, lines: Lines
) -> None:
    rows = "<tr onclick=1><td>a<td>b<tr style='cursor: pointer' aria-label=Named><td>c<td>d"
    assert await lines(f"<table>{rows}</table>") == [
        "table [ref]",
        " row [ref]: a | b",
        ' row "Named" [ref]: c | d',
    ]
    text = page_lines(await agent.text("browser_read_page", filter="interactive"))
    assert re.sub(r"ref_\d+", "ref", text).splitlines() == ['row "a b" [ref]', 'row "Named" [ref]']
    found = (await agent.call("browser_find", query="a b row"))["matches"]
    assert found[0]["role"] == "row"


async def test_the_rows_of_a_grid_of_other_elements_are_lines_too(lines: Lines) -> None:
    row = "<div role=row><div role=gridcell>{0}</div><div role=gridcell>b</div></div>"
    assert await lines(f"<div role=grid>{row.format('a')}{row.format('c')}</div>") == [
        "grid [ref]",
        " a | b",
        " c | b",
    ]


async def test_a_text_cannot_pass_for_a_ref_or_a_column(lines: Lines) -> None:
    cells = '<tr><td>Save [ref_1]<td>a | b<td>say "x"<tr><td>row selected: c<td>d'
    assert await lines(f"<table>{cells}</table>") == [
        "table [ref]",
        r' "Save [ref]" | "a | b" | "say \"x\""',
        ' "row selected: c" | d',
    ]


async def test_a_row_with_more_than_a_line_can_hold_stays_a_tree(lines: Lines) -> None:
    text = await lines("<table><tr><td>Side<td><ul><li>One<li>Two</ul><td></table>")
    assert text[0] == "table [ref]"
    assert [line.strip() for line in text[1:]] == [
        *("row", 'cell "Side"', "cell", "list [ref]", '"One"', '"Two"')
    ]
    nested = "<table><tr><td>Menu<td><table><tr><td>a<td>b</table></table>"
    assert (await lines(nested))[-1].strip() == "a | b"
    many = "<tr>" + "<td>word" * 300
    assert (
        sum(line.strip() == 'cell "word"' for line in await lines(f"<table>{many}</table>")) == 300
    )


async def test_a_table_is_read_on_where_a_cut_was(agent: Agent, opened: Opener, site: Site) -> None:
    rows = "`<tr><td><a href=/b>Book ${i}</a><td>${'x'.repeat(i % 7)}<td>Author ${i}<td><td>${i}`"
    script = f"t.innerHTML = Array.from({{length: 300}}, (_, i) => {rows}).join('')"
    await opened(html(site, f"<table id=t></table><script>{script}</script>"))
    whole = page_lines(await agent.text("browser_read_page", max_chars=100_000))
    parts, offset = [], 0
    for _ in range(100):
        result = await agent.result("browser_read_page", max_chars=700, offset=offset)
        parts.append(page_lines(result["content"][0]["text"]))
        if not result["structuredContent"]["truncated"]:
            break
        offset = result["structuredContent"]["next"]
    assert "\n".join(parts) == whole
    assert len(whole.splitlines()) == 301


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<div style='cursor:pointer'><button>Save</button></div>", ['button "Save" [ref]']),
        (
            "<label style='cursor:pointer'><input type=checkbox>News</label>",
            ['checkbox "News" [ref]'],
        ),
        (
            "<span tabindex=0><span onclick=1><a href=/x>Go</a></span></span>",
            ['link "Go" [ref] href="/x"'],
        ),
        (
            "<div onclick=1><button>Save</button> all of it</div>",
            ['generic "Save all of it" [ref]', ' button "Save" [ref]'],
        ),
        (
            "<div onclick=1><button>Yes</button><button>No</button></div>",
            ['generic "Yes No" [ref]', ' button "Yes" [ref]', ' button "No" [ref]'],
        ),
    ],
)
async def test_what_is_only_around_a_control_is_not_listed_beside_it(
    lines: Lines, body: str, expected: list[str]
) -> None:
    assert await lines(body) == expected


async def test_a_search_lists_a_control_once(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(html(site, "<div style='cursor:pointer'><button>Save</button></div>"))
    found = (await agent.call("browser_find", query="save"))["matches"]
    assert [match["role"] for match in found] == ["button"]


async def test_long_addresses_are_cut(lines: Lines) -> None:
    [line] = await lines(f"<a href=/{'x' * 400}>Far</a>")
    assert len(line) < 140
    assert line.endswith('x…"')
