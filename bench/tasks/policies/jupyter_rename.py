"""JupyterLab: a notebook gets another name, in the list of files."""

from bench.tasks.applications import JupyterLab
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click, press
from bench.tasks.task import Task

OLD, NEW = "draft.ipynb", "report.ipynb"


def check(lab: JupyterLab, answer: str) -> bool:
    names = [file.name for file in lab.files.iterdir()]
    return NEW in names and OLD not in names


async def ours(side: Ours) -> str:
    await side.open(**QUIET)
    return await side.batch(
        click(find=OLD, **QUIET),
        press("F2", **QUIET),
        press("ctrl+a", **QUIET),
        press(" ".join(NEW), **QUIET),
        press("Enter", **QUIET),
    )


async def playwright(side: Playwright) -> str:
    await side.open()
    await side.call("browser_wait_for", text=OLD)
    shown = await side.call("browser_find", text=OLD)
    await side.click(OLD, side.find(shown, "'?listitem", f"Name: {OLD}"))
    await side.call("browser_press_key", key="F2")
    shown = await side.call("browser_find", text="textbox")
    field = side.unnamed(shown, "textbox")[0]
    return await side.call("browser_type", element="File name", target=field, text=NEW, submit=True)


async def devtools(side: DevTools) -> str:
    await side.open()
    shown = await side.act("wait_for", text=[OLD])
    if OLD not in shown.partition("## Latest")[2]:
        shown = await side.until(f' "{OLD}"', "take_snapshot", pageId=1)
    file = (side.finds(shown, "button", OLD) or side.finds(shown, "", OLD))[0]
    await side.act("click", uid=file)
    await side.act("press_key", key="F2")
    await side.act("press_key", key="Control+A")
    return await side.act("type_text", text=NEW, submitKey="Enter")


TASK = Task(
    "rename a notebook",
    JupyterLab,
    f"Rename {OLD} to {NEW}.",
    check,
    ours,
    playwright,
    devtools,
)
