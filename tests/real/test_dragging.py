"""Dragging in real pages, by the link's own command: there is no tool for it yet."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tabhub.app import Server
from tabhub.errors import TabhubError
from tests.extension.test_own_browser import browser_with
from tests.support.agent import Agent
from tests.support.serving import SECRET, client, served
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Drag = Callable[..., Awaitable[Any]]
Page = tuple[Drag, Callable[[str], Awaitable[Any]]]


@pytest.fixture
async def page(tmp_path: Path, site: Site) -> AsyncIterator[Page]:
    """How to drag in a page, and how to look into it."""
    async with served() as server:

        def pair(extension: Path) -> None:
            pairing = {"port": server.port, "secret": SECRET, "managed": True}
            (extension / "auth.json").write_text(json.dumps(pairing))

        async with browser_with(tmp_path / "browser", pair), client(server.port) as http:
            await server.app.browsers.wait_for_one()
            agent = Agent(http)
            tab = (await agent.call("browser_open_tab", url=site.page("drag")))["tabId"]

            async def look(code: str) -> Any:
                return (await agent.call("browser_execute_script", code=code))["value"]

            yield dragging(server, tab), look


def dragging(server: Server, tab: int) -> Drag:
    async def drag(start: Any, end: Any, **more: Any) -> Any:
        input = {"from": start, "to": end, **more}
        found = server.app.hub.tabs.get(tab)
        return await server.app.browsers.in_tab(found, "page.drag", input, _no_progress)

    return drag


async def _no_progress(progress: float, total: float | None, message: str | None) -> None:
    return None


CARD, ZONE, KNOB = ({"selector": f"#{id}"} for id in ("card", "zone", "knob"))


async def test_data_is_dragged_and_dropped_by_trusted_events(page: Page) -> None:
    drag, look = page
    assert await drag(CARD, ZONE) == {"effect": {"mutated": True}, "trusted": True}
    assert await look("log") == ["dragstart true", "drop true", "dragend copy"]
    assert await look("zone.textContent") == "the card"
    assert (await drag(CARD, {"selector": "#closed"}))["effect"] == {"mutated": False}
    assert await look("log.slice(3)") == ["dragstart true", "dragend none"]


async def test_a_knob_is_pulled_from_element_to_point_and_from_point_to_point(page: Page) -> None:
    drag, look = page
    await drag(KNOB, {"x": 500, "y": 35})
    assert await look("knob.style.left") == "485px"
    await drag({"x": 500, "y": 35}, {"x": 400, "y": 35})
    assert await look("[knob.style.left, log]") == [
        "385px",
        ["pointerup true 500", "pointerup true 400"],
    ]


async def test_places_that_are_not_in_view_are_brought_there_together(page: Page) -> None:
    drag, look = page
    await look("card.style.marginTop = '2000px'; zone.style.marginTop = '250px'; 1")
    await drag(CARD, ZONE)
    assert await look("zone.textContent") == "the card"


async def test_what_cannot_be_dragged_is_refused_and_nothing_is_pressed(page: Page) -> None:
    drag, look = page
    await look("addEventListener('pointerdown', () => log.push('pressed')); 1")
    for start, end, reason in (
        (CARD, {"selector": "#far"}, "not_visible"),
        ({"selector": "#none"}, ZONE, "element_not_found"),
        (CARD, None, "invalid_arguments"),
        (CARD, {"x": 1}, "invalid_arguments"),
        (CARD, {"x": 9999, "y": 1}, "not_visible"),
    ):
        with pytest.raises(TabhubError) as failed:
            await drag(start, end)
        assert failed.value.reason == reason
    with pytest.raises(TabhubError) as failed:
        await drag(CARD, ZONE, modifiers=["hyper"])
    assert failed.value.reason == "invalid_arguments"
    assert await look("log") == []
