"""Clicks with buttons, counts and modifiers, their effects, and how long a call waits for them."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import ref
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("arguments", "events"),
    [
        ({"button": "right"}, ["contextmenu button 2 0  true", "auxclick button 2 1  true"]),
        ({"button": "middle"}, ["auxclick button 1 1  true"]),
        (
            {"clickCount": 2},
            ["click button 0 1  true", "click button 0 2  true", "dblclick button 0 2  true"],
        ),
        ({"modifiers": {"ctrl": True, "alt": True}}, ["click button 0 1 ctrl+alt true"]),
        ({"modifiers": {"shift": True, "meta": False}}, ["click button 0 1 shift true"]),
    ],
)
async def test_buttons_counts_and_modifiers_arrive_as_given(
    agent: Agent, opened: Opener, in_page: Value, site: Site, arguments: Any, events: list[str]
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_click_element", selector="#button", **arguments)
    assert await in_page("of('click', 'dblclick', 'auxclick', 'contextmenu')") == events


async def test_three_clicks_select_a_paragraph(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_click_element", selector="#words", clickCount=3)
    assert (await in_page("getSelection().toString()")).strip() == "plain words"


@pytest.mark.parametrize(
    "arguments",
    [
        {"button": "fourth"},
        {"clickCount": 4},
        {"clickCount": 0},
        {"modifiers": {"hyper": True}},
        {"settle": -1},
    ],
)
async def test_clicks_that_no_mouse_can_make_are_refused(
    agent: Agent, opened: Opener, in_page: Value, site: Site, arguments: Any
) -> None:
    await opened(site.page("acting"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector="#button", **arguments)
    assert failed.value.reason == "invalid_arguments"
    assert await in_page("of('click')") == []


@pytest.mark.requirement("TH-22")
@pytest.mark.parametrize(
    ("selector", "arguments"),
    [
        ("#blank", {}),
        ("#popup", {}),
        ("#link", {"modifiers": {"ctrl": True}}),
        ("#link", {"button": "middle"}),
    ],
)
async def test_a_click_that_opens_a_tab_names_it_and_keeps_the_persons_tab_active(
    agent: Agent, opened: Opener, in_page: Value, site: Site, selector: str, arguments: Any
) -> None:
    tab = await opened(site.page("acting"))
    before = await _active(agent)
    result = await agent.call("browser_click_element", selector=selector, **arguments)
    new = result["effect"]["opened"]
    assert new != tab
    assert "navigated" not in result["effect"]
    assert await _active(agent) == before
    await agent.call("browser_navigate_tab", tabId=new, url="reload")
    assert await in_page("document.title", tabId=new) == "Form"
    assert await agent.call("browser_close_tab", tabId=new) == {"closed": new}


async def _active(agent: Agent) -> list[int]:
    tabs = (await agent.call("browser_list_tabs"))["tabs"]
    return [tab["tabId"] for tab in tabs if tab["active"]]


async def test_a_link_whose_click_the_page_prevents_opens_nothing(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("acting"))
    result = await agent.call("browser_click_element", selector="#stopped")
    assert result["effect"] == {"mutated": False}


@pytest.mark.parametrize(("selector", "name"), [("#attached", "x.bin"), ("#saved", "saved.txt")])
async def test_a_click_that_starts_a_download_names_it(
    agent: Agent, opened: Opener, site: Site, selector: str, name: str
) -> None:
    await opened(site.page("acting"))
    result = await agent.call("browser_click_element", selector=selector)
    assert result["effect"] == {"mutated": False, "download": name}
    assert name in await agent.text("browser_click_element", selector=selector)


ASKING = """<button id=twice onclick="load(0.2).then(() => load(0.1)).then(() => say('both'))">1
</button><button id=old onclick="askInTheOldWay()">2</button>
<button id=unread onclick="fetch('/slow?seconds=0.1').then(() => say('unread'))">3</button>
<button id=away onclick="load(0.1).then(() => { location = '/form.html' })">4</button>
<button id=never onclick="fetch('/held').then(() => say('late'))">5</button><p id=out></p>
<script>
const say = (text) => { out.textContent = text };
const load = (seconds) => fetch(`/slow?seconds=${seconds}`).then((answer) => answer.text());
const askInTheOldWay = () => {
  const request = new XMLHttpRequest();
  request.open("GET", "/slow?seconds=0.2");
  request.onload = () => say("old");
  request.send();
};
</script>"""


def asking(site: Site, host: str = "") -> str:
    return f"{host or site.url}/html?body={quote(ASKING)}"


@pytest.mark.parametrize(("id", "text"), [("twice", "both"), ("old", "old"), ("unread", "unread")])
async def test_a_click_waits_for_the_requests_it_starts_and_for_later_ones(
    agent: Agent, opened: Opener, in_page: Value, site: Site, id: str, text: str
) -> None:
    await opened(asking(site))
    result = await agent.call("browser_click_element", selector=f"#{id}", settle=10_000)
    assert result["effect"]["mutated"] is True
    assert await in_page("out.textContent") == text


async def test_a_click_waits_for_requests_of_a_frame_in_another_process(
    agent: Agent, opened: Opener, site: Site
) -> None:
    frame = f"<iframe width=600 src='{asking(site, site.other)}'></iframe>"
    await opened(f"{site.url}/html?body={quote(frame)}")
    await agent.call("browser_click_element", selector="#twice", settle=10_000)
    assert "both" in await agent.text("browser_read_page")


async def test_a_click_reports_a_navigation_that_a_response_starts(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(asking(site))
    result = await agent.call("browser_click_element", selector="#away", settle=10_000)
    assert result["effect"]["navigated"] == site.page("form")


async def test_a_click_does_not_wait_for_a_slow_response(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(asking(site))
    with site.holding():
        for settle in ({"settle": 0}, {}, {"settle": 50}):
            result = await agent.call("browser_click_element", selector="#never", **settle)
            assert result["effect"]["mutated"] is False
        assert await in_page("out.textContent") == ""


async def test_hovering_is_trusted_and_leaves_the_mouse_on_the_element(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await in_page(
        "document.querySelector('#off').onmouseover = () => { document.title = 'hint' }; 1"
    )
    for id in ("button", "off"):
        result = await agent.call("browser_hover_element", selector=f"#{id}")
        assert result["trusted"] is True
        assert await in_page(f"document.querySelector('#{id}').matches(':hover')") is True
        again = await agent.call("browser_hover_element", selector=f"#{id}")
        assert again["effect"]["mutated"] is False
    assert await in_page("of('mouseover').every((line) => line.endsWith('true'))") is True
    assert await in_page("of('click')") == []


@pytest.mark.parametrize("name", ["near", "far", "deep"])
async def test_hovering_works_on_elements_in_frames(
    agent: Agent, opened: Opener, in_page: Value, site: Site, name: str
) -> None:
    await opened(site.page("frames"))
    text = await agent.text("browser_read_page")
    assert await agent.call("browser_hover_element", ref=ref(text, f"Press {name}"))


@pytest.mark.parametrize(
    ("selector", "reason"),
    [("#under", "covered_by"), ("#hidden", "not_visible"), ("#none", "element_not_found")],
)
async def test_hovering_an_unreachable_element_is_refused(
    agent: Agent, opened: Opener, site: Site, selector: str, reason: str
) -> None:
    await opened(site.page("targets"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_hover_element", selector=selector)
    assert failed.value.reason == reason


SHADE = """<button id=done onclick="setTimeout(() => shade.remove(), 600)">Done</button>
<button id=deploy onclick="document.title = 'deployed'">Deploy</button>
<div id=shade style="position: fixed; inset: 40px 0 0"></div>
<style>#deploy { position: absolute; top: 60px }</style>"""


async def test_what_covers_an_element_for_a_moment_is_waited_for(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(f"{site.url}/html?body={quote(SHADE)}")
    actions = [
        {"name": "browser_click_element", "input": {"selector": "#done"}},
        {"name": "browser_click_element", "input": {"selector": "#deploy"}},
    ]
    await agent.call("browser_batch", actions=actions)
    assert await in_page("document.title") == "deployed"
