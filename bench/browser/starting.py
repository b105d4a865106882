"""How long an agent waits for a server that it starts: from the command to `initialize`."""

import asyncio
import socket
import tempfile
from pathlib import Path
from statistics import median

from bench.caller import Caller, milliseconds
from tests.support.product import Product

ROUNDS = 7
POLL_SECONDS = 0.002


async def start_to_initialize() -> float:
    """Median milliseconds, in a home that exists already."""
    with tempfile.TemporaryDirectory() as name:
        product = Product(Path(name) / "home")
        times = [await _once(product) for _ in range(ROUNDS + 1)]
    return median(times[1:])


async def _once(product: Product) -> float:
    port = _free_port()
    with product.running("start", "--port", str(port)):
        return await milliseconds(lambda: _initialized(product, port))


async def _initialized(product: Product, port: int) -> None:
    while True:
        try:
            await Caller.begin(port, product.secret)
            return
        except (ConnectionRefusedError, FileNotFoundError):
            await asyncio.sleep(POLL_SECONDS)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
