"""Emulation and throttling in a real browser, as the page itself sees them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.browsers.panel import panel_of
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-40")]
DEVICE = {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True}
AGENT = "Mozilla/5.0 (tabhub test)"
SIZE = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0]"
PLACE = """new Promise((done) => navigator.geolocation.getCurrentPosition(
  ({ coords }) => done([coords.latitude, coords.longitude, coords.accuracy]),
  (error) => done(error.message),
  { timeout: 3000 }))"""
CALM = "matchMedia('(prefers-reduced-motion: reduce)').matches"
PAGE = "<meta name=viewport content='width=device-width'><title>emulated</title>"


async def seen(cdp: Cdp, url: str, code: str) -> Any:
    return await cdp.evaluate(await cdp.page(url), code)


async def test_an_emulated_device_survives_navigations_and_ends_when_cleared(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    first, second = html(site, PAGE), f"{site.other}/html?body=<title>next</title>"
    await opened(first)
    before = await seen(cdp, first, SIZE)
    result = await agent.call("browser_emulate_device", **DEVICE, userAgent=AGENT)
    assert result["emulated"] == {"device": {**DEVICE, "userAgent": AGENT}}
    assert await seen(cdp, first, SIZE) == [390, 844, 3, True]
    await agent.call("browser_navigate_tab", url=second)
    where = await cdp.page((await agent.call("browser_get_tab_info"))["url"])
    assert await cdp.evaluate(where, "[devicePixelRatio, navigator.userAgent]") == [3, AGENT]
    info = await agent.call("browser_get_tab_info")
    assert info["emulated"] == result["emulated"]
    assert (await agent.call("browser_clear_emulation"))["emulated"] == {}
    await agent.call("browser_navigate_tab", url=first)
    assert await seen(cdp, first, SIZE) == before
    assert await seen(cdp, first, "navigator.userAgent") != AGENT


async def test_the_page_gets_the_emulated_position_and_the_permission_to_read_it(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "<title>where</title>")
    await opened(url)
    state = "navigator.permissions.query({name: 'geolocation'}).then((found) => found.state)"
    assert await seen(cdp, url, state) == "prompt"
    result = await agent.call("browser_set_geolocation", latitude=48.2, longitude=16.37, accuracy=5)
    assert result["permission"] == "granted"
    assert await seen(cdp, url, PLACE) == [48.2, 16.37, 5]
    await agent.call("browser_set_geolocation", latitude=-90, longitude=180)
    assert (await seen(cdp, url, PLACE))[:2] == [-90, 180]
    await agent.call("browser_close_tab")
    await opened(url)
    await eventually(lambda: seen(cdp, url, state), until=lambda found: found == "prompt")


async def test_permissions_are_set_in_advance_for_pages_of_the_site(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "<title>asks</title>")
    await opened(url)
    tool = "browser_set_permission"
    for setting, word in (("block", "denied"), ("allow", "granted"), ("ask", "default")):
        result = await agent.call(tool, permission="notifications", setting=setting)
        assert result["state"] == {"default": "needs_person"}.get(word, word)
        assert await seen(cdp, url, "Notification.permission") == word
    assert await reason(agent, tool, permission="tea", setting="allow") == "invalid_arguments"
    await opened("about:blank")
    arguments = {"permission": "camera", "setting": "allow"}
    assert await reason(agent, tool, **arguments) == "invalid_arguments"


async def test_media_features_reach_frames_of_other_processes_too(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=inner"
    url = html(site, f"<iframe src='{inner}'></iframe>")
    await opened(url)
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    await agent.call("browser_set_media_features", features=calm)
    assert await seen(cdp, url, CALM) is True
    assert await seen(cdp, inner, CALM) is True
    await agent.call("browser_navigate_tab", url="reload")
    assert await seen(cdp, inner, CALM) is True
    assert (await agent.call("browser_set_media_features", features=[]))["emulated"] == {}
    assert await seen(cdp, url, CALM) is False and await seen(cdp, inner, CALM) is False


async def test_vision_deficiencies_change_the_picture(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<body style='background: red'>"))

    async def picture() -> str:
        result = await agent.result("browser_screenshot_tab", format="png")
        data: str = next(block["data"] for block in result["content"] if block["type"] == "image")
        return data

    plain = await picture()
    await agent.call("browser_emulate_vision_deficiency", type="achromatopsia")
    assert await picture() != plain
    await agent.call("browser_emulate_vision_deficiency", type="none")
    assert await picture() == plain


FETCHED = "fetch('/html?body=x').then(() => 'ok', () => 'failed')"


async def test_a_tab_is_taken_offline_and_back_and_others_stay_online(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=frame"
    url, other = html(site, f"<iframe src='{inner}'></iframe>"), html(site, "other")
    await opened(other)
    tab = await opened(url)
    result = await agent.call("browser_throttle_network", preset="offline")
    assert result["emulated"]["network"]["offline"] is True
    assert await seen(cdp, url, f"navigator.onLine ? 'online' : {FETCHED}") == "failed"
    assert await seen(cdp, inner, FETCHED) == "failed"
    assert await seen(cdp, other, FETCHED) == "ok"
    gone = await reason(agent, "browser_navigate_tab", url=site.page("form"), tabId=tab)
    assert gone == "navigation_failed"
    assert (await agent.call("browser_clear_network_throttle", tabId=tab))["emulated"] == {}
    await agent.call("browser_navigate_tab", url=url, tabId=tab)
    assert await seen(cdp, url, FETCHED) == "ok"


async def test_throttling_adds_the_requested_latency(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "slow")
    await opened(url)
    result = await agent.call("browser_throttle_network", preset="wifi", latency=700)
    line = {"latency": 700, "downloadThroughput": 3_750_000, "uploadThroughput": 1_875_000}
    assert result["emulated"]["network"] == {"offline": False, **line}
    code = "(async () => { const t = performance.now(); await fetch('/html?body=x');"
    assert await seen(cdp, url, code + "return performance.now() - t > 650; })()") is True
    await agent.call("browser_clear_network_throttle")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_set_geolocation", {"latitude": 91, "longitude": 0}),
        ("browser_set_geolocation", {"latitude": 0, "longitude": -180.5}),
        ("browser_throttle_network", {"preset": "5g"}),
        ("browser_throttle_network", {}),
        ("browser_throttle_network", {"downloadThroughput": 0}),
        ("browser_emulate_device", {"width": 0, "height": 10}),
        ("browser_emulate_device", {"width": 10}),
        ("browser_emulate_device", {"width": 9, "height": 9, "deviceScaleFactor": 5.1}),
        ("browser_emulate_device", {"width": 10_000, "height": 5001}),
        ("browser_emulate_device", {"width": 3000, "height": 3000, "deviceScaleFactor": 3}),
        ("browser_emulate_vision_deficiency", {"type": "hawk"}),
        ("browser_set_media_features", {"features": [{"name": "x"}]}),
        ("browser_emulate_device", {"width": 9, "height": 9, "userAgent": "a\nb"}),
    ],
)
async def test_an_impossible_emulation_is_refused_and_changes_nothing(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, Any]
) -> None:
    await opened(html(site, "as it is"))
    assert await reason(agent, tool, **arguments) == "invalid_arguments"
    assert (await agent.call("browser_get_tab_info"))["emulated"] == {}


async def test_a_page_with_an_open_dialog_is_not_emulated(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<button onclick='alert(1)'>ask</button>"))
    await agent.call("browser_click_element", selector="button")
    assert await reason(agent, "browser_emulate_device", **DEVICE) == "dialog_open"
    await agent.call("browser_handle_dialog", action="accept")


async def test_emulation_survives_a_worker_restart_and_applies_to_later_frames(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=late"
    url = html(site, PAGE)
    tab = await opened(url)
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    await agent.call("browser_set_media_features", features=calm, tabId=tab)
    old = await cdp.worker()
    await cdp.kill_worker()
    await eventually(cdp.worker, until=lambda found: found != old)
    await eventually(
        lambda: agent.result("browser_get_tab_info", tabId=tab),
        until=lambda found: not found.get("isError"),
    )
    assert "media" in (await agent.call("browser_get_tab_info", tabId=tab))["emulated"]
    frame = f"const f = document.createElement('iframe'); f.src = '{inner}';"
    loaded = "new Promise((done) => { f.onload = done; document.body.append(f); })"
    await seen(cdp, url, f"(async () => {{ {frame} await {loaded}; }})()")
    assert await seen(cdp, url, CALM) is True and await seen(cdp, inner, CALM) is True
    assert (await agent.call("browser_clear_emulation", tabId=tab))["emulated"] == {}
    assert await seen(cdp, url, CALM) is False and await seen(cdp, inner, CALM) is False


async def test_concurrent_emulations_all_apply(agent: Agent, opened: Opener, site: Site) -> None:
    tab = await opened(html(site, PAGE))
    for _ in range(10):
        await asyncio.gather(
            agent.call("browser_throttle_network", tabId=tab, preset="wifi"),
            agent.call("browser_set_geolocation", tabId=tab, latitude=1, longitude=2),
            agent.call("browser_emulate_vision_deficiency", tabId=tab, type="achromatopsia"),
        )
        emulated = (await agent.call("browser_get_tab_info", tabId=tab))["emulated"]
        assert set(emulated) == {"network", "geolocation", "vision"}
        await agent.call("browser_clear_emulation", tabId=tab)
        await agent.call("browser_clear_network_throttle", tabId=tab)


async def test_emulation_ends_when_the_person_takes_the_tab_back(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("ann") as ann:
        url = html(site, PAGE)
        tab = (await ann.call("browser_open_tab", url=url))["tabId"]
        before = await seen(here.cdp, url, SIZE)
        await ann.call("browser_emulate_device", **DEVICE)
        assert await seen(here.cdp, url, SIZE) == [390, 844, 3, True]
        async with panel_of(here.cdp) as panel:
            await panel.view("tabs")
            await panel.click(f"li[data-tab='{tab}'] button[data-action=take-back]")
        await eventually(lambda: seen(here.cdp, url, SIZE), until=lambda found: found == before)
