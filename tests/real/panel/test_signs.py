"""What the panel says without words, and that what a person decides by is there to be read."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.panel import Panel
from tests.support.browsers.sample_panel import PAGE, SIDE, THEMES, sample_panel
from tests.support.browsers.unpacked import browser_with

pytestmark = pytest.mark.real_browser

VIEWS = ("now", "tabs", "tools", "plugins", "clients", "remote", "audit", "settings")
TAKING = {
    "Deny",
    "Take back",
    "Stop sharing",
    "Revoke…",
    "Revoke",
    "Remove",
    "Remove this service",
    "End all access",
    "Stop everything",
}
RED = """(() => {
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.color = "var(--alarm)";
  const alarm = getComputedStyle(probe).color;
  probe.remove();
  return [...document.querySelectorAll("button")]
    .filter((one) => one.checkVisibility() && getComputedStyle(one).color === alarm)
    .map((one) => one.innerText.trim());
})()"""
EDGES = """[...document.querySelectorAll(%s)].map((one) => {
  const { left, right } = one.getBoundingClientRect();
  return [Math.round(left), Math.round(right)];
})"""
LONG_HOST = f"https://{'shop.example.' * 12}evil.example"


@pytest.fixture
async def cdp(tmp_path: Path) -> AsyncIterator[Cdp]:
    async with browser_with(tmp_path / "browser") as found:
        yield found


async def top(panel: Panel, selector: str) -> float:
    found = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().top"
    value: float = await panel.value(found)
    return value


@pytest.mark.parametrize("size", [SIDE, PAGE], ids=["side", "page"])
async def test_a_question_is_counted_and_does_not_move_the_navigation(
    cdp: Cdp, size: tuple[int, int]
) -> None:
    async with sample_panel(cdp, size=size) as panel:
        await panel.text("[data-call=k9]")
        assert "waiting" not in await panel.text("#bar")
        before = await top(panel, "#nav")
        for number, one in enumerate(("c1", "c2"), 1):
            request = f"sample.CONFIRMATIONS.find(({{ id }}) => id === '{one}')"
            await panel.value(f"sample.send('confirmation.request', {request})")
            await panel.until(f"document.querySelectorAll('article').length === {number}", one)
            assert f"1 running · {number} waiting" in " ".join((await panel.text("#bar")).split())
            assert await panel.text("#approvals-title") == f"Waiting for you · {number}"
        assert await top(panel, "#nav") == before
        if size == SIDE:
            await panel.value("sample.send('state', { ...sample.STATE, stopped: true })")
            await panel.text("[data-action=resume-all]")
            assert await top(panel, "#nav") == before


async def test_what_is_announced_to_screen_readers_goes_with_its_question(cdp: Cdp) -> None:
    async with sample_panel(cdp) as panel:
        request = "sample.CONFIRMATIONS.find(({ id }) => id === 'c1')"
        await panel.value(f"sample.send('confirmation.request', {request})")
        status = "document.querySelector('#status').textContent"
        await panel.until(f"{status}.includes(' asks: ')", "the announcement")
        await panel.value("sample.send('state', { ...sample.STATE, confirmations: [] })")
        await panel.until(f"{status} === ''", "no announcement")


async def test_what_a_yes_would_run_is_read_before_it_is_given(cdp: Cdp) -> None:
    async with sample_panel(cdp, approvals=True) as panel:
        preview = "document.querySelector('[data-confirmation=c2] .preview')"
        assert await panel.value(f"{preview}.scrollHeight <= {preview}.clientHeight")
        assert "one.innerText.trim()" in await panel.value(f"{preview}.innerText")
        click = await panel.text("[data-confirmation=c1]")
        assert "e41" not in click and "left, then refused" in click
        assert "laptop (calls itself “Shopping helper”)" in click
        await panel.click("[data-confirmation=c1] .parameters summary")
        assert "e41" in await panel.text("[data-confirmation=c1]")


async def test_the_host_of_a_page_is_never_cut(cdp: Cdp) -> None:
    request: dict[str, Any] = {"id": "long", "tab": {"tabId": 1, "title": "T", "url": LONG_HOST}}
    async with sample_panel(cdp, size=(320, 800)) as panel:
        given = f"{{ ...sample.CONFIRMATIONS[0], ...{json.dumps(request)} }}"
        await panel.value(f"sample.send('confirmation.request', {given})")
        assert await panel.text("article .host") == LONG_HOST
        host = "document.querySelector('article .host')"
        await panel.until(f"{host}.getClientRects().length > 0", "the host")
        right = f"{host}.getBoundingClientRect().right"
        assert await panel.value(f"{right} <= document.querySelector('article').clientWidth + 12")
        assert await panel.value(f"{host}.scrollWidth <= {host}.offsetWidth")


@pytest.mark.parametrize("theme", THEMES)
async def test_only_what_takes_access_away_or_deletes_is_red(cdp: Cdp, theme: str) -> None:
    async with sample_panel(cdp, theme=theme, approvals=True, remote=True) as panel:
        found = set()
        for view in VIEWS:
            await panel.view(view)
            if view == "clients":
                await panel.text("[data-client-row]")
            if view == "remote":
                await panel.click("#service summary")
            found |= set(await panel.value(RED))
    assert found == TAKING


async def test_an_agent_that_is_away_is_not_paused_and_its_colour_says_who_not_whether(
    cdp: Cdp,
) -> None:
    async with sample_panel(cdp) as panel:
        rows = "[...document.querySelectorAll('#agents > li')]"
        pause = f"{rows}.map((row) => !!row.querySelector('[data-action=pause]'))"
        await panel.until(f"{rows}.length === 3", "the agents")
        assert await panel.value(pause) == [True, True, False]
        round_ones = f"{rows}.flatMap((row) => [...row.querySelectorAll('.dot')]).length"
        assert await panel.value(round_ones) == 0
        await panel.view("clients")
        there = "[...document.querySelectorAll('#clients .dot')].map((one) => one.className)"
        await panel.until(f"{there}.length === 4", "the clients")
        assert await panel.value(there) == ["dot ", "dot is-there", "dot is-there", "dot "]


@pytest.mark.parametrize("size", [SIDE, PAGE], ids=["side", "page"])
async def test_the_bar_and_what_is_below_it_have_the_same_edges(
    cdp: Cdp, size: tuple[int, int]
) -> None:
    async with sample_panel(cdp, "audit", size=size) as panel:
        await panel.text("#audit li")
        right = (await panel.value(EDGES % "'[data-action=stop-all]'"))[0][1]
        assert (await panel.value(EDGES % "'#audit'"))[0][1] == right
        left = (await panel.value(EDGES % "'#connection'"))[0][0]
        content = "'#audit'" if size == SIDE else "'#calls'"
        assert (await panel.value(EDGES % content))[0][0] == left
        tabs = await panel.value(EDGES % "'#nav button'")
        assert tabs[-1][1] <= size[0]


async def test_a_client_elsewhere_that_may_do_nothing_comes_first(cdp: Cdp) -> None:
    async with sample_panel(cdp, "remote", remote=True) as panel:
        await panel.text("[data-client]")
        names = "[...document.querySelectorAll('[data-client]')].map((one) => one.dataset.client)"
        assert await panel.value(names) == ["unknown-laptop", "office-desktop", "phone"]
        assert "wants access" in await panel.text("[data-client=unknown-laptop]")
        assert "not connected" in await panel.text("[data-client=phone]")
