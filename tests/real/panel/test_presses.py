"""A button that grants something takes no press just after it has moved, whatever moved it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.browsers.panel import Panel
from tests.support.browsers.sample_panel import sample_panel
from tests.support.browsers.unpacked import browser_with

pytestmark = pytest.mark.real_browser

LOW = (360, 420)
ONCE = "document.querySelector('[data-confirmation=c1] [data-scope=once]')"
READY = "[...document.querySelectorAll('article [data-scope]')].every((one) => !one.disabled)"
TOP = "document.querySelector('#waiting').scrollTop"
ENDED = """(({ scrollTop, clientHeight, scrollHeight }) =>
  scrollTop + clientHeight >= scrollHeight - 1)(document.querySelector("#waiting"))"""
WATCH = f"""globalThis.rests = 0;
new MutationObserver(() => rests++).observe({ONCE}, {{ attributeFilter: ["disabled"] }}); 1"""
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
async def panel(tmp_path: Path) -> AsyncIterator[Panel]:
    """Two questions in a panel that is too low for both."""
    async with (
        browser_with(tmp_path / "browser") as cdp,
        sample_panel(cdp, size=LOW, approvals=True) as found,
    ):
        await found.until(READY, "the buttons")
        yield found


async def test_a_question_below_that_goes_away_moves_a_button(panel: Panel) -> None:
    await panel.turn_wheel("#waiting", 1000)
    await panel.until(f"{TOP} > 50 && {ENDED}", "the scrolling")
    await panel.until(READY, "the buttons")
    await panel.value(WATCH)
    before = await panel.value(f"{ONCE}.getBoundingClientRect().top")
    await panel.value("sample.send('confirmation.closed', { id: 'c2', outcome: 'cancelled' })")
    await panel.until("document.querySelectorAll('article').length === 1", "one question")
    assert await panel.value(f"{ONCE}.getBoundingClientRect().top") > before
    await panel.until("rests >= 1", "the button to rest")


async def test_what_scrolls_without_the_person_makes_a_button_rest(panel: Panel) -> None:
    await panel.value(WATCH)
    await panel.value(f"{TOP} = 40")
    await panel.until("rests >= 1", "the button to rest")
    await panel.until(READY, "the button to be ready")


async def test_a_persons_own_scrolling_leaves_buttons_ready(panel: Panel) -> None:
    await panel.value(WATCH)
    await panel.turn_wheel("#waiting", 40)
    await panel.until(f"{TOP} >= 40", "the scrolling")
    await panel.value(DRAWN)
    assert await panel.value("rests") == 0


async def test_a_panel_of_another_size_makes_buttons_rest(panel: Panel) -> None:
    await panel.value(WATCH)
    await panel.resize(360, 380)
    await panel.until("rests >= 1", "the button to rest")
