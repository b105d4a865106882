"""Buttons, links, checkboxes and other elements that take a click."""

import re

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import ordinals, part, quoted
from tests.miniwob.snapshot import Line, Snapshot


@solves("click-test", "click-dialog")
async def the_only_button(page: Page) -> None:
    await page.click((await page.read()).one("button"))


@solves("click-test-2", "click-test-transfer")
async def the_button_in_capitals(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"button ([A-Z]+)", seen.task)
    await page.click(seen.one("button", name))


@solves("click-button", "click-dialog-2", "unicode-test")
async def the_quoted_button(page: Page) -> None:
    seen = await page.read()
    name = quoted(seen.task)[0]
    await page.click(seen.one("button", "Close" if name == "x" else name))


@solves("click-button-sequence")
async def both_buttons_in_turn(page: Page) -> None:
    seen = await page.read()
    for name in re.findall(r"button ([A-Z]+)", seen.task):
        await page.click(seen.one("button", name))


@solves("click-link")
async def the_quoted_link(page: Page) -> None:
    seen = await page.read()
    await page.click(seen.named(quoted(seen.task)[0]))


@solves("click-widget")
async def any_of_a_kind(page: Page) -> None:
    seen = await page.read()
    kind = quoted(seen.task)[0]
    if kind in ("text", "textarea"):
        fields = [line for line in seen.all("textbox") if line.is_multiline == (kind != "text")]
        await page.click(fields[0])
    else:
        await page.click(seen.one(kind))


@solves("click-option")
async def one_option(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"Select (.*) and click Submit", seen.task)
    await page.click(seen.one("radio", name))
    await page.click(seen.one("button", "Submit"))


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
async def some_checkboxes(page: Page) -> None:
    seen = await page.read()
    (names,) = part(r"Select (.*) and click Submit", seen.task)
    for name in names.split(", "):
        if name != "nothing":
            await page.click(seen.one("checkbox", name))
    await page.click(seen.one("button", "Submit"))


@solves("focus-text")
async def the_only_field(page: Page) -> None:
    await page.click((await page.read()).one("textbox"))


@solves("focus-text-2")
async def a_field_by_position(page: Page) -> None:
    seen = await page.read()
    await page.click(seen.all("textbox")[ordinals(seen.task)[0]])


@solves("find-greatest")
async def the_greatest_card(page: Page) -> None:
    seen = await page.read()
    await page.click(max(seen.all("generic"), key=lambda card: int(card.name)))
    await page.click(seen.one("button", "Submit"))


@solves("odd-or-even")
async def odd_or_even(page: Page) -> None:
    seen = await page.read()
    odds, evens = ([b for b in seen.all("button") if b.name == name] for name in ("Odd", "Even"))
    numbers = [int(text) for text in seen.texts if re.fullmatch(r"-?\d+", text)]
    for number, odd, even in zip(numbers, odds, evens, strict=False):
        await page.click(odd if number % 2 else even)
    await page.click(seen.one("button", "Submit"))


@solves("buy-ticket")
async def the_best_ticket(page: Page) -> None:
    seen = await page.read()
    await page.click(best_offer(seen, seen.all("button")))


def best_offer(seen: Snapshot, offers: list[Line]) -> Line:
    """The cheapest, dearest, shortest or longest, as the task says."""
    by_cost = "cheap" in seen.task or "expensive" in seen.task
    values = [_cost(offer.name) for offer in offers] if by_cost else _minutes(seen.texts)
    best = max if "expensive" in seen.task or "longest" in seen.task else min
    return offers[values.index(best(values))]


def _cost(name: str) -> int:
    return int(part(r"\$(\d+)", name)[0])


def _minutes(texts: list[str]) -> list[int]:
    times = (re.fullmatch(r"(\d+)h (\d+)m", text) for text in texts)
    return [int(time[1]) * 60 + int(time[2]) for time in times if time]
