"""Real Chromium, remote: what the person lets clients do, and how they see and end it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.proxy.served import SECRET, ServedProxy, client, token
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.panel import PANEL, Panel
from tests.support.browsers.remote import (
    Json,
    choose,
    configure,
    fill,
    listed,
    managed,
    page_of,
    remote_agent,
    store,
    stored,
)
from tests.support.browsers.unpacked import OPTIONS, browser_with
from tests.support.eventually import PATIENCE, eventually

pytestmark = pytest.mark.real_browser
REMOTE = f"{PANEL}#remote"
SECTION = "!!document.querySelector('#remote-section')"
BADGE = "chrome.action.getBadgeText({})"


async def badge(cdp: Cdp) -> Any:
    return await cdp.in_worker(BADGE)


async def test_a_personal_browser_refuses_every_client_until_it_is_allowed_by_name(
    proxy: ServedProxy, personal: Cdp
) -> None:
    async with remote_agent(proxy) as agent, page_of(personal, REMOTE) as panel:
        for method in ("getTabs", "createTab", "screenshot", "forwardCDPCommand", "tabhub.link"):
            assert await agent.refusal(method) == "permission_off"
        await panel.until(SECTION, "the section")
        await shows(panel, "laptop\nconnected")
        assert await badge(personal) == "R"
        await choose(panel, "laptop", "look")
        assert (await agent.call("getTabs"))["tabs"]
        assert await agent.refusal("createTab") == "permission_off"
        await choose(panel, "laptop", "act")
        assert "tabId" in await agent.call("createTab")
        assert await agent.refusal("forwardCDPCommand", method="Page.reload") == "permission_off"
        await choose(panel, "laptop", "everything")
        assert await agent.value("6 * 7") == 42
        async with remote_agent(proxy, "stranger") as other:
            assert await other.refusal("getTabs") == "permission_off"
        await choose(panel, "laptop", "nothing")
        assert await agent.refusal("getTabs") == "permission_off"


async def test_one_button_ends_all_until_the_person_connects_again(
    proxy: ServedProxy, personal: Cdp
) -> None:
    await store(personal, remoteClients={"laptop": "everything"})
    async with remote_agent(proxy) as agent, page_of(personal, REMOTE) as panel:
        await agent.call("createTab")
        assert await badge(personal) == "R"
        await panel.click("[data-action=remote-end]")
        ended = await agent.side.next(method="disconnected")
        assert ended["params"]["connection_id"] == agent.connection
        await eventually(lambda: badge(personal), "no badge", until=lambda text: text == "")
        await personal.kill_worker()
        await personal.open("about:blank")
        await shows(panel, "You have ended")
        assert await listed(agent.side) == []
        await panel.click("[data-action=remote-resume]")
        await eventually(lambda: listed(agent.side), "the extension to be back")


async def test_a_client_can_be_allowed_before_it_has_come(
    proxy: ServedProxy, personal: Cdp
) -> None:
    async with page_of(personal, REMOTE) as panel:
        await panel.until(SECTION, "the section")
        await panel.value("document.querySelector('#remote-name').value = 'phone'")
        await panel.click("[data-action=remote-add]")
        await panel.until(
            "document.querySelector('li[data-client=phone] select')?.value === 'look'", "it"
        )
    async with remote_agent(proxy, "phone") as agent:
        assert (await agent.call("getTabs"))["tabs"]


async def test_a_client_that_comes_and_goes_leaves_the_choice_of_its_level_alone(
    proxy: ServedProxy, personal: Cdp
) -> None:
    select = "document.querySelector('li[data-client=laptop] select')"
    async with remote_agent(proxy), page_of(personal, REMOTE) as panel:
        await panel.until(f"{select}?.disabled === false", "the choice")
        await panel.value(f"{select}.isSame = true")
        async with remote_agent(proxy):
            await shows(panel, "connected 2 times")
            assert await panel.value(f"{select}.isSame && !{select}.disabled")
        await panel.until("!document.body.innerText.includes('2 times')", "the second to leave")
        assert await panel.value(f"{select}.isSame && !{select}.disabled")


async def test_names_that_differ_only_in_spaces_do_not_look_the_same(
    proxy: ServedProxy, personal: Cdp
) -> None:
    await store(personal, remoteClients={"laptop": "everything"})
    async with remote_agent(proxy, "laptop ") as agent, page_of(personal, REMOTE) as panel:
        await shows(panel, "“laptop ”\nconnected")
        assert await agent.refusal("getTabs") == "permission_off"


async def test_a_refused_token_is_not_tried_again_until_it_changes(
    proxy: ServedProxy, personal: Cdp
) -> None:
    async with client(proxy) as side:
        await eventually(lambda: listed(side), "the extension to be there")
        bad = f"{token()}x"
        await configure(personal, proxy, bad)
        await eventually(
            lambda: stored(personal, "remoteRefused"), "the refusal", until=lambda now: now == bad
        )
        await personal.kill_worker()
        async with page_of(personal, OPTIONS) as options:
            await options.until(
                "document.body.innerText.includes('does not take this')", "the cause"
            )
        assert await listed(side) == []
        await configure(personal, proxy, token())
        await eventually(lambda: listed(side), "the extension to be back")


async def test_a_connection_that_status_has_not_named_is_refused(tmp_path: Path) -> None:
    answers: asyncio.Queue[Json] = asyncio.Queue()

    async def attend(socket: ServerConnection) -> None:
        async def ask(id: str, method: str) -> Json:
            request = {"jsonrpc": "2.0", "id": id, "method": method, "params": {}}
            await socket.send(json.dumps(request))
            found: Json = json.loads(await socket.recv())
            return found

        await answers.put(await ask("proxy:1", "authenticate"))
        await socket.send('{"jsonrpc": "2.0", "method": "authenticated", "params": {}}')
        status = {"clients": [{"connection_id": "conn-known", "name": "laptop"}]}
        await socket.send(json.dumps({"jsonrpc": "2.0", "method": "status", "params": status}))
        await answers.put(await ask("conn-known:1", "getTabs"))
        await answers.put(await ask('conn-other:"1"', "getTabs"))
        await socket.wait_closed()

    async with serve(attend, "127.0.0.1", 0) as double, browser_with(tmp_path, managed) as cdp:
        port = next(iter(double.sockets)).getsockname()[1]
        service = {"urls": [f"http://127.0.0.1:{port}"], "token": "any"}
        await store(cdp, remoteService=service)
        async with asyncio.timeout(PATIENCE):
            credentials, known, other = [await answers.get() for _ in range(3)]
    assert credentials["result"]["accessToken"] == "any"
    assert credentials["result"].keys() == {"name", "profile_id", "accessToken"}
    assert known["id"] == "conn-known:1" and known["result"]["tabs"]
    assert other["id"] == 'conn-other:"1"'
    assert other["error"]["data"]["reason"] == "not_connected"


async def test_a_pasted_token_connects_only_after_its_host_was_confirmed(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    host = proxy.public.removeprefix("http://")
    async with browser_with(tmp_path / "new") as cdp, page_of(cdp, OPTIONS) as options:
        await fill(options, address=proxy.public, token=token())
        assert await options.text("#remote-host") == host
        assert await options.value("chrome.storage.local.get('remoteService')") == {}
        await options.click("#remote-cancel")
        assert await options.value("document.querySelector('#remote-confirm').hidden") is True
        await fill(options, address=proxy.public, token=token())
        await options.click("#remote-accept")
        async with client(proxy) as side:
            [found] = await eventually(lambda: listed(side), "the extension to be there")
            assert "Chrome" in found["name"]
        await shows(options, f"Connected to {host}")


NOTE_REST = """
const note = () => (window.hasRested ||= document.querySelector('#remote-accept')?.disabled);
void new MutationObserver(note).observe(
  document.body, { subtree: true, childList: true, attributes: true })
"""


async def test_the_keys_that_ask_do_not_confirm_too(tmp_path: Path, proxy: ServedProxy) -> None:
    async with browser_with(tmp_path / "new") as cdp, page_of(cdp, OPTIONS) as options:
        await fill(options)
        assert await options.text("#remote-problem") == "Enter a pairing code or a token."
        await fill(options, code="K7QM-2XVB")
        assert "Enter the address" in await options.text("#remote-problem")
        await options.value(NOTE_REST)
        await fill(options, address=proxy.public, token=token())
        await options.until("window.hasRested", "the button to rest")
        for _ in range(3):
            await options.key("\r")
        assert await options.value("chrome.storage.local.get('remoteService')") == {}


async def test_another_service_is_asked_about_with_what_it_ends(
    proxy: ServedProxy, personal: Cdp
) -> None:
    await store(personal, remoteClients={"laptop": "act"})
    async with page_of(personal, OPTIONS) as options:
        await fill(options, address="https://other.example", token=token())
        about = await options.text("#remote-about")
        host = proxy.public.removeprefix("http://")
        assert f"It replaces {host}, and what you have allowed its clients is forgotten" in about
        await options.click("#remote-accept")
        await shows(options, "other.example")
    # The question shows that host too, before anything is stored.
    await eventually(
        lambda: stored(personal, "remoteClients"), "no level", until=lambda found: found == {}
    )


async def test_a_service_that_is_removed_is_left_at_once(proxy: ServedProxy, personal: Cdp) -> None:
    async with remote_agent(proxy) as agent, page_of(personal, REMOTE) as panel:
        await panel.click("#service summary")
        await panel.click("#remote-forget")
        ended = await agent.side.next(method="disconnected")
        assert ended["params"]["connection_id"] == agent.connection
        await eventually(lambda: listed(agent.side), "it to go", until=lambda found: not found)
        assert await stored(personal, "remoteService") is None
        await panel.until("!document.querySelector('#remote-section')", "the section to go")


async def test_a_browser_is_paired_by_a_code(tmp_path: Path, proxy: ServedProxy) -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {SECRET.decode()}"}) as http:
        answer = await http.post(f"{proxy.admin}/pair", json={"user_id": "ann"})
    code = answer.json()["code"]
    async with browser_with(tmp_path / "new") as cdp, page_of(cdp, OPTIONS) as options:
        await fill(options, address=proxy.public, code="WRONG-CODE")
        await options.until("document.querySelector('#remote-problem').innerText", "the problem")
        await fill(options, address=proxy.public, code=code)
        assert "ann" in await options.text("#remote-about")
        await options.click("#remote-accept")
        async with client(proxy) as side:
            await eventually(lambda: listed(side), "the extension to be there")


async def shows(page: Panel, text: str) -> None:
    await page.until(f"document.body?.innerText.includes({json.dumps(text)})", text)
