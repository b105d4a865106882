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
from nats.errors import TimeoutError as NatsTimeout

from tabhub.errors import Unavailable
from tabhub.proxy.nodes.buckets import Buckets, read_all
from tabhub.proxy.nodes.nats_connection import fault_of
from tabhub.proxy.revocations import KEPT_SECONDS, Revocation

log = logging.getLogger(__name__)

BUCKET = "tabhub_revocations"
NEWS, QUESTION = "revocation", "revocations"
ANSWER_SECONDS = 4.0
ADD_SECONDS = 8.0
"""How long an operator waits for all nodes to know."""
AGAIN_SECONDS = 1.0
MOST_TOLD = 5000
"""Of the newest, that a node without JetStream tells one that has started."""

_encode = msgpack.Encoder().encode
_read_one = msgpack.Decoder(Revocation).decode
_read_list = msgpack.Decoder(list[Revocation]).decode


class SharedRevocations:
    """`take` and `known` are the revocations of this node."""

    def __init__(
        self, take: Callable[[Iterable[Revocation]], None], known: Callable[[], list[Revocation]]
    ) -> None:
        self._take = take
        self._known = known
        self._client: Client | None = None
        self._buckets: Buckets
        self._untold: dict[str, Revocation] = {}
        """Those of this node that the others may not know."""

    @property
    def are_untold(self) -> bool:
        return bool(self._untold)

    async def start(self, client: Client, buckets: Buckets) -> None:
        self._client, self._buckets = client, buckets
        await client.subscribe(NEWS, cb=self._on_news)
        await client.subscribe(QUESTION, cb=self._on_question)
        await self.refresh()

    async def refresh(self) -> None:
        """Tell what is untold and learn all that was revoked, trying until it works."""
        while True:
            try:
                for revocation in list(self._untold.values()):
                    await self._tell(revocation)
                self._take(await self._kept())
                if not self._untold:
                    return
            except (NatsError, OSError, ValueError) as error:
                log.warning("revocations are not shared yet: %s", fault_of(error))
                await asyncio.sleep(AGAIN_SECONDS)

    async def _kept(self) -> list[Revocation]:
        """What the bucket has, and what another node knows: either may be behind the other."""
        bucket = await self._buckets.open(BUCKET, KEPT_SECONDS)
        if bucket is None:
            return await self._of_others()
        kept = [_read_one(value) for value in await read_all(bucket)]
        try:
            return [*kept, *await self._of_others()]
        except NatsTimeout:
            # A node that hangs must not keep this one from starting.
            return kept

    async def _of_others(self) -> list[Revocation]:
        try:
            answer = await self._connected().request(QUESTION, timeout=ANSWER_SECONDS)
        except NoRespondersError:
            return []
        return _read_list(answer.data)

    def _connected(self) -> Client:
        # Without this, nats-py would wait for an answer that cannot come.
        if self._client is None or not self._client.is_connected:
            raise ConnectionError("NATS cannot be reached")
        return self._client

    async def add(self, revocation: Revocation) -> None:
        """Tell all nodes, and keep it; raises Unavailable if that cannot be done at once."""
        self._untold[_key(revocation)] = revocation
        try:
            async with asyncio.timeout(ADD_SECONDS):
                await self._tell(revocation)
        except (NatsError, OSError, ValueError) as error:
            raise Unavailable(
                "This node has taken the revocation, and has closed its sockets. Other nodes may "
                f"not know of it yet ({fault_of(error)}): this node tells them as soon as NATS "
                "answers. If it ends before that, revoke again.",
                "server_unavailable",
                effect="unknown",
            ) from error

    async def _tell(self, revocation: Revocation) -> None:
        value = _encode(revocation)
        await self._connected().publish(NEWS, value)
        bucket = await self._buckets.open(BUCKET, KEPT_SECONDS)
        if bucket is not None:
            await bucket.put(_key(revocation), value)
        else:
            # Whatever the answer is, the server has got the news before.
            await self._of_others()
        if self._untold.get(_key(revocation)) is revocation:
            del self._untold[_key(revocation)]

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
