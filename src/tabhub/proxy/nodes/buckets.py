"""Buckets of JetStream, for what has to outlive the nodes: revocations and pairing codes.

Every error here is a NatsError. Without JetStream there are no buckets, and nodes keep both in
memory and tell each other.
"""

import logging

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig
from nats.js.errors import APIError, BucketNotFoundError, ServiceUnavailableError
from nats.js.kv import KeyValue

log = logging.getLogger(__name__)

MOST_REPLICAS = 3
ANSWER_SECONDS = 5.0
TRY_SECONDS = 2.0
"""How long a server may take that has not said that it has JetStream; another one may."""
READ_SECONDS = 5.0
WATCHED_SECONDS = 10.0
"""How long the server remembers a reader that has gone."""
_NOT_ENABLED = (None, 10039, 10076)
"""Codes of JetStream: nobody answers, or it is off for this account or server."""


class Buckets:
    """The buckets that the servers of a connection have."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_without = False
        self._full: set[str] = set()
        """Names of those that have as many replicas as there can be."""

    def look_again(self) -> None:
        """The connection was broken; the servers may have another configuration now."""
        self._is_without = False
        self._full.clear()

    async def open(self, name: str, seconds: float) -> KeyValue | None:
        """A bucket whose entries live so long, made if it is missing; None without JetStream."""
        if self._is_without:
            return None
        is_promised = bool(self._client._server_info.get("jetstream"))
        context = self._client.jetstream(timeout=ANSWER_SECONDS if is_promised else TRY_SECONDS)
        try:
            found = await context.key_value(name)
            await self._replicate(context, name)
            return found
        except BucketNotFoundError:
            return await _make(context, name, seconds)
        except ServiceUnavailableError as error:
            if error.err_code not in _NOT_ENABLED or (is_promised and error.err_code is None):
                raise
        except NatsTimeout:
            # In a cluster without JetStream nobody says so; but a server that has it does.
            if is_promised:
                raise
        self._is_without = True
        return None

    async def _replicate(self, context: JetStreamContext, name: str) -> None:
        """Let more servers keep a bucket that was made while some of them were missing."""
        if name in self._full or not self._client._server_info.get("cluster"):
            return
        config = (await context.stream_info(f"KV_{name}")).config
        if (config.num_replicas or 1) < MOST_REPLICAS:
            config.num_replicas = MOST_REPLICAS
            try:
                await context.update_stream(config)
            except APIError as error:
                log.debug("%s stays on fewer servers: %s", name, error)
                return
            log.info("JetStream now keeps %s on %d servers", name, MOST_REPLICAS)
        self._full.add(name)


async def _make(context: JetStreamContext, name: str, seconds: float) -> KeyValue:
    try:
        config = KeyValueConfig(bucket=name, ttl=seconds, replicas=MOST_REPLICAS)
        return await context.create_key_value(config)
    except APIError as error:
        # Some or all of the servers are missing, or there is no cluster; or another was first.
        log.info("JetStream keeps %s on one server for now: %s", name, error.description)
    try:
        return await context.create_key_value(KeyValueConfig(bucket=name, ttl=seconds))
    except APIError:
        # Another node may have been first, in another way.
        return await context.key_value(name)


async def read_all(bucket: KeyValue) -> list[bytes]:
    """The values of a bucket; raises NatsError if the server that was asked lacks some yet."""
    leading = await bucket.status()
    watcher = await bucket.watchall(ignore_deletes=True, inactive_threshold=WATCHED_SECONDS)
    try:
        values = []
        while entry := await watcher.updates(READ_SECONDS):  # type: ignore[no-untyped-call]
            values.append(entry.value or b"")
    finally:
        await watcher.stop()  # type: ignore[no-untyped-call]
    if len(values) < leading.values:
        # What reads may run on a server that has not caught up with the one that leads.
        raise NatsError(f"{len(values)} of {leading.values} values were there")
    return values
