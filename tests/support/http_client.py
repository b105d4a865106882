"""HTTP clients for a server on this machine."""

import ssl

import httpx

from tests.support.eventually import PATIENCE

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts no authority: reading all of them for every client takes longer than most tests."""


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
