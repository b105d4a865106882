"""Real Chromium, remote: the link of a tabhub server in a tunnel through the proxy."""

import base64

import pytest

from tests.proxy.served import ServedProxy
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import (
    RemoteAgent,
    RemoteServer,
    reason_of,
    remote_agent,
    store,
)
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


def is_introduction(message: dict[str, object]) -> bool:
    return message.get("method") == "tab.syncAll"


async def test_a_server_gets_the_tabs_and_runs_commands(remote: RemoteAgent, site: Site) -> None:
    server = RemoteServer(remote)
    server.greet()
    introduced = (await server.until(is_introduction))["params"]
    assert introduced["browser"]["panels"] == 0
    opened = await server.run("tabs.open", url=site.page("targets"))
    tab = opened["result"]["output"]["tabId"]
    changed = await server.until(lambda each: each.get("params", {}).get("tabId") == tab)
    assert changed["method"] == "tab.stateChanged"
    value = await server.run("page.evaluate", tab, code="6 * 7")
    assert value["result"]["output"]["value"] == 42
    assert (await server.run("page.click", tab, selector="#plain"))["result"]["output"]["trusted"]


async def test_an_upload_carries_its_bytes_and_never_reads_a_path_of_this_machine(
    remote: RemoteAgent, site: Site
) -> None:
    server = RemoteServer(remote)
    server.greet()
    tab = (await server.run("tabs.open", url=site.page("targets")))["result"]["output"]["tabId"]
    make = "document.body.innerHTML = '<input type=file id=file>'"
    await server.run("page.evaluate", tab, code=make)
    file = {"name": "a.txt", "mimeType": "text/plain", "size": 5, "path": "/etc/passwd"}
    dispatch = {"plugin": "browser", "tool": "page.upload", "tabId": tab, "dispatchId": "up"}
    request = {"input": {"selector": "#file", "files": [file]}, **dispatch}
    answer = server.start("tool.dispatch", request)
    asked = await server.until(lambda each: each.get("method") == "files.read")
    server.answer(asked["id"], {"data": base64.b64encode(b"hello").decode()})
    assert "result" in await server.answer_to(answer)
    read = await server.run("page.evaluate", tab, code="await file.files[0].text()")
    assert read["result"]["output"]["value"] == "hello"


async def test_the_fence_holds_for_each_level(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "everything"})
    async with remote_agent(proxy) as agent:
        server = RemoteServer(agent)
        tab = (await server.run("tabs.open", url=site.page("targets")))["result"]["output"]["tabId"]
        await store(personal, remoteClients={"laptop": "act"})
        assert await server.until_closed() == 4403
        server = RemoteServer(agent)
        assert "result" in await server.run("page.click", tab, selector="#plain")
        for command in ("page.evaluate", "cookies.get"):
            assert reason_of(await server.run(command, tab, code="1")) == "permission_off"
        assert reason_of(await server.run("history.search", query="")) == "permission_off"
        await store(personal, remoteClients={"laptop": "look"})
        assert await server.until_closed() == 4403
        server = RemoteServer(agent)
        assert "result" in await server.run("page.read", tab)
        refused = await server.run("page.click", tab, selector="#plain")
        assert reason_of(refused) == "permission_off"
        assert "needs the level “act”" in refused["error"]["message"]
        await store(personal, remoteClients={})
        # A request that comes a moment later is refused already.
        assert await server.until_closed() in (4403, None)
        assert await agent.refusal("tabhub.link") == "permission_off"


async def test_a_remote_server_cannot_reload_the_extension(
    browser: Cdp, remote: RemoteAgent
) -> None:
    worker = await browser.worker()
    server = RemoteServer(remote)
    server.notify("extension.reload", {})
    assert "result" in await server.run("tabs.list")
    assert await browser.worker() == worker
