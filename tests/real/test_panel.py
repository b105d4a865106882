"""A person at the side panel, agents at work, in a real browser."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tabhub.browser.arguments import browser_arguments
from tabhub.browser.finder import find_browser
from tests.agents.mcp.clients import connect
from tests.support.agent import Agent, ToolFailed
from tests.support.cdp import Cdp, browser_of
from tests.support.panel import PANEL, panel_of
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
START = ("start", "--port", "0", "--browser", "--headless")
DEBUGGED = "--browser-arg=--remote-debugging-port=0"
CONFIG = {"permissions": {"tools": {"browser_execute_script": "ask"}}}


class World:
    """A server that asks about scripts, its browser, and who uses them."""

    def __init__(self, product: Product, port: int, cdp: Cdp) -> None:
        self.product = product
        self.port = port
        self.cdp = cdp

    def http(self, token: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60
        )

    @asynccontextmanager
    async def agent(self, name: str) -> AsyncIterator[Agent]:
        """An agent with a token of its own."""
        async with self.http(self.product.run("client", "add", name).stdout.strip()) as http:
            yield Agent(http)

    def audit(self) -> list[dict[str, Any]]:
        lines = (self.product.home / "audit.log").read_text().splitlines()
        return [json.loads(line) for line in lines]


@asynccontextmanager
async def world(folder: Path, config: dict[str, Any] = CONFIG, *more: str) -> AsyncIterator[World]:
    product = Product(folder / "home")
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps(config))
    with product.running(*START, DEBUGGED, *more):
        port = product.wait_browser()["port"]
        async with browser_of(product.home) as cdp:
            yield World(product, port, cdp)


def started(call: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(call)


async def at_work(agent: Agent, tab: int) -> None:
    """Wait until a script in that tab says that it runs."""
    async with asyncio.timeout(15):
        while True:
            listed = (await agent.call("browser_list_tabs"))["tabs"]
            if any(told["tabId"] == tab and told["title"] == "at work" for told in listed):
                return


async def failure(call: "asyncio.Task[Any]") -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await call
    return failed.value


@pytest.mark.requirement("OT-34")
async def test_a_person_allows_and_denies_in_the_panel(tmp_path: Path, site: Site) -> None:
    async with world(tmp_path) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        nobody = await failure(started(agent.call("browser_execute_script", code="1")))
        assert nobody.reason == "approval_unavailable"
        async with panel_of(here.cdp) as panel:
            call = started(agent.call("browser_execute_script", code="6 * 7 /* <b>bold</b> */"))
            shown = await panel.text("article[data-confirmation]")
            for part in ("robot", "browser_execute_script", "127.0.0.1", "6 * 7 /* <b>bold</b> */"):
                assert part in shown
            untrusted = "document.querySelector('article button[data-scope=once]').click()"
            await panel.until(
                "document.querySelector('article button[data-scope=once]')?.disabled === false",
                "the buttons",
            )
            await panel.value(untrusted)
            assert not call.done()
            await panel.click("article button[data-scope=once]")
            assert await call == {"value": 42}
            denied = started(agent.call("browser_execute_script", code="2"))
            await panel.click("article button[data-decision=deny]")
            assert (await failure(denied)).reason == "permission_denied"
            session = started(agent.call("browser_execute_script", code="3"))
            await panel.click("article button[data-scope=session]")
            assert await session == {"value": 3}
            assert await agent.call("browser_execute_script", code="4") == {"value": 4}
            waiting = started(agent.call("browser_execute_script", code="5", tabId=-1))
            assert (await failure(waiting)).reason == "tab_not_found"
        verdicts = [
            (entry["verdict"], entry["arguments"].get("code"))
            for entry in here.audit()
            if entry["tool"] == "browser_execute_script"
        ]
        assert verdicts[1:5] == [
            ("asked", "6 * 7 /* <b>bold</b> */"),
            ("denied", "2"),
            ("asked", "3"),
            ("allowed", "4"),
        ]


@pytest.mark.requirement("OT-34")
async def test_a_question_ends_with_its_time_and_with_the_last_panel(
    tmp_path: Path, site: Site
) -> None:
    config = {**CONFIG, "limits": {"approvalSeconds": 2}}
    async with world(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        async with panel_of(here.cdp) as panel:
            late = started(agent.call("browser_execute_script", code="1"))
            await panel.text("article[data-confirmation]")
            assert (await failure(late)).reason == "approval_timeout"
            await panel.until("!document.querySelector('article')", "the question to go")
            closed = started(agent.call("browser_execute_script", code="2"))
            await panel.text("article[data-confirmation]")
            await panel.close()
            assert (await failure(closed)).reason == "approval_unavailable"


async def test_a_person_shares_a_tab_takes_one_back_pauses_and_stops(
    tmp_path: Path, site: Site
) -> None:
    async with world(tmp_path, {}) as here, here.agent("robot") as agent:
        own = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        await here.cdp.open(site.page("targets"))
        listed = (await agent.call("browser_list_tabs"))["tabs"]
        persons = next(told for told in listed if told["url"] == site.page("targets"))
        assert not persons["usable"] and "owner" not in persons
        async with panel_of(here.cdp) as panel:
            await panel.click("#this-tab button[data-action=share]")
            await panel.text("#this-tab button[data-action=unshare]")
            assert "button" in await agent.text("browser_read_page", tabId=persons["tabId"])
            endless = "document.title = 'at work'; await new Promise(() => {})"
            call = started(
                agent.call("browser_execute_script", code=endless, tabId=persons["tabId"])
            )
            await at_work(agent, persons["tabId"])
            await panel.click("#this-tab button[data-action=unshare]")
            assert (await failure(call)).reason == "paused_by_person"
            again = agent.call("browser_read_page", tabId=persons["tabId"])
            assert (await failure(started(again))).reason == "foreign_tab"

            call = started(agent.call("browser_execute_script", code=endless, tabId=own))
            await at_work(agent, own)
            await panel.click("li[data-session] button[data-action=pause]")
            assert (await failure(call)).reason == "paused_by_person"
            paused = agent.call("browser_read_page", tabId=own)
            assert (await failure(started(paused))).reason == "paused_by_person"
            await panel.click("li[data-session] button[data-action=resume]")
            await panel.text("li[data-session] button[data-action=pause]")
            assert await agent.text("browser_read_page", tabId=own)

            await panel.click("button[data-action=stop-all]")
            await panel.text("button[data-action=resume-all]")
            stopped = agent.call("browser_list_tabs")
            assert (await failure(started(stopped))).reason == "paused_by_person"
            await panel.click("button[data-action=resume-all]")
            await panel.text("button[data-action=stop-all]")

            await panel.click(f"li[data-tab='{own}'] button[data-action=take-back]")
            await panel.until(f"!document.querySelector(\"li[data-tab='{own}']\")", "it to go")
            taken = agent.call("browser_read_page", tabId=own)
            assert (await failure(started(taken))).reason == "foreign_tab"


async def test_no_agent_reaches_the_panel_that_asks_about_it(tmp_path: Path, site: Site) -> None:
    async with world(tmp_path, {}, "--share-active-tab") as here, here.agent("robot") as agent:
        for tool in ("browser_open_tab", "browser_navigate_tab"):
            opening = agent.call(tool, url=PANEL, **({} if "open" in tool else {"tabId": 1}))
            assert (await failure(started(opening))).reason in (
                "invalid_arguments",
                "tab_not_found",
            )
        async with panel_of(here.cdp) as panel:
            await here.cdp.send("Target.activateTarget", targetId=panel.target)
            tabs = (await agent.call("browser_list_tabs"))["tabs"]
            shown = next(told for told in tabs if told["url"] == PANEL)["tabId"]
            for tool, more in (
                ("browser_read_page", {}),
                ("browser_execute_script", {"code": "1"}),
                ("browser_click_element", {"selector": "button"}),
            ):
                assert (await failure(started(agent.call(tool, tabId=shown, **more)))).reason in (
                    "needs_person",
                    "foreign_tab",
                )


async def test_in_a_persons_own_browser_reading_is_free_and_acting_is_asked_about(
    tmp_path: Path, site: Site
) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        command = browser_arguments(
            find_browser(),
            extension=product.home / "extension",
            profile=product.home / "profile",
            headless=True,
            extra=["--remote-debugging-port=0"],
        )
        with ended(subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)):
            assert product.wait_browser()["browsers"][0]["kind"] == "personal"
            async with browser_of(product.home) as cdp, panel_of(cdp) as panel:
                here = World(product, port, cdp)
                async with here.agent("robot") as agent:
                    assert (await agent.call("browser_list_tabs"))["tabs"]
                    call = started(agent.call("browser_open_tab", url=site.page("form")))
                    assert site.page("form") in await panel.text("article[data-confirmation]")
                    await panel.click("article button[data-scope=once]")
                    await call
                    assert "Email" in await agent.text("browser_read_page")
                    click = started(agent.call("browser_click_element", selector="#mail"))
                    await panel.click("article button[data-decision=deny]")
                    assert (await failure(click)).reason == "permission_denied"


@contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


@pytest.mark.requirement("TH-23")
async def test_two_agents_type_at_once_in_background_tabs_and_focus_never_moves(
    tmp_path: Path, site: Site
) -> None:
    words = {name: f"{name} writes. " * 40 for name in ("ann", "bob")}
    async with world(tmp_path, {}) as here:
        target = await here.cdp.open(site.page("form"))
        await here.cdp.send("Target.activateTarget", targetId=target)
        loaded = f"document.readyState === 'complete' && location.href === '{site.page('form')}'"
        while not await here.cdp.evaluate(target, loaded):
            await asyncio.sleep(0.02)
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
            listed = {told["tabId"]: told for told in (await ann.call("browser_list_tabs"))["tabs"]}
            assert [listed[tab]["active"] for tab in tabs] == [False, False]
            assert listed[tabs[0]]["groupId"] != listed[tabs[1]]["groupId"]
            assert [listed[tab]["owner"] for tab in tabs] == ["ann", "bob"]
        assert await here.cdp.evaluate(target, "[moved, document.visibilityState]") == [
            0,
            "visible",
        ]


@pytest.mark.requirement("TH-23")
async def test_a_popup_belongs_to_its_opener_and_all_go_with_the_session(
    tmp_path: Path, site: Site
) -> None:
    async with world(tmp_path, {}) as here, here.http(here.product.secret) as http:
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
        owners = [told.get("owner") for told in listed["tabs"] if told["url"] == site.page("form")]
        assert owners == ["test", "test", "test"]
        groups = {told.get("groupId") for told in listed["tabs"] if told.get("owner")}
        assert len(groups) == 1 and None not in groups
        foreign = (await bob.call("browser_read_page", tabId=tab)).json()["result"]
        assert foreign["structuredContent"]["error"]["reason"] == "foreign_tab"
        assert "'test'" in foreign["content"][0]["text"]
        await ann.end()
        async with asyncio.timeout(10):
            while True:
                answer = (await bob.call("browser_list_tabs")).json()["result"]
                urls = [told["url"] for told in answer["structuredContent"]["tabs"]]
                if site.page("form") not in urls:
                    break


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


async def test_what_is_typed_into_a_password_field_is_not_written_down(
    tmp_path: Path, site: Site
) -> None:
    body = "<input id=p type=password><input id=t><input id=c autocomplete=cc-number>"
    async with world(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body={body}")
        for field, text in (("p", "hunter22"), ("t", "ordinary"), ("c", "not-a-number")):
            typed = await agent.call("browser_type_text", selector=f"#{field}", text=text)
            assert ("hunter22" in json.dumps(typed)) is False
        kept = (here.product.home / "audit.log").read_text()
        assert "ordinary" in kept
        assert "hunter22" not in kept and "not-a-number" not in kept


async def test_a_page_that_slips_away_to_a_forbidden_site_shows_nothing_of_it(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}}
    async with world(tmp_path, config) as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        for number in range(25):
            await agent.call("browser_navigate_tab", url=site.page("form"))
            leave = f"setTimeout(() => location.href = '{site.other}/form.html', {number}); 1"
            await agent.call("browser_execute_script", code=leave)
            reasons = set()
            while "permission_off" not in reasons:
                script = agent.result("browser_execute_script", tabId=tab, code="location.host")
                for call in (script, agent.result("browser_read_page", tabId=tab)):
                    result = await call
                    told = result["structuredContent"]
                    if result.get("isError"):
                        reasons.add(told["error"]["reason"])
                    else:
                        shown = str(told.get("value") or told.get("url"))
                        assert forbidden not in shown
            assert reasons <= {"permission_off", "navigated_away", "tab_url_mismatch"}


async def test_frames_of_a_forbidden_site_are_neither_read_nor_acted_in(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    for config, shown in (({}, True), ({"permissions": {"domains": {forbidden: "off"}}}, False)):
        folder = tmp_path / str(shown)
        folder.mkdir()
        async with world(folder, config) as here, here.agent("robot") as agent:
            frame = f"<h1>Outside</h1><iframe src='{site.other}/form.html'></iframe>"
            await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(frame)}")
            text = await agent.text("browser_read_page")
            assert "Outside" in text and ("Email" in text) is shown
            click = await agent.result("browser_click_element", selector="#mail")
            reason = click["structuredContent"].get("error", {}).get("reason")
            assert reason == (None if shown else "element_not_found")


async def test_a_button_that_moves_under_the_pointer_rests_first(
    tmp_path: Path, site: Site
) -> None:
    async with world(tmp_path) as here, here.agent("robot") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        first = started(agent.call("browser_execute_script", code="'first'"))
        await panel.text("article[data-confirmation]")
        second = started(agent.call("browser_execute_script", code="x\n" * 200))
        rested = "document.querySelectorAll('article button[data-scope=once]:enabled').length === 2"
        await panel.until(rested, "both to be ready")
        watch = """globalThis.rested = new Promise((resolve) => {
          scrollTo(0, document.body.scrollHeight);
          const place = document.querySelector("#approvals");
          new MutationObserver((_, observer) => {
            if (place.children.length > 1) return;
            observer.disconnect();
            setTimeout(() => resolve(place.querySelector("[data-scope=once]").disabled));
          }).observe(place, { childList: true });
        }); 1"""
        await panel.value(watch)
        second.cancel()
        assert await panel.value("rested") is True
        await panel.click("article button[data-scope=once]")
        assert await first == {"value": "first"}
