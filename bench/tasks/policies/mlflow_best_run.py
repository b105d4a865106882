"""MLflow: the run with the best metric, found by a filter, gets a tag."""

from bench.tasks import seeded
from bench.tasks.applications import MLflow, own_tags
from bench.tasks.policies import mlflow_filter
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click, fill, press, waits
from bench.tasks.task import Task

KEY, VALUE, BEST = "stage", "candidate", "metrics.auc > 0.94"
ADD_TAGS, DIALOG, ADD, SAVE = "Add tags", "Add/Edit tags", "Add tag", "Save tags"


def check(flow: MLflow, answer: str) -> bool:
    tagged = {run["info"]["run_name"]: own_tags(run) for run in flow.runs() if own_tags(run)}
    return tagged == {seeded.runs()[seeded.BEST].name: {KEY: VALUE}}


async def ours(side: Ours) -> str:
    shown = await mlflow_filter.ours(side, BEST, "trial link")
    shown = await side.batch(
        click(ref=side.find(shown, "link", "trial"), **QUIET), waits(f"{ADD_TAGS} button")
    )
    dialog = await side.call("browser_click_element", ref=side.awaited(shown))
    return await side.batch(
        click(find="Type a key", **QUIET),
        press(" ".join(KEY), **QUIET),
        press("Enter", **QUIET),
        fill(side.find(dialog, "textbox", "Value"), VALUE, **QUIET),
        click(ref=side.find(dialog, "button", ADD), **QUIET),
        click(find=f"{SAVE} button", **QUIET),
    )


async def playwright(side: Playwright) -> str:
    shown = await mlflow_filter.playwright(side, BEST)
    await side.click("Run", side.find(shown, "link", "trial"))
    await side.call("browser_wait_for", text=ADD_TAGS)
    shown = await side.call("browser_find", text=ADD_TAGS)
    await side.click(ADD_TAGS, side.find(shown, "button", ADD_TAGS))
    shown = await side.call("browser_find", regex=f'combobox|textbox "Value|button "{ADD}"')
    key = side.unnamed(shown, "combobox")[-1]
    await side.call("browser_type", element="Key", target=key, text=KEY, submit=True)
    value = side.find(shown, "textbox", "Value")
    await side.call("browser_type", element="Value", target=value, text=VALUE)
    await side.click(ADD, side.find(shown, "button", ADD))
    shown = await side.call("browser_find", text=SAVE)
    return await side.click(SAVE, side.find(shown, "button", SAVE))


async def devtools(side: DevTools) -> str:
    shown = await mlflow_filter.devtools(side, BEST)
    await side.act("click", uid=side.find(shown, "link", "trial"))
    shown = await side.act("wait_for", text=[ADD_TAGS])
    shown = await side.act("click", uid=side.find(shown, "button", ADD_TAGS), includeSnapshot=True)
    await side.act("click", uid=side.find(shown, "", "Type a key"))
    await side.act("type_text", text=KEY)
    await side.act("press_key", key="Enter")
    await side.act("fill", uid=side.find(shown, "textbox", "Value"), value=VALUE)
    add = side.find(shown, "button", ADD, after=f'heading "{DIALOG}"')
    shown = await side.act("click", uid=add, includeSnapshot=True)
    return await side.act("click", uid=side.find(shown, "button", SAVE))


TASK = Task(
    "tag the best run",
    MLflow,
    f"Give the run whose auc is above 0.94 the tag {KEY} with the value {VALUE}.",
    check,
    ours,
    playwright,
    devtools,
)
