"""Fields of text."""

import re

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import ordinals, part, quoted
from tests.miniwob.snapshot import Snapshot


async def _answer(page: Page, seen: Snapshot, text: str) -> None:
    """Type the answer into the last field and submit it."""
    await page.type(seen.all("textbox", "spinbutton")[-1], text)
    await page.click(seen.one("button", "Submit"))


@solves("enter-text", "enter-text-dynamic")
async def the_quoted_text(page: Page) -> None:
    seen = await page.read()
    await _answer(page, seen, quoted(seen.task)[0])


@solves("enter-text-2")
async def in_another_case(page: Page) -> None:
    seen = await page.read()
    text = quoted(seen.task)[0]
    await _answer(page, seen, text.upper() if "upper" in seen.task else text.lower())


@solves("enter-password")
async def twice(page: Page) -> None:
    seen = await page.read()
    for field in seen.all("textbox"):
        await page.type(field, quoted(seen.task)[0])
    await page.click(seen.one("button", "Submit"))


@solves("login-user")
async def a_login(page: Page) -> None:
    seen = await page.read()
    for text, name in zip(quoted(seen.task), ("Username", "Password"), strict=True):
        await page.type(seen.after(name, "textbox"), text)
    await page.click(seen.one("button"))


@solves("login-user-popup")
async def a_login_that_is_interrupted(page: Page) -> None:
    user, password = quoted((await page.read()).task)
    for name, text in (("Username", user), ("Password", password)):
        await page.click((await page.read()).after(name, "textbox"))
        seen = await page.read()
        if seen.has("Cancel"):
            await page.click(seen.named("Cancel"))
        await page.type(seen.after(name, "textbox"), text)
    await page.click((await page.read()).one("button", "OK"))


@solves("enter-date")
async def a_date(page: Page) -> None:
    seen = await page.read()
    month, day, year = part(r"(\d+)/(\d+)/(\d+)", seen.task)
    await _answer(page, seen, f"{year}-{month}-{day}")


@solves("enter-time")
async def a_time(page: Page) -> None:
    seen = await page.read()
    hour, minute, half = part(r"(\d+):(\d+) ([AP]M)", seen.task)
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    await _answer(page, seen, f"{hours:02}:{minute}")


@solves("text-transform")
async def a_text_that_is_drawn_strangely(page: Page) -> None:
    seen = await page.read()
    await _answer(page, seen, seen.texts[0])


@solves("copy-paste")
async def from_one_field_to_the_other(page: Page) -> None:
    seen = await page.read()
    source = next(line for line in seen.all("textbox") if "value" in line.attributes)
    await page.type(
        next(line for line in seen.all("textbox") if line != source), await page.text(source)
    )
    await page.click(seen.one("button", "Submit"))


@solves("copy-paste-2")
async def from_one_of_three(page: Page) -> None:
    seen = await page.read()
    source = seen.all("textbox")[ordinals(seen.task)[0]]
    await _answer(page, seen, await page.text(source))


@solves("find-word")
async def a_word_by_position(page: Page) -> None:
    seen = await page.read()
    word = seen.texts[0].split()[ordinals(seen.task)[0]]
    await _answer(page, seen, word.strip(",."))


@solves("scroll-text")
async def the_last_word_of_a_long_text(page: Page) -> None:
    seen = await page.read()
    text = await page.text(seen.one("textbox"))
    await _answer(page, seen, text.split()[-1])


@solves("read-table")
async def a_cell(page: Page) -> None:
    seen = await page.read()
    (label,) = part(r"value of (.*) into", seen.task)
    await _answer(page, seen, _table(seen)[label])


@solves("read-table-2")
async def several_cells(page: Page) -> None:
    seen = await page.read()
    table = _table(seen)
    for text in seen.texts:
        if text.endswith(":") and text[:-1] in table:
            await page.type(seen.after(text, "textbox"), table[text[:-1]])
    await page.click(seen.one("button", "Submit"))


def _table(seen: Snapshot) -> dict[str, str]:
    cells = [line.name for line in seen if line.role == "cell"]
    return dict(zip(cells[::2], cells[1::2], strict=True))


@solves("simple-arithmetic")
async def a_sum(page: Page) -> None:
    seen = await page.read()
    left, sign, right = part(r"(-?\d+) (\S) (-?\d+) =", " ".join(seen.texts))
    await _answer(page, seen, str(_computed(int(left), sign, int(right))))


def _computed(left: int, sign: str, right: int) -> int:
    return {"+": left + right, "-": left - right, "x": left * right}[sign]


@solves("simple-algebra")
async def an_equation(page: Page) -> None:
    seen = await page.read()
    left, sign, right, result = part(r"(\S+) ([+-]) (\S+) = (-?\d+)", " ".join(seen.texts))
    await _answer(page, seen, str(_solved(left, sign, right, int(result))))


def _solved(left: str, sign: str, right: str, result: int) -> int:
    if left == "x":
        return result - int(right) if sign == "+" else result + int(right)
    return result - int(left) if sign == "+" else int(left) - result


@solves("guess-number")
async def a_guess(page: Page) -> None:
    seen = await page.read()
    lowest, highest = map(int, part(r"between (\d+)-(\d+)", seen.task))
    while lowest <= highest:
        guess = (lowest + highest) // 2
        await _answer(page, seen, str(guess))
        text = " ".join((await page.read()).texts)
        if "higher" in text:
            lowest = guess + 1
        elif "lower" in text:
            highest = guess - 1
        else:
            return


@solves("multi-layouts", "multi-orderings")
async def a_search_in_any_layout(page: Page) -> None:
    seen = await page.read()
    genre, director, year = part(r"for (.*) movies directed by (.*) from year (\d+)", seen.task)
    values = {"genre": genre, "director": director, "year|date": year}
    named = [
        value
        for line in seen.lines[1:]
        for word, value in values.items()
        if re.search(word, line.name.lower())
    ]
    for field, value in zip(seen.all("textbox"), named, strict=True):
        await page.type(field, value)
    await page.click(seen.all("button", "generic", "link")[-1])


@solves("search-engine")
async def a_result_by_position(page: Page) -> None:
    seen = await page.read()
    await page.type(seen.one("textbox"), quoted(seen.task)[0])
    await page.click(seen.one("button", "Search"))
    at = ordinals(seen.task)[0]
    if at // 3:
        await page.click((await page.read()).one("link", str(at // 3 + 1)))
    links = [line for line in (await page.read()).all("link") if line.depth == 0]
    await page.click(links[at % 3])


@solves("form-sequence-2")
async def a_radio_button_and_a_field(page: Page) -> None:
    seen = await page.read()
    kinds = re.findall(r"(\d)\w\w (radio|textbox)", seen.task)
    (number,) = quoted(seen.task)
    for position, kind in kinds:
        target = seen.all(kind)[int(position) - 1]
        await (page.click(target) if kind == "radio" else page.type(target, number))
    await page.click(seen.one("button", "Submit"))


@solves("sign-agreement")
async def an_agreement(page: Page) -> None:
    seen = await page.read()
    if "cancel" in seen.task:
        await page.click(seen.one("button", "Cancel"))
        return
    await page.scroll(seen.one("textbox"), direction="down", distance=10_000)
    # The page gets the scroll event with its next frame.
    await page.wait_for("#name:enabled")
    await page.type((await page.read()).one("textbox", "Name"), quoted(seen.task)[0])
    await page.click((await page.read()).one("button", quoted(seen.task)[-1]))


@solves("scroll-text-2")
async def to_an_end_of_a_text(page: Page) -> None:
    seen = await page.read()
    way = "up" if "top" in seen.task else "down"
    await page.scroll(seen.one("textbox"), direction=way, distance=10_000)
    await page.click(seen.one("button", "Submit"))


@solves("generate-number")
async def until_it_fits(page: Page) -> None:
    seen = await page.read()
    for _ in range(300):
        numbers = [text for text in seen.texts if re.fullmatch(r"\d+", text)]
        if numbers and _suits(int(numbers[0]), seen.task):
            break
        await page.click(seen.one("button", "Generate"))
        seen = await page.read()
    await page.click(seen.one("button", "Submit"))


def _suits(number: int, task: str) -> bool:
    if "odd" in task or "even" in task:
        return number % 2 == ("odd" in task)
    limit = int(part(r"than (\d+)", task)[0])
    return number < limit if "less" in task else number > limit
