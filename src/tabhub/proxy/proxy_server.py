"""Serving one node of the proxy: the public port, the port for operators, start and stop."""

import asyncio
import logging
import socket
import time
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from msgspec import Struct

from tabhub.agents.http.listening import Listener, uvicorn_config
from tabhub.agents.metrics import Family, labelled, single
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.plugins.npm.download import download
from tabhub.proxy.certificates import CertificateFiles, ServedCertificate
from tabhub.proxy.http_connections import UnauthenticatedCounts, connections_for
from tabhub.proxy.identity import KEY_SET_BYTES, LONGEST_SECONDS, KeySet, ProxyTokens, issue
from tabhub.proxy.pairing_codes import CodeBook, PairingCodes
from tabhub.proxy.proxy_endpoints import (
    AdminEndpoints,
    DeviceToken,
    PairRequest,
    PublicEndpoints,
    RevokeRequest,
)
from tabhub.proxy.revocations import Revocation, Revocations
from tabhub.proxy.service import ProxyService
from tabhub.proxy.sockets import sockets_for
from tabhub.proxy.tls_listener import TlsListener

if TYPE_CHECKING:
    from tabhub.proxy.nodes.membership import NodeMembership

log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
"""How long sockets wait for a node that has not joined the others; then they are refused."""
CANCEL_SECONDS = 5.0
BACKLOG = 4096
"""How many sockets may wait to be taken: after a node has died, thousands come at once."""


class ProxySettings(Struct, frozen=True, kw_only=True):
    """How a node is run."""

    secret: bytes | None = None
    key_set_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    hosts: frozenset[str] = frozenset()
    certificate: Path | None = None
    certificate_key: Path | None = None
    drain_seconds: float = 30.0
    nats: tuple[str, ...] = ()
    """Servers of NATS, over which several nodes are one service."""
    nats_credentials: Path | None = None


class ProxyServer:
    """One node, with its listeners."""

    def __init__(
        self, settings: ProxySettings, public: socket.socket, admin: socket.socket
    ) -> None:
        self._settings = settings
        self._listeners = (public, admin)
        self._codes: CodeBook = PairingCodes(time.monotonic)
        self._revocations = Revocations(time.time)
        self._tokens = self._checker(public)
        self.service = ProxyService(self._tokens.identity, settings.hosts)
        self.http_counts = UnauthenticatedCounts()
        self._certificate = _certificate(settings)
        self._servers = (self._public_listener(), Listener(self._admin_config()))
        self._membership: NodeMembership | None = None
        self._refusal: Unavailable | None = None
        self.joined = asyncio.Event()
        """Set when this node is one of its service, and serves."""
        self._is_stopping = asyncio.Event()

    async def serve(self) -> None:
        """Run until `stop` is called; raises Unavailable if NATS refuses us."""
        membership = self._membership = self._new_membership()
        loops = [self._loop(self.service.keep_time()), self._loop(self._join(membership))]
        if self._certificate is not None:
            loops.append(self._loop(self._certificate.follow()))
        try:
            await asyncio.gather(self._serve_public(), self._servers[1].serve([self._listeners[1]]))
        finally:
            for loop in loops:
                loop.cancel()
            # nats-py may take a cancellation for one more server that is not there.
            await asyncio.wait(loops, timeout=CANCEL_SECONDS)
        if self._refusal is not None:
            raise self._refusal

    async def _serve_public(self) -> None:
        """What comes while a node starts waits for a moment, before it is refused."""
        waits = [asyncio.create_task(one.wait()) for one in (self.joined, self._is_stopping)]
        await asyncio.wait(waits, timeout=WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await self._servers[0].serve([self._listeners[0]])

    def _new_membership(self) -> "NodeMembership | None":
        if not self._settings.nats:
            return None
        # A single node does not pay for loading it.
        from tabhub.proxy.nodes.membership import NodeMembership

        membership = NodeMembership(self.service, self._take_revocations, self._revocations.all)
        self._codes = membership.codes
        self.service.is_joined = False
        return membership

    async def _join(self, membership: "NodeMembership | None") -> None:
        """Loop: join the other nodes, then see whether NATS refuses this one for good."""
        if membership is None:
            self.joined.set()
            return
        try:
            await membership.join(self._settings.nats, self._settings.nats_credentials)
        except Unavailable as refusal:
            await self._end(refusal.message)
            return
        self.service.is_joined = True
        self.joined.set()
        # Alone this node would be of little use; whoever started it can start it again.
        await self._end(await membership.ended_by_nats())

    def _loop(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        return asyncio.create_task(self._guarded(work))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """A node that lacks one of its loops only seems to be well."""
        try:
            await work
        except Exception as error:
            log.exception("a loop of this node has failed")
            await self._end(f"A loop of this node has failed: {error}")

    async def _end(self, why: str) -> None:
        self._refusal = Unavailable(why, "server_unavailable")
        log.error(self._refusal.message)
        await self.stop()

    async def stop(self) -> None:
        """Take no more sockets, close those that there are, then stop listening.

        Whoever cancels this cuts off what has not ended yet.
        """
        self._is_stopping.set()
        try:
            await self.service.drain(self._settings.drain_seconds)
        finally:
            try:
                if self._membership is not None:
                    await self._membership.leave()
            finally:
                for server in self._servers:
                    server.leave()

    def _checker(self, public: socket.socket) -> ProxyTokens:
        settings, url = self._settings, self._settings.key_set_url
        key_set = None if url is None else KeySet(lambda: download(url, {}, KEY_SET_BYTES))
        return ProxyTokens(
            secret=settings.secret,
            key_set=key_set,
            issuer=settings.issuer,
            audience=settings.audience,
            hosts=settings.hosts or _names_of(public),
            is_revoked=self._revocations.is_revoked,
        )

    def _public_listener(self) -> Listener:
        config, certificate = self._public_config(), self._certificate
        if certificate is None:
            return Listener(config)
        return TlsListener(config, certificate.context, self.http_counts)

    def _public_config(self) -> uvicorn.Config:
        welcome = self.service.require_welcome
        endpoints = PublicEndpoints(self._exchange, time.monotonic, welcome)
        return uvicorn_config(
            endpoints,
            http=connections_for(self.http_counts),
            ws=sockets_for(self.service),
            backlog=BACKLOG,
        )

    def _admin_config(self) -> uvicorn.Config:
        endpoints = AdminEndpoints(
            self._not_ready_because,
            self._metrics,
            self._is_operator,
            self._pair,
            self._revoke,
        )
        return uvicorn_config(endpoints, http="httptools", ws="none")

    # What the endpoints do.

    def _not_ready_because(self) -> str:
        if self.service.is_draining:
            return "it is stopping."
        return "" if self._membership is None else self._membership.problem

    def _is_operator(self, given: str) -> bool:
        return self._tokens.is_operator(given, self._listeners[1].getsockname()[1])

    async def _pair(self, request: PairRequest) -> str:
        if not request.user_id:
            raise InvalidArguments("user_id must not be empty.")
        return await self._codes.issue(request.user_id, request.client)

    async def _exchange(self, code: str) -> DeviceToken:
        pairing = await self._codes.exchange(code)
        settings, secret = self._settings, self._settings.secret
        assert secret is not None, "codes are issued only with the signing secret"
        # This node takes only tokens that say both, if it was told so.
        own = {"client": pairing.client, "iss": settings.issuer, "aud": settings.audience}
        said = {name: value for name, value in own.items() if value is not None}
        token = issue(secret, pairing.user, LONGEST_SECONDS, **said)
        return DeviceToken(token, pairing.user, time.time() + LONGEST_SECONDS)

    async def _revoke(self, request: RevokeRequest) -> None:
        revocation = Revocation(time.time(), request.jti, request.user_id)
        self._take_revocations([revocation])
        if self._membership is not None:
            await self._membership.revoke(revocation)

    def _take_revocations(self, revocations: Iterable[Revocation]) -> None:
        for revocation in revocations:
            self._revocations.add(revocation)
        self.service.revoke(self._revocations.is_revoked)

    def _metrics(self) -> list[Family]:
        board, certificate = self.service.board, self._certificate
        ends = "tabhub_proxy_certificate_expiry_timestamp_seconds"
        return [
            *([] if certificate is None else [single(ends, "When TLS ends.", certificate.ends)]),
            labelled("kind", "tabhub_proxy_sockets", "Open sockets.", board.sockets()),
            labelled(
                "outcome",
                "tabhub_proxy_messages",
                "What happened to messages.",
                board.counts,
                is_counter=True,
            ),
        ]


def _names_of(listener: socket.socket) -> frozenset[str]:
    """How the service is called by those that reach it on this machine."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return frozenset(f"{name}:{port}" for name in (shown, "localhost", "127.0.0.1"))


def _certificate(settings: ProxySettings) -> ServedCertificate | None:
    if settings.certificate is None or settings.certificate_key is None:
        return None
    return ServedCertificate(CertificateFiles(settings.certificate, settings.certificate_key))
