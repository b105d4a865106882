"""The mouse by coordinates of the latest screenshot, in real pages."""

from typing import Any

import pytest

from tests.real.claude_calls import Json, Seen, computer, pictures, seen_by, texts
from tests.real.conftest import Opener
from tests.real.looking import html, ref
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.browsers.pictures import is_near, look
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]
RED = (255, 0, 0)
ONE, OFF, LINK, ASKS = [70, 40], [190, 40], [310, 40], [430, 40]


@pytest.fixture
async def points(agent: Agent, opened: Opener, cdp: Cdp, site: Site) -> Seen:
    """A page with elements at known positions, after a screenshot of it."""
    await opened(site.page("points"))
    await computer(agent, "screenshot")
    return seen_by(cdp, site.page("points"))


@pytest.mark.document("CB-tools-2")
@pytest.mark.parametrize(
    ("action", "events"),
    [
        ("left_click", ["click one 1 true"]),
        ("double_click", ["click one 1 true", "click one 2 true", "dblclick one 2 true"]),
        ("right_click", ["contextmenu one 0 true", "auxclick one 1 true"]),
    ],
)
async def test_clicks_at_a_point_are_trusted_and_reach_the_element_at_the_point(
    agent: Agent, points: Seen, action: str, events: list[str]
) -> None:
    result = await agent.result("computer", action=action, coordinate=ONE)
    assert "at (70, 40)" in texts(result)[0]
    assert result["structuredContent"]["trusted"] is True
    assert sorted(await points("log")) == sorted(events)


async def test_a_triple_click_selects_a_paragraph(agent: Agent, points: Seen) -> None:
    await computer(agent, "triple_click", coordinate=[60, 110])
    assert (await points("getSelection().toString()")).strip() == "Some words to choose from"


async def test_clicks_carry_their_modifiers(agent: Agent, points: Seen) -> None:
    await computer(agent, "left_click", coordinate=ONE, modifiers="ctrl+shift")
    await computer(agent, "left_click", coordinate=ONE, modifiers="cmd")
    assert await points("log") == [
        "click one 1 true ctrlKey+shiftKey",
        "click one 1 true metaKey",
    ]
    wrong = await failure(agent, "computer", action="left_click", coordinate=ONE, modifiers="hyper")
    assert wrong.reason == "invalid_arguments"


async def test_a_click_by_ref_goes_to_the_element(agent: Agent, points: Seen) -> None:
    low = ref(await agent.text("read_page"), "Low")
    result = await agent.result("computer", action="left_click", ref=low)
    assert f"on element {low}" in texts(result)[0]
    assert await points("log") == ["click low 1 true"]


async def test_a_click_on_a_link_at_a_point_waits_for_the_page(
    agent: Agent, points: Seen, site: Site
) -> None:
    effect = (await computer(agent, "left_click", coordinate=LINK))["effect"]
    assert effect["navigated"] == site.page("form")


async def test_a_click_at_a_point_reports_the_dialog_it_opens_and_does_not_hang(
    agent: Agent, points: Seen
) -> None:
    effect = (await computer(agent, "left_click", coordinate=ASKS))["effect"]
    assert effect["dialog"]["message"] == "Sure?"
    for action in ("left_click", "hover"):
        failed = await failure(agent, "computer", action=action, coordinate=ONE)
        assert failed.reason == "dialog_open"
    assert (await failure(agent, "computer", action="screenshot")).reason == "dialog_open"
    await agent.call("browser_handle_dialog", action="accept")
    assert await points("answer") is True


async def test_a_disabled_element_is_not_clicked_but_can_be_hovered(
    agent: Agent, points: Seen
) -> None:
    failed = await failure(agent, "computer", action="left_click", coordinate=OFF)
    assert failed.reason == "disabled"
    assert await points("log") == []
    await computer(agent, "hover", coordinate=OFF)
    await computer(agent, "hover", coordinate=ONE)
    assert await points("over") == "one"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"action": "left_click"}, "left_click needs coordinate or ref"),
        ({"action": "left_click", "coordinate": ONE, "ref": "ref_1"}, "one of the two"),
        ({"action": "hover"}, "hover needs coordinate or ref"),
        ({"action": "scroll", "coordinate": ONE}, "scroll needs scroll_direction"),
        ({"action": "scroll", "scroll_direction": "up"}, "scroll needs coordinate or ref"),
        ({"action": "scroll_to"}, "scroll_to needs ref"),
        ({"action": "left_click_drag", "coordinate": ONE}, "needs start_coordinate"),
        ({"action": "left_click_drag", "start_coordinate": ONE}, "needs coordinate"),
        ({"action": "zoom"}, "zoom needs region"),
        ({"action": "type"}, "type needs text"),
        ({"action": "key"}, "key needs text"),
        ({"action": "wait"}, "wait needs duration"),
        ({"action": "wait", "duration": 31}, "duration"),
        ({"action": "key", "text": "a", "repeat": 101}, "repeat"),
        ({"action": "scroll", "coordinate": ONE, "scroll_direction": "away"}, "scroll_direction"),
        ({"action": "left_click", "coordinate": [1]}, "coordinate"),
        ({"action": "screenshot", "scale": 2}, "scale"),
        ({"action": "dance"}, "action"),
        ({}, "action"),
    ],
)
async def test_missing_or_invalid_arguments_are_named_and_have_no_effect(
    agent: Agent, points: Seen, arguments: Json, named: str
) -> None:
    failed = await failure(agent, "computer", **arguments)
    assert failed.reason == "invalid_arguments"
    assert named in failed.message
    assert await points("log") == []


async def test_without_a_screenshot_a_coordinate_is_refused_and_not_guessed(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("points"))
    for action in ("left_click", "hover"):
        failed = await failure(agent, "computer", action=action, coordinate=ONE)
        assert failed.reason == "invalid_arguments" and "screenshot" in failed.message
    failed = await failure(agent, "computer", action="zoom", region=[0, 0, 10, 10])
    assert "screenshot" in failed.message
    assert await seen_by(cdp, site.page("points"))("[log, over]") == [[], ""]


async def test_a_point_outside_the_frame_is_refused_and_one_close_to_it_is_the_edge(
    agent: Agent, points: Seen
) -> None:
    width, height = await points("[innerWidth, innerHeight]")
    failed = await failure(agent, "computer", action="left_click", coordinate=[width + 3, 10])
    assert failed.reason == "invalid_arguments"
    assert f"({width + 3}, 10)" in failed.message and f"{width}x{height}" in failed.message
    await computer(agent, "left_click", coordinate=[-2, height + 2])
    assert await points("log.length") == 1


async def test_coordinates_of_a_scaled_picture_are_those_of_the_full_frame(
    agent: Agent, points: Seen, cdp: Cdp
) -> None:
    result = await agent.result("computer", action="screenshot", scale=0.5)
    width, height = await points("[innerWidth, innerHeight]")
    seen = await look(cdp, pictures(result)[0], [(155, 90)])
    # Halves are rounded up.
    assert (seen.width, seen.height) == ((width + 1) // 2, (height + 1) // 2)
    assert is_near(seen.colors[0], RED, 40)
    assert f"{width}x{height}" in texts(result)[0]
    await computer(agent, "left_click", coordinate=ONE)
    assert await points("log") == ["click one 1 true"]


async def test_a_zoom_shows_a_part_larger_and_leaves_the_frame_as_it_was(
    agent: Agent, points: Seen, cdp: Cdp
) -> None:
    result = await agent.result("computer", action="zoom", region=[260, 160, 360, 200])
    seen = await look(cdp, pictures(result)[0], [(2, 2), (397, 157)])
    assert (seen.width, seen.height) == (400, 160)
    assert all(is_near(color, RED, 40) for color in seen.colors)
    await computer(agent, "left_click", coordinate=ONE)
    assert await points("log") == ["click one 1 true"]
    for region in ([0, 0, 5000, 10], [10, 10, 10, 50]):
        failed = await failure(agent, "computer", action="zoom", region=region)
        assert failed.reason == "invalid_arguments"


async def test_a_large_viewport_is_shown_smaller_and_its_points_are_scaled_back(
    agent: Agent, points: Seen, cdp: Cdp, site: Site
) -> None:
    target = await cdp.page(site.page("points"))
    session = (await cdp.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    size: Json = {"width": 2400, "height": 1400, "deviceScaleFactor": 1, "mobile": False}
    await cdp.send("Emulation.setDeviceMetricsOverride", session, **size)
    result = await agent.result("computer", action="screenshot")
    picture = await look(cdp, pictures(result)[0], [(int(310 * 1568 / 2400), 120)])
    assert (picture.width, picture.height) == (1568, 915)
    assert is_near(picture.colors[0], RED, 40)
    assert result["structuredContent"]["frame"] == {"width": 1568, "height": 915}
    await computer(agent, "left_click", coordinate=[70 * 1568 / 2400, 40 * 1568 / 2400])
    assert await points("[innerWidth, log]") == [2400, ["click one 1 true"]]


async def test_points_are_correct_in_a_zoomed_page(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("points"))
    worker, seen = await cdp.worker(), seen_by(cdp, site.page("points"))
    for zoom in (1.5, 0.5):
        await cdp.evaluate(worker, f"chrome.tabs.setZoom({tab}, {zoom})")
        result = await agent.result("computer", action="screenshot")
        picture = await look(cdp, pictures(result)[0], [(310, 180)])
        assert is_near(picture.colors[0], RED, 40)
        assert picture.width == await seen("innerWidth")
        await computer(agent, "left_click", coordinate=ONE)
        await computer(agent, "left_click", ref=ref(await agent.text("read_page"), "One"))
    await cdp.evaluate(worker, f"chrome.tabs.setZoom({tab}, 0)")
    assert await seen("log") == ["click one 1 true"] * 4


async def test_points_of_a_viewport_picture_are_relative_to_the_viewport_after_scrolling(
    agent: Agent, points: Seen
) -> None:
    await agent.call("browser_scroll", position={"y": 1480})
    await computer(agent, "left_click", coordinate=ONE)
    assert await points("log") == ["click low 1 true"]


async def test_points_of_a_full_page_picture_are_relative_to_the_page_if_in_view(
    agent: Agent, points: Seen
) -> None:
    await agent.call("browser_screenshot_tab", fullPage=True)
    low = [70, 1520]
    failed = await failure(agent, "computer", action="left_click", coordinate=low)
    assert failed.reason == "not_visible"
    await agent.call("browser_scroll", position={"y": 1400})
    await computer(agent, "left_click", coordinate=low)
    await agent.call("browser_screenshot_tab", selector="#low", scale=2)
    await computer(agent, "left_click", coordinate=[100, 40])
    assert await points("log") == ["click low 1 true", "click low 1 true"]


FRAMED = (
    "Array.from(document.querySelectorAll('iframe'), (f) => f.getBoundingClientRect().toJSON())"
)


@pytest.mark.parametrize("name", ["near", "far", "deep", "shadowed"])
async def test_a_point_in_a_frame_reaches_the_element_in_the_frame(
    agent: Agent, opened: Opener, site: Site, name: str
) -> None:
    await opened(site.page("frames"))
    button = ref(await agent.text("read_page"), f"Press {name}")
    await agent.call("computer", action="scroll_to", ref=button)
    box = (await agent.call("browser_screenshot_tab", ref=button))["region"]
    view = (await computer(agent, "screenshot"))["region"]
    x = box["x"] - view["x"] + box["width"] / 2
    y = box["y"] - view["y"] + box["height"] / 2
    result = await computer(agent, "left_click", coordinate=[x, y])
    assert result["trusted"] is True
    await computer(agent, "hover", coordinate=[x, y])
    assert f"{name} was pressed true" in await agent.text("read_page")


async def test_a_point_in_a_frame_of_a_forbidden_site_is_refused_and_nothing_is_pressed(
    tmp_path: Any, site: Site
) -> None:
    """The screenshot was taken before the site was forbidden."""
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("navigate", url=site.page("frames"))
        button = ref(await agent.text("read_page"), "Press far")
        box = (await agent.call("browser_screenshot_tab", ref=button))["region"]
        view = (await computer(agent, "screenshot"))["region"]
        point = [box["x"] - view["x"] + 20, box["y"] - view["y"] + 10]
        forbidden = site.other.removeprefix("http://")
        here.product.run("permissions", "set", forbidden, "off")
        for more in ({"action": "left_click"}, {"action": "scroll", "scroll_direction": "down"}):
            failed = await failure(agent, "computer", coordinate=point, **more)
            assert failed.reason == "permission_off"
        dragged = {"start_coordinate": [5, 5], "coordinate": point}
        failed = await failure(agent, "computer", action="left_click_drag", **dragged)
        assert failed.reason == "permission_off"
        here.product.run("permissions", "set", forbidden, "auto")
        assert "Press far" in await agent.text("read_page")


async def test_a_knob_is_dragged_from_point_to_point(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("drag"))
    await computer(agent, "screenshot")
    await computer(agent, "left_click_drag", start_coordinate=[315, 35], coordinate=[500, 35])
    await computer(agent, "left_click_drag", startCoordinate=[40, 20], endCoordinate=[60, 90])
    seen = seen_by(cdp, site.page("drag"))
    assert await seen("[knob.style.left, zone.textContent]") == ["485px", "the card"]


@pytest.mark.parametrize("of", ["url", "other"])
async def test_an_element_is_dragged_within_its_frame(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, of: str
) -> None:
    inner = f"{getattr(site, of)}/drag.html"
    frame = (
        f"<iframe src={inner} style='position:fixed;left:50px;top:30px;width:700px;height:380px'>"
    )
    await opened(html(site, frame))
    await computer(agent, "screenshot")
    await computer(agent, "left_click_drag", start_coordinate=[367, 67], coordinate=[552, 67])
    await computer(agent, "left_click_drag", start_coordinate=[92, 52], coordinate=[112, 122])
    page = await agent.text("read_page")
    assert "the card" in page
    seen = await agent.call("browser_query_elements", selector="#knob", attributes=["style"])
    assert seen["elements"][0]["attributes"]["style"] == "left: 485px;"


async def test_the_wheel_scrolls_the_element_under_it_and_returns_a_fresh_picture(
    agent: Agent, points: Seen, cdp: Cdp
) -> None:
    places = "[document.querySelector('#box').scrollTop, scrollY]"
    box: Json = {"coordinate": [600, 150], "scroll_direction": "down"}
    result = await agent.result("computer", action="scroll", **box)
    assert await points(places) == [300, 0]
    assert "(0, 300)" in texts(result)[0] and len(pictures(result)) == 1
    await computer(agent, "scroll", **box, scroll_amount=10)
    assert (await points(places))[0] == 480
    await computer(agent, "scroll", coordinate=[300, 300], scroll_direction="down", scroll_amount=5)
    assert (await points(places))[1] == 500
    moved = await computer(agent, "scroll", coordinate=[300, 300], direction="up")
    assert moved["effect"]["position"]["y"] == 200
    await computer(agent, "left_click", coordinate=[300, 100])
    assert moved["screenshot"]["region"]["y"] == 200


async def test_a_page_with_its_own_scrolling_handles_the_wheel(agent: Agent, points: Seen) -> None:
    result = await computer(
        agent, "scroll", coordinate=[600, 270], scroll_direction="right", scroll_amount=1
    )
    assert await points("map.textContent") == "wheel 100 0 true"
    assert (result["effect"]["moved"], result["effect"]["mutated"]) == (False, True)


async def test_the_wheel_in_a_frame_that_does_not_scroll_scrolls_the_page_around_it(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = site.page("frames") + "?wheel"
    await opened(url)
    seen = seen_by(cdp, url)
    await seen("document.body.style.height = '4000px'")
    await computer(agent, "screenshot")
    x, y = await seen(
        "(() => { const r = document.querySelector('iframe').getBoundingClientRect();"
        " return [r.x + 40, r.y + 100]; })()"
    )
    result = await computer(agent, "scroll", coordinate=[x, y], scroll_direction="down")
    assert result["effect"]["moved"] is True
    assert await seen("scrollY") == result["effect"]["position"]["y"] == 300


async def test_an_element_is_scrolled_into_view_and_around(agent: Agent, points: Seen) -> None:
    page = await agent.text("read_page")
    await computer(agent, "scroll_to", ref=ref(page, "Low"))
    assert await points("scrollY") > 1000
    before = await points("scrollY")
    await computer(agent, "scroll", ref=ref(page, "Low"), scroll_direction="up", scroll_amount=2)
    assert await points("scrollY") == before - 200
    failed = await failure(agent, "computer", action="scroll_to", ref="ref_99999")
    assert failed.reason == "stale_ref"
