"""A person presses what the views offer, and the server does it, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import at_work, failure, rig, started
from tests.support.browsers.panel import PANEL, Panel, panel_of
from tests.support.browsers.unpacked import browser_with, paired
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-43")]

ENDLESS = "document.title = 'at work'; await new Promise(() => {})"
OPEN = "!!document.querySelector('#connection.is-open')"
VIEWS = {
    "now": "robot",
    "tabs": "Yours",
    "tools": "browser",
    "plugins": "npm registry",
    "clients": "robot",
    "remote": "other machines",
    "audit": "robot",
    "settings": "approvalSeconds",
}
"""Each view, with words that it shows."""


async def test_a_call_is_seen_as_it_runs_and_can_be_cancelled(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        async with panel_of(here.cdp) as panel:
            done = await panel.text("#calls li[data-outcome=done]")
            assert "Open tab" in done and "robot" in done and "B" in done
            call = started(agent.call("browser_execute_script", code=ENDLESS, tabId=tab))
            await at_work(agent, tab)
            running = "#calls li[data-outcome=running]"
            # The calls that looked whether it is at work end first.
            alone = f"document.querySelectorAll('{running}').length === 1"
            named = f"document.querySelector('{running}').innerText.includes('Execute JavaScript')"
            counted = "document.querySelector('#running').innerText === '1 running'"
            await panel.until(f"{alone} && {named} && {counted}", "it alone")
            await panel.click(f"{running} [data-action=cancel-call]")
            assert (await failure(call)).reason == "cancelled_by_person"
            cancelled = await panel.text("#calls li[data-outcome=cancelled]")
            assert "Execute JavaScript" in cancelled
            await panel.until("document.querySelector('#running').innerText === '0 running'", "it")
            refused = agent.call("browser_read_page", tabId=10_000)
            assert (await failure(started(refused))).reason == "tab_not_found"
            await panel.text("#calls li:is([data-outcome=failed], [data-outcome=refused])")


async def test_the_tab_that_an_agent_uses_has_a_small_picture_unless_it_is_switched_off(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        shot = await agent.call("browser_screenshot_tab")
        async with panel_of(here.cdp) as panel:
            await panel.view("now")
            picture = "document.querySelector('#strip img')"

            async def shown() -> Any:
                # A tab that is not used falls asleep, and nothing wakes it for a picture.
                await agent.call("browser_read_page")
                return await panel.value(f"{picture}?.src.startsWith('data:image/jpeg')")

            await eventually(shown, "the picture")
            assert await panel.value(f"{picture}.naturalWidth") == 256
            assert (await agent.call("browser_screenshot_tab")).keys() == shot.keys()
            await panel.view("settings")
            await panel.click("#show-thumbnails")
            await panel.view("now")
            await panel.until(f"!{picture}", "no picture")
            assert await panel.text("#strip li")


async def test_a_tool_is_found_gets_a_level_and_is_tried(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, panel_of(here.cdp) as panel:
        await panel.view("tools")
        await panel.enter("#tool-words", "list tabs")
        row = "[data-tool-row=browser_list_tabs]"
        await panel.text(row)
        await panel.choose(f"{row} select[data-tool]", "ask")
        await eventually(
            lambda: here.setting("permissions", "tools"),
            until=lambda tools: "browser_list_tabs" in tools,
        )
        await panel.click(f"{row} [data-action=tool-details]")
        await panel.click(f"{row} [data-action=tool-run]")
        assert "panel.html" in await panel.text(f"{row} .result pre")
        await panel.choose(f"{row} select[data-tool]", "off")
        await eventually(
            lambda: here.setting("permissions", "tools"),
            until=lambda tools: tools["browser_list_tabs"] == "off",
        )
        await panel.click(f"{row} [data-action=tool-run]")
        await panel.until(
            f"!!document.querySelector('{row} .result.is-error') || "
            "!!document.querySelector('#error').innerText",
            "the refusal",
        )


async def test_a_client_is_listed_and_its_token_revoked(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_list_tabs")
        await panel.view("clients")
        row = "[data-client-row=robot]"
        assert "connected now" in await panel.text(row)
        assert "tabhub connect" in await panel.text("#view-clients .commands")
        await panel.click(f"{row} [data-action=client-ask]")
        await panel.click(f"{row} [data-action=client-revoke]")
        await panel.until(f"!document.querySelector('{row}')", "it to go")
        assert "robot" not in here.product.run("client", "list").stdout


async def test_the_audit_log_names_what_agents_and_the_person_did(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_list_tabs")
        await panel.click("[data-action=stop-all]")
        await panel.click("[data-action=resume-all]")
        await panel.view("audit")
        await panel.text("#audit li")
        text = await panel.text("#audit")
        assert "robot" in text and "You " in text
        await panel.enter("[data-filter=tool]", "browser_list_tabs")
        only = "[...document.querySelectorAll('#audit li')].every((row) => "
        await panel.until(f"{only}row.innerText.includes('robot'))", "the filter")
        await panel.click("#audit li button")
        assert "browser_list_tabs" in await panel.text("#audit li .facts")
        await panel.click("[data-action=export-csv]")
        assert "Saved" in await panel.text("#view-audit [role=status]")


async def test_a_setting_is_changed_refused_and_set_back(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, panel_of(here.cdp) as panel:
        await panel.view("settings")
        row = "[data-setting-row='limits.approvalSeconds']"
        await panel.enter(f"{row} input", "77")
        await eventually(
            lambda: here.setting("limits"), until=lambda now: now == {"approvalSeconds": 77}
        )
        await panel.enter(f"{row} input", "-5")
        assert await panel.text("#error")
        assert here.setting("limits") == {"approvalSeconds": 77}
        await panel.click(f"{row} [data-action=setting-default]")
        await eventually(
            lambda: here.setting("limits"), until=lambda now: "approvalSeconds" not in now
        )


async def test_skipping_permissions_is_confirmed_first_and_ends_at_once(tmp_path: Path) -> None:
    skips = "document.querySelector('#skip').checked"
    async with rig(tmp_path, {}) as here, panel_of(here.cdp) as panel:
        await panel.view("settings")
        await panel.click("#skip")
        await panel.text("#skip-confirm")
        assert not await panel.value(skips)
        await panel.click("[data-action=skip-confirm]")
        await panel.until(skips, "it to be on")
        await panel.click("[data-action=skip-off]")
        await panel.until(f"!{skips}", "it to be off")


async def test_every_view_survives_a_reload_and_the_death_of_the_worker(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_list_tabs")
        for view, words in VIEWS.items():
            await panel.view(view)
            shown = f"document.querySelector('#view-{view}')?.innerText.includes('{words}')"
            seen = f"!document.querySelector('#view-{view}')?.hidden && {shown}"
            await panel.until(seen, view)
            await here.cdp.kill_worker()
            await panel.until(f"{OPEN} && {seen}", f"{view} after the death of the worker")
            # The page goes on for a moment.
            await panel.value("window.isOld = true; location.reload()")
            await panel.until(f"!window.isOld && {OPEN} && {seen}", f"{view} after a reload")


async def test_what_is_half_typed_survives_the_death_of_the_worker(tmp_path: Path) -> None:
    async with rig(tmp_path, {}) as here, panel_of(here.cdp) as panel:
        await panel.view("tools")
        await panel.enter("#view-tools input[type=search]", "screenshot")
        names = (
            "[...document.querySelectorAll('[data-tool]')].map((row) => row.dataset.tool).join()"
        )
        await panel.until(f"{names} && !{names}.includes('browser_click_element')", "the filter")
        found = await panel.value(names)
        ended = await here.cdp.worker()
        await here.cdp.kill_worker()
        await eventually(here.cdp.worker, "another worker", until=lambda worker: worker != ended)
        await panel.until(f"{OPEN} && !document.querySelector('#view-tools').hidden", "it again")
        await panel.until(f"{names} === {found!r}", "the same tools")
        typed = "document.querySelector('#view-tools input[type=search]').value"
        assert await panel.value(typed) == "screenshot"


async def test_without_a_server_the_panel_says_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    async with browser_with(tmp_path / "browser", paired(1, "secret")) as cdp:
        panel = await opened(cdp)
        await panel.until("document.querySelector('#why')?.innerText.includes('port 1')", "why")
        assert "No server answers" in await panel.text("#why")
        assert await panel.text("[data-command] code") == "tabhub start"
        assert not await panel.value("!!document.querySelector('#pairing-form')")


async def test_a_person_pairs_the_extension_in_the_panel(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    async with browser_with(tmp_path / "browser") as cdp:
        with product.running("start", "--port", "0"):
            port = product.wait_running()
            panel = await opened(cdp)
            await panel.text("#pairing-form")
            await panel.click("#pairing-form summary")
            await panel.enter("#pairing-form [name=port]", str(port))
            await panel.enter("#pairing-form [name=secret]", product.secret)
            await panel.click("[data-action=server-save]")
            await panel.until("!!document.querySelector('#connection.is-open')", "the connection")
            steps = await panel.text("#first-run")
            assert "An agent connects" in steps and "tabhub connect" in steps
            done = "document.querySelectorAll('#first-run li[data-done]').length"
            assert await panel.value(done) == 1
            await panel.click("[data-action=first-run-hide]")
            await panel.until("!document.querySelector('#first-run')", "the steps to go")
            kept = await panel.value("chrome.storage.local.get('firstRunDone')")
            assert kept == {"firstRunDone": True}


async def opened(cdp: Cdp) -> Panel:
    target = await cdp.open(PANEL)
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    return Panel(cdp, attached["sessionId"], target)
