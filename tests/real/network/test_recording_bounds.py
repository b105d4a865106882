"""Which tabs are recorded, which clients may read the recordings, and how large they get."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.browsers.panel import panel_of
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Json = dict[str, Any]
LOUD = "<title>loud</title><script>console.log('said while loading')</script>"


def loud(origin: str) -> str:
    return f"{origin}/html?body={quote(LOUD)}"


async def is_debugged(here: Rig, url: str) -> bool:
    """Whether the browser lists the extension's debugger on the tab."""
    code = (
        "chrome.debugger.getTargets().then((all) => all.some("
        f"({{ url, attached }}) => url === {url!r} && attached))"
    )
    found: bool = await here.cdp.in_worker(code)
    return found


async def is_held(here: Rig, tab: int) -> bool:
    """Whether the extension holds its debugger on the tab."""
    code = (
        "chrome.storage.session.get('holds').then(({ holds }) => "
        f"(holds ?? []).some(([id]) => id === {tab}))"
    )
    found: bool = await here.cdp.in_worker(code)
    return found


async def persons_tab(here: Rig, agent: Agent, url: str) -> int:
    await here.cdp.open(url)
    tabs: list[Json] = []

    async def is_listed() -> bool:
        listed = (await agent.call("browser_list_tabs"))["tabs"]
        tabs[:] = [tab for tab in listed if tab["url"] == url and tab["title"] == "loud"]
        return bool(tabs)

    await eventually(is_listed)
    tab: int = tabs[0]["tabId"]
    return tab


async def test_a_persons_tab_is_recorded_from_the_first_use_until_it_is_no_longer_shared(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        url = loud(site.url)
        tab = await persons_tab(here, agent, url)
        async with panel_of(here.cdp) as panel:
            await panel.view("tabs")
            await panel.click("#this-tab button[data-action=share]")
            await panel.text("#this-tab button[data-action=unshare]")
            assert not await is_debugged(here, url)
            earlier = (await agent.call("browser_get_network_requests", tabId=tab))["requests"]
            assert earlier[0]["url"] == url and earlier[0]["fromTiming"]
            assert earlier[0]["status"] == 200 and earlier[0]["type"] == "document"
            logs = (await agent.call("browser_get_console_logs", tabId=tab))["entries"]
            assert "said while loading" in [entry["text"] for entry in logs]
            code = "await fetch('/form.html'); 1"
            await agent.call("browser_execute_script", tabId=tab, code=code)
            requests = (await agent.call("browser_get_network_requests", tabId=tab))["requests"]
            fetched = next(
                request for request in requests if request["url"] == f"{site.url}/form.html"
            )
            assert fetched["method"] == "GET" and "fromTiming" not in fetched
            arguments = {"tabId": tab, "requestId": earlier[0]["requestId"], "body": True}
            (request,) = (await agent.call("browser_get_network_requests", **arguments))["requests"]
            assert request["body"] == {"unavailable": "it was over before recording began"}

            await panel.click("#this-tab button[data-action=unshare]")
            await panel.text("#this-tab button[data-action=share]")
            await panel.click("#this-tab button[data-action=share]")
            await panel.text("#this-tab button[data-action=unshare]")
            again = await agent.call("browser_get_network_requests", tabId=tab)
            assert again["began"] > fetched["started"]
            assert all(request["fromTiming"] for request in again["requests"])


async def test_taking_back_a_tab_deletes_its_recording(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        url = loud(site.url)
        tab = (await agent.call("browser_open_tab", url=url))["tabId"]
        assert await is_debugged(here, url) and await is_held(here, tab)
        async with panel_of(here.cdp) as panel:
            await panel.view("tabs")
            await panel.click(f"li[data-tab='{tab}'] button[data-action=take-back]")
            await panel.text(f"li[data-tab='{tab}'] button[data-action=share]")
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_get_network_requests", tabId=tab)
        assert failed.value.reason == "foreign_tab"

        async def is_detached() -> bool:
            return not await is_held(here, tab)

        await eventually(is_detached)


async def test_entries_of_documents_on_unreadable_sites_are_left_out(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    inner = f"<script>console.log('from inside'); fetch('{site.other}/form.html?inside')</script>"
    body = (
        f'<iframe src="{site.other}/html?body={quote(inner)}"></iframe>'
        f"<img src='{site.other}/form.html?own'><script>console.log('from the page')</script>"
    )
    config = {"permissions": {"domains": {forbidden: "off"}}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(body)}")

        calls: tuple[tuple[str, Json], ...] = (
            ("browser_get_network_requests", {}),
            ("browser_get_console_logs", {}),
            ("browser_list_resources", {}),
            ("browser_export_har", {}),
        )

        async def recordings() -> str:
            return "".join([str(await agent.result(tool, **more)) for tool, more in calls])

        async def shows_the_page() -> bool:
            return "from the page" in (text := await recordings()) and "form.html?own" in text

        await eventually(shows_the_page)
        here.product.run("permissions", "set", forbidden, "auto")

        async def shows_the_frame() -> bool:
            return "from inside" in (text := await recordings()) and "form.html?inside" in text

        await eventually(shows_the_frame)
        here.product.run("permissions", "set", forbidden, "off")
        assert await shows_the_page()
        assert "from inside" not in (text := await recordings()) and "form.html?inside" not in text


async def test_recordings_have_the_sizes_in_the_settings_and_drop_the_oldest_entries(
    tmp_path: Path, site: Site
) -> None:
    config = {"recording": {"consoleEntries": 3, "networkEntries": 2}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        code = (
            "for (let i = 0; i < 9; i++) console.log('line ' + i);"
            "for (const n of [1, 2, 3]) await (await fetch('/form.html?n=' + n)).text(); 1"
        )
        await agent.call("browser_execute_script", code=code)
        logs = (await agent.call("browser_get_console_logs"))["entries"]
        assert [entry["text"] for entry in logs] == ["line 6", "line 7", "line 8"]
        found = (await agent.call("browser_get_network_requests"))["requests"]
        assert [request["url"][-1] for request in found] == ["2", "3"]
        assert "older ones were dropped" in await agent.text("browser_get_network_requests")


async def test_with_sizes_of_zero_recording_begins_with_a_capture(
    tmp_path: Path, site: Site
) -> None:
    config = {"recording": {"consoleEntries": 0, "networkEntries": 0}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        url = loud(site.url)
        await agent.call("browser_open_tab", url=url)
        assert not await is_debugged(here, url)
        await agent.call("browser_read_page")
        assert not await is_debugged(here, url)
        for tool in ("browser_get_network_requests", "browser_get_console_logs"):
            with pytest.raises(ToolFailed) as failed:
                await agent.call(tool)
            assert failed.value.reason == "not_found"
            assert "browser_enable_network_capture" in failed.value.message
        await agent.call("browser_enable_network_capture", maxRequests=10, maxConsoleLogs=10)
        code = "console.log('wanted'); await fetch('/form.html'); 1"
        await agent.call("browser_execute_script", code=code)
        logs = (await agent.call("browser_get_console_logs"))["entries"]
        assert [entry["text"] for entry in logs] == ["wanted"]
        found = (await agent.call("browser_get_network_requests"))["requests"]
        assert [request["url"] for request in found] == [f"{site.url}/form.html"]


async def test_recording_stops_in_a_tab_that_the_person_has_left(
    tmp_path: Path, site: Site
) -> None:
    more = "--share-active-tab"
    async with rig(tmp_path, {}, more) as here, here.agent("robot") as agent:
        url = loud(site.url)
        tab = await persons_tab(here, agent, url)
        await here.cdp.send("Target.activateTarget", targetId=await here.cdp.page(url))

        async def is_read() -> bool:
            result = await agent.result("browser_get_network_requests", tabId=tab)
            return not result.get("isError")

        await eventually(is_read)
        assert await is_held(here, tab)
        elsewhere = await here.cdp.open("about:blank")
        await here.cdp.send("Target.activateTarget", targetId=elsewhere)

        async def is_detached() -> bool:
            return not await is_held(here, tab)

        await eventually(is_detached)
