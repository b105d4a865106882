"""Widgets of scripts: sliders, spinners, date pickers, menus, suggestions."""

import re

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import first, ordinals, part, quoted
from tests.miniwob.snapshot import Line, Snapshot
from tests.support.agent import ToolFailed

MONTHS = (
    "January February March April May June July August September October November December"
).split()


def _handles(seen: Snapshot) -> list[Line]:
    return [line for line in seen if "ui-slider-handle" in line.hint]


def _numbers(seen: Snapshot) -> list[int]:
    return [int(text) for text in seen.texts if re.fullmatch(r"-?\d+", text)]


async def _slide(page: Page, handle: Line, now: int, target: int) -> None:
    key = "ArrowRight" if target > now else "ArrowLeft"
    for _ in range(0, abs(target - now), 100):
        await page.press(key, handle, min(abs(target - now), 100))
        now += 100 if target > now else -100


@solves("use-slider")
async def a_slider(page: Page) -> None:
    seen = await page.read()
    (target,) = part(r"Select (-?\d+) with", seen.task)
    await _slide(page, _handles(seen)[0], _numbers(seen)[0], int(target))
    await page.click(seen.one("button", "Submit"))


@solves("use-slider-2")
async def three_sliders(page: Page) -> None:
    seen = await page.read()
    targets = part(r"\[(\d+),(\d+),(\d+)\]", seen.task)
    for handle, now, number in zip(_handles(seen), _numbers(seen), targets, strict=False):
        await _slide(page, handle, now, int(number))
    await page.click(seen.one("button", "Submit"))


@solves("form-sequence")
async def a_slider_and_a_checkbox(page: Page) -> None:
    seen = await page.read()
    (target,) = part(r"Select (-?\d+) with", seen.task)
    await _slide(page, _handles(seen)[0], _numbers(seen)[0], int(target))
    await page.click(seen.all("checkbox")[ordinals(seen.task)[0]])
    await page.click(seen.one("button", "Submit"))


@solves("form-sequence-3")
async def a_dropdown_and_a_button(page: Page) -> None:
    seen = await page.read()
    (option,) = part(r"Choose (.*) from the dropdown", seen.task)
    await page.select(seen.one("combobox"), option)
    await page.click(seen.one("button", quoted(seen.task)[0]))


@solves("use-spinner")
async def a_spinner(page: Page) -> None:
    seen = await page.read()
    target = int(part(r"Select (-?\d+) with", seen.task)[0])
    # The page hides these two buttons from readers and refuses keys.
    up, down = await page.query(".ui-spinner-button")
    for _ in range(abs(target)):
        await page.click((up if target > 0 else down)["ref"])
    await page.click(seen.one("button", "Submit"))


@solves("choose-date", "choose-date-nodelay", "choose-date-easy", "choose-date-medium")
async def a_date_picker(page: Page) -> None:
    seen = await page.read()
    month, day, _ = map(int, part(r"(\d+)/(\d+)/(\d+)", seen.task))
    await page.click(seen.one("textbox"))
    await pick_date(page, month, day)
    await page.click(seen.one("button", "Submit"))


async def pick_date(page: Page, month: int, day: int) -> None:
    # The picker fades in while the previous month fades out.
    while await page.until(_month) > month:
        await page.click((await page.read()).named("Prev"))
    await page.click((await page.read()).named(str(day)))


def _month(seen: Snapshot) -> int | None:
    month = re.search(f"({'|'.join(MONTHS)}) 2016", " ".join(seen.texts))
    return MONTHS.index(month[1]) + 1 if month else None


@solves("use-autocomplete", "use-autocomplete-nodelay")
async def a_suggestion(page: Page) -> None:
    seen = await page.read()
    start, *ends = quoted(seen.task)
    await page.type(seen.one("textbox"), start)
    await page.click(await page.until(lambda now: _suggestion(now, start, "".join(ends))))
    await page.click(seen.one("button", "Submit"))


def _suggestion(seen: Snapshot, start: str, end: str) -> Line | None:
    fitting = (line for line in seen.all("generic") if re.match(start, line.name))
    return next((line for line in fitting if line.name.endswith(end)), None)


@solves("daily-calendar")
async def an_event_of_a_day(page: Page) -> None:
    seen = await page.read()
    length, unit, name, start = part(
        r"a ([\d.]+) (hour|min)\w* event named \"(\w+)\", between (\d+[AP]M)", seen.task
    )
    halves = round(float(length) * 2) if unit == "hour" else int(length) // 30
    slots = await page.until(_half_hours)
    first_slot = _slot(start)
    for at in range(first_slot, first_slot + 9 - halves):
        try:
            await page.drag(slots[at], slots[at + halves - 1])
        except ToolFailed:
            # Another event lies there.
            continue
        form = await page.read()
        if form.has("Create") and _is_long(form, halves):
            await page.type(form.one("textbox"), name)
            await page.click(form.one("button", "Create"))
            return
        if form.has("Cancel"):
            await page.click(form.one("button", "Cancel"))


def _half_hours(seen: Snapshot) -> list[Line] | None:
    return [line for line in seen if line.hint == "half-hour"] or None


def _slot(time: str) -> int:
    """The number of a half hour in a day."""
    hour, minutes, half = part(r"(?i)(\d+)(:30)?([ap])m", time)
    return (int(hour) % 12 + 12 * (half in "pP")) * 2 + bool(minutes)


def _is_long(form: Snapshot, halves: int) -> bool:
    start, end = part(r"(\d+\S*m) to (\d+\S*m)", " ".join(form.texts))
    return _slot(end) - _slot(start) == halves


@solves("click-menu")
async def a_path_in_a_menu(page: Page) -> None:
    *path, last = part(r"Select (.*)", (await page.read()).task)[0].split(">")
    for name in path:
        await page.hover(await _item(page, name))
    await page.click(await _item(page, last))


async def _item(page: Page, name: str) -> Line:
    """A menu item, once its menu has opened."""
    return await page.until(lambda seen: first(seen.all("menuitem"), name))


ICONS = {
    "disk": "Save",
    "seek-start": "Prev",
    "stop": "Stop",
    "play": "Play",
    "seek-end": "Next",
    "zoomin": "Zoom In",
    "zoomout": "Zoom Out",
}


@solves("click-menu-2")
async def a_menu_with_icons(page: Page) -> None:
    seen = await page.read()
    icon = seen.lines[1].hint
    name = ICONS[icon.split("ui-icon-")[1]] if icon else quoted(seen.task)[1]
    await page.click(seen.one("button", "Menu"))
    if name in ("Prev", "Stop", "Play", "Next"):
        await page.hover(await _item(page, "Playback"))
    await page.click(await _item(page, name))
