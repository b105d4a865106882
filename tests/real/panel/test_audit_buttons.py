"""A person reads the audit log in the panel: pages, filters, and files."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.managed import Rig, failure, started
from tests.support.browsers.panel import Panel, panel_of
from tests.support.eventually import eventually

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-43")]

ROWS = "[...document.querySelectorAll('#audit > li')]"
IDS = f"{ROWS}.map((row) => row.dataset.row)"
CALLS = 60


@pytest.fixture
async def panel(here: Rig) -> AsyncIterator[Panel]:
    """The log of a client that has listed tabs often and was refused once, and of the person."""
    if "browser_list_tabs" not in {entry["tool"] for entry in here.audit()}:
        async with here.agent("reader") as agent:
            for _ in range(CALLS):
                await agent.call("browser_list_tabs")
            refused = agent.call("browser_read_page", tabId=10_000)
            assert (await failure(started(refused))).reason == "tab_not_found"
    async with panel_of(here.cdp) as found:
        if "agents.stop" not in {entry["tool"] for entry in here.audit()}:
            await found.click("[data-action=stop-all]")
            await found.click("[data-action=resume-all]")
            await found.text("[data-action=stop-all]")
        await found.view("audit")
        await found.text("#audit > li")
        yield found


async def turned(panel: Panel, action: str, before: list[str]) -> list[str]:
    """Press a button of the pager; the rows that come."""
    await panel.click(f"[data-action={action}]")
    return await eventually(lambda: panel.value(IDS), action, until=lambda now: now != before)


async def test_the_log_is_read_page_by_page(here: Rig, panel: Panel) -> None:
    newest = await panel.value(IDS)
    assert len(newest) == 50
    older = await turned(panel, "audit-older", newest)
    assert older and not {*newest} & {*older}
    assert await turned(panel, "audit-newer", older) == newest
    assert await turned(panel, "audit-older", newest) == older
    assert await turned(panel, "audit-newest", older) == newest
    async with here.agent("another") as agent:
        await agent.call("browser_list_tabs")
    again = await turned(panel, "audit-newest", newest)
    assert again[1:10] != newest[1:10]
    await panel.click("#audit > li [data-action=audit-details]")
    assert "another" in await panel.text("#audit > li .facts")


async def test_the_log_is_filtered_by_each_field(here: Rig, panel: Panel) -> None:
    every = await panel.value(IDS)

    async def shows(what: str, test: str) -> None:
        fits = f"{ROWS}.length > 0 && {ROWS}.every((row) => {test})"
        await panel.until(fits, what)

    await panel.choose("[data-filter=who]", "you")
    await shows("the person", "row.innerText.includes('You ')")
    await panel.choose("[data-filter=who]", "agents")
    await shows("agents", "!row.innerText.includes('You ')")
    await panel.choose("[data-filter=who]", "")
    await panel.choose("[data-filter=outcome]", "refused")
    await shows("what was refused", "row.dataset.outcome === 'refused'")
    await panel.choose("[data-filter=outcome]", "")
    await panel.choose("[data-filter=client]", "reader")
    await shows("one client", "row.innerText.includes('reader')")
    await panel.enter("[data-filter=tool]", "browser_read_page")
    await panel.until(f"{ROWS}.length === 1", "one tool")
    await panel.choose("[data-filter=client]", "")
    await panel.enter("[data-filter=tool]", "")
    await panel.enter("[data-filter=text]", "stopped")
    await shows("the words", "row.innerText.includes('stopped')")
    await panel.enter("[data-filter=text]", "")
    await panel.until(f"{ROWS}.length === {len(every)}", "everything")


async def saved(here: Rig, panel: Panel, action: str) -> Path:
    """Export, and return the file once it is there; an earlier one is removed."""
    file = here.downloads / f"tabhub-audit.{action.removeprefix('export-')}"
    file.unlink(missing_ok=True)
    folder = {"behavior": "allow", "downloadPath": str(here.downloads)}
    await here.cdp.send("Browser.setDownloadBehavior", **folder)
    await panel.click(f"[data-action={action}]")
    return await eventually(lambda: file if file.exists() else None, action)


async def lines(here: Rig, panel: Panel) -> list[dict[str, Any]]:
    text = (await saved(here, panel, "export-ndjson")).read_text()
    return [json.loads(line) for line in text.splitlines()]


async def test_the_log_is_saved_whole_and_as_it_is_filtered(here: Rig, panel: Panel) -> None:
    entries = await lines(here, panel)
    kept = here.audit()
    assert len(entries) >= CALLS + 3
    assert entries[::-1][: len(kept)] == kept[: len(entries)]
    with (await saved(here, panel, "export-csv")).open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["time"] for row in rows][-len(entries) :] == [one["timestamp"] for one in entries]
    assert [row["tool"] for row in rows][-len(entries) :] == [one["tool"] for one in entries]
    await panel.choose("[data-filter=client]", "reader")
    await panel.until(f"{ROWS}.every((row) => row.innerText.includes('reader'))", "the filter")
    assert {one["client"] for one in await lines(here, panel)} == {"reader"}
