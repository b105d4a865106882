"""Pages that change when the mouse comes: it is aimed again, pressed once, and reported truly."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]
NOTING = """<script>log = []; addEventListener('click', (e) => log.push(e.target.id), true);
for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup'])
  addEventListener(name, (e) => log.push(`${name} ${e.target.id}`), true);
clicks = () => log.filter((one) => !one.includes(' '));
</script>"""
MENU = """<style>li { width: 150px }</style><ul id=menu>
<li id=file><div>File</div><ul><li id=recent><div>Recent</div><ul>
<li id=one><div>One</div></li><li id=two><div>Two</div></li></ul></li>
<li id=save><div>Save</div></li></ul></li>
<li id=edit><div>Edit</div><ul><li id=undo><div>Undo</div></li><li id=redo><div>Redo</div></li>
</ul></li><li id=help><div>Help</div></li></ul>
<script>chosen = []; $('#menu').menu({ select: (_, { item }) => chosen.push(item[0].id) })</script>
"""


def _menu(site: Site) -> str:
    names = ("jquery/dist/jquery.min.js", "jquery-ui/dist/jquery-ui.min.js")
    scripts = "".join(f"<script src={site.url}/npm/{name}></script>" for name in names)
    return html(site, f"<!doctype html>{NOTING}{scripts}{MENU}")


@pytest.mark.npm
async def test_items_of_jquery_ui_menus_and_their_submenus_are_clicked_once(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(_menu(site))
    for opener, item in (("file", "save"), ("edit", "redo"), ("file", "save"), ("edit", "undo")):
        await agent.call("browser_hover_element", selector=f"#{opener}")
        shown = f"getComputedStyle({item}).display !== 'none' && {item}.checkVisibility()"
        await eventually(partial(in_page, shown), until=bool)
        await agent.call("browser_click_element", selector=f"#{item}")
    assert await in_page("chosen") == ["save", "redo", "save", "undo"]


@pytest.mark.npm
async def test_a_submenu_of_a_submenu_opens_and_its_item_is_clicked(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(_menu(site))
    for opener, item in (("file", "recent"), ("recent", "two")):
        await agent.call("browser_click_element", selector=f"#{opener} > div")
        shown = f"{item}.checkVisibility()"
        await eventually(partial(in_page, shown), until=bool)
    await agent.call("browser_click_element", selector="#two")
    assert await in_page("chosen.at(-1)") == "two"
    assert await in_page("log.filter((one) => one.startsWith('mousedown ')).length") == 3


JUMP = """<style>button { position: absolute; left: 20px; top: 20px; width: 80px; height: 30px }
</style><button id=go>Go</button>"""


@pytest.mark.parametrize("on", ["mouseover", "mousemove", "pointerenter"])
async def test_a_button_that_jumps_once_is_clicked_where_it_is(
    agent: Agent, opened: Opener, in_page: Value, site: Site, on: str
) -> None:
    jump = f"<script>go.addEventListener('{on}', () => {{ go.style.left = '300px' }})</script>"
    await opened(html(site, NOTING + JUMP + jump))
    await agent.call("browser_click_element", selector="#go")
    assert await in_page("log") == [
        "pointerdown go",
        "mousedown go",
        "pointerup go",
        "mouseup go",
        "go",
    ]


async def test_a_button_that_another_one_slides_over_is_clicked_and_the_other_is_not(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    swap = """<button id=other style='left: 300px'>Other</button><script>
    go.addEventListener('mouseover', () => {
      go.style.left = '300px'; other.style.left = '20px' }, { once: true })</script>"""
    await opened(html(site, NOTING + JUMP + swap))
    await agent.call("browser_click_element", selector="#go")
    assert await in_page("clicks()") == ["go"]
    assert not [one for one in await in_page("log") if "other" in one]


async def test_a_button_that_flees_for_ever_is_not_clicked_and_nothing_else_is(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    flee = """<button id=other>Other</button><script>other.style.zIndex = -1; let n = 0;
    go.addEventListener('mouseover', () => { n = (n + 200) % 600; go.style.left = `${n + 20}px` })
    </script>"""
    await opened(html(site, NOTING + JUMP + flee))
    failed = await failure(agent, "browser_click_element", selector="#go")
    assert failed.reason == "covered_by"
    assert await in_page("log") == []


PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
SWAPS = {
    "its source": "this.src += '#'",
    "itself": "this.outerHTML = this.outerHTML.replace('onmouseover', 'title')",
}


@pytest.mark.parametrize("what", SWAPS)
async def test_a_picture_that_is_swapped_under_the_mouse_is_clicked_once(
    agent: Agent, opened: Opener, in_page: Value, site: Site, what: str
) -> None:
    picture = f'<img id=pic src="{PICTURE}" width=60 height=60 onmouseover="{SWAPS[what]}">'
    await opened(html(site, f"{NOTING}<p>{picture}</p>"))
    await agent.call("browser_click_element", selector="#pic")
    assert await in_page("clicks()") == ["pic"]


async def test_a_picture_known_by_ref_that_is_replaced_is_said_to_be_gone(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    swap = "this.outerHTML = `<img id=new src='${this.src}' width=60 height=60>`"
    picture = f'<img id=pic alt=Pic src="{PICTURE}" width=60 height=60 onmouseover="{swap}">'
    await opened(html(site, f"{NOTING}<p>{picture}</p>"))
    found = (await agent.call("browser_query_elements", selector="#pic"))["elements"]
    failed = await failure(agent, "browser_click_element", ref=found[0]["ref"])
    assert failed.reason in ("covered_by", "detached", "stale_ref")
    assert await in_page("log") == []


async def test_a_link_whose_picture_is_swapped_is_followed(
    agent: Agent, opened: Opener, site: Site
) -> None:
    swap = "this.outerHTML = `<img src='${this.src}' width=60 height=60>`"
    picture = f'<img src="{PICTURE}" width=60 height=60 onmouseover="{swap}">'
    await opened(html(site, f"<a id=a href='{site.page('tall')}'>{picture}</a>"))
    result = await agent.call("browser_click_element", selector="#a")
    assert result["effect"]["navigated"] == site.page("tall")
