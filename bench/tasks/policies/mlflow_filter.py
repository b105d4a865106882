"""The runs of an experiment in MLflow that match a filter, by each side."""

import re

from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, fill, press, searches, waits

HINT = "metrics.rmse"
"""What the empty field for filters shows."""
MATCHING = r"\b\d matching run"
"""Less than ten runs are left: the filter has been applied."""

RUN = 'link "trial'
FEW = rf"^(?=[\s\S]*{RUN})(?!(?:[\s\S]*?{RUN}){{10}})"


async def ours(side: Ours, condition: str, words: str, limit: int = 1) -> str:
    """Filter, and look for these elements among what is left."""
    await side.open(**QUIET)
    shown = await side.batch(waits(HINT))
    looks = [*searches("matching runs"), *searches(words, limit=limit)]
    shown = await side.batch(
        fill(side.awaited(shown), condition, **QUIET), press("Enter", **QUIET), *looks
    )
    while not re.search(MATCHING, shown):
        shown = await side.batch(*looks)
    return shown


async def playwright(side: Playwright, condition: str) -> str:
    """Returns the runs that are left."""
    await side.open()
    await side.call("browser_wait_for", text="matching runs")
    shown = await side.call("browser_find", text=HINT)
    field = side.unnamed(shown, "'?combobox")[0]
    await side.call("browser_type", element="Filter", target=field, text=condition, submit=True)
    return await side.until(r"Found \d match", "browser_find", text=RUN)


async def devtools(side: DevTools, condition: str) -> str:
    """Returns the page with the runs that are left."""
    await side.open()
    shown = await side.act("wait_for", text=["matching runs"])
    field = side.find(shown, "combobox", HINT)
    await side.act("fill", uid=field, value=condition)
    await side.act("press_key", key="Enter")
    return await side.until(FEW, "take_snapshot", pageId=1)
