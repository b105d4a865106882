"""A test's browser, controlled over its debugging port."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.support.eventually import eventually, eventually_sync

EXTENSION = "chrome-extension:"
HAS_RUN = "'describeTabState' in self"
"""Whether the worker has run its modules: it is listed before that."""


class CdpError(AssertionError):
    """The browser refused a command."""


class Cdp:
    """A connection to the browser itself."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = count(1)

    async def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        id = next(self._ids)
        message = {"id": id, "method": method, "params": params}
        await self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            message = json.loads(await self._socket.recv())
            if message.get("id") == id:
                if "result" not in message:
                    raise CdpError(method, message["error"])
                result: dict[str, Any] = message["result"]
                return result

    async def open(self, url: str) -> str:
        target: str = (await self.send("Target.createTarget", url=url))["targetId"]
        return target

    async def evaluate(self, target: str, code: str) -> Any:
        """The value of an expression in a page or worker."""
        attached = await self.send("Target.attachToTarget", targetId=target, flatten=True)
        session = attached["sessionId"]
        answer = await self._evaluated(session, code)
        if "SyntaxError" in str(answer.get("exceptionDetails")):
            # Code may await at its top only this way; but then a final promise stays a promise.
            answer = await self._evaluated(session, code, replMode=True)
        await self.send("Target.detachFromTarget", sessionId=session)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def _evaluated(self, session: str, code: str, **more: Any) -> dict[str, Any]:
        params = {"expression": code, "returnByValue": True, "awaitPromise": True, **more}
        return await self.send("Runtime.evaluate", session, **params)

    async def in_worker(self, code: str) -> Any:
        """The value of an expression in the extension's worker, once that has run its modules."""

        async def look() -> str | None:
            worker = await self.worker()
            return worker if await self.evaluate(worker, HAS_RUN) else None

        # A worker may end between the lookup and the question.
        worker = await eventually(look, "the worker to run", ignore=(CdpError,))
        return await self.evaluate(worker, code)

    async def page(self, url: str) -> str:
        """The page at an address."""
        targets = (await self.send("Target.getTargets"))["targetInfos"]
        found: str = next(target["targetId"] for target in targets if target["url"] == url)
        return found

    async def page_of(self, tab: int) -> str:
        """The page in a tab, by the tab id that extensions use."""
        code = f"chrome.debugger.getTargets().then((all) => all.find((t) => t.tabId === {tab}).id)"
        found: str = await self.in_worker(code)
        return found

    async def worker(self) -> str:
        """The extension's service worker, as soon as it runs."""
        running = await eventually(self._workers)
        return running[0]

    async def _workers(self) -> list[str]:
        targets = (await self.send("Target.getTargets"))["targetInfos"]
        return [
            target["targetId"]
            for target in targets
            if target["type"] == "service_worker" and target["url"].startswith(EXTENSION)
        ]

    async def clear_storage(self, *origins: str) -> None:
        """Forget what these origins have stored; the browser wants to hear it for some page."""
        targets = (await self.send("Target.getTargets"))["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = await self.send("Target.attachToTarget", targetId=page, flatten=True)
        for origin in origins:
            await self.send(
                "Storage.clearDataForOrigin",
                attached["sessionId"],
                origin=origin,
                storageTypes="all",
            )
        await self.send("Target.detachFromTarget", sessionId=attached["sessionId"])

    async def crash(self, target: str) -> None:
        """Kill the process that renders a page."""
        attached = await self.send("Target.attachToTarget", targetId=target, flatten=True)
        crash = {"id": 0, "method": "Page.crash", "sessionId": attached["sessionId"]}
        # After the crash the page cannot answer.
        await self._socket.send(json.dumps(crash))

    async def kill_worker(self) -> None:
        with suppress(CdpError):  # it may end between the lookup and this command
            await self.send("Target.closeTarget", targetId=await self.worker())


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


@asynccontextmanager
async def browser_of(home: Path) -> AsyncIterator[Cdp]:
    """The browser that uses this home's profile."""
    file = home / "profile" / "DevToolsActivePort"
    port, path = eventually_sync(lambda: _words(file), "the debugging port")
    async with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as socket:
        yield Cdp(socket)
