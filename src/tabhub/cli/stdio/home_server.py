"""The server of this home, as the bridge sees it: found, proved, started when there is none."""

import asyncio
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from tabhub.cli import running
from tabhub.cli.stdio.http_client import Answer, Connection
from tabhub.config import environment, secret
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.secret import is_proof
from tabhub.errors import Unavailable
from tabhub.wire.asgi import Header

PROOF_SECONDS = 3.0
GRACE_SECONDS = 2.0
"""How long a server that was there may take to come back before another is started."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
STARTS = 3
MOST_IDLE = 16
GONE = "server_unavailable"

log = logging.getLogger(__name__)
_proof = msgspec.json.Decoder(dict[str, object]).decode


class Server:
    """Connections to the server, each proved before it carries the token."""

    def __init__(self, home: Home, path: str, starter: Sequence[str]) -> None:
        self.life: running.PidFile | None = None
        """Which run of a server we last spoke to."""
        self._home = home
        self._path = path
        self._starter = starter
        self._wants_browser = self._lacks_browser = "--browser" in starter
        """Whether the run that we speak to is still to be looked after for that."""
        self._starting: asyncio.Task[str | None] | None = None
        self._idle: list[Connection] = []
        self._secret: str | None = None
        self._token = environment.token_from_environment()
        self._has_own_token = self._token is not None

    @asynccontextmanager
    async def ask(
        self,
        method: str,
        headers: Sequence[Header],
        body: bytes = b"",
        *,
        start: bool = True,
        sent: asyncio.Event | None = None,
    ) -> AsyncIterator[Answer]:
        """One request; the connection is kept if its answer was read to the end."""
        connection = await self._connection(start)
        try:
            bearer = (b"authorization", f"Bearer {self._token}".encode())
            yield await connection.ask(method, self._path, [bearer, *headers], body, sent)
        finally:
            self._keep(connection)

    async def ready(self, start: bool = True) -> None:
        """Come back when there is a server; which one it is shows in `life`."""
        self._keep(await self._connection(start))

    def renewed_token(self) -> bool:
        """After a refusal: whether there is another token by now than the one refused."""
        before = self._secret
        self._derive_token()
        return not self._has_own_token and self._secret != before

    def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        for connection in self._idle:
            connection.close()

    def _keep(self, connection: Connection) -> None:
        if connection.is_idle and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    async def _connection(self, start: bool) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_gone:
                return connection
            connection.close()
        found = await self._found()
        if found is None and self.life is not None:
            found = await self._comes_back()
        for _ in range(STARTS if start else 0):
            if found is None:
                await self._begin()
                found = await self._found()
                self._lacks_browser = False
        if found is None:
            raise Unavailable("The tabhub server does not answer. `tabhub doctor` says why.", GONE)
        if start and self._lacks_browser:
            self._keep(found)
            await self._bring_browser()
            return await self._connection(start)
        return found

    async def _begin(self) -> None:
        why = await self._started()
        if why is not None:
            raise Unavailable(f"The tabhub server cannot be started: {why}", GONE)

    async def _bring_browser(self) -> None:
        """A server that others have started may have none; if it gets none, it does without."""
        why = await self._started()
        if why is not None and self._lacks_browser:
            log.warning("The server runs, but a browser cannot be brought along: %s", why)
        self._lacks_browser = False

    async def _comes_back(self) -> Connection | None:
        """A restart takes a moment; whoever restarts it should not find ours in its place."""
        pause, waited = FIRST_PAUSE, 0.0
        while waited < GRACE_SECONDS:
            await asyncio.sleep(pause)
            found = await self._found()
            if found is not None:
                return found
            pause, waited = min(pause * 2, LONGEST_PAUSE), waited + pause
        return None

    async def _found(self) -> Connection | None:
        self._derive_token()
        if self._secret is None:
            return None
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                connection = await self._proved(running.expected_port(self._home), self._secret)
        except (OSError, TimeoutError):
            return None
        if connection is not None:
            self._met(running.read(self._home) or self.life)
        return connection

    def _met(self, life: running.PidFile | None) -> None:
        if life != self.life:
            self.life, self._lacks_browser = life, self._wants_browser

    async def _proved(self, port: int, secret: str) -> Connection | None:
        connection = await Connection.open(port)
        try:
            challenge = secrets.token_hex(16)
            answer = await connection.ask("GET", f"/health?challenge={challenge}", [])
            told = _proof(await answer.body())
        except msgspec.DecodeError:
            told = {}
        except BaseException:
            connection.close()
            raise
        if is_proof(told.get("proof"), secret, challenge, port):
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

    async def _started(self) -> str | None:
        """However many messages wait for a server, one attempt starts it; why it could not."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> str | None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tabhub", "start", "--background", *self._starter),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=environment.environment_for_servers(),
        )
        _, said = await process.communicate()
        if process.returncode == 0:
            return None
        return said.decode(errors="replace").strip().removeprefix("tabhub: ")
