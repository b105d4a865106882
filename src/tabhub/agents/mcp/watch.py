"""Notices that the client of a running request has gone. Only the sessionless era needs it."""

import asyncio
from typing import Any, cast

from tabhub.wire.asgi import Receive

WATCH_AFTER_SECONDS = 0.02
"""A call that is over sooner than this never pays for watching its connection."""


class Watch:
    """Cancels the task that made it when its client goes away."""

    def __init__(self, receive: Receive) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None
        self.client_left = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(WATCH_AFTER_SECONDS, self._begin)

    def stop(self) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def absorb(self) -> None:
        """The cancellation has done its work; the task may end in peace."""
        self._task.uncancel()

    def _begin(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.client_left = True
        self._task.cancel()
