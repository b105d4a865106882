"""Node-RED: press the button of an inject node on the canvas, and read the debug message."""

import re

from bench.tasks.applications import NodeRed
from bench.tasks.policies import node_red_canvas
from bench.tasks.sides import (
    QUIET,
    Broken,
    DevTools,
    Ours,
    Playwright,
    click,
    press,
    searches,
    waits,
)
from bench.tasks.task import Task

NODE = "Measure now"
TRIGGER = "Trigger Selected Nodes"
DEBUG, NUMBER = "msg.payload", r"\b\d+\.\d+\b"


def check(red: NodeRed, answer: str) -> bool:
    stored = red.ask("GET", "/context/global")["memory"].get("reading", {})
    return bool(stored) and float(stored["msg"]) == float(answer)


def number(text: str) -> str:
    found = re.findall(NUMBER, text.partition(DEBUG)[2])
    if not found:
        raise Broken(f"no number in:\n{text}")
    return str(found[0])


async def ours(side: Ours) -> str:
    await side.open(**QUIET)
    shown = await side.batch(waits(NODE), *searches("node button", limit=3))
    button = node_red_canvas.shape(shown, "red-ui-flow-node-button-button")
    shown = await side.batch(
        press("ctrl+g d", **QUIET),
        click(ref=button, **QUIET),
        waits(DEBUG),
        ("browser_get_tab_content", {}),
    )
    return number(shown)


async def playwright(side: Playwright) -> str:
    await side.open()
    await side.call("browser_wait_for", text=NODE)
    shown = await side.call("browser_find", regex=f"{NODE}|#debug")
    button = side.unnamed(shown.partition(f": {NODE}")[0], "generic")[-1]
    bug = side.unnamed(shown.rpartition("#debug")[0], "link")[-1]
    await side.click("Debug", bug)
    await side.click(NODE, button)
    return number(await side.until(DEBUG, "browser_find", text=DEBUG))


async def devtools(side: DevTools) -> str:
    await side.open()
    shown = await side.act("wait_for", text=[NODE])
    debug = re.findall(r'uid=(\w+) link [^\n]*#debug"', shown)[0]
    search = side.find(shown, "textbox", "Search flows")
    await side.act("fill", uid=search, value=NODE)
    shown = await side.until(rf'uid=\w+ "{NODE}"', "take_snapshot", pageId=1)
    # The canvas is one element without parts: the list of nodes selects, an action presses.
    await side.act("click", uid=side.find(shown, "", NODE))
    await side.act("press_key", key="Control+Shift+P")
    await side.act("type_text", text=TRIGGER)
    await side.act("wait_for", text=[TRIGGER])
    await side.act("press_key", key="Enter")
    await side.act("click", uid=debug)
    return number(await side.until(DEBUG, "take_snapshot", pageId=1))


TASK = Task(
    "press a node and read its message",
    NodeRed,
    f"Press the button of the node {NODE} and say which number the debug messages show.",
    check,
    ours,
    playwright,
    devtools,
)
