"""`tabhub proxy serve`: one node, from its flags to its end."""

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tabhub import __version__
from tabhub.agents.http.listening import listen
from tabhub.cli.event_loop import run_loop
from tabhub.cli.proxy.operating import RunningNode, remove_node, write_node
from tabhub.cli.proxy.signing import own_secret, read_secret
from tabhub.cli.proxy.workers import Worker, Workers
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.proxy.proxy_server import BACKLOG, ProxyServer, ProxySettings

log = logging.getLogger(__name__)

Listeners = tuple[socket.socket, socket.socket]
"""The public one, and the one for operators."""


@dataclass(frozen=True)
class ServeRequest:
    """The flags of `tabhub proxy serve`."""

    host: str
    port: int
    admin_host: str
    admin_port: int
    secret_file: Path | None
    key_set_url: str | None
    issuer: str | None
    audience: str | None
    allowed_hosts: list[str]
    certificate: Path | None
    certificate_key: Path | None
    insecure: bool
    drain_seconds: float
    nats: str | None
    nats_credentials: Path | None
    workers: int

    def check(self) -> None:
        """Refuse what would be unsafe."""
        if (self.certificate is None) != (self.certificate_key is None):
            raise InvalidArguments("--tls-cert and --tls-key belong together.")
        if self.workers > 1 and self.nats is None:
            raise InvalidArguments("--workers takes --nats: workers reach each other over it.")
        if self.nats_credentials is not None and self.nats is None:
            raise InvalidArguments("--nats-creds takes --nats.")
        if self.nats_credentials is not None and not os.access(self.nats_credentials, os.R_OK):
            raise InvalidArguments(f"{self.nats_credentials} cannot be read.")
        if self.insecure:
            return
        if self.certificate is None and not is_loopback(self.host):
            raise InvalidArguments(
                f"Tokens would cross the network in the clear on {self.host}. Give --tls-cert and "
                "--tls-key; behind a proxy that ends TLS, give --insecure."
            )
        parts = urlsplit(self.key_set_url or "https:")
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise InvalidArguments("--jwks must be https: whoever changes keys can be anyone.")

    def chosen_secret(self, home: Home) -> Path | None:
        """The file of the signing secret; None if only an issuer's keys count."""
        if self.secret_file is None and self.key_set_url is None:
            return own_secret(home)
        return self.secret_file

    def settings(self, secret: bytes | None) -> ProxySettings:
        return ProxySettings(
            secret=secret,
            key_set_url=self.key_set_url,
            issuer=self.issuer,
            audience=self.audience,
            hosts=frozenset(host.lower() for host in self.allowed_hosts),
            certificate=self.certificate,
            certificate_key=self.certificate_key,
            drain_seconds=self.drain_seconds,
            nats=tuple(filter(None, (self.nats or "").split(","))),
            nats_credentials=self.nats_credentials,
        )


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def serve(request: ServeRequest) -> None:
    request.check()
    home = Home.from_environment()
    file = request.chosen_secret(home)
    settings = request.settings(None if file is None else read_secret(file))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    _allow_many_files()
    with ExitStack() as stack:
        listeners = _listeners(request, stack)
        stack.enter_context(_announced(home, _ports(*listeners[0]), file))
        if request.workers > 1:
            _serve_as_worker(settings, listeners)
        else:
            run_loop(_until_stopped(settings, *listeners[0]))


def _allow_many_files() -> None:
    """Each socket is a file, of which a process may at first open few."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listeners(request: ServeRequest, stack: ExitStack) -> list[Listeners]:
    """The public and the operators' listener of each worker."""
    found: list[Listeners] = []
    port, is_shared = request.port, request.workers > 1
    for number in range(request.workers):
        public = _listen(request.host, port, "--port", is_shared)
        stack.enter_context(public)
        port = public.getsockname()[1]
        # Each has its own numbers to show, and its own health.
        admin_port = request.admin_port + number if request.admin_port else 0
        admin = _listen(request.admin_host, admin_port, "--admin-port")
        stack.enter_context(admin)
        found.append((public, admin))
    return found


def _serve_as_worker(settings: ProxySettings, listeners: list[Listeners]) -> None:
    """Returns when a worker has ended; the command itself ends with its last worker."""
    _print_addresses(settings, listeners)
    worker = Workers(len(listeners)).keep()
    run_loop(_until_stopped(settings, *listeners[worker.number], worker))


async def _until_stopped(
    settings: ProxySettings,
    public: socket.socket,
    admin: socket.socket,
    worker: Worker | None = None,
) -> None:
    """Run a node until a signal; the second one cuts off what has not ended."""
    server = ProxyServer(settings, public, admin)
    signals: asyncio.Queue[int] = asyncio.Queue()
    _take_signals(signals, worker)
    serving = asyncio.create_task(server.serve())
    stop = asyncio.create_task(signals.get())
    joining = asyncio.create_task(server.joined.wait())
    await _first(serving, stop, joining)
    if server.joined.is_set():
        _say_that_it_is_up(settings, (public, admin), worker)
        await _first(serving, stop)
    else:
        # NATS does not answer yet.
        serving.cancel()
    log.info("stops; calls may take %.0f s to end", settings.drain_seconds)
    stopping = asyncio.create_task(server.stop())
    await _first(stopping, asyncio.create_task(signals.get()))
    stopping.cancel()
    with suppress(asyncio.CancelledError):
        await serving


async def _first(*tasks: "asyncio.Task[Any]") -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


def _say_that_it_is_up(
    settings: ProxySettings, listeners: Listeners, worker: Worker | None
) -> None:
    if worker is None:
        _print_addresses(settings, [listeners])
    else:
        worker.is_up()


def _take_signals(signals: "asyncio.Queue[int]", worker: Worker | None) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, signals.put_nowait, signal.SIGTERM)
    if worker is None:
        loop.add_signal_handler(signal.SIGINT, signals.put_nowait, signal.SIGINT)
    else:
        loop.add_reader(worker.parent, _parent_ended, signals, worker.parent)


def _parent_ended(signals: "asyncio.Queue[int]", parent: int) -> None:
    asyncio.get_running_loop().remove_reader(parent)
    signals.put_nowait(signal.SIGTERM)


def _print_addresses(settings: ProxySettings, listeners: list[Listeners]) -> None:
    scheme = "ws" if settings.certificate is None else "wss"
    print(f"tabhub {__version__} proxy on {scheme}://{_address(listeners[0][0])}", flush=True)
    for _, admin in listeners:
        print(f"Health and metrics on http://{_address(admin)}", flush=True)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _ports(public: socket.socket, admin: socket.socket) -> tuple[int, int]:
    return public.getsockname()[1], admin.getsockname()[1]


@contextmanager
def _announced(home: Home, ports: tuple[int, int], secret: Path | None) -> Iterator[None]:
    """Let `tabhub proxy pair` and `revoke` find this node."""
    where = None if secret is None else str(secret.absolute())
    try:
        write_node(home, RunningNode(os.getpid(), *ports, where))
    except OSError as error:
        # A service may have no home that it can write to.
        log.info("%s: %s; pair and revoke need --admin-port", home.proxy, error.strerror)
    try:
        yield
    finally:
        with suppress(OSError):
            remove_node(home, os.getpid())


def _listen(host: str, port: int, flag: str, is_shared: bool = False) -> socket.socket:
    try:
        return listen(host, port, BACKLOG, is_shared)
    except OSError as error:
        raise Unavailable(
            f"{host}:{port} cannot be used: {error.strerror}. `{flag} 0` picks a free port."
        ) from None
