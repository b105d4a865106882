"""A person's own browser, and what a panel in it can ask, without regard to how it looks."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tabhub.browser.launcher.finder import browser_arguments, find_browser
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.browsers.managed import Rig
from tests.support.browsers.panel import PANEL
from tests.support.eventually import PATIENCE, eventually
from tests.support.product import Product

_PORT = """(() => {
  if (globalThis.port) return;
  globalThis.heard = [];
  const waiting = new Map();
  globalThis.port = chrome.runtime.connect({ name: "panel" });
  port.onMessage.addListener((message) => {
    const resolve = waiting.get(message.id);
    if (resolve) resolve(message);
    else heard.push(message);
  });
  port.onDisconnect.addListener(() => (globalThis.port = undefined));
  let last = 0;
  globalThis.ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(`test-${++last}`, resolve);
      port.postMessage({ id: `test-${last}`, method, params });
    });
})()"""


class PanelPort:
    """A page of the panel, used through the port that every panel has."""

    def __init__(self, cdp: Cdp, target: str) -> None:
        self._cdp = cdp
        self.target = target

    async def ask(self, method: str, **params: Any) -> Any:
        await self._cdp.evaluate(self.target, _PORT)
        code = f"ask({json.dumps(method)}, {json.dumps(params)})"
        answer = await self._cdp.evaluate(self.target, code)
        assert "error" not in answer, answer
        return answer["result"]

    async def heard(self, method: str) -> list[Any]:
        """What the worker has sent under this name."""
        await self._cdp.evaluate(self.target, _PORT)
        found: list[Any] = await self._cdp.evaluate(
            self.target, f"heard.filter(({{method}}) => method === {json.dumps(method)})"
        )
        return [message["params"] for message in found]

    async def question(self) -> dict[str, Any]:
        """The oldest question that waits."""

        async def look() -> dict[str, Any] | None:
            waiting = (await self.ask("config.getState"))["confirmations"]
            return waiting[0] if waiting else None

        # The worker may just be connecting again.
        return await eventually(look, "a question", ignore=(AssertionError,))

    async def allow(self, scope: str = "once") -> dict[str, Any]:
        """Say yes to the oldest question, and return it."""
        request = await self.question()
        answer = {"id": request["id"], "decision": "allow", "scope": scope}
        assert (await self.ask("confirmation.response", **answer))["accepted"]
        return request

    async def close(self) -> None:
        await self._cdp.send("Target.closeTarget", targetId=self.target)


async def panel_port(cdp: Cdp) -> PanelPort:
    target = await cdp.open(PANEL)
    await eventually(
        lambda: cdp.evaluate(target, "Boolean(globalThis.chrome?.runtime?.connect)"), "the panel"
    )
    return PanelPort(cdp, target)


@asynccontextmanager
async def persons_browser(folder: Path) -> AsyncIterator[Rig]:
    """A server, and the browser of a person who has loaded the extension from its folder."""
    product = Product(folder / "home")
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        command = browser_arguments(
            find_browser(),
            extension=product.home / "extension",
            profile=product.home / "profile",
            headless=True,
            extra=["--remote-debugging-port=0"],
        )
        with _ended(subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)):
            assert product.wait_browser()["browsers"][0]["kind"] == "personal"
            async with browser_of(product.home) as cdp:
                yield Rig(product, port, cdp)


@contextmanager
def _ended(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
