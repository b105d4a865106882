"""How long the server has been unused, for a server that stops when it is.

Open streams are use. Paths that the route table excepts are not, and neither are requests that
access control refuses: they do not get here.
"""

import asyncio
from collections.abc import Callable

from tabhub.agents.http.messages import CALLER
from tabhub.agents.http.routing import ROUTE
from tabhub.wire.asgi import App, Receive, Scope, Send


class Usage:
    """An ASGI wrapper that counts requests in progress, and remembers when the last one ended."""

    def __init__(self, app: App, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._open = 0
        self._last = clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = scope[ROUTE]
        if scope[CALLER] is None or (route is not None and not route.counts_as_use):
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            self._last = self._clock()

    async def unused(self, seconds: float) -> None:
        """Return once the server has been unused for this long."""
        while (left := self._left(seconds)) > 0:
            await asyncio.sleep(left)

    def _left(self, seconds: float) -> float:
        return seconds if self._open else self._last + seconds - self._clock()
