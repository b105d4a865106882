"""Node-RED: another path for a node that answers requests, deployed."""

from bench.tasks.applications import NodeRed
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click, fill, searches
from bench.tasks.task import Task

FLOW, NODE, PATH = "Service", "Greeting", "/welcome"
URL = "\uf0ac URL"
"""With the icon before it, which is a letter of a font."""


def check(red: NodeRed, answer: str) -> bool:
    try:
        return bool(red.ask("GET", PATH) == "Hello")
    except OSError:
        return False


async def ours(side: Ours) -> str:
    await side.open(**QUIET)
    tray = await side.batch(
        *searches("Deploy link"),
        click(find=f"{FLOW} link", **QUIET),
        click(find=NODE, clickCount=2),
    )
    return await side.batch(
        fill(side.find(tray, "textbox", "URL"), PATH, **QUIET),
        click(ref=side.find(tray, "button", "Done"), **QUIET),
        click(ref=side.find(tray, "link", "Deploy"), **QUIET),
    )


async def playwright(side: Playwright) -> str:
    await side.open()
    await side.call("browser_wait_for", text=FLOW)
    shown = await side.call("browser_find", regex=f'link "{FLOW}"|link "Deploy"')
    deploy = side.find(shown, "link", "Deploy")
    await side.click(FLOW, side.find(shown, "link", FLOW))
    shown = await side.call("browser_find", text=NODE)
    node = side.labelled(shown, NODE)
    await side.click(NODE, node, doubleClick=True)
    shown = await side.call("browser_find", regex='textbox "[^"]*URL|button "Done"')
    field = side.find(shown, "textbox", URL)
    await side.call("browser_type", element="URL", target=field, text=PATH)
    await side.click("Done", side.find(shown, "button", "Done"))
    return await side.click("Deploy", deploy)


async def devtools(side: DevTools) -> str:
    await side.open()
    shown = await side.act("wait_for", text=[FLOW])
    deploy = side.finds(shown, "link")[0]
    search = side.find(shown, "textbox", "Search flows")
    await side.act("fill", uid=search, value=NODE)
    shown = await side.until(rf'uid=\w+ "{NODE}"', "take_snapshot", pageId=1)
    await side.act("click", uid=side.find(shown, "", NODE), dblClick=True)
    shown = await side.act("wait_for", text=["Done"])
    await side.act("fill", uid=side.find(shown, "textbox", URL), value=PATH)
    await side.act("click", uid=side.find(shown, "button", "Done"))
    return await side.act("click", uid=deploy)


TASK = Task(
    "change a path and deploy",
    NodeRed,
    f"In the flow {FLOW}, let the node {NODE} answer at {PATH}, and deploy.",
    check,
    ours,
    playwright,
    devtools,
)
