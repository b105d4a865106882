"""The administration endpoints: health, settings, reloading, the audit log, metrics, the link."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Protocol, TypeVar

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
from tabhub.agents.metrics import Metrics, render
from tabhub.config.clients import Client
from tabhub.config.secret import LONGEST_CHALLENGE, Challenges, prove_to_client
from tabhub.config.settings import LevelWord
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import App, Receive, Scope, Send
from tabhub.wire.link import CallOutcome

Json = dict[str, Any]
T = TypeVar("T", bound=msgspec.Struct)
MAX_BODY_BYTES = 256 * 1024
ENTRIES_AT_ONCE = 32
"""Audit entries in one chunk; between two chunks other requests get their turn."""


class PluginSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `/plugin-settings`."""

    plugin: str
    settings: Json


class PageAllowed(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `/pages/allow`."""

    origin: str
    code: str | None = None
    level: LevelWord | None = None
    """For calls through the origin's page worker; without a code, an origin that is paired already
    only gets this level."""


class PairingStep(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `/extension/pair`: a commitment; then the key and nonce; then only the id, or
    that the person has given up."""

    commitment: str | None = None
    id: str | None = None
    key: str | None = None
    nonce: str | None = None
    ended: bool = False


class PairingConfirmed(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `/extension/pair/confirm`."""

    code: str


class AuditQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which entries of the audit log to return."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    plugin: str | None = None
    tool: str | None = None
    client: str | None = None
    success: bool | None = None
    outcome: CallOutcome | None = None
    who: Literal["you", "agents"] | None = None
    text: str | None = None
    since: str | None = None

    def begin(self) -> float | None:
        """`since` in seconds since 1970."""
        return None if self.since is None else max(_timestamp(self.since), 0)


class Status(Protocol):
    """What administration reads."""

    def health(self) -> Json:
        """What `/health` adds for the person."""

    def client_health(self, client: Client) -> Json:
        """What `/health` adds for an agent."""

    def metrics(self) -> Metrics:
        """What `/metrics` shows."""


class Actions(Protocol):
    """What administration does."""

    def reload(self) -> Json:
        """Read settings, policy, clients and secret again."""

    def reload_extensions(self) -> int:
        """Restart the connected extensions; returns how many there are."""

    def settings_in_force(self) -> Json:
        """The settings in force, and the keys where the file differs."""

    def configure(self, plugin: str, settings: Json) -> Json:
        """Change the settings of a plugin."""

    def allow_page(self, origin: str, code: str | None, level: LevelWord | None) -> Json:
        """Pair the page that waits, or open an enrolment."""

    async def pair_extension(self, step: PairingStep, origin: str, port: int) -> Json:
        """One step of an extension that wants to be paired by a code."""

    def confirm_extension(self, code: str) -> Json:
        """Pair the extension that shows this code."""

    def audit_entries(self, query: AuditQuery) -> list[bytes]:
        """Entries of the audit log as JSON, the newest first."""

    def hash_labelled(self, label: str) -> str | None:
        """The hash of the token with this label, by which the server proves its identity."""


class Admin:
    """The handlers of administration."""

    def __init__(
        self, actions: Actions, status: Status, secret: str, challenges: Challenges
    ) -> None:
        self._actions = actions
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
            "allow_page": self._allow_page,
            "pair_extension": self._pair_extension,
            "confirm_extension": self._confirm_extension,
        }

    async def _health(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Without a token: that the server runs and, given a challenge, a proof of its identity."""
        health: Json = {"status": "ok"}
        challenge = query_of(scope).get("challenge", "")
        if 0 < len(challenge) <= LONGEST_CHALLENGE:
            health |= self._proofs(challenge, scope)
        await _send(send, health | self._details_for(scope[CALLER]))

    def _proofs(self, challenge: str, scope: Scope) -> Json:
        """A proof by the secret, and one by the token whose label the client gives."""
        port: int = scope["server"][1]
        proofs: Json = {"proof": self._challenges.prove(self.secret, challenge, port)}
        hash = self._actions.hash_labelled(query_of(scope).get("client", ""))
        if hash is not None:
            proofs["clientProof"] = prove_to_client(hash, challenge, port)
        return proofs

    def _details_for(self, caller: Client | None) -> Json:
        if caller is None:
            return {}
        if caller.is_person:
            return self._status.health()
        return self._status.client_health(caller)

    async def _ws_info(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"])[b"host"].decode()
        await _send(send, {"wsUrl": f"ws://{host}/ws"})

    async def _settings(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send(send, self._actions.settings_in_force())

    async def _audit(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send_entries(send, self._actions.audit_entries(_audit_query(scope)))

    async def _metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, kind = await asyncio.to_thread(render, self._status.metrics())
        await send_body(send, 200, body, kind)

    async def _reload(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send(send, {"ok": True, **self._actions.reload()})

    async def _reload_extension(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._actions.reload_extensions() == 0:
            raise Unavailable("No extension is connected.")
        await _send(send, {"ok": True})

    async def _plugin_settings(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(scope, receive, PluginSettings)
        await _send(send, {"ok": True, **self._actions.configure(body.plugin, body.settings)})

    async def _allow_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(scope, receive, PageAllowed)
        allowed = self._actions.allow_page(body.origin, body.code, body.level)
        await _send(send, {"ok": True, **allowed})

    async def _pair_extension(self, scope: Scope, receive: Receive, send: Send) -> None:
        step = await _body(scope, receive, PairingStep)
        origin = dict(scope["headers"]).get(b"origin", b"").decode("latin-1")
        port: int = scope["server"][1]
        await _send(send, await self._actions.pair_extension(step, origin, port))

    async def _confirm_extension(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(scope, receive, PairingConfirmed)
        await _send(send, {"ok": True, **self._actions.confirm_extension(body.code)})


async def _body(scope: Scope, receive: Receive, kind: type[T]) -> T:
    headers = dict(scope["headers"])
    require_json(headers)
    body = await read_body(headers, receive, MAX_BODY_BYTES)
    try:
        return msgspec.json.decode(body, type=kind)
    except jsonrpc.UNREADABLE as error:
        members = ", ".join(kind.__struct_fields__)
        misfit = InvalidArguments(f"The body must be {{{members}}}: {error}.")
        raise jsonrpc.explained(error, misfit) from None


async def _send(send: Send, body: Json) -> None:
    await send_json(send, 200, msgspec.json.encode(body))


def _audit_query(scope: Scope) -> AuditQuery:
    query = as_query(query_of(scope), AuditQuery, strict=False)
    try:
        query.begin()
    except ValueError as error:
        raise InvalidArguments(f"The query: {error}.") from None
    return query


def _timestamp(text: str) -> float:
    """A time of ISO 8601 in seconds; without a zone it is UTC."""
    # In a URL, a plus means a blank.
    for spelling in (text, text.replace(" ", "+")):
        with suppress(ValueError):
            time = datetime.fromisoformat(spelling)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    raise ValueError(f"since is not an ISO 8601 date or time: {text!r}")


async def _send_entries(send: Send, lines: list[bytes]) -> None:
    size = sum(map(len, lines)) + max(len(lines) - 1, 0) + 2
    headers = [JSON, (b"content-length", b"%d" % size)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    begin = b"["
    for first in range(0, len(lines), ENTRIES_AT_ONCE):
        chunk = begin + b",".join(lines[first : first + ENTRIES_AT_ONCE])
        begin = b","
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b"]" if lines else b"[]"})
