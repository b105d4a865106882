"""HTTP clients for a server on this machine, and a port for one."""

import random
import socket
import ssl
from contextlib import suppress

import httpx

from tests.support.eventually import PATIENCE

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts no authority: reading all of them for every client takes longer than most tests."""
LOOPBACK = "127.0.0.1"
NOT_GIVEN_AWAY = (20_000, 32_000)
"""The system gives away ports above these, and another test would get the one just found."""


def authorization(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def client_of(port: int, token: str | None) -> httpx.AsyncClient:
    """A client that sends this token, or none."""
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers=authorization(token),
        timeout=PATIENCE,
        verify=NO_TLS,
    )


def free_port() -> int:
    """A port that nobody has, and that stays free while a server starts or restarts."""
    while True:
        port = random.randint(*NOT_GIVEN_AWAY)
        with socket.socket() as found, suppress(OSError):
            found.bind((LOOPBACK, port))
            return port
