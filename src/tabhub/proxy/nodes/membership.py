"""A node's membership in a service of many: its connection to NATS and what stands on it."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from nats.aio.client import Client

from tabhub.proxy.nodes.buckets import Buckets
from tabhub.proxy.nodes.nats_connection import (
    AGAIN_SECONDS,
    fault_of,
    open_connection,
    refused_by_nats,
)
from tabhub.proxy.nodes.nats_network import NatsNetwork
from tabhub.proxy.nodes.shared_codes import SharedCodes
from tabhub.proxy.nodes.shared_revocations import SharedRevocations
from tabhub.proxy.revocations import Revocation
from tabhub.proxy.service import ProxyService

log = logging.getLogger(__name__)

CLOSE_SECONDS = 3.0


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
        self._revocations = SharedRevocations(take, known)
        self._problem = "NATS has not answered yet."
        self._failure = ""
        """What the last attempt to join has failed with."""
        self._client: Client | None = None
        self._buckets: Buckets | None = None
        self._network: NatsNetwork | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._end: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @property
    def problem(self) -> str:
        """Why this node is not one of its service now, in a sentence; empty if it is."""
        if self._network is None:
            return self._problem
        is_connected = self._client is not None and self._client.is_connected
        return "" if is_connected else "The connection to NATS is lost; it is tried again."

    async def join(self, servers: tuple[str, ...], credentials: Path | None) -> None:
        """Connect with the other nodes, however long it takes; raises Unavailable if refused."""
        while True:
            self._client = await open_connection(servers, credentials, self)
            if self._is_leaving:
                return await _close(self._client)
            if await self._is_started(self._client):
                return None
            await asyncio.sleep(AGAIN_SECONDS)

    async def _is_started(self, client: Client) -> bool:
        """Begin to work with a connection; False if it was closed before this node had joined."""
        ended = self._end = asyncio.get_running_loop().create_future()
        if client.is_closed:
            self.ended(client, "it was closed at once")
        starting = asyncio.create_task(self._start(client))
        try:
            await asyncio.wait((starting, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not starting.done():
                starting.cancel()
        if starting.done():
            await starting
            return True
        self.failed(f"NATS has closed the connection: {ended.result()}.")
        return False

    async def _start(self, client: Client) -> None:
        buckets = self._buckets = Buckets(client)
        self._problem = "NATS is there, but has not said yet what was revoked."
        network = NatsNetwork(self._service, client, self._refresh)
        # A node that does not know what was revoked must not let anybody in.
        await self._revocations.start(client, buckets)
        await self.codes.start(client, buckets)
        await network.start()
        self._service.network = self._network = network

    async def ended_by_nats(self) -> str:
        """Wait until NATS has refused this node for good; returns why, in a sentence."""
        return refused_by_nats(f": {await asyncio.shield(self._end)}").message

    def failed(self, why: str) -> None:
        if why != self._failure:
            log.warning("%s This node takes no sockets before it has joined the others.", why)
        self._problem = self._failure = why

    def ended(self, client: Client, why: str) -> None:
        if client is self._client and not self._is_leaving and not self._end.done():
            self._end.set_result(why)

    async def leave(self) -> None:
        self._is_leaving = True
        if self._refreshing is not None:
            self._refreshing.cancel()
        if self._network is not None:
            await self._network.stop()
        if self._client is not None:
            await _close(self._client)

    async def revoke(self, revocation: Revocation) -> None:
        """Let all nodes know; raises Unavailable if that has to wait."""
        try:
            await self._revocations.add(revocation)
        finally:
            if self._revocations.are_untold and self._network is not None:
                self._refresh()

    def returned(self) -> None:
        if self._network is not None and self._buckets is not None:
            self._network.returned()
            self._buckets.look_again()
            self._refresh()

    def _refresh(self) -> None:
        """Nodes were apart for a while, so one of them may have missed a revocation."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._revocations.refresh())


async def _close(client: Client) -> None:
    """Close a connection; if NATS is gone as well, that must not keep a node from ending."""
    closing = asyncio.ensure_future(client.close())
    await asyncio.wait({closing}, timeout=CLOSE_SECONDS)
    if not closing.done():
        closing.cancel()
    elif (error := closing.exception()) is not None:
        # nats-py fails here in many ways: the socket that it writes to may be closed.
        log.info("the connection to NATS was not closed properly: %s", fault_of(error))
