"""`tabhub start`: the server, with a browser if wanted, until Ctrl-C."""

import asyncio
import json
import logging
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from typing import Any

from tabhub import __version__
from tabhub.agents.http.usage import Usage
from tabhub.browser.launcher.installation import install_extension
from tabhub.browser.launcher.providing import ManagedBrowser
from tabhub.cli import running
from tabhub.cli.running import program, spoken
from tabhub.cli.server import demo
from tabhub.cli.server.browser import BrowserRequest, how_started
from tabhub.config import environment, keys, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.files import opened_private
from tabhub.config.keys import no_setting, unknown_keys
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.errors import TabhubError, Unavailable
from tabhub.server.app import App
from tabhub.server.serving import Server, listen
from tabhub.store.active_rules import check_rules

log = logging.getLogger(__name__)
NAME = "SIGHUP"


def listen_for_reload(app: App, stop: Callable[[], None]) -> None:
    """From now on; without such a signal there is nothing to hear."""
    number = getattr(signal, NAME, None)
    if number is None:
        return
    had_terminal = _has_terminal()

    def hear() -> None:
        if had_terminal and not _has_terminal():
            stop()
        else:
            _reload(app)

    asyncio.get_running_loop().add_signal_handler(number, hear)
    app.report.reloads.signal = NAME


def _reload(app: App) -> None:
    try:
        app.reload()
        log.info("the files were read again")
    except TabhubError as error:
        log.error("the files could not be read again: %s", error)


def _has_terminal() -> bool:
    """Whether there is one that could be spoken to; a closed one cannot."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


CLI_MODE = """\
Use the browser by these commands:
- `{0} tool list --query WORDS` finds tools
- `{0} tool schema NAME` says what one takes
- `{0} tool call NAME 'JSON'` calls it"""


def blocks(port: int, token: str | None) -> str:
    """How to connect the usual clients to this server."""
    url = f"http://127.0.0.1:{port}/mcp"
    bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
    header = "".join(f' \\\n  --header "{name}: {value}"' for name, value in bearer.items())
    cursor = {"mcpServers": {"tabhub": _entry("type", "http", url, bearer)}}
    windsurf = {"mcpServers": {"tabhub": {"serverUrl": url, **_headers(bearer)}}}
    opencode = {"mcp": {"tabhub": _entry("type", "remote", url, bearer)}}
    command, *arguments = [*program(), "start", "--stdio"]
    home = environment.home_from_environment()
    bridge = {"command": command, "args": arguments, **({"env": home} if home else {})}
    stdio = {"mcpServers": {"tabhub": bridge}}
    typed = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in home.items()), spoken()])
    shell = _indented(CLI_MODE.format(typed))
    return "\n\n".join(
        [
            f"Written for you: {spoken()} connect AGENT (cursor, codex, ...), or by hand:",
            f"Claude Code:\n  claude mcp add --transport http tabhub {url}{header}",
            f"Claude Code (~/.claude.json), Cursor (.cursor/mcp.json):\n{_pretty(cursor)}",
            f"Windsurf (~/.codeium/windsurf/mcp_config.json):\n{_pretty(windsurf)}",
            f"OpenCode (opencode.json):\n{_pretty(opencode)}",
            f"Two tools instead of many (gateway): the same with {url}/gateway",
            f"Started by the agent itself (stdio):\n{_pretty(stdio)}",
            f"Without MCP, for agents with a shell (CLAUDE.md):\n{shell}",
        ]
    )


def _entry(key: str, kind: str, url: str, bearer: dict[str, str]) -> dict[str, Any]:
    return {key: kind, "url": url, **_headers(bearer)}


def _headers(bearer: dict[str, str]) -> dict[str, Any]:
    return {"headers": bearer} if bearer else {}


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


LOG_BYTES = 5_000_000
CONNECT_SECONDS = 60.0
"""A browser that was left alone for long looks for a server every half minute."""


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
    while_used: bool = False
    """Stop when nobody has used it for a while."""


def run(request: StartRequest) -> None:
    if request.browser is not None:
        request.browser.check()
    home = Home.from_environment().create()
    known = running.find(home)
    if known is not None:
        raise Unavailable(f"A server already runs on port {known['port']} (pid {known['pid']}).")
    _log_to_file(home)
    _run_loop(_serve(request, home))


async def _serve(request: StartRequest, home: Home) -> None:
    chosen = settings.load(home)
    check_rules(home, chosen)
    listener = _listen(chosen.host, environment.chosen_port(request.port, chosen), "--port")
    sse_port = environment.chosen_sse_port(request.sse_port, chosen)
    second = None if sse_port is None else _listen(chosen.mcp_server.host, sse_port, "--sse-port")
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
    )
    for path in unknown_keys(keys.load_raw(home)):
        log.warning("%s: %s", home.config, no_setting(".".join(path)))
    usage = app.count_use() if request.while_used else None
    server = Server(app, listener, second)
    app.report.starting = request.browser is not None
    running.write(home, server.port, while_used=request.while_used)
    token = Clients(home).printed(auth.secret) if request.auth else None
    log.info("tabhub %s listens on port %s%s", __version__, server.port, _and(app.report.sse_port))
    try:
        await _until_stopped(server, request, home, token, usage)
    finally:
        log.info("stopped")
        running.remove(home)


def _and(port: int | None) -> str:
    return "" if port is None else f" and {port}"


def _listen(host: str, port: int, flag: str) -> socket.socket:
    try:
        return listen(host, port)
    except OSError as error:
        raise Unavailable(
            f"Port {port} cannot be used: {error.strerror}. `{flag} 0` takes a free one."
        ) from None


async def _until_stopped(
    server: Server, request: StartRequest, home: Home, token: str | None, usage: Usage | None
) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    listen_for_reload(server.app, stopping.set)
    serving = asyncio.create_task(server.serve())
    serving.add_done_callback(lambda _: stopping.set())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_stop, server, serving)
        showing = asyncio.create_task(_show(server, request, home, token, stack))
        showing.add_done_callback(lambda task: stopping.set() if _broke(task) else None)
        if usage is not None:
            minutes = server.app.settings.sessions.background_minutes
            leaving = asyncio.create_task(_until_unused(usage, minutes * 60, home))
            leaving.add_done_callback(lambda _: stopping.set())
            stack.callback(leaving.cancel)
        await stopping.wait()
        showing.cancel()
        await asyncio.wait({showing})
    if not showing.cancelled() and (error := showing.exception()) is not None:
        raise error


async def _until_unused(usage: Usage, seconds: float, home: Home) -> None:
    """Nobody has been here for so long, and nobody has said that the server is to stay."""
    await usage.unused(seconds)
    known = running.read(home)
    if known is not None and not known.while_used:
        await asyncio.Event().wait()
    log.info("nobody has used this server for %.0f s; it stops", seconds)


async def _show(
    server: Server, request: StartRequest, home: Home, token: str | None, stack: AsyncExitStack
) -> None:
    """Bring the browser up, show the demo, print how to connect; then watch the browser."""
    print(f"tabhub {__version__} on http://127.0.0.1:{server.port}", flush=True)
    if server.app.report.sse_port is not None:
        print(f"HTTP+SSE also on http://127.0.0.1:{server.app.report.sse_port}/sse", flush=True)
    browser = None
    if request.browser is not None:
        browser = await request.browser.fulfil(home, [], lends=True)
        stack.push_async_callback(browser.stop)
        print(how_started(browser), flush=True)
        await _unless_it_dies(browser, _connected(server.app))
    if browser is not None and request.demo:
        server.app.report.demo = url = stack.enter_context(demo.serve_page())
        await _unless_it_dies(browser, demo.show(server.app, url))
    server.app.report.starting = False
    _say_how_to_connect(server, token)
    if browser is not None:
        print(f"tabhub: {(await browser.failure()).message}", file=sys.stderr, flush=True)


async def _connected(app: App) -> None:
    """Wait until the browser's extension has come; it may have to find out first where we are."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await app.browsers.wait_for_managed()
    except TimeoutError:
        raise Unavailable(
            f"The browser runs, but its extension did not connect within {CONNECT_SECONDS:.0f} s."
        ) from None


async def _unless_it_dies(browser: ManagedBrowser, work: Coroutine[Any, Any, None]) -> None:
    """Do something with the browser, or say why it ended."""
    working, died = asyncio.ensure_future(work), asyncio.ensure_future(browser.failure())
    try:
        await asyncio.wait({working, died}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise died.result()
        working.result()
    finally:
        working.cancel()
        died.cancel()


async def _stop(server: Server, serving: "asyncio.Task[None]") -> None:
    await server.stop()
    await serving


def _broke(task: "asyncio.Task[None]") -> bool:
    return not task.cancelled() and task.exception() is not None


def _say_how_to_connect(server: Server, token: str | None) -> None:
    print(f"\n{blocks(server.port, token)}\n")
    if token is None:
        print("WARNING: running without authentication.", file=sys.stderr)
    if server.app.rules.permissions.skip:
        print("WARNING: permissions are skipped: nobody is asked.", file=sys.stderr)
    print("tabhub is up. Ctrl-C stops it.", flush=True)


class _PrivateLog(RotatingFileHandler):
    """A log that only its owner can read, after it has begun a new file too."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=opened_private)


def _log_to_file(home: Home) -> None:
    handler = _PrivateLog(home.log, maxBytes=LOG_BYTES, backupCount=1)
    logging.basicConfig(
        level=logging.INFO,
        handlers=[handler],
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def _run_loop(work: Coroutine[Any, Any, None]) -> None:
    """uvloop where there is one: it halves the cost of a call."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def show_config(port: int | None, *, auth: bool) -> None:
    """For the server that runs, else for one that would be started like this."""
    home = Home.from_environment().create()
    known = running.reach(home) or _to_come(home, port)
    print(blocks(known.port, Clients(home).printed(known.secret) if auth else None))


def _to_come(home: Home, port: int | None) -> Auth:
    print(f"No server is running yet: {spoken()} start", file=sys.stderr)
    wanted = environment.chosen_port(port, settings.load(home))
    stored = secret.load(home) or secret.prepare(home, wanted or settings.DEFAULT_PORT)
    return Auth(stored.secret, wanted or stored.port)
