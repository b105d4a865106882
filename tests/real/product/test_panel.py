"""A person at the side panel, in a real browser."""

from pathlib import Path

import pytest

from tests.support.browsers.managed import CONFIG, at_work, failure, rig, started
from tests.support.browsers.panel import PANEL, panel_of
from tests.support.browsers.persons import persons_browser
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("OT-34")
async def test_a_person_allows_and_denies_in_the_panel(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        unanswered = await failure(started(agent.call("browser_execute_script", code="1")))
        assert unanswered.reason == "approval_unavailable"
        async with panel_of(here.cdp) as panel:
            call = started(agent.call("browser_execute_script", code="6 * 7 /* <b>bold</b> */"))
            text = await panel.text("article[data-confirmation]")
            for part in ("robot", "browser_execute_script", "127.0.0.1", "6 * 7 /* <b>bold</b> */"):
                assert part in text
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
            await panel.allow("session")
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
async def test_an_approval_ends_with_its_time_limit_and_with_the_last_panel(
    tmp_path: Path, site: Site
) -> None:
    config = {**CONFIG, "limits": {"approvalSeconds": 2}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
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
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        own = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        await here.cdp.open(site.page("targets"))
        listed = (await agent.call("browser_list_tabs"))["tabs"]
        persons = next(tab for tab in listed if tab["url"] == site.page("targets"))
        assert not persons["usable"] and "owner" not in persons
        async with panel_of(here.cdp) as panel:
            await panel.view("tabs")
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
            await panel.view("now")
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

            await panel.view("tabs")
            await panel.click(f"li[data-tab='{own}'] button[data-action=take-back]")
            await panel.text(f"li[data-tab='{own}'] button[data-action=share]")
            taken = agent.call("browser_read_page", tabId=own)
            assert (await failure(started(taken))).reason == "foreign_tab"


async def test_no_agent_reaches_the_panel(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, {}, "--share-active-tab") as here, here.agent("robot") as agent:
        for tool in ("browser_open_tab", "browser_navigate_tab"):
            opening = agent.call(tool, url=PANEL, **({} if "open" in tool else {"tabId": 1}))
            assert (await failure(started(opening))).reason in (
                "invalid_arguments",
                "tab_not_found",
            )
        async with panel_of(here.cdp) as panel:
            await here.cdp.send("Target.activateTarget", targetId=panel.target)
            tabs = (await agent.call("browser_list_tabs"))["tabs"]
            panel_tab = next(tab for tab in tabs if tab["url"] == PANEL)["tabId"]
            for tool, more in (
                ("browser_read_page", {}),
                ("browser_execute_script", {"code": "1"}),
                ("browser_click_element", {"selector": "button"}),
            ):
                assert (
                    await failure(started(agent.call(tool, tabId=panel_tab, **more)))
                ).reason in (
                    "needs_person",
                    "foreign_tab",
                )


async def test_in_a_persons_own_browser_reading_is_allowed_and_acting_needs_approval(
    tmp_path: Path, site: Site
) -> None:
    async with (
        persons_browser(tmp_path) as here,
        panel_of(here.cdp) as panel,
        here.agent("robot") as agent,
    ):
        assert (await agent.call("browser_list_tabs"))["tabs"]
        call = started(agent.call("browser_open_tab", url=site.page("form")))
        assert site.page("form") in await panel.text("article[data-confirmation]")
        await panel.click("article button[data-scope=once]")
        await call
        assert "Email" in await agent.text("browser_read_page")
        click = started(agent.call("browser_click_element", selector="#mail"))
        await panel.click("article button[data-decision=deny]")
        assert (await failure(click)).reason == "permission_denied"


async def test_a_button_that_moves_under_the_pointer_ignores_clicks_at_first(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path) as here, here.agent("robot") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        first = started(agent.call("browser_execute_script", code="x\n" * 200))
        await panel.text("article[data-confirmation]")
        second = started(agent.call("browser_execute_script", code="'second'"))
        rested = "document.querySelectorAll('article button[data-scope=once]:enabled').length === 2"
        await panel.until(rested, "both to be ready")
        watch = """globalThis.rested = new Promise((resolve) => {
          const place = document.querySelector("#approvals");
          new MutationObserver((_, observer) => {
            if (place.children.length > 1) return;
            observer.disconnect();
            setTimeout(() => resolve(place.querySelector("[data-scope=once]").disabled));
          }).observe(place, { childList: true });
        }); 1"""
        await panel.value(watch)
        first.cancel()
        assert await panel.value("rested") is True
        await panel.click("article button[data-scope=once]")
        assert await second == {"value": "second"}


async def test_the_panel_shows_which_agent_is_at_work(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        async with panel_of(here.cdp) as panel:
            call = started(agent.call("browser_wait_for_element", selector="#late"))
            busy = "document.querySelector('#agents .swatch.is-busy')?.title"
            assert await panel.until(busy, "the agent to be shown at work") == "Wait for element"
            await panel.click("#agents button[data-action=pause]")
            assert (await failure(call)).reason == "paused_by_person"
            await panel.until("!document.querySelector('#agents .swatch.is-busy')", "it to be over")
