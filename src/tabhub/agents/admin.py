"""The administration endpoints: health, the link's address, reloading, the audit."""

import time
from collections.abc import Callable
from typing import Annotated, Any, Protocol
from urllib.parse import parse_qsl

import msgspec

from tabhub.agents.answers import send_json
from tabhub.agents.security import CALLER, refuse
from tabhub.config.clients import Client
from tabhub.config.proof import LONGEST_CHALLENGE, prove
from tabhub.errors import InvalidArguments, NotFound, ProtocolError, TabhubError, Unavailable
from tabhub.wire.asgi import Receive, Scope, Send

Json = dict[str, Any]


class AuditQuery(msgspec.Struct, forbid_unknown_fields=True):
    """What of the audit somebody wants to see."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    plugin: str | None = None
    tool: str | None = None
    success: bool | None = None


class Status(Protocol):
    """What administration needs to know and to do; the composition root provides it."""

    def health(self) -> Json: ...

    def client_health(self, client: Client) -> Json: ...

    def reload_extensions(self) -> int: ...

    def reload(self) -> list[str]:
        """Read files again; the settings that are taken only at the next start."""

    def audited(self, query: AuditQuery) -> list[Json]: ...


class Admin:
    """Small endpoints, each a function of the request's scope."""

    def __init__(self, status: Status, secret: str) -> None:
        self._status = status
        self.secret = secret
        self._routes: dict[str, tuple[str, Callable[[Scope], Any]]] = {
            "/health": ("GET", self._health),
            "/ws-info": ("GET", self._ws_info),
            "/audit": ("GET", self._audit),
            "/reload": ("POST", self._reload),
            "/extension/reload": ("POST", self._reload_extension),
        }

    @property
    def paths(self) -> list[str]:
        return list(self._routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = msgspec.json.encode(self._answer(scope))
        except TabhubError as error:
            await refuse(scope, send, error)
        else:
            await send_json(send, 200, body)

    def _answer(self, scope: Scope) -> Any:
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
        challenge = _query(scope).get("challenge", "")
        if 0 < len(challenge) <= LONGEST_CHALLENGE:
            told["proof"] = prove(self.secret, challenge, scope["server"][1])
        caller: Client | None = scope[CALLER]
        if caller is None:
            return told
        return told | (
            self._status.health() if caller.is_person else self._status.client_health(caller)
        )

    def _ws_info(self, scope: Scope) -> Json:
        host = dict(scope["headers"])[b"host"].decode()
        return {"wsUrl": f"ws://{host}/ws"}

    def _audit(self, scope: Scope) -> list[Json]:
        try:
            query = msgspec.convert(_query(scope), AuditQuery, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidArguments(f"The query of /audit: {error}.") from None
        return self._status.audited(query)

    def _reload(self, scope: Scope) -> Json:
        started = time.perf_counter()
        waiting = self._status.reload()
        took = int((time.perf_counter() - started) * 1000)
        told: Json = {"ok": True, "plugins": 0, "durationMs": took}
        return {**told, "restart": waiting} if waiting else told

    def _reload_extension(self, scope: Scope) -> Json:
        if self._status.reload_extensions() == 0:
            raise Unavailable("No extension is connected.")
        return {"ok": True}


def _query(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope["query_string"].decode("latin-1")))
