"""Real nats-servers on free ports of this machine."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.eventually import eventually
from tests.support.http_client import free_port

PROGRAM = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class NatsServer:
    """One server; `flags` are those of the program."""

    def __init__(self, folder: Path, *flags: str, host: str = "127.0.0.1") -> None:
        assert PROGRAM is not None, "scripts/ensure-nats installs nats-server"
        self.port = free_port()
        self.url = f"nats://{host}:{self.port}"
        self._host = host
        self._log = folder / f"nats-{self.port}.log"
        given = ["-a", host, "-p", str(self.port), "-l", str(self._log), *flags]
        self._command = [PROGRAM, *given]
        self.process: subprocess.Popen[bytes]

    def launch(self) -> None:
        self.process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)

    async def start(self) -> None:
        self.launch()
        await eventually(self.answers, f"nats-server on {self.port}")

    async def answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection(self._host, self.port)
        except OSError:
            return False
        greeting = await reader.readline()
        writer.close()
        return greeting.startswith(b"INFO")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stand_still(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        # On a busy machine its threads would work on until the first of them takes the signal.
        if self.process.poll() is None:
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def routes(self) -> int:
        """How many other servers this one has a connection to, by its log."""
        return self._log.read_text().count("Route connection created")


@asynccontextmanager
async def nats_server(
    folder: Path, *flags: str, host: str = "127.0.0.1"
) -> AsyncIterator[NatsServer]:
    server = NatsServer(folder, *flags, host=host)
    await server.start()
    try:
        yield server
    finally:
        server.kill()


@asynccontextmanager
async def nats_cluster(
    folder: Path, *flags: str, each: Sequence[Sequence[str]] = ((), (), ())
) -> AsyncIterator[list[NatsServer]]:
    """Three servers that know each other; `each` has the flags of each alone."""
    ports = [free_port() for _ in range(3)]
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    servers = []
    for number, port in enumerate(ports):
        listen = f"nats://127.0.0.1:{port}"
        own = [
            "--cluster_name",
            "tests",
            "--cluster",
            listen,
            "--routes",
            routes,
            "-n",
            f"s{number}",
        ]
        servers.append(NatsServer(folder, *own, *flags, *each[number]))
    try:
        for server in servers:
            await server.start()
        for server in servers:
            await eventually(lambda server=server: server.routes() >= 2, "the cluster")  # type: ignore[misc]
        yield servers
    finally:
        for server in servers:
            server.kill()
