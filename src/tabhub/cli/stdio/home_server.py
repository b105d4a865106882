"""The bridge's connections to this home's server: found, authenticated, started if none runs."""

import asyncio
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from tabhub.cli import running
from tabhub.cli.own_program import command_text
from tabhub.cli.stdio.http_client import HttpConnection, HttpResponse
from tabhub.config import environment, secret
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.secret import is_proof
from tabhub.errors import Unavailable
from tabhub.wire.asgi import Header

PROOF_SECONDS = 3.0
GRACE_SECONDS = 2.0
"""How long a server may take to restart before the bridge starts another one."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
STARTS = 3
MOST_IDLE = 16
GONE = "server_unavailable"

log = logging.getLogger(__name__)
_health = msgspec.json.Decoder(dict[str, object]).decode


class HomeServer:
    """A pool of connections; on each the server proves itself before it gets the token."""

    def __init__(self, home: Home, path: str, starter: Sequence[str]) -> None:
        self.life: running.PidFile | None = None
        """The pid file of the server that we last connected to."""
        self._home = home
        self._path = path
        self._starter = starter
        self._wants_browser = self._lacks_browser = "--browser" in starter
        """Whether this server still has to be given a browser."""
        self._starting: asyncio.Task[str | None] | None = None
        self._idle: list[HttpConnection] = []
        self._secret: str | None = None
        self._token = environment.token_from_environment()
        self._has_own_token = self._token is not None

    @asynccontextmanager
    async def request(
        self,
        method: str,
        headers: Sequence[Header],
        body: bytes = b"",
        *,
        start: bool = True,
        sent: asyncio.Event | None = None,
    ) -> AsyncIterator[HttpResponse]:
        """Send a request; the connection is kept if the response was read to the end."""
        connection = await self._connection(start)
        try:
            bearer = (b"authorization", f"Bearer {self._token}".encode())
            yield await connection.request(method, self._path, [bearer, *headers], body, sent)
        finally:
            self._keep(connection)

    async def ready(self, start: bool = True) -> None:
        """Wait until there is a server; `life` says which."""
        self._keep(await self._connection(start))

    def renewed_token(self) -> bool:
        """After a refusal: whether the secret has changed, and with it the token."""
        before = self._secret
        self._derive_token()
        return not self._has_own_token and self._secret != before

    def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        for connection in self._idle:
            connection.close()

    def _keep(self, connection: HttpConnection) -> None:
        if connection.is_idle and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    async def _connection(self, start: bool) -> HttpConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_gone:
                return connection
            connection.close()
        found = await self._find()
        if found is None and self.life is not None:
            found = await self._wait_for_restart()
        for _ in range(STARTS if start else 0):
            if found is None:
                await self._start_server()
                found = await self._find()
                self._lacks_browser = False
        if found is None:
            doctor = command_text("doctor")
            raise Unavailable(f"The tabhub server does not answer. `{doctor}` says why.", GONE)
        if start and self._lacks_browser:
            self._keep(found)
            await self._start_browser()
            return await self._connection(start)
        return found

    async def _start_server(self) -> None:
        why = await self._run_starter()
        if why is not None:
            raise Unavailable(f"The tabhub server cannot be started: {why}", GONE)

    async def _start_browser(self) -> None:
        """Give a server that others have started a browser; continue without one if that fails."""
        why = await self._run_starter()
        if why is not None and self._lacks_browser:
            log.warning("The server runs, but a browser could not be started: %s", why)
        self._lacks_browser = False

    async def _wait_for_restart(self) -> HttpConnection | None:
        """A restart takes a moment; a server of ours must not get in its way."""
        pause, waited = FIRST_PAUSE, 0.0
        while waited < GRACE_SECONDS:
            await asyncio.sleep(pause)
            found = await self._find()
            if found is not None:
                return found
            pause, waited = min(pause * 2, LONGEST_PAUSE), waited + pause
        return None

    async def _find(self) -> HttpConnection | None:
        self._derive_token()
        if self._secret is None:
            return None
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                connection = await self._authenticated(
                    running.expected_port(self._home), self._secret
                )
        except (OSError, TimeoutError):
            return None
        if connection is not None:
            self._note_life(running.read_pid_file(self._home) or self.life)
        return connection

    def _note_life(self, life: running.PidFile | None) -> None:
        if life != self.life:
            self.life, self._lacks_browser = life, self._wants_browser

    async def _authenticated(self, port: int, secret: str) -> HttpConnection | None:
        connection = await HttpConnection.open(port)
        try:
            challenge = secrets.token_hex(16)
            response = await connection.request("GET", f"/health?challenge={challenge}", [])
            health = _health(await response.body())
        except msgspec.DecodeError:
            health = {}
        except BaseException:
            connection.close()
            raise
        if is_proof(health.get("proof"), secret, challenge, port):
            return connection
        connection.close()
        return None

    def _derive_token(self) -> None:
        stored = secret.load(self._home)
        known = None if stored is None else stored.secret
        if known != self._secret:
            self._secret = known
            if known is not None and not self._has_own_token:
                self._token = Clients(self._home).printed(known)

    async def _run_starter(self) -> str | None:
        """Start a server, once for all messages that wait for it; the error if that fails."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start_process())
        return await asyncio.shield(self._starting)

    async def _start_process(self) -> str | None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tabhub", "start", "--background", *self._starter),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=environment.environment_for_servers(),
        )
        _, errors = await process.communicate()
        if process.returncode == 0:
            return None
        return errors.decode(errors="replace").strip().removeprefix("tabhub: ")
