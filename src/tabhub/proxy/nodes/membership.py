"""A node's membership in a service of many: its connection to NATS and what stands on it."""

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from nats.aio.client import Client

from tabhub.errors import Unavailable
from tabhub.proxy.nodes.buckets import Buckets
from tabhub.proxy.nodes.nats_connection import OPEN_SECONDS, open_connection
from tabhub.proxy.nodes.nats_network import NatsNetwork
from tabhub.proxy.nodes.shared_codes import SharedCodes
from tabhub.proxy.nodes.shared_revocations import SharedRevocations
from tabhub.proxy.revocations import Revocation
from tabhub.proxy.service import ProxyService


class NodeMembership:
    """From `join` until `leave`."""

    def __init__(
        self,
        service: ProxyService,
        take: Callable[[Iterable[Revocation]], None],
        known: Callable[[], list[Revocation]],
    ) -> None:
        self.codes = SharedCodes(time.monotonic, time.time)
        self._service = service
        self._take = take
        self._known = known
        self._client: Client | None = None
        self._buckets: Buckets | None = None
        self._network: NatsNetwork | None = None
        self._revocations: SharedRevocations | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._end: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @property
    def is_connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def join(self, servers: tuple[str, ...], credentials: Path | None) -> None:
        """Connect with the other nodes; raises Unavailable."""
        client = self._client = await open_connection(servers, credentials, self)
        buckets = self._buckets = Buckets(client)
        self._revocations = SharedRevocations(client, buckets, self._take, self._known)
        self._network = NatsNetwork(self._service, client, self._refresh)
        try:
            # A node that does not know what was revoked must not let anybody in.
            await asyncio.wait_for(self._revocations.start(), OPEN_SECONDS)
        except TimeoutError:
            sentence = "NATS is there, but the revocations in JetStream cannot be read."
            raise Unavailable(sentence, "server_unavailable") from None
        await self.codes.start(client, buckets)
        await self._network.start()
        self._service.network = self._network

    async def ended_by_nats(self) -> str:
        """Wait until NATS has refused this node for good; returns why."""
        return await asyncio.shield(self._end)

    def ended(self, why: str) -> None:
        if not self._is_leaving and not self._end.done():
            self._end.set_result(why)

    async def leave(self) -> None:
        self._is_leaving = True
        if self._refreshing is not None:
            self._refreshing.cancel()
        if self._network is not None:
            await self._network.stop()
        if self._client is not None:
            await self._client.close()

    async def revoke(self, revocation: Revocation) -> None:
        """Let all nodes know; raises Unavailable."""
        if self._revocations is not None:
            await self._revocations.add(revocation)

    def returned(self) -> None:
        if self._network is not None and self._buckets is not None:
            self._network.returned()
            self._buckets.look_again()
            self._refresh()

    def _refresh(self) -> None:
        """Nodes were apart for a while, so this one may have missed a revocation."""
        if self._revocations is not None and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._revocations.refresh())
