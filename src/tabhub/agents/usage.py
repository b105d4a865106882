"""How long nobody has used the server. Streams that are held open are use; looking is not, and
neither is what was refused: the gatekeeper stands before it."""

import asyncio
from collections.abc import Callable

from tabhub.agents.messages import CALLER
from tabhub.wire.asgi import App, Receive, Scope, Send

LOOKING = frozenset({"/health", "/ws", "/metrics"})


class Usage:
    """An ASGI wrapper that counts requests in progress, and remembers when the last one ended."""

    def __init__(self, app: App, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._open = 0
        self._last = clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in LOOKING or scope[CALLER] is None:
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            self._last = self._clock()

    async def unused(self, seconds: float) -> None:
        """Come back when nobody has been here for so long."""
        while (left := self._left(seconds)) > 0:
            await asyncio.sleep(left)

    def _left(self, seconds: float) -> float:
        return seconds if self._open else self._last + seconds - self._clock()
