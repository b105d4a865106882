"""A plan in the side panel of a real browser."""

from pathlib import Path

import pytest

from tests.support.browsers.managed import failure, rig, started
from tests.support.browsers.panel import panel_of
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]


@pytest.mark.document("CB-tools-16")
async def test_a_plan_allowed_in_the_panel_replaces_approvals_on_its_site_only(
    tmp_path: Path, site: Site
) -> None:
    host = site.url.removeprefix("http://")
    async with rig(tmp_path) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        async with panel_of(here.cdp) as panel:
            approach = ["open the <b>form</b>", "fill it", "send it"]
            call = started(agent.call("update_plan", domains=[host], approach=approach))
            text = await panel.text("article[data-confirmation]")
            for part in ("robot", "update_plan", host, *approach):
                assert part in text
            offered = "[...document.querySelectorAll('article button')].map((b) => b.innerText)"
            assert await panel.value(offered) == ["Allow this session", "Deny"]
            await panel.click("article button[data-scope=session]")
            assert (await call)["granted"] == [host]
            assert await agent.call("browser_execute_script", code="6 * 7") == {"value": 42}
            await panel.view("settings")
            assert "whatever its plan needs" in await panel.text("li[data-grant]")

            other = started(agent.call("update_plan", domains=["a.example"], approach=["x"]))
            await panel.click("article button[data-decision=deny]")
            assert await other == {"status": "rejected", "granted": [], "closed": []}

            elsewhere = site.other + "/form.html"
            await agent.call("browser_navigate_tab", url=elsewhere)
            script = started(agent.call("browser_execute_script", code="1"))
            await panel.click("article button[data-decision=deny]")
            assert (await failure(script)).reason == "permission_denied"

            await panel.view("now")
            await agent.call("turn_answer_start")
            await panel.until(
                "document.querySelector('li[data-session]').innerText.includes('answering')",
                "the answer to be shown",
            )
            await agent.call("turn_answer_complete")
        verdicts = [
            entry["rule"] for entry in here.audit() if entry["tool"] == "browser_execute_script"
        ]
        assert verdicts[0].startswith("plan ") and "denied" not in verdicts[0]
