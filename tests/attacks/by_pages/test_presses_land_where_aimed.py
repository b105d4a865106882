"""A press lands on the element it was aimed at, or nowhere."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.attacks.rounds import ROUNDS, at_load, load, long_enough
from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, long_enough]

STYLE = (
    "<style>body{margin:0} button,iframe{position:absolute;left:50px;top:50px;"
    "width:200px;height:80px;border:0}</style>"
)
BUTTON = "<button id=b>Go on</button>"
HIDES = {
    "when the mouse moves": "addEventListener('pointerrawupdate', hide, true)",
    "when the mouse comes": "addEventListener('pointermove', hide, true)",
    "at random times": "setInterval(() => b.hidden = Math.random() < .5, 3)",
    "when it is pressed": "addEventListener('pointerdown', hide, true)",
}
INSIDE = """
<body style=margin:0><button style=width:200px;height:80px>Pay</button><script>
for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
  document.querySelector('button').addEventListener(name, () => document.title += name + ';')
</script>"""
LOST = {"covered_by", "not_visible", "page_may_have_received", "detached"}


def _outside(frame: str, hides: str) -> str:
    script = (
        f"window.pressed = 0; b.onclick = () => pressed++; hide = () => b.hidden = true; {hides}"
    )
    return f"{STYLE}<iframe src='{frame}'></iframe>{BUTTON}<script>{script}</script>"


def _page(address: str, body: str) -> str:
    return f"{address}/html?body={quote(body)}"


async def _inside(here: Rig, frame: str) -> str:
    """What the frame below has received."""
    code = "document.title"
    targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
    [page] = [target["targetId"] for target in targets if target["url"] == frame]
    found: str = await here.cdp.evaluate(page, code)
    return found


@at_load
@pytest.mark.parametrize("hides", HIDES)
async def test_a_page_cannot_lead_a_click_into_a_walled_frame(
    tmp_path: Path, site: Site, hides: str, busy: bool
) -> None:
    walled = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {walled: "off"}}}
    frame = _page(site.other, INSIDE)
    async with rig(tmp_path, config) as here, here.agent("robot") as agent, load(busy):
        await agent.call("browser_open_tab", url=_page(site.url, _outside(frame, HIDES[hides])))
        pressed = 0
        for _ in range(ROUNDS // len(HIDES)):
            await agent.call("browser_execute_script", code="b.hidden = false")
            found = await agent.result("browser_click_element", selector="#b")
            pressed += not found.get("isError")
            assert _reason(found) in {"", *LOST}
        assert await _inside(here, frame) == ""
        clicked = await agent.call("browser_execute_script", code="pressed")
        assert clicked["value"] <= pressed


@at_load
async def test_honest_clicks_are_not_refused(tmp_path: Path, site: Site, busy: bool) -> None:
    """Also beside frames, on elements that move, and in frames."""
    frame = _page(site.other, INSIDE)
    label = "<label id=l><input type=checkbox>box</label>"
    script = "pressed = 0; b.onclick = () => pressed++; b.onpointerenter = () => b.append('.')"
    body = f"<iframe src='{frame}'></iframe><p>{BUTTON}{label}<script>{script}</script>"
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent, load(busy):
        await agent.call("browser_open_tab", url=_page(site.url, body))
        for number in range(ROUNDS):
            await agent.call("browser_click_element", selector="#b")
            if number % 10 == 0:
                await agent.call("browser_click_element", selector="#l")
                await agent.call("browser_click_element", selector="button:not(#b)")
        clicked = await agent.call("browser_execute_script", code="pressed")
        assert clicked["value"] == ROUNDS
        received = (await _inside(here, frame)).split(";")
        assert received.count("click") == len(range(0, ROUNDS, 10))


async def test_points_and_drags_are_aimed_too(tmp_path: Path, site: Site) -> None:
    """Also into a frame that is not walled: it was not meant."""
    frame = _page(site.other, INSIDE)
    page = _page(site.url, _outside(frame, HIDES["when the mouse moves"]))
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page)
        await agent.call("computer", action="screenshot")
        for _ in range(ROUNDS):
            for tool, arguments in _pointed():
                await agent.call("browser_execute_script", code="b.hidden = false")
                found = await agent.result(tool, **arguments)
                assert _reason(found) in {"", *LOST}
        assert await _inside(here, frame) == ""


def _pointed() -> list[tuple[str, dict[str, Any]]]:
    point = {"x": 100, "y": 80}
    return [
        ("computer", {"action": "left_click", "coordinate": [100, 80]}),
        ("browser_drag", {"from": point, "to": {"x": 400, "y": 300}}),
    ]


def _reason(result: dict[str, Any]) -> str:
    reason: str = result["structuredContent"].get("error", {}).get("reason", "")
    return reason


async def test_the_error_says_that_nothing_was_done(tmp_path: Path, site: Site) -> None:
    hides = "addEventListener('pointerrawupdate', () => b.hidden = true)"
    body = f"{STYLE}{BUTTON}<script>{hides}</script>"
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=_page(site.url, body))
        found = await agent.result("browser_click_element", selector="#b")
        error = found["structuredContent"]["error"]
        assert error["reason"] == "covered_by" and error["coveredBy"] == "<body>"
        assert "nothing was done" in found["content"][0]["text"]


async def test_after_a_refused_press_the_keyboard_still_clicks(tmp_path: Path, site: Site) -> None:
    hides = "hide = () => b.hidden = true; addEventListener('pointerrawupdate', hide)"
    script = f"pressed = 0; b.onclick = () => pressed++; {hides}"
    body = f"{STYLE}{BUTTON}<script>{script}</script>"
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=_page(site.url, body))
        found = await agent.result("browser_click_element", selector="#b")
        assert _reason(found) == "covered_by"
        shown = "removeEventListener('pointerrawupdate', hide); b.hidden = false"
        await agent.call("browser_execute_script", code=shown)
        await agent.call("browser_press_key", selector="#b", key="Enter")
        clicked = await agent.call("browser_execute_script", code="pressed")
        assert clicked["value"] == 1
