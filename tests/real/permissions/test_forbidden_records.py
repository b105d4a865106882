"""Recordings and files of a page leave out the responses of blocked sites."""

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
async def blocked(tmp_path: Path, site: Site) -> AsyncIterator[Rig]:
    forbidden = site.other.removeprefix("http://")
    async with rig(tmp_path, {"permissions": {"domains": {forbidden: "off"}}}) as here:
        yield here


async def everything(agent: Agent) -> str:
    """All results that read recordings of the current tab."""
    listed = await agent.call("browser_get_network_requests")
    results: list[Any] = [listed]
    for request in listed["requests"]:
        arguments = {"requestId": request["requestId"], "body": True}
        results.append(await agent.result("browser_get_network_requests", **arguments))
    results.append(await agent.result("browser_export_har", includeBodies=True))
    results.append(await agent.result("browser_get_console_logs"))
    results.append(await agent.result("browser_get_websocket_frames"))
    resources = await agent.call("browser_list_resources")
    results.append(resources)
    files = (resource["url"] for resource in resources["resources"])
    results += [await agent.result("browser_get_resource_content", url=url) for url in files]
    return json.dumps(results)


async def test_no_recording_shows_the_response_of_a_blocked_site_to_an_allowed_page(
    blocked: Rig, site: Site
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
    async with blocked.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        await agent.call("browser_execute_script", code=f"await Promise.all([{','.join(fetches)}])")
        results = await everything(agent)
    assert "var near = 'open'" in results
    assert "secret" not in results
    # The page requested the address and may know it; messages of the browser must not contain it.
    assert hidden not in results
    assert "is not defined" not in results


async def test_the_target_of_an_unrecorded_redirect_is_left_out(blocked: Rig, site: Site) -> None:
    far = redirected(site, answer(site.other, "var far = 'secret'"))
    near = answer(site.url, "var near = 'open'")
    body = f'<script src="{far}"></script><script src="{near}"></script>'
    async with blocked.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        await agent.call("browser_disable_network_capture")
        for url in (far, near):
            result = await agent.result("browser_get_resource_content", url=url)
            assert result["structuredContent"]["error"]["reason"] == "not_found"


async def test_a_filter_does_not_attribute_a_blocked_response_to_an_allowed_address(
    blocked: Rig, site: Site
) -> None:
    back = f"{site.other}/redirect?to={quote(f'{site.url}/form.html?hidden')}"
    async with blocked.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        await agent.call("browser_enable_network_capture", urlFilter=f"{site.url}/redirect")
        code = f"await fetch('{redirected(site, back)}', {{mode: 'no-cors'}}); 1"
        await agent.call("browser_execute_script", code=code)
        assert (await agent.call("browser_get_network_requests"))["requests"] == []
