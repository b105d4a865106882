"""JupyterLab: a new cell at the end of a notebook, its output, and the notebook saved."""

import json
import re

from bench.tasks import seeded
from bench.tasks.applications import JupyterLab
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click, fill, press, searches, waits
from bench.tasks.task import Task

FILE, CODE, TOTAL = "sales.ipynb", "print('total', sum(sales))", sum(seeded.SALES)
OUTPUT = f"total {TOTAL}"
ADD, RUN_ALL, PRINTED = "Click to add a cell.", "Run All Cells", r"total \d+"


def check(lab: JupyterLab, answer: str) -> bool:
    try:
        cells = json.loads((lab.files / FILE).read_text())["cells"]
    except ValueError:
        # It is being written.
        return False
    outputs = [
        "".join(output.get("text", ""))
        for cell in cells
        if "".join(cell["source"]) == CODE
        for output in cell["outputs"]
    ]
    return outputs == [f"{OUTPUT}\n"] and answer == str(TOTAL)


def total(text: str) -> str:
    """The number that the page shows, which the policies do not know."""
    return str(re.findall(r"total (\d+)", text)[0])


async def ours(side: Ours) -> str:
    await side.open(**QUIET)
    shown = await side.batch(click(find=FILE, clickCount=2, **QUIET), waits("add a cell button"))
    shown = await side.batch(
        click(ref=side.awaited(shown), **QUIET), *searches("multiline textbox", limit=3)
    )
    first, *_, last = side.refs(shown)
    shown = await side.batch(
        fill(last, CODE, **QUIET),
        click(ref=first, **QUIET),
        press("shift+Enter", repeat=3, **QUIET),
        *searches("total", limit=3),
    )
    if not re.search(PRINTED, shown):
        shown = await side.until(PRINTED, "browser_find", query="total", limit=3)
    await side.call("browser_press_key", key="ctrl+s", **QUIET)
    return total(shown)


async def playwright(side: Playwright) -> str:
    await side.open()
    await side.call("browser_wait_for", text=FILE)
    shown = await side.call("browser_find", text=f"Name: {FILE}")
    file = side.find(shown, "'?listitem", f"Name: {FILE}")
    await side.click(FILE, file, doubleClick=True)
    await side.call("browser_wait_for", text=ADD)
    shown = await side.call("browser_find", regex=f'{ADD}|menuitem "Run"')
    run = side.find(shown, "menuitem", "Run")
    await side.click("New cell", side.find(shown, "button", ADD))
    shown = await side.call("browser_find", text="- textbox")
    cell = side.unnamed(shown, "textbox")[-1]
    await side.call("browser_type", element="New cell", target=cell, text=CODE)
    await side.click("Run menu", run)
    shown = await side.call("browser_find", text=RUN_ALL)
    await side.click(RUN_ALL, side.find(shown, "menuitem", RUN_ALL))
    shown = await side.until(PRINTED, "browser_find", regex=PRINTED)
    await side.call("browser_press_key", key="Control+s")
    return total(shown)


async def devtools(side: DevTools) -> str:
    await side.open()
    shown = await side.act("wait_for", text=[FILE])
    if f' "{FILE}"' not in shown:
        shown = await side.until(f' "{FILE}"', "take_snapshot", pageId=1)
    file = (side.finds(shown, "button", FILE) or side.finds(shown, "", FILE))[0]
    await side.act("click", uid=file, dblClick=True)
    shown = await side.act("wait_for", text=[ADD])
    await side.act("click", uid=side.find(shown, "button", ADD))
    shown = await side.until(r"(textbox multiline[\s\S]*){3}", "take_snapshot", pageId=1)
    first, *_, last = re.findall(r"uid=(\w+) textbox multiline", shown)
    await side.act("click", uid=last)
    await side.act("type_text", text=CODE)
    # Its click leaves the Run menu closed, so the cells are run one by one.
    await side.act("click", uid=first)
    for _ in range(3):
        await side.act("press_key", key="Shift+Enter")
    shown = await side.until(PRINTED, "take_snapshot", pageId=1)
    await side.act("press_key", key="Control+S")
    return total(shown)


TASK = Task(
    "run a new cell",
    JupyterLab,
    f"Open {FILE}, add a cell at its end with the code {CODE}, run all cells, save the notebook,"
    " and say which total it prints.",
    check,
    ours,
    playwright,
    devtools,
)
