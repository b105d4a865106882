"""The administration endpoints: health, the link's address, reloading the extension."""

from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import parse_qs

import msgspec

from tabhub.agents.answers import send_json
from tabhub.agents.security import CALLER, refuse
from tabhub.config.proof import LONGEST_CHALLENGE, prove
from tabhub.errors import NotFound, ProtocolError, TabhubError, Unavailable
from tabhub.wire.asgi import Receive, Scope, Send

Json = dict[str, Any]


class Status(Protocol):
    """What administration needs to know and to do; the composition root provides it."""

    def health(self) -> Json: ...

    def reload_extensions(self) -> int: ...


class Admin:
    """Small endpoints, each a function of the request's scope."""

    def __init__(self, status: Status, secret: str) -> None:
        self._status = status
        self._secret = secret
        self._routes: dict[str, tuple[str, Callable[[Scope], Json]]] = {
            "/health": ("GET", self._health),
            "/ws-info": ("GET", self._ws_info),
            "/extension/reload": ("POST", self._reload),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = msgspec.json.encode(self._answer(scope))
        except TabhubError as error:
            await refuse(scope, send, error)
        else:
            await send_json(send, 200, body)

    def _answer(self, scope: Scope) -> Json:
        route = self._routes.get(scope["path"])
        if route is None:
            raise NotFound(f"There is nothing at {scope['path']}.")
        method, answer = route
        if scope["method"] not in (method, "HEAD" if method == "GET" else method):
            path = scope["path"]
            raise ProtocolError(f"{path} takes {method}.", "method_not_allowed", allow=method)
        return answer(scope)

    def _health(self, scope: Scope) -> Json:
        """Without a token only that we are alive, and on request that we are who we say."""
        told: Json = {"status": "ok"}
        challenge = parse_qs(scope["query_string"].decode("latin-1")).get("challenge", [""])[0]
        if 0 < len(challenge) <= LONGEST_CHALLENGE:
            told["proof"] = prove(self._secret, challenge, scope["server"][1])
        return told | (self._status.health() if scope[CALLER] else {})

    def _ws_info(self, scope: Scope) -> Json:
        host = dict(scope["headers"])[b"host"].decode()
        return {"wsUrl": f"ws://{host}/ws"}

    def _reload(self, scope: Scope) -> Json:
        if self._status.reload_extensions() == 0:
            raise Unavailable("No extension is connected.")
        return {"ok": True}
