"""Cookies, storage and site data in a real browser, checked from outside."""

import json
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


@pytest.fixture(autouse=True)
async def no_cookies(cdp: Cdp) -> None:
    """Pages of other tests on the same host may have set cookies."""
    await cdp.send("Storage.clearCookies")


Json = dict[str, Any]
COOKIES = ("browser_get_cookies", "browser_set_cookie", "browser_delete_cookies")


async def kept(cdp: Cdp) -> dict[str, Json]:
    """All cookies of the browser, read over CDP."""
    found = (await cdp.send("Storage.getCookies"))["cookies"]
    return {cookie["name"]: cookie for cookie in found}


async def test_cookies_are_set_read_and_deleted(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    options = {"path": "/", "httpOnly": True, "expirationDate": 4_000_000_000}
    await agent.call("browser_set_cookie", url=site.url, name="one", value="first", **options)
    await agent.call("browser_set_cookie", url=site.page("form"), name="two", value="second")
    real = (await kept(cdp))["one"]
    assert (real["value"], real["httpOnly"], real["session"]) == ("first", True, False)
    cookies = (await agent.call("browser_get_cookies", url=site.url))["cookies"]
    assert {cookie["name"]: cookie["value"] for cookie in cookies} == {
        "one": "first",
        "two": "second",
    }
    only = (await agent.call("browser_get_cookies", url=site.url, name="two"))["cookies"]
    assert [cookie["value"] for cookie in only] == ["second"]
    for name, left in (("one", {"two"}), ("two", set())):
        result = await agent.call("browser_delete_cookies", url=site.url, name=name)
        assert result == {"deleted": 1}
        assert set(await kept(cdp)) == left
    assert await agent.call("browser_delete_cookies", url=site.url, name="one") == {"deleted": 0}


async def test_deleting_a_name_deletes_all_its_cookies_and_no_other(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    for path, name in (("/", "same"), ("/deep", "same"), ("/", "other")):
        await agent.call("browser_set_cookie", url=site.url, name=name, value="x", path=path)
    deep = f"{site.url}/deep/er"
    assert await agent.call("browser_delete_cookies", url=deep, name="same") == {"deleted": 2}
    assert set(await kept(cdp)) == {"other"}
    await agent.call("browser_delete_cookies", url=site.url, name="other")


@pytest.mark.parametrize("tool", COOKIES)
async def test_cookies_belong_to_the_agent_with_a_tab_of_the_site(
    agent: Agent, another: Agent, opened: Opener, cdp: Cdp, site: Site, tool: str
) -> None:
    await opened(site.page("form"))
    more = {"browser_set_cookie": {"name": "n", "value": "v"}}.get(tool, {"name": "n"})
    assert await reason(agent, tool, url=site.other, **more) == "foreign_tab"
    assert await reason(another, tool, url=site.url, **more) == "foreign_tab"
    assert await reason(agent, tool, url="data:text/html,x", **more) == "invalid_arguments"
    assert await reason(agent, tool, url="chrome://settings", **more) == "invalid_arguments"
    assert await kept(cdp) == {}


async def test_an_invalid_cookie_is_refused_and_the_audit_log_has_no_values(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    await opened(site.page("form"))
    bad = {"url": site.url, "name": "n", "value": "hidden-4711", "domain": "example.com"}
    assert await reason(agent, "browser_set_cookie", **bad) == "invalid_arguments"
    entry = product[0].audit()[-1]
    assert (entry["tool"], entry["arguments"]["name"]) == ("browser_set_cookie", "n")
    assert "hidden-4711" not in json.dumps(entry)


async def test_storage_is_read_by_kind_and_by_key(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    page = await cdp.page(site.page("form"))
    code = "localStorage.clear(); localStorage.a = '1'; localStorage.__proto__ = 'p';"
    await cdp.evaluate(page, code + "localStorage.setItem('key', 'k'); sessionStorage.b = '2'; 1")
    local = await agent.call("browser_get_storage")
    assert local["entries"]["a"] == "1" and local["entries"]["key"] == "k"
    assert local["total"] == len(local["entries"])
    session = await agent.call("browser_get_storage", storageType="session")
    assert session["entries"] == {"b": "2"}
    assert (await agent.call("browser_get_storage", key="a"))["entries"] == {"a": "1"}
    assert (await agent.call("browser_get_storage", key="none"))["entries"] == {}
    await cdp.evaluate(page, "localStorage.big = 'x'.repeat(2e6); 1")
    result = await agent.result("browser_get_storage")
    data = result["structuredContent"]
    assert data["total"] == len(data["entries"]) + 1
    assert "(1 too large to be listed at once" in result["content"][0]["text"]
    await cdp.evaluate(page, "localStorage.clear(); 1")


async def test_a_page_without_storage_and_a_foreign_tab_are_errors(
    agent: Agent, another: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    assert await reason(another, "browser_get_storage", tabId=tab) == "foreign_tab"
    await opened(f"{site.url}/html?sandbox=1&body=alone")
    assert await reason(agent, "browser_get_storage") == "csp_blocked"
    await opened("data:text/html,<title>no script of ours</title>")
    assert await reason(agent, "browser_get_storage") == "needs_person"


STORED = """(async () => [
  localStorage.length,
  document.cookie,
  (await caches.keys()).length,
  (await indexedDB.databases()).length,
])()"""
STORE = """(async () => {
  localStorage.x = 1;
  document.cookie = "x=1";
  await caches.open("x");
  await new Promise((done) => (indexedDB.open("x").onsuccess = (event) => {
    event.target.result.close();
    done();
  }));
})()"""


async def test_site_data_is_cleared_by_kind_and_for_that_site_only(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    await opened(f"{site.other}/form.html")
    own_page = await cdp.page(site.page("form"))
    other_page = await cdp.page(f"{site.other}/form.html")
    for page in (own_page, other_page):
        await cdp.evaluate(page, STORE)
    result = await agent.call("browser_clear_site_data", origin=site.url, localStorage=True)
    assert result == {"cleared": ["localStorage"]}
    assert await cdp.evaluate(own_page, STORED) == [0, "x=1", 1, 1]
    await agent.call("browser_clear_site_data", origin=site.page("form"), cookies=False)
    assert await cdp.evaluate(own_page, STORED) == [0, "x=1", 0, 0]
    assert await cdp.evaluate(other_page, STORED) == [1, "x=1", 1, 1]
    await agent.call("browser_clear_site_data", origin=site.url)
    await agent.call("browser_clear_site_data", origin=site.other)
    assert await kept(cdp) == {}


async def test_an_agent_cannot_clear_site_data_of_another(
    agent: Agent, another: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    tool = "browser_clear_site_data"
    assert await reason(another, tool, origin=site.url) == "foreign_tab"
    assert await reason(agent, tool, origin=site.other) == "foreign_tab"
    assert await reason(agent, tool, origin="about:blank") == "invalid_arguments"
