"""One node of the proxy, without its limits on rates: a bench sends more than any agent.

Its arguments are `tls` and the address of NATS, both as needed.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from tabhub.agents.http.listening import listen
from tabhub.proxy import proxy_clients, proxy_extensions, rooms
from tabhub.proxy.proxy_server import BACKLOG, ProxyServer, ProxySettings
from tests.proxy.certificates import certificate

SECRET = b"0123456789abcdef0123456789abcdef"
UNLIMITED = 1e12


def lift_rates() -> None:
    modules: tuple[tuple[Any, str], ...] = (
        (proxy_clients, "CONNECTION"),
        (proxy_extensions, "USER"),
        (rooms, "USER"),
    )
    for module, what in modules:
        setattr(module, f"{what}_RATE", UNLIMITED)
        setattr(module, f"{what}_BURST", UNLIMITED)


async def main(is_tls: bool, nats: tuple[str, ...]) -> None:
    public, admin = listen("127.0.0.1", 0, BACKLOG), listen("127.0.0.1", 0)
    with TemporaryDirectory() as folder:
        cert, key = certificate(Path(folder), "localhost") if is_tls else (None, None)
        settings = ProxySettings(secret=SECRET, certificate=cert, certificate_key=key, nats=nats)
        server = ProxyServer(settings, public, admin)
    serving = asyncio.ensure_future(server.serve())
    await server.joined.wait()
    print(public.getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    lift_rates()
    given = sys.argv[1:]
    uvloop.run(main("tls" in given, tuple(url for url in given if url != "tls")))
