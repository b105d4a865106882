"""Revocations on all nodes: told to those that run, and kept for those that start later.

With JetStream a bucket keeps them. Without it a node that starts asks one of the others.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from hashlib import sha256

from msgspec import msgpack
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from tabhub.errors import Unavailable
from tabhub.proxy.nodes.buckets import Buckets, read_all
from tabhub.proxy.nodes.nats_connection import fault_of
from tabhub.proxy.revocations import KEPT_SECONDS, Revocation

log = logging.getLogger(__name__)

BUCKET = "tabhub_revocations"
NEWS, QUESTION = "revocation", "revocations"
ANSWER_SECONDS = 4.0
AGAIN_SECONDS = 1.0
MOST_TOLD = 5000
"""Of the newest, that a node without JetStream tells one that has started."""

_encode = msgpack.Encoder().encode
_read_one = msgpack.Decoder(Revocation).decode
_read_list = msgpack.Decoder(list[Revocation]).decode


class SharedRevocations:
    """`take` and `known` are the revocations of this node."""

    def __init__(
        self,
        client: Client,
        buckets: Buckets,
        take: Callable[[Iterable[Revocation]], None],
        known: Callable[[], list[Revocation]],
    ) -> None:
        self._client = client
        self._buckets = buckets
        self._take = take
        self._known = known

    async def start(self) -> None:
        await self._client.subscribe(NEWS, cb=self._on_news)
        await self._client.subscribe(QUESTION, cb=self._on_question)
        await self.refresh()

    async def refresh(self) -> None:
        """Learn all revocations, trying until it works."""
        while True:
            try:
                self._take(await self._kept())
                return
            except (NatsError, OSError, ValueError) as error:
                log.warning("revocations cannot be read yet: %s", fault_of(error))
                await asyncio.sleep(AGAIN_SECONDS)

    async def _kept(self) -> list[Revocation]:
        bucket = await self._buckets.open(BUCKET, KEPT_SECONDS)
        if bucket is not None:
            return [_read_one(value) for value in await read_all(bucket)]
        return await self._of_others()

    async def _of_others(self) -> list[Revocation]:
        try:
            answer = await self._client.request(QUESTION, timeout=ANSWER_SECONDS)
        except NoRespondersError:
            return []
        return _read_list(answer.data)

    async def add(self, revocation: Revocation) -> None:
        """Tell all nodes, and keep it; raises Unavailable if it reaches only some."""
        value = _encode(revocation)
        try:
            await self._client.publish(NEWS, value)
            bucket = await self._buckets.open(BUCKET, KEPT_SECONDS)
            if bucket is not None:
                await bucket.put(_key(revocation), value)
            else:
                # Whatever the answer is, the server has got the news before.
                await self._of_others()
        except (NatsError, OSError, ValueError) as error:
            raise Unavailable(
                "This node has taken the revocation, but NATS has not: other nodes, and this one "
                f"after a restart, may not know of it ({fault_of(error)}). Revoke "
                "again.",
                "server_unavailable",
                effect="unknown",
            ) from error

    async def _on_news(self, message: Msg) -> None:
        try:
            self._take([_read_one(message.data)])
        except ValueError as error:
            log.warning("a revocation cannot be read: %s", error)

    async def _on_question(self, message: Msg) -> None:
        newest = sorted(self._known(), key=lambda one: one.at)[-MOST_TOLD:]
        await message.respond(_encode(newest))


def _key(revocation: Revocation) -> str:
    """Ids of users and of tokens may have any characters; subjects may not."""
    kind, id = ("token", revocation.token_id) if revocation.token_id else ("user", revocation.user)
    return f"{kind}.{sha256(id.encode()).hexdigest()}"
