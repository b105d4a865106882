"""The connection of a node to NATS: it is opened once, and then comes back by itself."""

import asyncio
import logging
import time
from pathlib import Path
from typing import Protocol

from nats.aio.client import Client
from nats.errors import Error as NatsError

from tabhub.errors import Unavailable

log = logging.getLogger(__name__)

OPEN_SECONDS = 30.0
CONNECT_SECONDS = 2
AGAIN_SECONDS = 1
"""The pause before the same server is tried again."""
PING_SECONDS, MOST_PINGS = 1, 2
"""A server that stands still is left after three seconds, as a node would be."""


class ConnectionEvents(Protocol):
    """What a connection reports to."""

    def returned(self) -> None:
        """It was broken, and stands again."""

    def ended(self, why: str) -> None:
        """It does not come back by itself: the server has refused it."""


async def open_connection(
    servers: tuple[str, ...], credentials: Path | None, events: ConnectionEvents
) -> Client:
    """Connect, and report from then on; raises Unavailable."""
    limit = time.monotonic() + OPEN_SECONDS
    faults: list[str] = []
    while True:
        client = Client()
        try:
            await _connect(client, servers, credentials, faults, events)
        except (NatsError, OSError) as error:
            _stop_if_cancelled()
            if time.monotonic() > limit:
                shown = ", ".join(map(_shown, servers))
                why = ", ".join(dict.fromkeys(faults)) or fault_of(error)
                sentence = f"NATS cannot be reached at {shown}: {why}"
                raise Unavailable(sentence, "server_unavailable") from error
        else:
            # From now on it never gives up.
            client.options["max_reconnect_attempts"] = -1
            return client


async def _connect(
    client: Client,
    servers: tuple[str, ...],
    credentials: Path | None,
    faults: list[str],
    events: ConnectionEvents,
) -> None:
    async def failed(error: Exception) -> None:
        faults.append(fault_of(error))
        log.info("NATS: %s", faults[-1])

    async def reconnected() -> None:
        log.warning("NATS is there again")
        events.returned()

    async def disconnected() -> None:
        if not client.is_closed:
            log.warning("NATS is not there any more")

    async def closed() -> None:
        events.ended(fault_of(client.last_error) if client.last_error else "it was closed")

    await client.connect(
        list(servers),
        name="tabhub proxy",
        no_echo=True,
        error_cb=failed,
        reconnected_cb=reconnected,
        disconnected_cb=disconnected,
        closed_cb=closed,
        connect_timeout=CONNECT_SECONDS,
        reconnect_time_wait=AGAIN_SECONDS,
        max_reconnect_attempts=1,
        ping_interval=PING_SECONDS,
        max_outstanding_pings=MOST_PINGS,
        user_credentials=None if credentials is None else str(credentials),
    )


def _stop_if_cancelled() -> None:
    """nats-py may take a cancellation for one more server that is not there."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def fault_of(error: Exception) -> str:
    """What went wrong; many errors of nats-py have no words."""
    return str(error) or type(error).__name__


def _shown(server: str) -> str:
    """An address without a password in it."""
    scheme, separator, rest = server.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
