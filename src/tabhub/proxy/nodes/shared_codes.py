"""Pairing codes that can be exchanged on any node, still only once and with five tries.

With JetStream a bucket has them, and whoever is first with a change to an entry wins. Without it
each node keeps its own, and a code that a node does not know is tried on the others.
"""

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

from msgspec import msgpack
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.errors import APIError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from tabhub.errors import AccessError, Unavailable
from tabhub.proxy.nodes.buckets import Buckets
from tabhub.proxy.nodes.nats_connection import fault_of
from tabhub.proxy.pairing_codes import (
    KNOWN_BY,
    MOST_TRIES,
    SECONDS,
    PairingCode,
    PairingCodes,
    new_code,
    read_code,
    refused_code,
    shown_code,
    too_many_codes,
)
from tabhub.rate_limit import Clock

log = logging.getLogger(__name__)

BUCKET = "tabhub_pairing"
SUBJECT = "pairing"
ANSWER_SECONDS = 3.0
WHOLE_SECONDS = 8.0
"""How long anybody waits for a code, or for what it stands for; connections end after ten."""
MOST_COLLISIONS = 20
_CHANGED = 10071
"""The code of JetStream for an entry that somebody else has changed."""

T = TypeVar("T")
_encode = msgpack.Encoder().encode
_read = msgpack.Decoder(PairingCode).decode


class SharedCodes:
    """The codes of all nodes; usable once `start` has returned."""

    def __init__(self, clock: Clock, wall_clock: Clock) -> None:
        self._own = PairingCodes(clock)
        self._wall_clock = wall_clock
        self._client: Client | None = None
        self._buckets: Buckets

    async def start(self, client: Client, buckets: Buckets) -> None:
        self._client = client
        self._buckets = buckets
        await client.subscribe(SUBJECT, cb=self._on_try)

    async def issue(self, user: str, client: str) -> str:
        return await _in_time(self._issue(user, client))

    async def _issue(self, user: str, client: str) -> str:
        bucket = await self._bucket()
        if bucket is None:
            return await self._own.issue(user, client)
        for _ in range(MOST_COLLISIONS):
            code = new_code()
            expires = self._wall_clock() + SECONDS
            entry = PairingCode(code[KNOWN_BY:], user, client, expires)
            if await _is_done(bucket.create(code[:KNOWN_BY], _encode(entry))):
                return shown_code(code)
        raise too_many_codes()

    async def exchange(self, given: str) -> PairingCode:
        return await _in_time(self._exchange(read_code(given)))

    async def _exchange(self, code: str) -> PairingCode:
        bucket = await self._bucket()
        if bucket is not None:
            return await self._exchange_kept(bucket, code)
        if self._own.knows(code):
            return await self._own.exchange(code)
        return await self._exchange_elsewhere(code)

    async def _bucket(self) -> KeyValue | None:
        if self._client is None:
            raise _unavailable(ConnectionError("this node has not reached it yet"))
        try:
            return await self._buckets.open(BUCKET, SECONDS)
        except (NatsError, OSError) as error:
            raise _unavailable(error) from error

    async def _exchange_kept(self, bucket: KeyValue, code: str) -> PairingCode:
        while True:
            known, revision = await self._entry(bucket, code[:KNOWN_BY])
            is_right = known.is_opened_by(code)
            change: Awaitable[object]
            if is_right or known.tries >= MOST_TRIES:
                change = bucket.delete(code[:KNOWN_BY], last=revision)
            else:
                change = bucket.update(code[:KNOWN_BY], _encode(known), last=revision)
            # If somebody else has tried this code meanwhile, their try counts first.
            if not await _is_done(change):
                continue
            if not is_right:
                raise refused_code()
            return known

    async def _entry(self, bucket: KeyValue, key: str) -> tuple[PairingCode, int]:
        try:
            entry = await bucket.get(key)
        except KeyNotFoundError:
            raise refused_code() from None
        except (NatsError, OSError) as error:
            raise _unavailable(error) from error
        known = _read(entry.value or b"")
        if known.expires <= self._wall_clock():
            raise refused_code()
        return known, entry.revision or 0

    async def _exchange_elsewhere(self, code: str) -> PairingCode:
        assert self._client is not None, "the bucket was asked for before"
        try:
            answer = await self._client.request(SUBJECT, code.encode(), timeout=ANSWER_SECONDS)
        except (NoRespondersError, NatsTimeout):
            # Only a node that has given out a code of this name answers.
            raise refused_code() from None
        except (NatsError, OSError) as error:
            raise _unavailable(error) from error
        if not answer.data:
            raise refused_code()
        return _read(answer.data)

    async def _on_try(self, message: Msg) -> None:
        code = message.data.decode("ascii", "replace")
        if not self._own.knows(code):
            return
        try:
            answer = _encode(await self._own.exchange(code))
        except AccessError:
            answer = b""
        await message.respond(answer)


async def _in_time(work: Awaitable[T]) -> T:
    """JetStream may choose a leader, and each step waits for it; the answer must not."""
    try:
        async with asyncio.timeout(WHOLE_SECONDS):
            return await work
    except TimeoutError as error:
        raise _unavailable(error) from error


async def _is_done(change: Awaitable[object]) -> bool:
    """Whether an entry was still as we knew it, and has changed."""
    try:
        await change
    except KeyWrongLastSequenceError:
        return False
    except APIError as error:
        if error.err_code == _CHANGED:
            return False
        raise _unavailable(error) from error
    except (NatsError, OSError) as error:
        raise _unavailable(error) from error
    return True


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(
        f"Codes cannot be reached, as NATS does not answer ({fault_of(error)}).",
        "server_unavailable",
    )
