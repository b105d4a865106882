"""Dragging in real pages, by browser_drag."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Drag = Callable[..., Awaitable[Any]]
Page = tuple[Drag, Callable[[str], Awaitable[Any]]]


@pytest.fixture
async def page(
    agent: Agent, opened: Opener, in_page: Callable[..., Awaitable[Any]], site: Site
) -> Page:
    """Returns a drag call and a function that evaluates code in the page."""
    await opened(site.page("drag"))
    return dragging(agent), in_page


def dragging(agent: Agent) -> Drag:
    async def drag(start: Any, end: Any, **more: Any) -> Any:
        return await agent.call("browser_drag", **{"from": start, "to": end}, **more)

    return drag


CARD, ZONE, KNOB = ({"selector": f"#{id}"} for id in ("card", "zone", "knob"))


async def test_data_is_dragged_and_dropped_by_trusted_events(page: Page) -> None:
    drag, look = page
    done = await drag(CARD, ZONE)
    assert (done["effect"], done["trusted"]) == ({"mutated": True}, True)
    assert await look("log") == ["dragstart true", "drop true", "dragend copy"]
    assert await look("zone.textContent") == "the card"
    assert (await drag(CARD, {"selector": "#closed"}))["effect"] == {"mutated": False}
    assert await look("log.slice(3)") == ["dragstart true", "dragend none"]


async def test_a_knob_is_dragged_from_element_to_point_and_from_point_to_point(page: Page) -> None:
    drag, look = page
    await drag(KNOB, {"x": 500, "y": 35})
    assert await look("knob.style.left") == "485px"
    await drag({"x": 500, "y": 35}, {"x": 400, "y": 35})
    assert await look("[knob.style.left, log]") == [
        "385px",
        ["pointerup true 500", "pointerup true 400"],
    ]


async def test_the_result_names_the_dragged_element_and_its_target(
    agent: Agent, page: Page
) -> None:
    text = await agent.text("browser_drag", **{"from": KNOB, "to": {"x": 420.5, "y": 35}})
    assert text == "Dragged #knob to (420.5, 35). The page changed."


async def test_both_ends_of_a_drag_are_scrolled_into_view_together(page: Page) -> None:
    drag, look = page
    await look("card.style.marginTop = '2000px'; zone.style.marginTop = '250px'; 1")
    await drag(CARD, ZONE)
    assert await look("zone.textContent") == "the card"


async def test_an_impossible_drag_is_refused_and_no_button_is_pressed(page: Page) -> None:
    drag, look = page
    await look("addEventListener('pointerdown', () => log.push('pressed')); 1")
    for start, end, reason in (
        (CARD, {"selector": "#far"}, "not_visible"),
        ({"selector": "#none"}, ZONE, "element_not_found"),
        ({"ref": "ref_99999"}, ZONE, "stale_ref"),
        (CARD, {}, "invalid_arguments"),
        (CARD, {"x": 1}, "invalid_arguments"),
        (CARD, {**ZONE, "ref": "ref_1"}, "invalid_arguments"),
        (CARD, {"x": 9999, "y": 1}, "not_visible"),
    ):
        with pytest.raises(ToolFailed) as failed:
            await drag(start, end)
        assert failed.value.reason == reason
    assert await look("log") == []


async def test_a_shape_without_fill_is_a_drop_target(
    agent: Agent, opened: Opener, in_page: Callable[[str], Awaitable[Any]], site: Site
) -> None:
    await opened(
        html(
            site,
            "<svg width=300 height=200 onmouseup='document.title = [event.x, event.y]'>"
            "<circle id=dot cx=30 cy=30 r=10 /><rect id=box x=100 y=50 width=100 height=100 "
            "fill=none stroke=black /></svg><style>body { margin: 0 }</style>",
        )
    )
    await dragging(agent)({"selector": "#dot"}, {"selector": "#box"})
    assert await in_page("document.title") == "150,100"
