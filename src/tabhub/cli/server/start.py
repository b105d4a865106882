"""`tabhub start`: runs the server, with a browser if requested, until Ctrl-C."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from typing import Any, NamedTuple

from tabhub import __version__
from tabhub.agents.http.listening import listen
from tabhub.agents.http.usage import Usage
from tabhub.browser.launcher.installation import install_extension
from tabhub.browser.launcher.keeping import KeptBrowser
from tabhub.browser.launcher.providing import ManagedBrowser
from tabhub.browser.remote.proxy_access import ProxyAccess
from tabhub.cli import port_holder, running
from tabhub.cli.event_loop import run_loop
from tabhub.cli.own_program import command_text, program_text
from tabhub.cli.server import demo
from tabhub.cli.server.browser import BrowserRequest, how_started
from tabhub.cli.server.config_blocks import blocks
from tabhub.cli.server.server_status import no_browser
from tabhub.cli.waiting import WaitingLine
from tabhub.config import environment, keys, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.files import opened_private
from tabhub.config.keys import no_setting, unknown_keys
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.errors import TabhubError, Unavailable
from tabhub.server.app import App
from tabhub.server.serving import Server
from tabhub.store.active_rules import check_rules
from tabhub.system.locks import is_busy
from tabhub.system.signals import on_signal, on_stop, reach_others

LOG_BYTES = 5_000_000
CONNECT_SECONDS = 60.0
"""An extension that has been without a server for long tries again every half minute."""
ASKED_SECONDS = 0.3
"""How often to look whether another process asks this one to stop."""
RELOAD_SIGNAL = "SIGHUP"
CONNECT = "Agents: {0} connect, or by hand {0} start --show-config"

log = logging.getLogger(__name__)


class _Shown(NamedTuple):
    """What is printed when the server is up."""

    token: str | None
    """For agents; None without authentication."""
    is_first: bool
    """Whether no server has run in this home before."""


@dataclass(frozen=True)
class StartRequest:
    """The options of `tabhub start`."""

    port: int | None
    browser: BrowserRequest | None
    auth: bool
    demo: bool
    share_active_tab: bool = False
    dev: bool = False
    sse_port: int | None = None
    via_proxy: ProxyAccess | None = None
    """The proxy that has browsers of the same user elsewhere."""
    while_used: bool = False
    """Stop after a while without clients."""


def run(request: StartRequest) -> None:
    if request.browser is not None:
        request.browser.check()
    home = Home.from_environment().create()
    running.refuse_second(home)
    known = running.find(home)
    if known is not None:
        raise Unavailable(
            f"A server already runs on port {known['port']} (pid {known['pid']})."
            f" `{command_text('status')}` shows it, `{command_text('stop')}` stops it."
        )
    _log_to_file(home)
    run_loop(_serve(request, home))


async def _serve(request: StartRequest, home: Home) -> None:
    chosen = settings.load(home)
    check_rules(home, chosen)
    listener, second = _listeners(request, home, chosen)
    is_first = secret.load(home) is None
    auth = secret.prepare(home, listener.getsockname()[1])
    install_extension(home)
    app = App(
        chosen,
        auth.secret,
        auth=request.auth,
        home=home,
        skip_permissions=environment.skips_permissions(),
        share_active_tab=request.share_active_tab,
        dev=request.dev,
        via_proxy=request.via_proxy,
    )
    for path in unknown_keys(keys.load_raw(home)):
        log.warning("%s: %s", home.config, no_setting(".".join(path)))
    usage = app.count_use() if request.while_used else None
    server = Server(app, listener, second)
    app.report.starting = has_browser = request.browser is not None
    app.browsers.keeps_own = lambda: has_browser
    running.write_pid_file(home, server.port, while_used=request.while_used)
    token = Clients(home).printed(auth.secret) if request.auth else None
    also = "" if app.report.sse_port is None else f" and {app.report.sse_port}"
    log.info("tabhub %s listens on port %s%s", __version__, server.port, also)
    try:
        shown = _Shown(token, is_first)
        await _until_stopped(server, request, home, shown, usage)
    finally:
        log.info("stopped")
        running.remove_pid_file(home)


def _listeners(
    request: StartRequest, home: Home, chosen: Settings
) -> tuple[socket.socket, socket.socket | None]:
    """The sockets of both ports, or the error that says who has one of them."""
    port = environment.chosen_port(request.port, chosen)
    try:
        first = listen(chosen.host, port)
    except OSError as error:
        by_flag = request.port is not None
        raise port_holder.refusal(home, error, port, by_flag=by_flag) from None
    second = environment.chosen_sse_port(request.sse_port, chosen)
    if second is None:
        return first, None
    try:
        return first, listen(chosen.mcp_server.host, second)
    except OSError as error:
        first.close()
        by_flag = request.sse_port is not None
        raise port_holder.refusal(
            home, error, second, port_holder.SECOND, by_flag=by_flag
        ) from None


async def _until_stopped(
    server: Server, request: StartRequest, home: Home, shown: _Shown, usage: Usage | None
) -> None:
    stopping = asyncio.Event()
    on_stop(stopping.set)
    asked = asyncio.create_task(_until_asked(home))
    asked.add_done_callback(lambda _: stopping.set())
    _reload_on_signal(server.app, stopping.set)
    serving = asyncio.create_task(server.serve())
    serving.add_done_callback(lambda _: stopping.set())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_stop, server, serving)
        stack.callback(asked.cancel)
        starting = asyncio.create_task(_start_up(server, request, home, shown, stack))
        starting.add_done_callback(lambda task: stopping.set() if _failed(task) else None)
        if usage is not None:
            minutes = server.app.settings.sessions.background_minutes
            unused = asyncio.create_task(_until_unused(usage, minutes * 60, home))
            unused.add_done_callback(lambda _: stopping.set())
            stack.callback(unused.cancel)
        await stopping.wait()
        starting.cancel()
        await asyncio.wait({starting})
    if not starting.cancelled() and (error := starting.exception()) is not None:
        raise error


async def _stop(server: Server, serving: "asyncio.Task[None]") -> None:
    await server.stop()
    await serving


def _failed(task: "asyncio.Task[None]") -> bool:
    return not task.cancelled() and task.exception() is not None


async def _until_asked(home: Home) -> None:
    """Wait until `tabhub stop` asks through the pid file, where no signal can; else for ever."""
    if reach_others():
        await asyncio.Event().wait()
    while not running.is_asked_to_stop(home):
        await asyncio.sleep(ASKED_SECONDS)


async def _until_unused(usage: Usage, seconds: float, home: Home) -> None:
    """Wait until no client has used the server for so long; never, if it was made permanent."""
    await usage.unused(seconds)
    known = running.read_pid_file(home)
    if known is not None and not known.while_used:
        await asyncio.Event().wait()
    log.info("no client has used this server for %.0f s; it stops", seconds)


async def _start_up(
    server: Server, request: StartRequest, home: Home, shown: _Shown, stack: AsyncExitStack
) -> None:
    """Start the browser, show the demo, print how to connect; then watch the browser."""
    print(f"tabhub {__version__} on http://127.0.0.1:{server.port}", flush=True)
    if server.app.report.sse_port is not None:
        print(f"HTTP+SSE also on http://127.0.0.1:{server.app.report.sse_port}/sse", flush=True)
    browser, kept = None, None
    if request.browser is not None:
        fulfil = partial(request.browser.fulfil, home, [], lends=True)
        with WaitingLine("Starting the browser"):
            browser = await fulfil()
        kept = keeper = KeptBrowser(browser, fulfil)
        stack.push_async_callback(_close, kept, server.app)
        server.app.report.managed_browser = kept.summary
        server.app.browsers.keeps_own = lambda: keeper.is_kept
        print(how_started(browser), flush=True)
        with WaitingLine("Waiting for its extension"):
            await _while_alive(browser, _connected(server.app))
    if browser is not None and request.demo:
        server.app.report.demo = url = stack.enter_context(demo.serve_page())
        await _while_alive(browser, demo.show(server.app, url))
    server.app.report.starting = False
    if browser is None:
        print(no_browser(), flush=True)
    _print_how_to_connect(server, shown)
    if kept is not None:
        print(f"tabhub: {(await kept.run()).message}", file=sys.stderr, flush=True)


async def _close(kept: KeptBrowser, app: App) -> None:
    await kept.stop()
    app.browsers.forget_managed()


async def _connected(app: App) -> None:
    """Wait until the browser's extension has connected; it may have to find the port first."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await app.browsers.wait_for_managed()
    except TimeoutError:
        raise Unavailable(
            f"The browser runs, but its extension did not connect within {CONNECT_SECONDS:.0f} s."
        ) from None


async def _while_alive(browser: ManagedBrowser, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, or raise why the browser ended first."""
    working, ended = asyncio.ensure_future(work), asyncio.ensure_future(browser.failure())
    try:
        await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ended.result()
        working.result()
    finally:
        working.cancel()
        ended.cancel()


def _print_how_to_connect(server: Server, shown: _Shown) -> None:
    """The blocks are for the first start; later they would only push other lines away."""
    if shown.is_first:
        print(f"\n{blocks(server.port, shown.token)}\n")
    if shown.token is None:
        print("WARNING: running without authentication.", file=sys.stderr)
    if server.app.rules.permissions.skip:
        print("WARNING: permissions are skipped: no call needs approval.", file=sys.stderr)
    if server.app.is_dev:
        warning = running.dev_mode_warning(server.app.plugin_report.trusted())
        print(f"WARNING: {warning}", file=sys.stderr)
    print(f"tabhub is up. Ctrl-C stops it. {CONNECT.format(program_text())}", flush=True)


def _reload_on_signal(app: App, stop: Callable[[], None]) -> None:
    """Read the files again on SIGHUP, where the system has it; stop if the terminal was closed."""
    number = getattr(signal, RELOAD_SIGNAL, None)
    if number is None:
        return
    had_terminal = _has_terminal()

    def react() -> None:
        if had_terminal and not _has_terminal():
            stop()
        else:
            _reload(app)

    on_signal(number, react)
    app.report.reloads.signal = RELOAD_SIGNAL


def _reload(app: App) -> None:
    try:
        app.reload()
        log.info("the files were read again")
    except TabhubError as error:
        log.error("the files could not be read again: %s", error)


def _has_terminal() -> bool:
    """Whether the process has a controlling terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0)))
    except OSError:
        return False
    return True


class _PrivateLog(RotatingFileHandler):
    """A log whose files, rotated ones included, only their owner can read."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=opened_private)

    def rotate(self, source: str, dest: str) -> None:
        try:
            super().rotate(source, dest)
        except OSError as error:
            # On Windows a log that is followed grows on.
            if not is_busy(error):
                raise


def _log_to_file(home: Home) -> None:
    handler = _PrivateLog(home.log, maxBytes=LOG_BYTES, backupCount=1)
    logging.basicConfig(
        level=logging.INFO,
        handlers=[handler],
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
