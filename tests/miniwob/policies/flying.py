"""A form that books flights."""

import re

from tests.miniwob.page import Page
from tests.miniwob.policies.clicking import best_offer
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.widgets import pick_date
from tests.miniwob.policies.words import part
from tests.miniwob.snapshot import Line, Snapshot


@solves("book-flight", "book-flight-nodelay")
async def a_flight(page: Page) -> None:
    seen = await page.read()
    start, end, month, day = part(r"from: (.*) to: (.*) on (\d+)/(\d+)/", seen.task)
    await _choose(page, seen.one("textbox", "From:"), start)
    await _choose(page, seen.one("textbox", "To:"), end)
    await page.click(seen.hinted("hasDatepicker"))
    await pick_date(page, int(month), int(day))
    await page.click(seen.one("button", "Search"))
    offers = await page.until(lambda now: now if now.has("Back") else None)
    await page.click(best_offer(offers, [b for b in offers.all("button") if "$" in b.name]))


async def _choose(page: Page, field: Line, place: str) -> None:
    await page.type(field, place)
    await page.click(await page.until(lambda seen: _suggestion(seen, place)))


def _suggestion(seen: Snapshot, place: str) -> Line | None:
    code = f"({place})" if re.fullmatch(r"[A-Z]{3}", place) else f"{place} ("
    return next((line for line in seen if line.ref and code in line.name), None)
