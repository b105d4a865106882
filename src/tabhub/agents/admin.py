"""The administration endpoints: health, the link's address, reloading the extension."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

import msgspec

from tabhub.agents.security import CALLER, refuse
from tabhub.errors import NotFound, ProtocolError, TabhubError, Unavailable

Json = dict[str, Any]
Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Status(Protocol):
    """What administration needs to know and to do; the composition root provides it."""

    def health(self) -> Json: ...

    def reload_extensions(self) -> int: ...


class Admin:
    """Small endpoints, each a function of the request's scope."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._routes: dict[str, tuple[str, Callable[[Scope], Json]]] = {
            "/health": ("GET", self._health),
            "/ws-info": ("GET", self._ws_info),
            "/extension/reload": ("POST", self._reload),
        }

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        try:
            body = msgspec.json.encode(self._answer(scope))
        except TabhubError as error:
            await refuse(scope, send, error)
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, scope: Scope) -> Json:
        route = self._routes.get(scope["path"])
        if route is None:
            raise NotFound(f"There is nothing at {scope['path']}.")
        method, answer = route
        if scope["method"] not in (method, "HEAD" if method == "GET" else method):
            raise ProtocolError(f"{scope['path']} takes {method}.", "method_not_allowed")
        return answer(scope)

    def _health(self, scope: Scope) -> Json:
        """Without a token only that we are alive."""
        return {"status": "ok"} | (self._status.health() if scope[CALLER] else {})

    def _ws_info(self, scope: Scope) -> Json:
        host = dict(scope["headers"])[b"host"].decode()
        return {"wsUrl": f"ws://{host}/ws"}

    def _reload(self, scope: Scope) -> Json:
        if self._status.reload_extensions() == 0:
            raise Unavailable("No extension is connected.")
        return {"ok": True}
