"""A whole tabhub server inside the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

import httpx

from tabhub.agents.http.listening import listen
from tabhub.config.paths import Home
from tabhub.config.settings import RateSettings, Settings
from tabhub.server.app import App
from tabhub.server.serving import Server
from tests.support.eventually import eventually
from tests.support.http_client import client_of

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
    **more: Any,
) -> AsyncIterator[Server]:
    """Serve on a free port, or on two, for as long as the block lasts."""
    # A reload changes the settings objects, which tests share.
    settings = deepcopy(settings) if settings else Settings()
    settings.rates = deepcopy(rates)
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
    return client_of(port, token)


async def _answers(port: int) -> None:
    async with client(port, None) as http:
        await eventually(lambda: http.get("/health"), ignore=(httpx.ConnectError,))
