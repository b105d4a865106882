"""A node as a process of its own, which can be killed and stopped: `python -m` this HOST NATS."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import websockets.asyncio.client as ws

from tabhub.proxy.proxy_server import ProxyServer, ProxySettings
from tests.proxy.served import SECRET, ProxyAddress
from tests.support.eventually import PATIENCE

ROOT = Path(__file__).parents[3]


class NodeProcess(ProxyAddress):
    """Where the node of a process listens."""

    def __init__(
        self, process: asyncio.subprocess.Process, host: str, port: int, admin: int
    ) -> None:
        super().__init__(port, admin)
        self.process = process
        self._host = host

    def connect(self, path: str, name: str | None = None, **more: Any) -> ws.connect:
        url = f"ws://{name or f'{self._host}:{self.port}'}{path}"
        return ws.connect(
            url,
            max_size=None,
            compression=None,
            proxy=None,
            open_timeout=PATIENCE,
            ping_timeout=PATIENCE,
            **more,
        )

    def signal(self, number: int) -> None:
        self.process.send_signal(number)


@asynccontextmanager
async def node_process(
    *nats: str, host: str = "127.0.0.1", prefix: tuple[str, ...] = ()
) -> AsyncIterator[NodeProcess]:
    """`prefix` is a command that runs the node, such as one that enters a namespace."""
    command = [*prefix, sys.executable, "-m", "tests.proxy.nodes.node_process", host, *nats]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    ports = json.loads(await process.stdout.readline())
    try:
        yield NodeProcess(process, host, **ports)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _main(host: str, *nats: str) -> None:
    public, admin = (socket.create_server((host, 0), backlog=1000) for _ in range(2))
    server = ProxyServer(ProxySettings(secret=SECRET, drain_seconds=0.0, nats=nats), public, admin)
    stop = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set_result, None)
    serving = asyncio.create_task(server.serve())
    await server.joined.wait()
    ports = {"port": public.getsockname()[1], "admin": admin.getsockname()[1]}
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    await stop
    await server.stop()
    await serving


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
