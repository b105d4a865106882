"""MLflow: every failed run of an experiment, deleted."""

from bench.tasks.applications import MLflow
from bench.tasks.policies import mlflow_filter
from bench.tasks.seeded import runs
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click
from bench.tasks.task import Task

FAILED, ALL, CONFIRM = "attributes.status = 'FAILED'", "Select all runs", "Delete selected"


def check(flow: MLflow, answer: str) -> bool:
    left = {run["info"]["run_name"] for run in flow.runs()}
    return left == {run.name for run in runs() if run.status != "FAILED"}


async def ours(side: Ours) -> str:
    shown = await mlflow_filter.ours(side, FAILED, ALL, limit=3)
    dialog = await side.batch(
        click(ref=side.find(shown, "checkbox", ALL), **QUIET), click(find="Delete button")
    )
    confirm = side.find(dialog, "button", CONFIRM)
    return await side.call("browser_click_element", ref=confirm, **QUIET)


async def playwright(side: Playwright) -> str:
    await mlflow_filter.playwright(side, FAILED)
    shown = await side.call("browser_find", text=ALL)
    await side.click(ALL, side.find(shown, "checkbox", ALL))
    shown = await side.call("browser_find", text='button "Delete"')
    await side.click("Delete", side.find(shown, "button", "Delete"))
    shown = await side.call("browser_find", text=CONFIRM)
    return await side.click(CONFIRM, side.find(shown, "button", CONFIRM))


async def devtools(side: DevTools) -> str:
    shown = await mlflow_filter.devtools(side, FAILED)
    shown = await side.act("click", uid=side.find(shown, "checkbox", ALL), includeSnapshot=True)
    shown = await side.act("click", uid=side.find(shown, "button", "Delete"), includeSnapshot=True)
    return await side.act("click", uid=side.find(shown, "button", CONFIRM))


TASK = Task(
    "delete the failed runs",
    MLflow,
    "Delete all runs that have failed.",
    check,
    ours,
    playwright,
    devtools,
)
