"""plugin_analyze_site on a real page with a login, an API, forms and a strict policy."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


async def opened_orders(agent: Agent, opened: Opener, site: Site) -> int:
    tab = await opened(f"{site.page('orders')}?policy={quote(POLICY)}")
    await eventually(
        lambda: agent.call("browser_get_tab_info", tabId=tab),
        until=lambda info: info["title"] == "Orders are there",
    )
    return tab


def call_of(found: dict[str, Any], path: str) -> dict[str, Any]:
    return next(call for call in found["apiCalls"] if call["path"] == path)


@pytest.mark.requirement("TH-11")
async def test_a_site_is_described_without_a_single_value(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened_orders(agent, opened, site)
    ours = "Object.assign(window, { __tabhub: {}, __openTabs: {} }) && 1"
    await agent.call("browser_execute_script", tabId=tab, code=ours)
    result = await agent.result("plugin_analyze_site", tabId=tab)
    assert "SECRET" not in json.dumps(result)
    assert result["_meta"]["tabhub/untrusted"]
    found = result["structuredContent"]
    auth = found["auth"]
    assert auth["sessionCookies"] == ["session_id"]
    assert {cookie["name"] for cookie in auth["cookies"]} >= {"session_id", "theme"}
    assert auth["csrf"] == ["authenticity_token", "csrf-token"]
    assert auth["requestHeaders"] == ["Authorization: Bearer", "X-CSRF-Token"]
    assert auth["storageKeys"] == ["authToken"]
    assert found["storage"] == {
        "local": ["authToken"],
        "session": ["draft"],
        "databases": ["offline-orders"],
    }
    names = {framework["name"]: framework["version"] for framework in found["frameworks"]}
    assert names == {"React": "", "Angular": "17.1.0", "jQuery": "3.7.1"}
    assert {"shopState", "jQuery"} == set(found["globals"])


@pytest.mark.requirement("TH-11")
async def test_its_calls_and_forms_become_candidate_tools(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened_orders(agent, opened, site)
    found = await agent.call("plugin_analyze_site", tabId=tab)
    assert found["recorded"] is True
    orders = call_of(found, "/api/v1/orders")
    assert (orders["method"], orders["members"]) == ("POST", ["title", "amount"])
    items = call_of(found, "/api/v1/orders/{id}/items")
    assert (items["parameters"], items["members"]) == (["page"], ["note"])
    assert call_of(found, "/raw")["kind"] == "json"
    assert call_of(found, "/graphql")["operation"] == "OrderList"
    form = found["forms"][0]
    assert (form["method"], form["action"]) == ("POST", f"{site.url}/find")
    assert [(field["name"], field["required"]) for field in form["fields"]] == [
        ("words", True),
        ("authenticity_token", False),
        ("sort", False),
        ("getAttribute", False),
    ]
    tools = {tool["name"]: tool for tool in found["candidateTools"]}
    assert tools["create_orders"]["parameters"] == ["title", "amount"]
    assert tools["create_items"]["parameters"] == ["id", "page", "note"]
    assert tools["order_list"]["method"] == "POST"
    assert tools["submit_search"]["parameters"] == ["words", "sort", "getAttribute"]


async def test_a_tab_that_is_not_recorded_stays_so_and_its_timing_data_is_used(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened_orders(agent, opened, site)
    await agent.call("browser_disable_network_capture", tabId=tab)
    for _ in range(2):
        found = await eventually(
            lambda: agent.call("plugin_analyze_site", tabId=tab),
            until=lambda found: any(call["path"] == "/api/v1/orders" for call in found["apiCalls"]),
        )
        assert found["recorded"] is False
        assert call_of(found, "/api/v1/orders")["method"] == ""
        assert found["auth"]["requestHeaders"] == []


async def test_a_page_that_cannot_be_looked_at_says_why(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, "<script>setTimeout(() => alert('wait'))</script>"))
    await eventually(
        lambda: agent.call("browser_get_tab_info", tabId=tab), until=lambda info: info.get("dialog")
    )
    with pytest.raises(ToolFailed) as failed:
        await agent.call("plugin_analyze_site", tabId=tab)
    assert failed.value.reason == "dialog_open"
    await agent.call("browser_handle_dialog", tabId=tab, action="accept")
    assert (await agent.call("plugin_analyze_site", tabId=tab))["forms"] == []
