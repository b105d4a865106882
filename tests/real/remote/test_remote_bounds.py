"""Real Chromium, remote: what no client reaches, whatever the person lets it do."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import Json, RemoteAgent, RemoteServer, reason_of
from tests.support.browsers.unpacked import OPTIONS
from tests.support.eventually import PATIENCE, eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
WHERE = "location.protocol + (globalThis.chrome?.storage ? ' with storage' : '')"
MANY = 60


async def tab_at(browser: Cdp, url: str) -> int:
    code = f"chrome.tabs.query({{}}).then((all) => all.find(({{url}}) => url === '{url}')?.id)"
    found: int = await eventually(lambda: browser.in_worker(code), url)
    return found


async def tab_that_was_at(browser: Cdp, first: str, second: str) -> int:
    """A tab in which a person went from one address to another."""
    target = await browser.open(first)
    tab = await tab_at(browser, first)
    attached = await browser.send("Target.attachToTarget", targetId=target, flatten=True)
    await browser.send("Page.navigate", attached["sessionId"], url=second)
    await browser.send("Target.detachFromTarget", sessionId=attached["sessionId"])
    assert await tab_at(browser, second) == tab
    return tab


async def answers_of_many(remote: RemoteAgent, requests: list[tuple[str, Json]]) -> list[Json]:
    """The answers to requests that are all sent before the first is answered."""
    ids = [f"many-{number}" for number, _ in enumerate(requests)]
    for id, (method, params) in zip(ids, requests, strict=True):
        await remote.side.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    found: dict[str, Json] = {}
    async with asyncio.timeout(PATIENCE):
        while len(found) < len(ids):
            message = json.loads(await remote.side.connection.recv())
            if message.get("id") in ids:
                found[message["id"]] = message
    return [found[id] for id in ids]


def evaluation(code: str) -> tuple[str, Json]:
    params = {"method": "Runtime.evaluate", "params": {"expression": code, "returnByValue": True}}
    return "forwardCDPCommand", params


async def test_no_code_runs_in_a_page_of_the_extension_that_a_tab_goes_back_to(
    browser: Cdp, remote: RemoteAgent, site: Site
) -> None:
    tab = await tab_that_was_at(browser, OPTIONS, site.page("targets"))
    await remote.call("selectTab", tabId=tab)
    assert await remote.value(WHERE) == "http:"
    back, look = evaluation("history.back()"), evaluation(WHERE)
    answers = await answers_of_many(remote, [look, back, *[look] * MANY])
    values = [each["result"]["result"].get("value") for each in answers if "result" in each]
    assert {str(value) for value in values} <= {"http:", "None"}
    await tab_at(browser, OPTIONS)
    assert await remote.refusal(look[0], **look[1]) == "needs_person"


async def test_no_command_of_a_server_runs_in_a_page_of_the_extension(
    browser: Cdp, remote: RemoteAgent, site: Site
) -> None:
    tab = await tab_that_was_at(browser, OPTIONS, site.page("targets"))
    server = RemoteServer(remote)
    server.greet()
    assert (await server.run("page.evaluate", tab, code="1"))["result"]["output"]["value"] == 1

    def begin(code: str) -> int:
        dispatch = {"plugin": "browser", "tool": "page.evaluate", "tabId": tab}
        params = {**dispatch, "input": {"code": code}, "dispatchId": code + str(id(object()))}
        return server.start("tool.dispatch", params)

    begin("history.back()")
    answers = [await server.answer_to(id) for id in [begin(WHERE) for _ in range(MANY)]]
    values = [each["result"]["output"].get("value") for each in answers if "result" in each]
    assert set(values) <= {"http:"}
    await tab_at(browser, OPTIONS)
    assert reason_of(await server.run("page.evaluate", tab, code="1")) == "needs_person"


async def test_a_file_of_the_machine_is_neither_read_nor_gone_back_to(
    browser: Cdp, remote: RemoteAgent, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "private.html"
    file.write_text("<title>private</title><button>Private words</button>")
    tab = await tab_that_was_at(browser, file.as_uri(), site.page("targets"))
    await remote.call("selectTab", tabId=tab)
    assert await remote.refusal("goBack") == "permission_off"
    # By the time of the answer the tab may be there.
    await answers_of_many(remote, [evaluation("history.back()")])
    await tab_at(browser, file.as_uri())
    for method, params in (
        ("screenshot", {}),
        ("click", {"selector": "button"}),
        evaluation("document.body.innerText"),
    ):
        assert await remote.refusal(method, **params) == "permission_off"
    server = RemoteServer(remote)
    server.greet()
    for command, input in (("page.read", {}), ("page.evaluate", {"code": "1"}), ("page.pdf", {})):
        assert reason_of(await server.run(command, tab, **input)) == "permission_off"
    moved = await remote.call("browser_navigate", url=site.page("form"))
    assert moved["url"] == site.page("form")


async def test_code_runs_in_the_world_of_the_page_and_in_no_other(
    remote: RemoteAgent, site: Site
) -> None:
    await remote.call("createTab", url=site.page("targets"))
    frame = (await remote.cdp("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    root = (await remote.cdp("DOM.getDocument"))["root"]["nodeId"]
    refused: list[tuple[str, dict[str, Any]]] = [
        *[("Runtime.evaluate", {"expression": "1", "contextId": number}) for number in range(1, 6)],
        ("Runtime.evaluate", {"expression": "1", "uniqueContextId": "1.1"}),
        ("Runtime.callFunctionOn", {"functionDeclaration": "() => 1", "executionContextId": 3}),
        ("DOM.resolveNode", {"nodeId": root, "executionContextId": 3}),
        ("Page.createIsolatedWorld", {"frameId": frame, "grantUniveralAccess": True}),
        ("Runtime.compileScript", {"expression": "1", "sourceURL": "", "persistScript": True}),
        ("Debugger.enable", {}),
        ("Fetch.enable", {}),
    ]
    for method, params in refused:
        reason = await remote.refusal("forwardCDPCommand", method=method, params=params)
        assert (method, reason) == (method, "cdp_domain_not_allowed")
    node = (await remote.cdp("DOM.resolveNode", nodeId=root))["object"]["objectId"]
    called = await remote.cdp(
        "Runtime.callFunctionOn", objectId=node, functionDeclaration="function () { return 7; }"
    )
    assert called["result"]["value"] == 7


async def test_what_extensions_keep_is_not_cleared(remote: RemoteAgent, site: Site) -> None:
    await remote.call("createTab", url=site.page("targets"))
    home = OPTIONS.removesuffix("/options/options.html")
    for method, params in (
        ("Storage.clearDataForOrigin", {"origin": home, "storageTypes": "all"}),
        ("Storage.clearDataForStorageKey", {"storageKey": f"{home}/", "storageTypes": "all"}),
        ("Storage.deleteStorageBucket", {"bucket": {"storageKey": f"{home}/"}}),
        ("IndexedDB.requestDatabaseNames", {"securityOrigin": "file:///"}),
    ):
        reason = await remote.refusal("forwardCDPCommand", method=method, params=params)
        assert (method, reason) == (method, "permission_off")
    await remote.cdp("Storage.clearDataForOrigin", origin=site.url, storageTypes="local_storage")


async def test_a_domain_that_others_need_is_not_disabled(
    browser: Cdp, remote: RemoteAgent, site: Site
) -> None:
    server = RemoteServer(remote)
    server.greet()
    tab = (await server.run("tabs.open", url=site.page("targets")))["result"]["output"]["tabId"]
    await remote.call("selectTab", tabId=tab)
    for domain in ("Page", "Runtime", "Network", "Log"):
        await remote.cdp(f"{domain}.disable")
    await remote.value("console.log('still recorded')")

    async def logged() -> bool:
        return "still recorded" in str(await server.run("record.console", tab))

    await eventually(logged, "the console to be recorded")


async def test_a_window_with_a_page_of_the_extension_is_not_closed(
    browser: Cdp, remote: RemoteAgent
) -> None:
    made = f"chrome.windows.create({{ url: '{OPTIONS}' }}).then(({{ id }}) => id)"
    window = await browser.in_worker(made)
    tab = await tab_at(browser, OPTIONS)
    server = RemoteServer(remote)
    server.greet()
    refused = await server.run("windows.close", windowId=window, own=[tab])
    assert reason_of(refused) == "needs_person"
    assert await tab_at(browser, OPTIONS) == tab
