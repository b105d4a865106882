"""The side panel in a real browser, read and clicked over CDP as a person would."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually

PANEL = "chrome-extension://bnijbchbpfemkjpdjnamphipeaejgjni/panel/panel.html"
MIDDLE = """(() => {
  const found = document.querySelector(%s);
  if (!found || found.disabled) return null;
  found.scrollIntoView({ block: "center" });
  const { x, y, width, height } = found.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
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
        """Click an element, as soon as it can be clicked."""
        x, y = await self.until(MIDDLE % json.dumps(selector), f"{selector} to be clickable")
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
