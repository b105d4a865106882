"""A whole tabhub server inside the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy

import httpx

from tabhub.config.paths import Home
from tabhub.config.settings import RateSettings, Settings
from tabhub.server.app import App
from tabhub.server.serving import Server, listen
from tests.support.eventually import PATIENCE
from tests.support.no_tls import NO_TLS

SECRET = "5e" * 32
NO_RATES = RateSettings(
    sessions_per_minute=0,
    client_sessions_per_minute=0,
    admin_per_minute=0,
    messages_per_minute=0,
)


@asynccontextmanager
async def served(
    settings: Settings | None = None,
    auth: bool = True,
    home: Home | None = None,
    rates: RateSettings = NO_RATES,
    second: bool = False,
    **more: bool,
) -> AsyncIterator[Server]:
    """Serve on a free port, or on two, for as long as the block lasts."""
    # A server that reloads changes its settings, which tests share.
    settings = deepcopy(settings) if settings else Settings()
    settings.rates = rates
    app = App(settings, SECRET, auth=auth, home=home, **more)
    listener = listen("127.0.0.1", 0)
    server = Server(app, listener, listen("127.0.0.1", 0) if second else None)
    serving = asyncio.create_task(server.serve())
    try:
        await _answers(server.port)
        yield server
    finally:
        await server.stop()
        await serving


def client(port: int, token: str | None = SECRET) -> httpx.AsyncClient:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{port}"
    return httpx.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE, verify=NO_TLS)


async def _answers(port: int) -> None:
    async with client(port, None) as http:
        for _ in range(200):
            try:
                await http.get("/health")
            except httpx.ConnectError:
                await asyncio.sleep(0.01)
            else:
                return
