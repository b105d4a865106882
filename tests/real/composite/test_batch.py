"""Batches in real pages: each action runs once, and none runs after a failure."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import ref, seen_in
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import at_work, rig
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
LOG = "document.querySelector('#log').textContent"


def click(id: str) -> dict[str, Any]:
    return {"name": "browser_click_element", "input": {"selector": f"#{id}"}}


def typed(field: str, text: str) -> dict[str, Any]:
    return {"name": "browser_type_text", "input": {"selector": f"[name={field}]", "text": text}}


async def test_a_form_is_opened_filled_sent_and_read_in_one_batch(
    agent: Agent, product: tuple[Product, int], site: Site
) -> None:
    address = site.page("form") + "?batch"
    result = await agent.result(
        "browser_batch",
        actions=[
            {"name": "browser_open_tab", "input": {"url": address}},
            typed("full", "Ada"),
            typed("mail", "ada@example.com"),
            {"name": "browser_select_option", "input": {"selector": "select", "value": "fr"}},
            {"name": "browser_click_element", "input": {"selector": "button"}},
            {"name": "browser_read_page"},
        ],
    )
    data = result["structuredContent"]
    assert (data["completed"], data["remaining"], len(data["results"])) == (6, 0, 6)
    assert data["results"][0]["tabId"] == data["results"][4]["tabId"]
    texts = [block["text"] for block in result["content"]]
    assert texts[0] == "[browser_open_tab]" and texts[-2] == "[browser_read_page]"
    assert "Thank you" in texts[-1]
    sent = await seen_in(product[0].home, address, "window.sent")
    assert (sent["full"], sent["state"], sent["mail"], sent["country"]) == (
        *("Ada", "Ada", "ada@example.com", "fr"),
    )
    await agent.call("browser_close_tab")


async def test_a_stale_ref_in_the_middle_ends_the_batch(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("targets") + "?stale"
    await opened(address)
    stale = ref(await agent.text("browser_read_page"), "Plain")
    page = await cdp.page(address)
    await cdp.evaluate(page, "document.querySelector('#plain').remove()")
    result = await agent.result(
        "browser_batch",
        actions=[
            click("pointer"),
            {"name": "browser_click_element", "input": {"ref": stale}},
            click("far"),
        ],
    )
    data = result["structuredContent"]
    assert result["isError"] and data["error"]["reason"] in ("stale_ref", "detached")
    assert (data["completed"], data["remaining"], data["failed"]["index"]) == (1, 2, 1)
    assert data["results"][0]["trusted"] is True
    assert "Action 2 (browser_click_element) failed" in result["content"][0]["text"]
    assert await cdp.evaluate(page, LOG) == " pointer:true"


async def test_a_batch_with_an_invalid_action_runs_none(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("targets") + "?fault"
    await opened(address)
    for fault in (
        {"name": "browser_click"},
        {"name": "browser_click_element", "input": {"selector": 7}},
        {"name": "browser_batch", "input": {"actions": [click("plain")]}},
    ):
        result = await agent.result("browser_batch", actions=[click("plain"), fault])
        assert result["isError"] and "action 2" in result["content"][0]["text"]
    assert await cdp.evaluate(await cdp.page(address), LOG) == ""


async def test_the_rest_of_a_cancelled_batch_never_runs(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    """In other products a batch that has timed out goes on in the page."""
    address = site.page("targets") + "?cancel"
    tab = await opened(address)
    slow = "document.title = 'at work'; await new Promise((done) => setTimeout(done, 1000))"
    actions = [
        click("plain"),
        {"name": "browser_execute_script", "input": {"code": slow}},
        click("far"),
    ]
    running = asyncio.create_task(agent.call("browser_batch", actions=actions))
    await at_work(agent, tab)
    running.cancel()
    await asyncio.wait({running})
    # Longer than the wait of the batch: if it had gone on, the rest would have run by now.
    await agent.call("computer", action="wait", duration=2, tabId=tab)
    await agent.call("browser_click_element", selector="#pointer", tabId=tab)
    assert await cdp.evaluate(await cdp.page(address), LOG) == " plain:true pointer:true"


async def test_the_same_operation_id_clicks_once_during_and_after_the_call(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("targets") + "?once"
    await opened(address)
    once = {"tabhub/operationId": "a batch of two clicks"}
    actions = [click("plain"), click("far")]
    batches = [agent.result("browser_batch", once, actions=actions) for _ in range(3)]
    results = await asyncio.gather(*batches)
    results.append(await agent.result("browser_batch", once, actions=actions))
    assert all(result["structuredContent"]["completed"] == 2 for result in results)
    assert await cdp.evaluate(await cdp.page(address), LOG) == " plain:true far:true"


async def test_points_refer_to_the_screenshot_before_the_batch(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("points") + "?batch"
    await opened(address)
    shot = {"name": "computer", "input": {"action": "screenshot"}}
    press = {"name": "computer", "input": {"action": "left_click", "coordinate": [70, 40]}}
    none = await agent.result("browser_batch", actions=[shot, press])
    assert none["structuredContent"]["failed"]["index"] == 1
    whole = {"name": "browser_screenshot_tab", "input": {"fullPage": True, "scale": 0.5}}
    result = await agent.result("browser_batch", actions=[whole, press, shot])
    assert result["structuredContent"]["completed"] == 3
    kinds = [block["type"] for block in result["content"]]
    assert kinds.count("image") == 2
    assert "[computer:left_click]" in [block.get("text") for block in result["content"]]
    assert await cdp.evaluate(await cdp.page(address), "log") == ["click one 1 true"]


async def test_a_batch_of_reads_is_allowed_for_a_client_that_may_only_read(
    agent: Agent, product: tuple[Product, int], opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("targets") + "?reader"
    await opened(address)
    running, port = product
    token = running.run("client", "add", "batch-reader", "--read-only").stdout.strip()
    async with running.client(port) as http:
        http.headers["Authorization"] = f"Bearer {token}"
        reader = Agent(http)
        tabs = {"name": "browser_list_tabs"}
        read = await reader.call("browser_batch", actions=[tabs, {"name": "permissions_check"}])
        assert read["completed"] == 2
        result = await reader.result("browser_batch", actions=[tabs, click("plain")])
        assert result["structuredContent"]["error"]["reason"] == "permission_denied"
        assert "results" not in result["structuredContent"]
    assert await cdp.evaluate(await cdp.page(address), LOG) == ""


async def test_the_rest_of_a_batch_that_timed_out_never_runs(tmp_path: Path, site: Site) -> None:
    """In other products the rest goes on in the page, and a client that retries does it twice."""
    async with rig(tmp_path, {"limits": {"callSeconds": 3}}) as here, here.agent("a") as agent:
        await agent.call("browser_open_tab", url=site.page("targets"))
        endless = {"name": "browser_execute_script", "input": {"code": "for (;;);"}}
        actions = [click("plain"), endless, click("far")]
        result = await agent.result("browser_batch", actions=actions)
        data = result["structuredContent"]
        assert (data["error"]["reason"], data["failed"]["index"]) == ("timeout", 1)
        assert (data["completed"], data["remaining"]) == (1, 2)
        await agent.call("browser_click_element", selector="#pointer")
        log = await here.cdp.evaluate(await here.cdp.page(site.page("targets")), LOG)
        assert log == " plain:true pointer:true"
