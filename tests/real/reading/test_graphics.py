"""Content without text is read and can be clicked: drawings, icons, patches of colour."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html, page_lines
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-20")]
Value = Callable[..., Awaitable[Any]]
PLAIN = "<style>body { margin: 0 } .a { display: inline-block; width: 20px; height: 20px }</style>"
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@pytest.fixture
def lines(agent: Agent, opened: Opener, site: Site) -> Callable[..., Awaitable[list[str]]]:
    """The lines of a page, without its refs."""

    async def read(body: str, **more: Any) -> list[str]:
        await opened(html(site, PLAIN + body))
        return page_lines(await agent.text("browser_read_page", **more)).splitlines()

    return read


async def test_shapes_of_a_drawing_have_a_colour_and_a_position(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    drawing = (
        "<svg width=200 height=100><circle cx=50 cy=50 r=10 fill=red /><path d='M0 0L9 9' />"
        "<rect class=bar x=100 y=0 width=20 height=40 fill=none stroke=blue />"
        "<rect width=5 height=5><title>March</title></rect><text x=150 y=50>Total</text></svg>"
    )
    first, *shapes = await lines(drawing)
    assert first == "img [ref_1] box=0,0,200,100"
    assert [shape.split("]")[0].split(" [")[0].strip() for shape in shapes] == [
        'rect "March"',
        'text "Total"',
        "circle",
        "rect",
    ]
    assert shapes[2].endswith("color=#ff0000 box=40,40,20,20")
    assert shapes[3].endswith('hint="bar" color=#0000ff box=100,0,20,40')


async def test_like_shapes_of_a_large_drawing_are_one_line_after_those_with_a_name(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    grid = "<line x2=9 y2=9 stroke=black /><text y=9>Label {0}</text>"
    few = "<rect width=9 height=9 /><path d=M0,0L9,9 /><path d=M0,0L9,9><title>Peru</title></path>"
    shapes = "".join(grid.format(n) for n in range(401))
    text = await lines(f"<svg width=100 height=100>{shapes}{few}</svg><p>After</p>")
    assert [line.split(" [")[0] for line in text] == [
        "img",
        *(f' text "Label {n}"' for n in range(401)),
        ' path "Peru"',
        " rect",
        " 401 × line",
        '"After"',
    ]


async def test_decorative_icons_and_their_shapes_are_left_out(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    icon = "<svg width=16 height=16><circle cx=8 cy=8 r=8 /></svg>"
    text = await lines(f"{icon}<button>Go {icon}<i class=a style='background: red'></i></button>")
    assert text == ['button "Go" [ref_1]']


async def test_icons_and_patches_of_colour_have_refs_and_hints(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    text = await lines(
        f"<span class='a trash' style='background: url({DOT})'></span><br>"
        "<div class=a style='background: #808000'></div><br>"
        f"<span class=pen style='content: url({DOT}); width: 9px; height: 9px'></span><br>"
        "<i class=a title=Save style='border: 1px solid'></i><br>"
        "<i class=fold></i><style>.fold::before { content: 'X' }</style>"
    )
    assert text[0] == 'img [ref_1] hint="a trash" box=0,0,20,20'
    assert 'hint="a" color=#808000 box=0,' in text[1]
    assert 'hint="pen" box=0,' in text[2]
    assert text[3].startswith('img "Save" [')
    assert 'hint="fold"' in text[4]


async def test_an_icon_in_a_clickable_row_names_the_text_beside_it(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    icon = "<b class=a style='background: red'></b>"
    row = f"<span>{icon}<em>Reply</em></span><span>{icon}<em>Forward</em></span>"
    text = await lines(f"<div style='cursor: pointer'>{row}</div>")
    assert text[0] == 'generic "ReplyForward" [ref_1]'
    assert ['near="Reply"' in text[1], 'near="Forward"' in text[2]] == [True, True]


async def test_canvases_and_controls_without_a_name_have_a_position(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    text = await lines("<canvas width=30 height=20></canvas><input type=checkbox>")
    assert text[0] == "canvas [ref_1] box=0,0,30,20"
    assert text[1].startswith("checkbox [ref_2] box=")


async def test_items_of_a_clickable_list_have_refs_of_their_own(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    text = await lines(
        "<div style='cursor: pointer'><ul><li>Copy</li><li>Paste<ul><li>Plain</li></ul></li></ul>"
        "</div><ul tabindex=0><li><div tabindex=-1>Austria</div></li>"
        "<li><div tabindex=-1>Albania</div></li></ul>"
    )
    with_ref = [line.strip().split(" [")[0] for line in text if "[ref_" in line]
    assert with_ref == [
        "list",
        'listitem "Copy"',
        "list",
        'listitem "Plain"',
        "list",
        'generic "Austria"',
        'generic "Albania"',
    ]
    assert any("Paste" in line for line in text)


async def test_a_link_without_an_address_has_a_ref_if_a_script_may_handle_it(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    text = await lines("<a class=prev title=Prev><span>Prev</span></a><a name=top></a><a>x</a>")
    assert [line for line in text if "[ref_" in line] == ['generic "Prev" [ref_1]']


async def test_a_multiple_select_is_not_named_by_all_its_options(
    lines: Callable[..., Awaitable[list[str]]],
) -> None:
    options = "<option>One</option><option selected>Two</option>"
    text = await lines(f"<select multiple aria-label=Numbers>{options}</select>")
    assert text == [
        'listbox "Numbers" [ref_1] value="Two"',
        ' option "One"',
        ' option "Two" selected',
    ]


async def test_lines_and_shapes_without_fill_are_clicked_on_their_outline(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    shapes = (
        "<line id=line x1=10 y1=90 x2=90 y2=90 stroke-width=4 />"
        "<circle id=ring cx=50 cy=40 r=30 fill=none />"
    )
    script = "onclick='document.title += event.target.id'"
    await opened(html(site, f"<svg width=100 height=100 stroke=black {script}>{shapes}</svg>"))
    for id in ("line", "ring"):
        await agent.call("browser_click_element", selector=f"#{id}")
    assert await in_page("document.title") == "linering"


async def test_a_text_is_clicked_through_a_shape_of_its_own_group(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    node = "<rect width=90 height=30 fill=white opacity=0.1 />"
    groups = (
        f"<g id=a><text y=20>Above</text>{node}</g>"
        f"<g id=b transform='translate(0 40)'>{node}<g><text y=20 pointer-events=none>Through"
        "</text></g></g>"
        "<g transform='translate(0 80)'><g><text y=20>Behind</text><path d='M0 0h1v1z' /></g></g>"
        "<rect id=c y=80 width=90 height=30 />"
    )
    script = "onclick='document.title += event.target.parentNode.id'"
    await opened(html(site, f"<svg width=200 height=200 {script}>{groups}</svg>"))
    for name in ("Above", "Through"):
        await agent.call("browser_click_element", find=name)
    assert await in_page("document.title") == "ab"
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", find="Behind")
    assert failed.value.reason == "covered_by"


async def test_the_whole_value_of_a_field_can_be_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    value = "word " * 200
    await opened(html(site, f"<textarea>{value}</textarea><input type=password value=s3cret>"))
    assert (await agent.call("browser_get_tab_content", selector="textarea"))["text"] == value
    secret = await agent.call("browser_get_tab_content", selector="input")
    assert "s3cret" not in secret["text"]
