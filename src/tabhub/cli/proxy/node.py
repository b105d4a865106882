"""`tabhub proxy serve`: one node, from its start to its end."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tabhub import __version__
from tabhub.agents.http.listening import listen
from tabhub.cli.event_loop import run_loop
from tabhub.cli.proxy.serve_request import ServeRequest
from tabhub.cli.proxy.signing import read_secret
from tabhub.cli.proxy.workers import Worker, Workers
from tabhub.cli.running_node import RunningNode, remove_node, write_node
from tabhub.config.paths import Home
from tabhub.errors import Unavailable
from tabhub.proxy.proxy_server import BACKLOG, ProxyServer, ProxySettings
from tabhub.system.signals import on_signal, on_stop

log = logging.getLogger(__name__)

Listeners = tuple[socket.socket, socket.socket]
"""The public one, and the one for operators."""


def serve(request: ServeRequest) -> None:
    request.check()
    home = Home.from_environment()
    file = request.chosen_secret(home)
    settings = request.settings(None if file is None else read_secret(file))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    # It would write a line for each socket.
    logging.getLogger("websockets").setLevel(logging.WARNING)
    _allow_many_files()
    with ExitStack() as stack:
        listeners = _listeners(request, stack)
        stack.enter_context(_announced(home, _running_node(request, listeners[0], file)))
        if request.workers > 1:
            _serve_as_worker(settings, listeners)
        else:
            run_loop(_until_stopped(settings, *listeners[0]))


def _allow_many_files() -> None:
    """Each socket is a file, of which a process may at first open few."""
    if sys.platform != "win32":
        import resource

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
    if worker is None:
        _print_addresses(settings, [(public, admin)])
    stop = asyncio.create_task(signals.get())
    joining = asyncio.create_task(server.joined.wait())
    await _first(serving, stop, joining)
    if server.joined.is_set() and worker is not None:
        worker.is_up()
    await _first(serving, stop)
    joining.cancel()
    log.info("stops; calls may take %.0f s to end", settings.drain_seconds)
    stopping = asyncio.create_task(server.stop())
    await _first(stopping, asyncio.create_task(signals.get()))
    stopping.cancel()
    await serving


async def _first(*tasks: "asyncio.Task[Any]") -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


def _take_signals(signals: "asyncio.Queue[int]", worker: Worker | None) -> None:
    take = partial(signals.put_nowait, signal.SIGTERM)
    if worker is None:
        on_stop(take)
    else:
        on_signal(signal.SIGTERM, take)
        loop = asyncio.get_running_loop()
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


def _running_node(request: ServeRequest, listeners: Listeners, secret: Path | None) -> RunningNode:
    public, admin = (listener.getsockname()[1] for listener in listeners)
    return RunningNode(
        os.getpid(),
        public,
        admin,
        None if secret is None else str(secret.absolute()),
        admin_host=request.admin_host,
        issuer=request.issuer,
        audience=request.audience,
        certificate=None if request.certificate is None else str(request.certificate.absolute()),
    )


@contextmanager
def _announced(home: Home, node: RunningNode) -> Iterator[None]:
    """Let the other commands of the proxy find this node."""
    try:
        write_node(home, node)
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
