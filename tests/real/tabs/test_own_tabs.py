"""Agents in tabs of their own, side by side in one real browser."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.mcp.clients import connect
from tests.support.agent import Agent
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("TH-23")
async def test_two_agents_type_at_once_in_background_tabs_and_focus_never_moves(
    tmp_path: Path, site: Site
) -> None:
    words = {name: f"{name} writes. " * 40 for name in ("ann", "bob")}
    async with rig(tmp_path, {}) as here:
        target = await here.cdp.open(site.page("form"))
        await here.cdp.send("Target.activateTarget", targetId=target)
        loaded = f"document.readyState === 'complete' && location.href === '{site.page('form')}'"
        await eventually(lambda: here.cdp.evaluate(target, loaded))
        watch = (
            "globalThis.moved = 0;"
            "for (const kind of ['blur', 'focus', 'visibilitychange'])"
            "  addEventListener(kind, () => moved++, true)"
        )
        await here.cdp.evaluate(target, watch)
        async with here.agent("ann") as ann, here.agent("bob") as bob:

            async def write(name: str, agent: Agent) -> int:
                url = f"{site.url}/html?body=<textarea id=name></textarea>"
                tab: int = (await agent.call("browser_open_tab", url=url))["tabId"]
                for end in range(10, len(words[name]) + 10, 10):
                    text = words[name][end - 10 : end]
                    await agent.call(
                        "browser_type_text", selector="#name", text=text, clear=end == 10
                    )
                return tab

            tabs = await asyncio.gather(write("ann", ann), write("bob", bob))
            for name, agent, tab in (("ann", ann, tabs[0]), ("bob", bob, tabs[1])):
                code = "[document.querySelector('#name').value, document.visibilityState]"
                (written, _) = (await agent.call("browser_execute_script", code=code, tabId=tab))[
                    "value"
                ]
                assert written == words[name]
            listed = {tab["tabId"]: tab for tab in (await ann.call("browser_list_tabs"))["tabs"]}
            assert [listed[tab]["active"] for tab in tabs] == [False, False]
            assert listed[tabs[0]]["groupId"] != listed[tabs[1]]["groupId"]
            assert [listed[tab]["owner"] for tab in tabs] == ["ann", "bob"]
        assert await here.cdp.evaluate(target, "[moved, document.visibilityState]") == [
            0,
            "visible",
        ]


@pytest.mark.requirement("TH-23")
async def test_a_popup_belongs_to_its_opener_and_all_tabs_close_with_the_session(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.http(here.product.secret) as http:
        ann, bob = await connect(http), await connect(http)
        opened = (await ann.call("browser_open_tab", url=site.page("form"))).json()["result"]
        tab = opened["structuredContent"]["tabId"]
        for how in (
            "window.open(location.href)",
            "window.open(location.href, '_blank', 'noopener')",
        ):
            await ann.call("browser_execute_script", code=f"{how}; 1")
        await ann.call("browser_execute_script", code="new Promise(r => setTimeout(r, 300))")
        listed = (await bob.call("browser_list_tabs")).json()["result"]["structuredContent"]
        owners = [tab.get("owner") for tab in listed["tabs"] if tab["url"] == site.page("form")]
        assert owners == ["test (main)"] * 3
        groups = {tab.get("groupId") for tab in listed["tabs"] if tab.get("owner")}
        assert len(groups) == 1 and None not in groups
        foreign = (await bob.call("browser_read_page", tabId=tab)).json()["result"]
        assert foreign["structuredContent"]["error"]["reason"] == "foreign_tab"
        assert "'test (main)'" in foreign["content"][0]["text"]
        await ann.end()
        await eventually(
            lambda: bob.call("browser_list_tabs"),
            until=lambda listed: site.page("form") not in listed.text,
        )


async def test_a_session_finds_its_tabs_after_the_server_was_restarted(
    tmp_path: Path, site: Site
) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        with product.running("browser", "--headless"):
            connected = product.wait_browser()["browsers"][0]["connectedAt"]
            async with product.client(port) as http:
                ann = await connect(http)
                answer = await ann.call("browser_open_tab", url=site.page("form"))
                tab = answer.json()["result"]["structuredContent"]["tabId"]
                assert product.run("stop").returncode == 0
                with product.running("start", "--port", str(port)):
                    product.wait_browser(after=connected)
                    code = "document.title"
                    ran = (await ann.call("browser_execute_script", code=code)).json()["result"]
                    assert not ran.get("isError"), ran
                    other = await connect(http)
                    refused = await other.call("browser_read_page", tabId=tab)
                    error = refused.json()["result"]["structuredContent"]["error"]
                    assert error["reason"] == "foreign_tab"
