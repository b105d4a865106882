"""Real Chromium, remote: the methods that the proxy forwards from a client to the extension."""

import base64
import json

import pytest

from tests.proxy.served import ServedProxy
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import RemoteAgent, remote_agent
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("PX-07")]


async def test_tabs_are_created_listed_selected_activated_and_closed(
    remote: RemoteAgent, site: Site
) -> None:
    url = site.page("targets")
    made = await remote.call("createTab", url=url)
    assert made["url"] == url
    assert made["currentTab"]["id"] == made["tabId"]
    behind = await remote.call("createTab", url=site.page("form"), activate=False)
    found = (await remote.call("getTabs"))["tabs"]
    by_id = {tab["id"]: tab for tab in found}
    assert [tab["index"] for tab in found] == [*range(len(found))]
    first = by_id[made["tabId"]]
    assert (first["url"], first["active"], first["owner"]) == (url, True, "laptop")
    assert by_id[behind["tabId"]]["active"] is False
    selected = await remote.call("selectTab", tabIndex=first["index"])
    assert (selected["tabId"], selected["url"]) == (made["tabId"], url)
    assert selected["currentTab"] == {"id": made["tabId"], "url": url, "title": selected["title"]}
    assert (await remote.call("activateTab", tabId=behind["tabId"]))["tabId"] == behind["tabId"]
    assert (await remote.call("closeTab"))["currentTab"] is None
    left = [tab["id"] for tab in (await remote.call("getTabs"))["tabs"]]
    assert made["tabId"] not in left and behind["tabId"] in left


async def test_a_tab_goes_to_an_address_and_back_and_forward(
    remote: RemoteAgent, site: Site
) -> None:
    first, second = site.page("targets"), site.page("form")
    made = await remote.call("createTab", url=first)
    moved = await remote.call("browser_navigate", url=second)
    assert (moved["tabId"], moved["url"]) == (made["tabId"], second)
    assert moved["currentTab"]["url"] == second
    assert (await remote.call("goBack"))["url"] == first
    assert (await remote.call("goForward"))["url"] == second
    assert await remote.refusal("goForward") == "navigation_failed"


BODY = """<button onclick="clicks.textContent++">Press</button><p id=clicks>0</p>
<form onsubmit="sent.textContent=field.value;return false"><input id=field></form>
<p id=sent></p><p id=over onmouseover="this.textContent='over'">under</p>"""


async def test_a_page_is_clicked_hovered_typed_into_and_pictured(
    remote: RemoteAgent, site: Site
) -> None:
    await remote.call("createTab", url=site.page("targets"))
    await remote.value(f"document.title = 'page'; document.body.innerHTML = {json.dumps(BODY)}")
    clicked = await remote.call("click", selector="button")
    assert clicked["trusted"] is True and clicked["effect"]["mutated"] is True
    assert await remote.value("clicks.textContent") == "1"
    await remote.call("click", selector="button", clickCount=2)
    assert await remote.value("clicks.textContent") == "3"
    await remote.call("hover", selector="#over")
    assert await remote.value("over.textContent") == "over"
    typed = await remote.call("type", selector="#field", text="hello", submit=True)
    assert typed["currentTab"]["title"] == "page"
    assert await remote.value("sent.textContent") == "hello"
    await remote.call("type", text=" there")
    assert await remote.value("field.value") == "hello there"
    picture = await remote.call("screenshot", format="jpeg", quality=50)
    assert (picture["mimeType"], base64.b64decode(picture["data"])[:2]) == (
        "image/jpeg",
        b"\xff\xd8",
    )
    assert picture["width"] > 0 and picture["height"] > 0


async def test_protocol_commands_are_forwarded_where_extensions_may_use_them(
    remote: RemoteAgent, site: Site
) -> None:
    await remote.call("createTab", url=site.page("targets"))
    assert await remote.value("6 * 7") == 42
    tree = await remote.cdp("Page.getFrameTree")
    assert tree["frameTree"]["frame"]["url"] == tree["currentTab"]["url"] == site.page("targets")
    for method in ("Browser.getVersion", "Target.getTargets", "DOM.setFileInputFiles"):
        reason = await remote.refusal("forwardCDPCommand", method=method)
        assert reason == "cdp_domain_not_allowed"
    assert await remote.refusal("forwardCDPCommand", method="Page.noSuch") == (
        "cdp_domain_not_allowed"
    )
    assert await remote.refusal(
        "forwardCDPCommand", method="DOM.focus", params={"nodeId": "x"}
    ) == ("invalid_arguments")
    navigate = {"method": "Page.navigate", "params": {"url": "file:///etc/passwd"}}
    assert await remote.refusal("forwardCDPCommand", **navigate) == "permission_off"


async def test_each_connection_has_its_own_tab_and_lets_the_debugger_go_at_its_end(
    proxy: ServedProxy, browser: Cdp, remote: RemoteAgent
) -> None:
    mine = await remote.call("createTab")
    async with remote_agent(proxy, "phone") as other:
        assert await other.refusal("click", selector="button") == "no_current_tab"
        assert (await other.call("getTabs"))["currentTab"] is None
        theirs = await other.call("createTab")
        await other.value("1")
        await remote.value("1")
        assert (await other.call("getTabs"))["currentTab"]["id"] == theirs["tabId"]
        assert (await remote.call("getTabs"))["currentTab"]["id"] == mine["tabId"]
        held = await holders(browser)
        assert held[str(theirs["tabId"])] == [f"remote {other.connection}"]
    await eventually(
        lambda: holders(browser), "the debugger", until=lambda now: str(theirs["tabId"]) not in now
    )
    assert (await holders(browser))[str(mine["tabId"])] == [f"remote {remote.connection}"]


async def holders(browser: Cdp) -> dict[str, list[str]]:
    code = "describeTabState().then(({attachments}) => Object.fromEntries(attachments.held))"
    found = await browser.in_worker(code)
    kept = {
        tab: [why for why in reasons if why.startswith("remote")] for tab, reasons in found.items()
    }
    return {tab: reasons for tab, reasons in kept.items() if reasons}


async def test_a_tab_in_stealth_has_no_debugger_until_it_is_needed(
    browser: Cdp, remote: RemoteAgent, site: Site
) -> None:
    made = await remote.call("createTab", url=site.page("targets"), stealth=True)
    await remote.call("browser_navigate", url=site.page("form"))
    attached = f"""chrome.debugger.getTargets().then((all) =>
      all.find(({{tabId}}) => tabId === {made["tabId"]}).attached)"""
    assert await browser.in_worker(attached) is False
    assert await remote.value("location.href") == site.page("form")
    assert await browser.in_worker(attached) is True


async def test_unknown_methods_and_tabs_are_refused(remote: RemoteAgent) -> None:
    answer = await remote.answer("noSuchMethod")
    assert (answer["error"]["code"], answer["error"]["data"]["reason"]) == (
        -32601,
        "unknown_command",
    )
    assert await remote.refusal("selectTab", tabId=987654321) == "tab_not_found"
    assert await remote.refusal("selectTab", tabIndex=9999) == "tab_not_found"
    assert await remote.refusal("closeTab", tabId=987654321) == "tab_not_found"
    assert await remote.refusal("closeTab", tabId="x") == "invalid_arguments"
    assert await remote.refusal("createTab", url="not an address") == "invalid_arguments"


async def test_files_and_pages_of_extensions_are_never_reached(
    browser: Cdp, remote: RemoteAgent
) -> None:
    page = "chrome-extension://bnijbchbpfemkjpdjnamphipeaejgjni/panel/panel.html"
    await browser.open(page)
    found = f"chrome.tabs.query({{}}).then((all) => all.find(({{url}}) => url === '{page}')?.id)"
    number = await eventually(lambda: browser.in_worker(found), "the panel's tab")
    assert await remote.refusal("createTab", url="file:///etc/passwd") == "permission_off"
    assert await remote.refusal("createTab", url=page) in {"permission_off", "needs_person"}
    assert number not in [tab["id"] for tab in (await remote.call("getTabs"))["tabs"]]
    assert await remote.refusal("selectTab", tabId=number) == "tab_not_found"
    assert await remote.refusal("closeTab", tabId=number) == "needs_person"
