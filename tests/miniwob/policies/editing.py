"""Text that is selected, a terminal, and colours that are typed."""

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.seeing import COLORS
from tests.miniwob.policies.words import ordinals, part


@solves("highlight-text", "highlight-text-2")
async def a_paragraph(page: Page) -> None:
    seen = await page.read()
    paragraphs = [line.name for line in seen.lines[1:] if not line.role and " " in line.name]
    at = (ordinals(seen.task) or [0])[0]
    await page.click(await page.find(paragraphs[at]), clickCount=3)
    await page.click(seen.one("button", "Submit"))


@solves("use-colorwheel")
async def a_colour_by_name(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"Select (\w+) with", seen.task)
    await _enter_colour(page, COLORS[name])


@solves("use-colorwheel-2")
async def a_colour_that_is_shown(page: Page) -> None:
    seen = await page.read()
    await _enter_colour(page, seen.all("img")[0].attributes["color"])


async def _enter_colour(page: Page, color: str) -> None:
    seen = await page.read()
    await page.type(seen.one("textbox"), color.removeprefix("#"))
    # The picker lies over the button until its field has lost the focus.
    await page.press("Tab")
    await page.click(seen.one("button", "Submit"))


@solves("terminal")
async def a_file_in_a_terminal(page: Page) -> None:
    task = (await page.read()).task
    await _command(page, "ls")
    texts = (await page.read()).texts
    files = texts[texts.index("user$ ls") + 1].split()
    ending = part(r"extension (\S+)", task)[0] if "extension ." in task else None
    await _command(page, f"rm {next(name for name in files if _ends(name, ending))}")


def _ends(name: str, ending: str | None) -> bool:
    return name.endswith(ending) if ending else "." not in name


async def _command(page: Page, text: str) -> None:
    keys = " ".join("Space" if letter == " " else letter for letter in text)
    await page.press(f"{keys} Enter", (await page.read()).one("textbox"))
