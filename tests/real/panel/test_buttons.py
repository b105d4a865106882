"""A person presses buttons of the panel that no longer test of a feature presses."""

from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.server.demo import serve_page
from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, failure, started
from tests.support.browsers.panel import Panel, panel_of
from tests.support.browsers.plain import PlainBrowser
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-43")]

NOTES = Path(__file__).parents[2] / "plugins" / "fixtures" / "notes"
PLUGIN = "li[data-plugin=notes]"
GRANT = "document.querySelectorAll('[data-grant]').length"
LASTING = ("site_session", "domain", "site", "always")


async def script(agent: Agent, code: str = "1") -> Any:
    return await agent.call("browser_execute_script", code=code)


async def is_refused(panel: Panel, agent: Agent) -> bool:
    """Whether the agent's script is asked about; the person denies it."""
    call = started(script(agent))
    await panel.click("article button[data-decision=deny]")
    return (await failure(call)).reason == "permission_denied"


async def test_a_grant_that_is_revoked_counts_no_longer(here: Rig, site: Site) -> None:
    async with here.agent("granted") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        call = started(script(agent))
        await panel.allow("session")
        await call
        assert await script(agent, "2") == {"value": 2}
        await panel.view("settings")
        assert "granted may use browser_execute_script" in await panel.text("[data-grant]")
        await panel.click("[data-grant] [data-action=revoke]")
        await panel.until(f"{GRANT} === 0", "the grant to go")
        assert await is_refused(panel, agent)


async def test_a_yes_of_each_scope_is_kept_as_such(here: Rig, site: Site) -> None:
    person = here.product
    assert person.run("permissions", "set", "domain:127.0.0.1", "ask").returncode == 0
    try:
        async with here.agent("shopper") as agent, panel_of(here.cdp) as panel:
            for scope in LASTING:
                call = started(agent.call("browser_open_tab", url=site.page("asked")))
                await panel.until("!!document.querySelector('article')", "the question")
                if scope == "domain":
                    await panel.click("article [data-other-ways] summary")
                    await panel.choose("article [data-ends]", "3600")
                await panel.allow(scope)
                await call
                assert f"({scope})" in here.audit()[-1]["rule"]
                await agent.call("browser_open_tab", url=site.page("asked"))
                await panel.view("settings")
                text = await panel.text("[data-grant]")
                assert ("until" in text) is (scope == "domain")
                assert ("reads or acts" in text) is scope.startswith("site")
                await panel.click("[data-grant] [data-action=revoke]")
                await panel.until(f"{GRANT} === 0", "the grant to go")
    finally:
        person.run("permissions", "set", "domain:127.0.0.1", "default")


async def test_a_page_is_declined_and_paired_with_the_level_that_was_chosen(here: Rig) -> None:
    with serve_page() as unwanted, serve_page() as wanted:
        async with panel_of(here.cdp) as panel:
            declined = PlainBrowser(here.cdp, unwanted.rstrip("/"), here.port)
            page = await declined.open()
            await declined.status(page, "unpaired")
            assert declined.site in await panel.text("li[data-pairing]")
            await panel.click("[data-action=decline]")
            await declined.status(page, "waiting")
            await panel.until("!document.querySelector('li[data-pairing]')", "the request to go")
            assert here.product.run("page", "list").stdout == ""
            paired = PlainBrowser(here.cdp, wanted.rstrip("/"), here.port)
            page = await paired.open()
            await panel.choose("li[data-pairing] [data-level]", "ask")
            await panel.click("[data-action=pair]")
            await paired.connected(page)
            assert here.product.run("page", "list").stdout == f"{paired.site}: ask\n"
            await panel.view("settings")
            await panel.choose("[data-page] [data-action=page-level]", "off")
            off = f"{paired.site}: off\n"
            await eventually(lambda: here.product.run("page", "list").stdout == off)
            here.product.run("page", "forget", paired.site)


async def test_the_folder_of_a_plugin_is_opened(here: Rig, shown: Path) -> None:
    folder = await notes(here)
    async with panel_of(here.cdp) as panel:
        await panel.view("plugins")
        await panel.click(f"{PLUGIN} [data-action=plugin-folder]")
        text = await eventually(shown.read_text, "the window", ignore=(FileNotFoundError,))
    assert text == f"{folder}\n"


async def test_what_a_plugin_has_logged_is_read(here: Rig, site: Site) -> None:
    await notes(here)
    async with here.agent("counter") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        await eventually(lambda: ready(agent), "the plugin to be ready")
        await agent.call("notes_count", to=3)
        await panel.view("plugins")
        await panel.click(f"{PLUGIN} [data-logs] summary")
        lines = f"document.querySelector('{PLUGIN} [data-logs] pre')?.innerText"

        async def has_all() -> bool:
            await panel.click(f"{PLUGIN} [data-action=plugin-logs]")
            return "counted 3" in (await panel.value(lines) or "")

        await eventually(has_all, "the lines")
        assert "info counted 1" in await panel.value(lines)


async def notes(here: Rig) -> Path:
    """The folder of a plugin that the person has reviewed and lets run."""
    folder = here.product.home.parent / "notes"
    (folder / "dist").mkdir(parents=True, exist_ok=True)
    for path in [NOTES / "package.json", *NOTES.glob("dist/*")]:
        (folder / path.relative_to(NOTES)).write_bytes(path.read_bytes())
    home = Home(here.product.home)
    Reviews(home, lambda name, level: None).approve(read_package(folder, "local"))
    keys.set_level(home, "plugins", "notes", "auto")
    assert here.product.run("config", "set", "localPlugins", f'["{folder}"]').returncode == 0
    return folder


async def ready(agent: Agent) -> bool:
    listed = (await agent.call("plugin_list_tabs"))["plugins"]
    return any(tab["ready"] for plugin in listed for tab in plugin["tabs"])


async def test_a_command_is_copied(here: Rig) -> None:
    async with panel_of(here.cdp) as panel:
        await here.cdp.send("Target.activateTarget", targetId=panel.target)
        await panel.view("clients")
        shown = "document.querySelector('#view-clients [data-command]')?.dataset.command"
        command = await panel.until(shown, "a command")
        assert "tabhub connect" in command
        await panel.click("#view-clients [data-action=copy]")
        await panel.until(
            "document.querySelector('#view-clients [data-action=copy]').title === 'Copied'", "it"
        )
        await panel.view("tools")
        assert await panel.paste("#tool-words") == command


async def test_a_client_that_is_kept_keeps_its_token(here: Rig) -> None:
    row = "[data-client-row=keeper]"
    async with here.agent("keeper") as agent, panel_of(here.cdp) as panel:
        await panel.view("clients")
        await panel.click(f"{row} [data-action=client-ask]")
        await panel.click(f"{row} [data-action=client-keep]")
        await panel.until(f"!!document.querySelector('{row} [data-action=client-ask]')", "it")
        assert (await agent.call("browser_list_tabs"))["tabs"]
        assert "keeper" in here.product.run("client", "list").stdout


async def test_skipping_permissions_can_be_left_alone(here: Rig, site: Site) -> None:
    async with here.agent("careful") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        await panel.view("settings")
        await panel.click("#skip")
        await panel.click("[data-action=skip-cancel]")
        await panel.until("!document.querySelector('#skip-confirm')", "the question to go")
        assert not await panel.value("document.querySelector('#skip').checked")
        assert await is_refused(panel, agent)


async def test_an_agent_is_paused_where_its_tabs_are_listed(here: Rig, site: Site) -> None:
    async with here.agent("walker") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        await panel.view("tabs")
        group = "section[aria-label=walker]"
        await panel.click(f"{group} [data-action=pause]")
        await panel.text(f"{group} [data-action=resume]")
        refused = await failure(started(agent.call("browser_read_page")))
        assert refused.reason == "paused_by_person"
        await panel.click(f"{group} [data-action=resume]")
        await panel.text(f"{group} [data-action=pause]")
        assert "Email" in await agent.text("browser_read_page")


async def test_a_long_parameter_is_shown_whole(here: Rig, site: Site) -> None:
    async with here.agent("writer") as agent, panel_of(here.cdp) as panel:
        await agent.call("browser_open_tab", url=site.page("form"))
        call = started(script(agent, f"'{'x' * 6000}the end'.length"))
        await panel.click("article .parameters summary")
        assert "the end" not in await panel.text("article .parameters pre")
        await panel.click("article [data-action=whole]")
        await panel.until(
            "document.querySelector('article .parameters pre').innerText.includes('the end')",
            "all of it",
        )
        await panel.allow("once")
        assert await call == {"value": 6007}


async def test_tools_are_found_by_family_and_level(here: Rig) -> None:
    rows = "document.querySelectorAll('[data-tool-row]').length"
    async with panel_of(here.cdp) as panel:
        await panel.view("tools")
        await panel.click("[data-family=browser] [data-action=tool-family]")
        await panel.until(f"{rows} === 40", "the first tools")
        await panel.click("[data-family=browser] [data-action=more]")
        await panel.until(f"{rows} > 40", "more tools")
        await panel.click("[data-family=browser] [data-action=tool-family]")
        await panel.until(f"{rows} === 0", "none")
        await panel.choose("#shown-level", "ask")
        await panel.text("[data-tool-row=browser_execute_script]")
        levels = "[...document.querySelectorAll('[data-tool]')].map((one) => one.value || one.text)"
        assert not await panel.value(f"{levels}.some((level) => level === 'auto')")


async def test_a_tool_is_tried_with_what_its_form_takes(here: Rig, site: Site) -> None:
    async with here.agent("guide") as agent, panel_of(here.cdp) as panel:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        await panel.view("tools")
        await panel.enter("#tool-words", "browser_press_key")
        row = "[data-tool-row=browser_press_key]"
        await panel.click(f"{row} [data-action=tool-details]")
        await panel.enter(f"{row} [name=selector]", "#mail")
        await panel.enter(f"{row} [name=key]", "q")
        await panel.choose(f"{row} [name='tabhub tab']", str(tab))
        await panel.click(f"{row} [data-action=tool-run]")
        await panel.text(f"{row} .result pre")
        page = await here.cdp.page_of(tab)
        assert await here.cdp.evaluate(page, "document.querySelector('#mail').value") == "q"


async def test_a_setting_of_each_kind_is_found_and_changed(here: Rig) -> None:
    rows = "document.querySelectorAll('[data-setting-row]').length"
    async with panel_of(here.cdp) as panel:
        await panel.view("settings")
        await panel.until(f"{rows} > 20", "the settings")
        await panel.enter("#setting-words", "unattended")
        await panel.until(f"{rows} < 10", "fewer")
        row = "[data-setting-row=unattended]"
        await panel.choose(f"{row} [data-entry=choice]", "allow")
        await eventually(lambda: here.setting("unattended") == "allow")
        await panel.choose(f"{row} [data-entry=choice]", "deny")
        await eventually(lambda: here.setting("unattended") in ("deny", {}))
        await panel.enter("#setting-words", "untrustedInput")
        box = "[data-setting-row=untrustedInput] [data-entry=boolean]"
        await panel.click(box)
        await eventually(lambda: here.setting("untrustedInput") is True)
        await panel.click(box)
        await eventually(lambda: here.setting("untrustedInput") in (False, {}))
        await panel.enter("#setting-words", "limits.callSeconds")
        await panel.enter("[data-setting-row='limits.callSeconds'] [data-entry=text]", "55")
        await eventually(lambda: here.setting("limits", "callSeconds") == 55)
