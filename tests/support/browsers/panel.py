"""The side panel in a real browser, read and clicked over CDP as a person would."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.browsers.cdp import Cdp, CdpError
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

CENTER = """(() => {
  const { x, y, width, height } = document.querySelector(%s).getBoundingClientRect();
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
        # A page that is just being loaded again answers nothing.
        return await eventually(lambda: self.value(code), what, ignore=(CdpError,))

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

    async def hover(self, selector: str) -> None:
        """Move the mouse over an element."""
        x, y = await self.value(CENTER % json.dumps(selector))
        await self._cdp.send("Input.dispatchMouseEvent", self._session, type="mouseMoved", x=x, y=y)

    async def turn_wheel(self, selector: str, by: int) -> None:
        """Turn the wheel of the mouse over an element."""
        x, y = await self.value(CENTER % json.dumps(selector))
        params = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by}
        await self._cdp.send("Input.dispatchMouseEvent", self._session, **params)

    async def resize(self, width: int, height: int) -> None:
        """Give the page a size of its own."""
        await self._cdp.send(
            "Emulation.setDeviceMetricsOverride",
            self._session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def view(self, name: str) -> None:
        """Open one of the views, by its tab; in two columns Now is always there."""
        shown = f"document.querySelector('#view-{name}')?.hidden === false"
        if not await self.value(shown):
            await self.click(f"#tab-{name}")
            await self.until(shown, name)

    async def allow(self, scope: str) -> None:
        """Allow the oldest call with a scope, wherever its button is."""
        target = f"article button[data-scope={scope}]"
        folded = f"!!document.querySelector('details:not([open]) button[data-scope={scope}]')"

        async def has_allowed() -> bool:
            if await self.value(folded):
                await self._has_clicked("article details:not([open])[data-other-ways] summary")
            return await self._has_clicked(target)

        await eventually(has_allowed, f"{target} to be clicked")

    async def key(self, letter: str) -> None:
        """Press a key for what has the focus."""
        typed = letter if len(letter) == 1 else ""
        for kind, text in (("keyDown", typed), ("keyUp", "")):
            params = {"type": kind, "key": letter, "text": text}
            await self._cdp.send("Input.dispatchKeyEvent", self._session, **params)

    async def type(self, text: str) -> None:
        """Put text into the field that has the focus, in the place of what is selected."""
        await self._cdp.send("Input.insertText", self._session, text=text)

    async def enter(self, selector: str, text: str) -> None:
        """Replace what stands in a field, with the keyboard, and leave it."""
        field = f"document.querySelector({json.dumps(selector)})"
        await self.until(f"{field}?.disabled === false", selector)
        await self.value(f"{field}.scrollIntoView({{ block: 'center' }}), {field}.focus()")
        await self.value(f"{field}.select()")
        await self.type(text)
        await self.key("Tab")

    async def choose(self, selector: str, value: str) -> None:
        """Choose in a select with the keyboard, by the first letter of what the option says.

        A select that rested meanwhile, or has several such options, is tried again.
        """
        found = f"document.querySelector({json.dumps(selector)})"
        option = f"[...{found}.options].find((one) => one.value === {json.dumps(value)})"
        # Leaving it ends the word that its last key began.
        focus = f"document.activeElement.blur(), {found}.focus()"

        async def has_chosen() -> bool:
            if not await self.value(f"{found}?.disabled === false && Boolean({option})"):
                return False
            if await self.value(f"{found}.value") == value:
                return True
            await self.value(f"{found}.scrollIntoView({{ block: 'center' }}), {focus}")
            await self.key(await self.value(f"{option}.text.trim()[0]"))
            return bool(await self.value(f"{found}?.value") == value)

        await eventually(has_chosen, f"{selector} to be {value}")

    async def paste(self, selector: str) -> str:
        """Put what was copied into a field; returns its text."""
        field = f"document.querySelector({json.dumps(selector)})"
        await self.value(f"{field}.focus(), {field}.select()")
        params = {"type": "keyDown", "key": "v", "modifiers": 2, "commands": ["paste"]}
        await self._cdp.send("Input.dispatchKeyEvent", self._session, **params)
        found: str = await self.until(f"{field}.value", "the pasted text")
        return found

    async def picture(self) -> bytes:
        """What is seen, as PNG."""
        answer = await self._cdp.send("Page.captureScreenshot", self._session, format="png")
        return base64.b64decode(answer["data"])

    async def close(self) -> None:
        await self._cdp.send("Target.closeTarget", targetId=self.target)


@asynccontextmanager
async def panel_of(cdp: Cdp) -> AsyncIterator[Panel]:
    """The panel's page in a tab of its own, connected."""
    target = await cdp.open(PANEL)
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    panel = Panel(cdp, attached["sessionId"], target)
    await panel.until(
        "document.querySelector('#connection')?.classList.contains('is-open')",
        "the panel to connect",
    )
    yield panel
    if any(
        info["targetId"] == target for info in (await cdp.send("Target.getTargets"))["targetInfos"]
    ):
        await panel.close()
