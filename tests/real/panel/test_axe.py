"""axe-core finds nothing serious in any view of the panel, in both themes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.panel import Panel
from tests.support.browsers.sample_panel import PAGE, SIDE, THEMES, sample_panel
from tests.support.browsers.unpacked import browser_with

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]

AXE = Path(__file__).parents[2] / "npm" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = ("now", "tabs", "tools", "plugins", "clients", "remote", "audit", "settings")
ALL: dict[str, Any] = {"approvals": True, "remote": True}
RUN = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => [id, nodes.map((one) => [one.target, one.failureSummary])]))
"""
OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"closed": True}, "!!document.querySelector('[data-command]')"),
    ({"firstRun": True}, "!!document.querySelector('#first-run')"),
]
PLANT = """document.body.append(document.createElement("button"));
document.querySelector("h2").style.color = "#aaaaaa88"; 1"""
RESTED = "!document.querySelector('button:disabled:not([data-locked])')"


async def serious(panel: Panel) -> Any:
    # Disabled controls may have little contrast.
    await panel.until(RESTED, "every control to be ready")
    return await panel.value(RUN)


@pytest.mark.parametrize("size", [SIDE, PAGE], ids=["side", "page"])
@pytest.mark.parametrize("theme", THEMES)
async def test_no_view_has_a_serious_fault(
    tmp_path: Path, theme: str, size: tuple[int, int]
) -> None:
    axe = AXE.read_text()
    async with browser_with(tmp_path / "browser") as cdp:
        async with sample_panel(cdp, theme=theme, size=size, **ALL) as panel:
            await panel.value(f"{axe}; 1")
            await panel.click("article summary")
            await panel.click("article [data-other-ways] summary")
            for view in VIEWS:
                await panel.view(view)
                await panel.until(f"document.querySelector('#view-{view}').innerText", view)
                assert await serious(panel) == [], view
            await panel.view("tools")
            await panel.click(".fold")
            await panel.click("[data-action=tool-details]")
            await panel.text("[data-trial]")
            assert await serious(panel) == []
            await panel.view("plugins")
            await panel.click("[data-action=plugin-review]")
            await panel.click("[data-file] summary")
            assert await serious(panel) == []
            await panel.view("audit")
            await panel.click("#audit li button")
            assert await serious(panel) == []
        for options, until in OTHERS:
            async with sample_panel(cdp, theme=theme, size=size, until=until, **options) as panel:
                await panel.value(f"{axe}; 1")
                assert await serious(panel) == [], json.dumps(options)


async def test_the_check_finds_a_fault(tmp_path: Path) -> None:
    async with browser_with(tmp_path / "browser") as cdp, sample_panel(cdp, **ALL) as panel:
        await panel.value(f"{AXE.read_text()}; {PLANT}")
        found = dict(await panel.value(RUN))
    assert found.keys() == {"button-name", "color-contrast"}
