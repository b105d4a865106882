"""Elements that nothing but a listener makes clickable or draggable have refs."""

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, html, page_lines
from tests.support.agent import Agent
from tests.support.eventually import eventually
from tests.support.site import Site
from tests.support.static_site import bundle, serving

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-20")]
Lines = Callable[..., Awaitable[list[str]]]


@pytest.fixture
def lines(agent: Agent, opened: Opener, in_page: Value) -> Lines:
    """The lines of a page to which the debugger is attached, without the numbers of refs."""

    async def read(address: str, **more: Any) -> list[str]:
        await opened(address)
        assert await in_page("1") == 1
        return _lines(await agent.text("browser_read_page", **more))

    return read


def _lines(text: str) -> list[str]:
    without = re.sub(r"ref_\d+", "ref", page_lines(text))
    return [re.sub(r" box=\S+| color=\S+", "", line) for line in without.splitlines()]


TOO_LARGE = "What only listens for clicks is not listed"
OWN = """<div id=a>Pressed</div><span id=b>Pointed</span><p>Only text</p><div><i id=c>Twice</i>
</div><svg width=90 height=90><path id=d d='M0 0L80 80' stroke=red /><path d='M9 9L80 80' /></svg>
<div id=host></div><iframe srcdoc="<b id=e>Framed</b><script>
  e.addEventListener('click', () => {})</script>"></iframe><script>
a.addEventListener('click', () => {}); b.addEventListener('pointerdown', () => {});
c.addEventListener('dblclick', () => {}); d.addEventListener('mousedown', () => {});
addEventListener('click', () => {}); document.body.addEventListener('click', () => {});
const inner = host.attachShadow({mode: 'closed'}); inner.innerHTML = '<em>Shadowed</em>';
inner.firstChild.addEventListener('click', () => {});
</script>"""


async def test_elements_with_listeners_of_their_own_have_refs(lines: Lines, site: Site) -> None:
    assert await lines(html(site, OWN)) == [
        'generic "Pressed" [ref]',
        'generic "Pointed" [ref]',
        '"Only text"',
        'generic "Twice" [ref]',
        "img [ref]",
        ' path [ref] hint="d"',
        'generic "Shadowed" [ref]',
        "iframe [ref]",
        ' generic "Framed" [ref]',
    ]


async def test_a_picture_has_the_same_line_whether_it_listens_or_not(
    lines: Lines, site: Site
) -> None:
    icon = "<i class=icon style='background:red; display:inline-block; width:9px; height:9px'></i>"
    body = f"{icon}<div onclick=1>{icon}<b>Reply</b><b>Forward</b></div>"
    script = "document.querySelectorAll('i').forEach(i => i.addEventListener('click', () => {}))"
    listening = await lines(html(site, f"{body}<script>{script}</script>"))
    assert listening == await lines(html(site, body))
    assert listening[0] == 'img [ref] hint="icon"'


async def test_the_items_of_a_list_that_listens_have_refs(lines: Lines, site: Site) -> None:
    body = (
        "<ul id=a><li>One<li>Two <button>Edit</button></ul>"
        "<table id=b><tr><td>c<td>d<tr><td>e<td>f</table><script>"
        "for (const id of [a, b]) id.addEventListener('click', () => {})</script>"
    )
    assert await lines(html(site, body)) == [
        'list [ref] hint="a"',
        ' listitem "One" [ref]',
        ' listitem "Two Edit" [ref]',
        '  button "Edit" [ref]',
        'table [ref] hint="b"',
        " row [ref]: c | d",
        " row [ref]: e | f",
    ]


async def test_a_drawing_that_listens_has_a_box_and_is_not_named_by_its_texts(
    agent: Agent, opened: Opener, lines: Lines, site: Site
) -> None:
    shapes = "<circle cx=50 cy=50 r=9 /><g><g><text y=20>Hello</text></g><rect width=9 /></g>"
    script = "d.addEventListener('click', () => {}); "
    script += "d.querySelector('g').addEventListener('click', () => {})"
    body = f"<svg id=d width=90 height=90>{shapes}</svg><script>{script}</script>"
    assert await lines(html(site, body)) == [
        'img [ref] hint="d"',
        ' text "Hello" [ref]',
        " circle [ref]",
        " rect [ref]",
    ]
    assert "box=8,8,90,90" in await agent.text("browser_read_page")


async def test_an_element_that_only_listens_is_found_and_clicked(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    script = "a.addEventListener('click', () => { document.title = 'done' })"
    await opened(html(site, f"<p>Pressed</p><div id=a>Pressed</div><script>{script}</script>"))
    await in_page("1")
    found = (await agent.call("browser_find", query="pressed"))["matches"]
    assert [match["role"] for match in found] == ["generic", "text"]
    await agent.call("browser_click_element", ref=found[0]["ref"])
    assert await in_page("document.title") == "done"


async def test_delegated_handlers_of_jquery_are_found_by_their_selectors(
    lines: Lines, site: Site
) -> None:
    script = f"<script src={site.url}/npm/jquery/dist/jquery.min.js></script>"
    body = (
        f"{script}<div id=list><div class=row>One</div><div class=row>Two</div><div>Three</div>"
        "</div><div class=late>Late</div><script>$('#list').on('click', '.row', () => {});"
        "$(document).on('mousedown', '.late', () => {})</script>"
    )
    assert await lines(html(site, body)) == [
        'generic "One" [ref]',
        'generic "Two" [ref]',
        '"Three"',
        'generic "Late" [ref]',
    ]


async def test_delegated_handlers_are_found_in_a_page_of_thousands_of_elements(
    lines: Lines, site: Site
) -> None:
    script = f"<script src={site.url}/npm/jquery/dist/jquery.min.js></script>"
    body = (
        f"{script}<div id=list><div class=row>One</div><div>Two</div></div><p hidden id=many>"
        "</p><script>many.innerHTML = '<i></i>'.repeat(19000);"
        "$('#list').on('click', '.row', () => {});</script>"
    )
    assert await lines(html(site, body)) == ['generic "One" [ref]', '"Two"']


async def test_what_jquery_ui_drags_and_drops_is_marked(
    agent: Agent, opened: Opener, lines: Lines, in_page: Value, site: Site
) -> None:
    scripts = "".join(
        f"<script src={site.url}/npm/{name}></script>"
        for name in ("jquery/dist/jquery.min.js", "jquery-ui/dist/jquery-ui.min.js")
    )
    body = (
        f"{scripts}<div id=card>Card</div><div id=bin style='height:60px'>Bin</div>"
        "<ul id=sort><li>First</li><li>Second</li></ul><script>$('#card').draggable();"
        "$('#sort').sortable(); $('#bin').droppable({drop: () => document.title = 'dropped'})"
        "</script>"
    )
    text = await lines(html(site, body))
    assert text == [
        'generic "Card" [ref] draggable',
        'generic "Bin" [ref] droppable',
        'list [ref] hint="ui-sortable-handle"',
        ' listitem "First" [ref] draggable',
        ' listitem "Second" [ref] draggable',
    ]
    refs = re.findall(r"ref_\d+", await agent.text("browser_read_page"))
    await agent.call("browser_drag", **{"from": {"ref": refs[0]}, "to": {"ref": refs[1]}})
    assert await in_page("document.title") == "dropped"


async def test_native_drags_and_drops_are_marked_without_the_debugger(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<div draggable=true>Card</div><div draggable=false>Fixed</div>"))
    assert _lines(await agent.text("browser_read_page")) == [
        'generic "Card" [ref] draggable',
        '"Fixed"',
    ]


APP = """import { createElement as e } from "react";
import { createRoot } from "react-dom/client";
const press = () => { document.title = "pressed"; };
const app = e("div", null, e("div", { onClick: press }, "Pressed"), e("p", null, "Only text"),
  e("div", { onDragStart: press }, "Moved"), e("div", { onDrop: press }, "Target"));
createRoot(document.getElementById("root")).render(app);
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page that the real React draws."""
    folder = tmp_path_factory.mktemp("react-listeners")
    page = "<!doctype html><div id=root></div><script type=module src=app.mjs></script>"
    (folder / "index.html").write_text(page)
    bundle(folder, APP)
    with serving(folder) as site:
        yield f"{site}/index.html"


@pytest.mark.npm
async def test_the_handlers_of_react_are_found_by_its_props(
    agent: Agent, lines: Lines, in_page: Value, app: str
) -> None:
    assert await lines(app) == [
        'generic "Pressed" [ref]',
        '"Only text"',
        'generic "Moved" [ref] draggable',
        'generic "Target" [ref] droppable',
    ]
    found = (await agent.call("browser_find", query="pressed"))["matches"]
    await agent.call("browser_click_element", ref=found[0]["ref"])
    assert await in_page("document.title") == "pressed"


async def test_looking_for_listeners_runs_nothing_of_the_page(
    lines: Lines, in_page: Value, site: Site
) -> None:
    body = (
        "<div id=a>Pressed</div><script>seen = []; "
        "jQuery = { get expando() { seen.push('expando'); return 'x' } };"
        "for (const name of ['querySelectorAll', 'addEventListener', 'dispatchEvent']) {"
        "  const own = Document.prototype[name] ?? EventTarget.prototype[name];"
        "  Document.prototype[name] = function (...a) {"
        "    seen.push(name); return own.apply(this, a) } }"
        "EventTarget.prototype.addEventListener.call(a, 'click', () => {})</script>"
    )
    assert await lines(html(site, body)) == ['generic "Pressed" [ref]']
    assert await in_page("seen") == []


async def test_listeners_on_two_hundred_thousand_elements_are_bounded(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<button>First</button>"))
    await in_page(
        "for (let i = 0; i < 200000; i++) { const b = document.createElement('p'); "
        "b.addEventListener('click', () => {}); document.body.append(b) } 1"
    )
    text = await agent.text("browser_read_page", max_chars=2000)
    assert 'button "First" [ref_' in text
    assert TOO_LARGE in text
    found = await agent.text("browser_find", query="first button")
    assert 'button "First"' in found
    assert TOO_LARGE in found
    assert await in_page("1+1") == 2


async def test_more_listeners_than_can_be_listed_are_not_listed_and_the_reading_says_so(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<p>Many</p>"))
    await in_page(
        "for (let i = 0; i < 1000; i++) { const b = document.createElement('p'); "
        "for (let j = 0; j < 250; j++) b.addEventListener('click', () => {}); "
        "document.body.append(b) } 1"
    )
    assert TOO_LARGE in await agent.text("browser_read_page")


async def test_twenty_thousand_listeners_of_one_element_are_listed(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<p id=p>Many</p>"))
    # Each listener is compared with those that the element has: many more would take a minute.
    await in_page("for (let i = 0; i < 20000; i++) p.addEventListener('click', () => {}); 1")

    await eventually(
        lambda: agent.text("browser_read_page"),
        until=lambda text: 'paragraph "Many" [ref' in text,
    )


async def test_many_listeners_of_one_element_and_many_elements_with_one_are_bounded(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<p id=p>Many</p><main id=m></main>"))
    await in_page(
        "for (let i = 0; i < 3000; i++) p.addEventListener('click', () => {});"
        "for (let i = 0; i < 3000; i++) { const b = document.createElement('p'); "
        "b.addEventListener('click', () => {}); b.textContent = i; m.append(b) } 1"
    )
    text = page_lines(await agent.text("browser_read_page", max_chars=200_000))
    assert '"Many"' in text
    assert '"2999"' in text


MANY = """<main id=m></main><p>Only text</p><script>for (let i = 0; i < 300; i++) {
  const row = m.appendChild(document.createElement('div')); row.textContent = `Row ${i}`;
  row.addEventListener('click', () => {}) }</script>"""


async def test_every_row_of_a_long_list_has_a_ref_in_the_first_reading(
    lines: Lines, site: Site
) -> None:
    rows = [f' generic "Row {number}" [ref]' for number in range(300)]
    assert await lines(html(site, MANY)) == ["main [ref]", *rows, '"Only text"']


async def test_of_rows_that_are_alike_only_those_that_listen_have_refs(
    lines: Lines, site: Site
) -> None:
    body = MANY.replace("row.addEventListener", "if (i % 3 === 0) row.addEventListener")
    read = await lines(html(site, body.replace("300", "60")))
    rows = [f'"Row {number}" [ref]' in line for number, line in enumerate(read[1:61])]
    assert rows == [number % 3 == 0 for number in range(60)]


async def test_a_hundred_thousand_delegated_handlers_are_bounded(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    script = f"<script src={site.url}/npm/jquery/dist/jquery.min.js></script>"
    await opened(html(site, f"{script}<button>First</button><p>Text</p>"))
    await in_page(
        "$(document).on('click', 'p', () => {}); const list = "
        "document[jQuery.expando + '1'].events.click; for (let i = 0; i < 1e5; i++) "
        "list.push({selector: '*'}); document.body.append(...Array.from({length: 9000}, () => "
        "document.createElement('i'))); 1"
    )
    assert 'button "First" [ref_' in await agent.text("browser_read_page", max_chars=2000)
    assert await in_page("1+1") == 2
