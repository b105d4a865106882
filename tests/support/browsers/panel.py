"""The side panel in a real browser, read and clicked over CDP as a person would."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually

PANEL = "chrome-extension://bnijbchbpfemkjpdjnamphipeaejgjni/panel/panel.html"
MIDDLE = """(async () => {
  const found = document.querySelector(%s);
  if (!found || found.disabled) return null;
  found.scrollIntoView({ block: "center" });
  const middle = () => {
    const { x, y, width, height } = found.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const before = middle();
  // What arrives meanwhile may move it, and the click would miss it.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const isStill = found.isConnected && String(middle()) === String(before);
  if (!isStill || !found.contains(document.elementFromPoint(...before))) return null;
  window.wasClicked = false;
  found.addEventListener("click", () => (window.wasClicked = true), { capture: true, once: true });
  return before;
})()"""


class Panel:
    """One open panel; clicks are real mouse events."""

    def __init__(self, cdp: Cdp, session: str, target: str) -> None:
        self._cdp = cdp
        self._session = session
        self.target = target

    async def value(self, code: str) -> Any:
        params = {"expression": code, "returnByValue": True, "awaitPromise": True}
        answer = await self._cdp.send("Runtime.evaluate", self._session, **params)
        return answer["result"].get("value")

    async def until(self, code: str, what: str) -> Any:
        return await eventually(lambda: self.value(code), what)

    async def text(self, selector: str) -> str:
        found: str = await self.until(
            f"document.querySelector({json.dumps(selector)})?.innerText", selector
        )
        return found

    async def click(self, selector: str) -> None:
        """Click an element, as soon as it can be clicked.

        A control that the panel disables in the last moment gets no click, and a person would try
        again.
        """
        await eventually(lambda: self._has_clicked(selector), f"{selector} to be clicked")

    async def _has_clicked(self, selector: str) -> bool:
        middle = await self.value(MIDDLE % json.dumps(selector))
        if middle is None:
            return False
        x, y = middle
        for kind in ("mousePressed", "mouseReleased"):
            await self._cdp.send(
                "Input.dispatchMouseEvent",
                self._session,
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )
        return bool(await self.value("window.wasClicked"))

    async def key(self, letter: str) -> None:
        """Press a key for what has the focus."""
        for kind, text in (("keyDown", letter), ("keyUp", "")):
            params = {"type": kind, "key": letter, "text": text}
            await self._cdp.send("Input.dispatchKeyEvent", self._session, **params)

    async def close(self) -> None:
        await self._cdp.send("Target.closeTarget", targetId=self.target)


@asynccontextmanager
async def panel_of(cdp: Cdp) -> AsyncIterator[Panel]:
    """The panel's page in a tab of its own, connected."""
    target = await cdp.open(PANEL)
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    panel = Panel(cdp, attached["sessionId"], target)
    await panel.until("document.querySelector('#all')?.hidden === false", "the panel to connect")
    yield panel
    if any(
        info["targetId"] == target for info in (await cdp.send("Target.getTargets"))["targetInfos"]
    ):
        await panel.close()
