"""Looking into a test's browser from outside, by the debugging port it was started with."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect


class Cdp:
    """A connection to the browser itself."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = count(1)

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        id = next(self._ids)
        await self._socket.send(json.dumps({"id": id, "method": method, "params": params}))
        while True:
            message = json.loads(await self._socket.recv())
            if message.get("id") == id:
                assert "result" in message, message
                result: dict[str, Any] = message["result"]
                return result

    async def workers(self) -> list[str]:
        """The target ids of extensions' service workers that are alive."""
        targets = (await self.send("Target.getTargets"))["targetInfos"]
        return [
            target["targetId"]
            for target in targets
            if target["type"] == "service_worker" and target["url"].startswith("chrome-extension:")
        ]

    async def kill_worker(self) -> str:
        """End the extension's service worker; the id it had."""
        (worker,) = await self.workers()
        await self.send("Target.closeTarget", targetId=worker)
        return worker


@asynccontextmanager
async def browser_of(home: Path) -> AsyncIterator[Cdp]:
    """The browser that uses this home's profile."""
    port, path = (home / "profile" / "DevToolsActivePort").read_text().split()
    async with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as socket:
        yield Cdp(socket)
