"""The administration endpoints: health, settings, reloading, the audit, metrics, the link."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Protocol

import msgspec

from tabhub.agents.http.messages import (
    CALLER,
    JSON,
    as_query,
    query_of,
    read_body,
    require_json,
    send_body,
    send_json,
)
from tabhub.agents.metrics import Picture, written
from tabhub.config.clients import Client
from tabhub.config.proof import LONGEST_CHALLENGE, Challenges, prove_to_client
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import App, Receive, Scope, Send

Json = dict[str, Any]
MOST_BYTES = 256 * 1024
"""Of a plugin's settings."""
PIECE = 32
"""Audit entries sent at once; between two pieces other requests get their turn."""


class PluginSettings(msgspec.Struct, forbid_unknown_fields=True):
    """What `/plugin-settings` takes."""

    plugin: str
    settings: Json


class AuditQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which entries of the audit are asked for."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    plugin: str | None = None
    tool: str | None = None
    client: str | None = None
    success: bool | None = None
    since: str | None = None

    def begin(self) -> float | None:
        """`since` in seconds since 1970."""
        return None if self.since is None else max(_moment(self.since), 0)


class Status(Protocol):
    """What administration tells."""

    def health(self) -> Json: ...

    def client_health(self, client: Client) -> Json: ...

    def picture(self) -> Picture: ...


class Work(Protocol):
    """What administration does; the composition root provides it."""

    def reload_extensions(self) -> int: ...

    def reload(self) -> Json: ...

    def in_force(self) -> Json: ...

    def configure(self, plugin: str, settings: Json) -> Json: ...

    def audited(self, query: AuditQuery) -> list[bytes]: ...

    def hash_labelled(self, label: str) -> str | None: ...


class Admin:
    """The handlers of administration, each a function of the request."""

    def __init__(self, work: Work, status: Status, secret: str, challenges: Challenges) -> None:
        self._work = work
        self._status = status
        self.secret = secret
        self._challenges = challenges

    @property
    def handlers(self) -> dict[str, App]:
        return {
            "health": self._health,
            "ws_info": self._ws_info,
            "settings": self._settings,
            "audit": self._audit,
            "metrics": self._metrics,
            "reload": self._reload,
            "reload_extension": self._reload_extension,
            "plugin_settings": self._plugin_settings,
        }

    async def _health(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Without a token only that we are alive, and on request that we are who we say."""
        told: Json = {"status": "ok"}
        challenge = query_of(scope).get("challenge", "")
        if 0 < len(challenge) <= LONGEST_CHALLENGE:
            told |= self._proofs(challenge, scope)
        await _say(send, told | self._known_to(scope[CALLER]))

    def _proofs(self, challenge: str, scope: Scope) -> Json:
        """By the secret, and by the token of whom the asker says it is."""
        port: int = scope["server"][1]
        told: Json = {"proof": self._challenges.prove(self.secret, challenge, port)}
        hash = self._work.hash_labelled(query_of(scope).get("client", ""))
        if hash is not None:
            told["clientProof"] = prove_to_client(hash, challenge, port)
        return told

    def _known_to(self, caller: Client | None) -> Json:
        if caller is None:
            return {}
        if caller.is_person:
            return self._status.health()
        return self._status.client_health(caller)

    async def _ws_info(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"])[b"host"].decode()
        await _say(send, {"wsUrl": f"ws://{host}/ws"})

    async def _settings(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _say(send, self._work.in_force())

    async def _audit(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send_entries(send, self._work.audited(_audit_query(scope)))

    async def _metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, kind = await asyncio.to_thread(written, self._status.picture())
        await send_body(send, 200, body, kind)

    async def _reload(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _say(send, {"ok": True, **self._work.reload()})

    async def _reload_extension(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._work.reload_extensions() == 0:
            raise Unavailable("No extension is connected.")
        await _say(send, {"ok": True})

    async def _plugin_settings(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        require_json(headers)
        given = _plugin(await read_body(headers, receive, MOST_BYTES))
        await _say(send, {"ok": True, **self._work.configure(given.plugin, given.settings)})


def _plugin(body: bytes) -> PluginSettings:
    try:
        return msgspec.json.decode(body, type=PluginSettings)
    except jsonrpc.UNREADABLE as error:
        misfit = InvalidArguments(f"The body must be {{plugin, settings}}: {error}.")
        raise jsonrpc.explained(error, misfit) from None


async def _say(send: Send, told: Json) -> None:
    await send_json(send, 200, msgspec.json.encode(told))


def _audit_query(scope: Scope) -> AuditQuery:
    query = as_query(query_of(scope), AuditQuery, strict=False)
    try:
        query.begin()
    except ValueError as error:
        raise InvalidArguments(f"The query: {error}.") from None
    return query


def _moment(written: str) -> float:
    """A time that names no zone is one of UTC."""
    # In a URL, a plus means a blank.
    for spelling in (written, written.replace(" ", "+")):
        with suppress(ValueError):
            time = datetime.fromisoformat(spelling)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    raise ValueError(f"since is no date or time of ISO 8601: {written!r}")


async def _send_entries(send: Send, lines: list[bytes]) -> None:
    size = sum(map(len, lines)) + max(len(lines) - 1, 0) + 2
    headers = [JSON, (b"content-length", b"%d" % size)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    begin = b"["
    for first in range(0, len(lines), PIECE):
        piece = begin + b",".join(lines[first : first + PIECE])
        begin = b","
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b"]" if lines else b"[]"})
