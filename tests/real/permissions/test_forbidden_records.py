"""Recordings and files of a page: nothing of what a walled site has answered is told."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Json = dict[str, Any]


def answer(origin: str, text: str, kind: str = "text/javascript") -> str:
    return f"{origin}/raw?type={kind}&hex={text.encode().hex()}"


def page(origin: str, body: str) -> str:
    return f"{origin}/html?body={quote(body)}"


def redirected(site: Site, target: str) -> str:
    return f"{site.url}/redirect?to={quote(target)}"


@pytest.fixture
async def walled(tmp_path: Path, site: Site) -> AsyncIterator[Rig]:
    forbidden = site.other.removeprefix("http://")
    async with rig(tmp_path, {"permissions": {"domains": {forbidden: "off"}}}) as here:
        yield here


async def everything(agent: Agent) -> str:
    """All that the recordings of the current tab tell."""
    listed = await agent.call("browser_get_network_requests")
    told: list[Any] = [listed]
    for one in listed["requests"]:
        arguments = {"requestId": one["requestId"], "body": True}
        told.append(await agent.result("browser_get_network_requests", **arguments))
    told.append(await agent.result("browser_export_har", includeBodies=True))
    told.append(await agent.result("browser_get_console_logs"))
    told.append(await agent.result("browser_get_websocket_frames"))
    resources = await agent.call("browser_list_resources")
    told.append(resources)
    files = (one["url"] for one in resources["resources"])
    told += [await agent.result("browser_get_resource_content", url=url) for url in files]
    return json.dumps(told)


async def test_what_a_walled_site_answers_an_allowed_page_is_told_by_no_recording(
    walled: Rig, site: Site
) -> None:
    hidden = f"{site.other}/missing?hidden"
    scripts = [answer(site.other, f"var {name} = 'secret'") for name in ("plain", "far")]
    scripts.append(answer(site.other, "secretword"))
    scripts[1] = redirected(site, redirected(site, scripts[1]))
    urls = [answer(site.other, "secret", "text/plain"), hidden, redirected(site, hidden)]
    fetches = [f"fetch('{url}', {{mode: 'no-cors'}})" for url in urls]
    fetches.append(f"fetch('{redirected(site, hidden)}').catch(() => 0)")
    body = "".join(
        f'<script src="{url}"></script>'
        for url in (*scripts, answer(site.url, "var near = 'open'"))
    )
    async with walled.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        await agent.call("browser_execute_script", code=f"await Promise.all([{','.join(fetches)}])")
        told = await everything(agent)
    assert "var near = 'open'" in told
    assert "secret" not in told
    # Its own address the page may know, as it asked for it; the browser's words may not tell it.
    assert hidden not in told
    assert "is not defined" not in told


async def test_a_redirect_that_was_not_recorded_keeps_what_it_led_to_from_being_told(
    walled: Rig, site: Site
) -> None:
    far = redirected(site, answer(site.other, "var far = 'secret'"))
    near = answer(site.url, "var near = 'open'")
    body = f'<script src="{far}"></script><script src="{near}"></script>'
    async with walled.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        await agent.call("browser_disable_network_capture")
        for url in (far, near):
            result = await agent.result("browser_get_resource_content", url=url)
            assert result["structuredContent"]["error"]["reason"] == "not_found"


async def test_a_filter_does_not_put_what_a_walled_site_answers_to_an_allowed_address(
    walled: Rig, site: Site
) -> None:
    back = f"{site.other}/redirect?to={quote(f'{site.url}/form.html?hidden')}"
    async with walled.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        await agent.call("browser_enable_network_capture", urlFilter=f"{site.url}/redirect")
        code = f"await fetch('{redirected(site, back)}', {{mode: 'no-cors'}}); 1"
        await agent.call("browser_execute_script", code=code)
        assert (await agent.call("browser_get_network_requests"))["requests"] == []
