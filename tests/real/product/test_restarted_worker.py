"""A restarted worker knows the frames in other processes, and misses no event of the restart."""

from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.network.intercepting import START, STOP, answer, ask, paused
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-25")]
CALM = "matchMedia('(prefers-reduced-motion: reduce)').matches"
REDUCED = [{"name": "prefers-reduced-motion", "value": "reduce"}]


async def restart(agent: Agent, cdp: Cdp, tab: int) -> None:
    """Kill the worker, and wait until the next one answers."""
    old = await cdp.worker()
    await cdp.kill_worker()
    await eventually(cdp.worker, until=lambda found: found != old)
    await eventually(
        lambda: agent.result("browser_get_tab_info", tabId=tab),
        until=lambda found: not found.get("isError"),
    )


def framed(site: Site, inner: str) -> str:
    return html(site, f"<iframe src='{inner}'></iframe>")


async def test_emulation_is_cleared_in_frames_of_other_processes_too(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=calm"
    tab = await opened(framed(site, inner))
    await agent.call("browser_set_media_features", features=REDUCED, tabId=tab)
    frame = await cdp.page(inner)
    assert await cdp.evaluate(frame, CALM) is True
    await restart(agent, cdp, tab)
    await agent.call("browser_clear_emulation", tabId=tab)
    assert await cdp.evaluate(frame, CALM) is False


async def test_requests_of_frames_in_other_processes_can_be_held(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=asks"
    tab = await opened(framed(site, inner))
    frame = await cdp.page(inner)
    await restart(agent, cdp, tab)
    await agent.call(START, urlPatterns=["*/html*"], tabId=tab)
    await ask(cdp, frame, "/html?body=deep")
    assert (await paused(agent, tabId=tab))["url"].endswith("deep")
    await agent.call(STOP, tabId=tab)
    assert await answer(cdp, frame) == [200, None, "deep"]


async def urls(agent: Agent, tab: int) -> list[Any]:
    result = await agent.call("browser_get_network_requests", tabId=tab)
    return [request["url"] for request in result["requests"]]


async def test_frames_of_other_processes_are_recorded_when_recording_begins_again(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=asks"
    tab = await opened(framed(site, inner))
    frame = await cdp.page(inner)
    await agent.call("browser_disable_network_capture", tabId=tab)
    await agent.call("browser_enable_network_capture", tabId=tab)
    await ask(cdp, frame, "/html?body=again")
    assert await answer(cdp, frame) == [200, None, "again"]
    assert f"{site.other}/html?body=again" in await urls(agent, tab)


async def test_no_request_escapes_interception_while_the_worker_starts(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    tab = await opened(url)
    page = await cdp.page(url)
    await agent.call(START, urlPatterns=["*secret*"], tabId=tab)
    for number in range(3):
        await cdp.kill_worker()
        # This starts the next worker.
        await ask(cdp, page, f"/html?body=secret{number}")
        await eventually(
            lambda: agent.result("browser_get_tab_info", tabId=tab),
            until=lambda found: not found.get("isError"),
        )
        assert (await paused(agent, tabId=tab))["url"].endswith(f"secret{number}")
        assert await cdp.evaluate(page, "window.answer") is None
        await agent.call(STOP, tabId=tab)
        # Else this answer could come after the next request, and look like its own.
        assert await answer(cdp, page) == [200, None, f"secret{number}"]
        await agent.call(START, urlPatterns=["*secret*"], tabId=tab)
    await agent.call(STOP, tabId=tab)


COLOR = "getComputedStyle(document.querySelector('b')).color"
HELD = """chrome.storage.session.get("holds").then(({ holds }) =>
  holds.flatMap(([tabId, reasons]) => (tabId === %d ? reasons : [])))"""


async def test_features_that_the_next_worker_does_not_restore_end(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "<style>b:hover { color: red }</style><b>hovered</b>")
    tab = await opened(url)
    await agent.call("browser_get_css_coverage", tabId=tab)
    pseudo = {"selector": "b", "pseudoClasses": [":hover"]}
    await agent.call("browser_force_pseudo_state", tabId=tab, **pseudo)
    page = await cdp.page(url)
    assert await cdp.evaluate(page, COLOR) == "rgb(255, 0, 0)"
    await restart(agent, cdp, tab)
    held = await cdp.in_worker(HELD % tab)
    assert "coverage" not in held and "pseudo" not in held
    assert await cdp.evaluate(page, COLOR) == "rgb(0, 0, 0)"


async def test_scripts_that_come_before_a_frames_page_do_not_keep_it_from_being_read(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "<p>around</p>")
    tab = await opened(url)
    page = await cdp.page(url)
    with site.holding():
        # The frame has a blank document, whose global object its page takes over.
        framing = "document.body.append(Object.assign(document.createElement('iframe'), {src}))"
        await cdp.evaluate(page, f"const src = '/held'; {framing}; 1")
        # As after a new load of the extension, the next worker injects its scripts everywhere.
        await cdp.in_worker("chrome.storage.session.remove('injected')")
        await restart(agent, cdp, tab)
        injected = "chrome.storage.session.get('injected').then(({ injected }) => injected)"
        await eventually(lambda: cdp.in_worker(injected), "the scripts are injected")
        assert "around" in await agent.text("browser_read_page", tabId=tab)
    come = "frames[0].document.body?.innerText"
    await eventually(lambda: cdp.evaluate(page, come), until=lambda text: text == "let go")
    assert "let go" in await agent.text("browser_read_page", tabId=tab)
