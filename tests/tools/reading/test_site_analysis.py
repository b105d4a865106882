"""What plugin_analyze_site concludes, and whose tabs it looks at."""

from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tabhub.tools.reading.site_analysis import analysis, path_pattern
from tests.agents.mcp.clients import connect
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
SHOP = "https://www.shop.example/"


def request(url: str, method: str = "GET", **more: Any) -> Json:
    usual = {"parameters": [], "members": [], "credentials": [], "type": "fetch"}
    return {"url": url, "method": method, **usual, **more}


def found(*requests: Json, **more: Any) -> Json:
    nothing: Json = {
        name: []
        for name in (
            *("cookies", "csrf", "frameworks", "globals", "localStorage", "sessionStorage"),
            *("databases", "forms"),
        )
    }
    about = {"url": SHOP, "title": "Shop", "recorded": True, "globalsTotal": 0}
    return {**about, **nothing, "requests": list(requests), **more}


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/api/orders/42/items", "/api/orders/{id}/items"),
        ("/u/1f8a2c3d-1111-4222-8333-abcdefabcdef", "/u/{id}"),
        ("/reset/eyJhbGciOiJIUzI1NiJ9.e30.x", "/reset/{id}"),
        ("/files/deadbeefdeadbeef", "/files/{id}"),
        ("/api/v2/orders", "/api/v2/orders"),
        ("/", "/"),
    ],
)
def test_what_identifies_a_single_thing_is_left_out_of_a_path(path: str, pattern: str) -> None:
    assert path_pattern(path) == pattern


def test_requests_of_one_kind_are_one_call_with_all_their_names() -> None:
    calls = analysis(
        found(
            request(f"{SHOP}orders/1", parameters=["a"]),
            request(f"{SHOP}orders/2", parameters=["b"]),
            request(f"{SHOP}orders/2", "DELETE"),
        )
    )["apiCalls"]
    assert [(call["method"], call["path"], call["count"]) for call in calls] == [
        ("GET", "/orders/{id}", 2),
        ("DELETE", "/orders/{id}", 1),
    ]
    assert calls[0]["parameters"] == ["a", "b"]


def test_only_calls_to_the_sites_own_hosts_become_tools() -> None:
    tools = analysis(
        found(
            request(f"{SHOP}api/orders/7"),
            request("https://api.shop.example/v1/carts", "POST", members=["item"]),
            request("https://tracker.example/collect", "POST"),
            request("https://notshop.example/collect", "POST"),
        )
    )["candidateTools"]
    assert [(tool["name"], tool["parameters"]) for tool in tools] == [
        ("get_orders", ["id"]),
        ("create_carts", ["item"]),
    ]


def test_names_say_how_the_site_knows_the_person() -> None:
    names = ["PHPSESSID", "connect.sid", "XSRF-TOKEN", "theme", "_ga"]
    cookies = [{"name": name, "httpOnly": True, "secure": True} for name in names]
    auth = analysis(found(cookies=cookies, localStorage=["jwt", "colour"], csrf=["csrf-token"]))
    assert auth["auth"]["sessionCookies"] == ["PHPSESSID", "connect.sid"]
    assert auth["auth"]["csrf"] == ["XSRF-TOKEN", "csrf-token"]
    assert auth["auth"]["storageKeys"] == ["jwt"]


async def test_an_address_chooses_one_of_the_callers_tabs_and_opens_none() -> None:
    sites: list[Any] = []

    def analyze(params: Json) -> Json:
        sites.append((params["tabId"], params["site"]))
        return found()

    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["tabs.open"] = lambda params: tab(100, url=params["input"]["url"])
        extension.handlers["site.analyze"] = analyze
        others = [tab(1, url=SHOP), tab(2, url="https://foreign.example/")]
        await extension.sync(*others, shared=False)
        await extension.ask("tab.share", {"tabId": 1, "shared": True})
        session = await connect(http)
        await session.call("browser_open_tab", url="https://mine.example/")
        answer = await session.call("plugin_analyze_site", url=SHOP)
        assert answer.json()["result"]["structuredContent"]["title"] == "Shop"
        assert sites == [(1, "www.shop.example")]
        answer = await session.call("plugin_analyze_site", url="https://foreign.example/")
        error = answer.json()["result"]["structuredContent"]["error"]
        assert error["reason"] == "foreign_tab" and len(sites) == 1


async def test_walled_sites_stay_unnamed_and_a_closed_one_is_not_looked_at() -> None:
    settings = Settings(permissions=PermissionSettings(domains={"bank.example": "off"}))
    form = {"action": "https://bank.example/pay", "method": "POST", "name": "pay", "fields": []}
    page = found(request("https://bank.example/api/secret"), request(f"{SHOP}a"), forms=[form])
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        extension.handlers["site.analyze"] = lambda params: page
        await extension.sync(tab(1, url=SHOP), tab(2, url="https://bank.example/"))
        agent = Agent(http)
        result = await agent.result("plugin_analyze_site", tabId=1)
        assert "bank.example" not in str(result)
        assert [call["path"] for call in result["structuredContent"]["apiCalls"]] == ["/a"]
        with pytest.raises(ToolFailed) as failed:
            await agent.call("plugin_analyze_site", tabId=2)
        assert failed.value.reason == "permission_off"
