"""The connection of a node to NATS: tried until it stands, and then it comes back by itself."""

import asyncio
import logging
import os
import random
from functools import partial
from pathlib import Path
from typing import Protocol

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import InvalidUserCredentialsError

from tabhub.errors import Unavailable
from tabhub.proxy.nodes.nats_credentials import signature, token_in

log = logging.getLogger(__name__)

CONNECT_SECONDS = 2
AGAIN_SECONDS = 1
"""The pause before the same server is tried again."""
LONGEST_PAUSE = 15.0
"""Between two rounds of tries, while no server has ever answered."""
PING_SECONDS, MOST_PINGS = 1, 2
"""A server that stands still is left after three seconds, as a node would be."""
_REFUSALS = ("authorization violation", "authentication expired", "authentication revoked")
"""Words in what a server says to a node that it does not let in; not when it was only slow."""


class ConnectionEvents(Protocol):
    """What a connection reports to."""

    def failed(self, why: str) -> None:
        """It has not come about yet; it is tried again."""

    def returned(self) -> None:
        """It was broken, and stands again."""

    def ended(self, client: Client, why: str) -> None:
        """It does not come back by itself: the server has refused it."""


async def open_connection(
    servers: tuple[str, ...], credentials: Path | None, events: ConnectionEvents
) -> Client:
    """Connect, however long that takes, and report; raises Unavailable if NATS refuses us."""
    shown = ", ".join(map(_shown, servers))
    pause = AGAIN_SECONDS / 2
    while True:
        client = Client()
        faults: list[str] = []
        try:
            await _connect(client, servers, credentials, faults, events)
        except (NatsError, OSError) as error:
            _stop_if_cancelled()
            why = ", ".join(dict.fromkeys(faults)) or fault_of(error)
            if _is_refusal(error, why):
                raise refused_by_nats(f" at {shown}: {why}") from error
            events.failed(f"NATS cannot be reached at {shown}: {why}.")
            pause = min(LONGEST_PAUSE, pause * 2)
            # Nodes that were started together do not all come back together.
            await asyncio.sleep(random.uniform(pause / 2, pause))
        else:
            # From now on it never gives up.
            client.options["max_reconnect_attempts"] = -1
            return client


def _is_refusal(error: Exception, why: str) -> bool:
    is_broken = isinstance(error, InvalidUserCredentialsError)
    return is_broken or any(word in why.lower() for word in _REFUSALS)


def refused_by_nats(why: str) -> Unavailable:
    sentence = f"NATS refuses this node{why}. Give it other credentials (--nats-creds)."
    return Unavailable(sentence, "server_unavailable")


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
        why = fault_of(client.last_error) if client.last_error else "it was closed"
        events.ended(client, why)

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
        user_jwt_cb=None if credentials is None else partial(token_in, credentials),
        signature_cb=None if credentials is None else partial(signature, credentials),
    )


def _stop_if_cancelled() -> None:
    """nats-py may take a cancellation for one more server that is not there."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def fault_of(error: BaseException) -> str:
    """What went wrong; many errors of nats-py have no words."""
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _shown(server: str) -> str:
    """An address without a password in it."""
    scheme, separator, rest = server.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
