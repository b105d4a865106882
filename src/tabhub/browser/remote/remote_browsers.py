"""The browsers of a user that are reached through the proxy: finds them, and keeps a link to each.

A client of the proxy is connected to one extension at a time, so each browser has a socket of its
own, beside one that asks which browsers there are.
"""

import asyncio
import logging
import random
from typing import Any, Literal

import msgspec

from tabhub.browser.remote.proxy_access import ProxyAccess, expiry_of
from tabhub.browser.remote.proxy_connection import ProxyConnection, proxy_connection
from tabhub.browser.remote.tunnel_link import Serve, TunnelLink
from tabhub.errors import AccessError, InvalidArguments, TabhubError, Unavailable
from tabhub.hub.texts import one_line
from tabhub.wire.jsonrpc import UNREADABLE
from tabhub.wire.link import CUT
from tabhub.wire.proxy import EXTENSION_ID, MOST_EXTENSIONS, ExtensionListed

log = logging.getLogger(__name__)

LIST_SECONDS = 3.0
"""How often the proxy is asked which browsers there are."""
LONGEST_WAIT = 60.0
LONGEST_WAIT_TO_RESUME = 2.0
"""A session outlives its connection only for a minute."""
LASTING_SECONDS = 5.0
"""A session that has lasted so long is followed by another one at once."""
ASK_SECONDS = 2.0
"""How often a person's browser that has not allowed this client is asked again."""
TOKEN_SECONDS = 2.0
"""How often the file is read after the proxy has refused its token."""

LONGEST_WORDS = 300
"""Of what the proxy or an extension says."""

State = Literal["connecting", "connected", "refused"]


class _Listing(msgspec.Struct):
    extensions: list[ExtensionListed] = []


def _extensions(listing: msgspec.Raw) -> list[ExtensionListed]:
    """The extensions that the proxy lists."""
    try:
        listed = msgspec.json.decode(listing, type=_Listing).extensions
    except UNREADABLE:
        raise Unavailable("The proxy's answer cannot be read.", "invalid_response") from None
    # Under the name of a local profile, a browser elsewhere would take that profile's place.
    return [one for one in listed if EXTENSION_ID.fullmatch(one.id)]


class Attempts:
    """One address after the other, with longer and longer waits of random length."""

    def __init__(self, access: ProxyAccess) -> None:
        self._access = access
        self._failures = 0
        self._refused = ""
        self.token_fault = ""
        """Why the file has no token now."""

    @property
    def url(self) -> str:
        return self._access.urls[self._failures % len(self._access.urls)]

    def succeeded(self) -> None:
        # The address that has worked is the next one to try.
        self._failures %= len(self._access.urls)

    async def token(self) -> str:
        """The token; waits for another one if the proxy has refused it."""
        while True:
            try:
                token = self._access.token()
                self.token_fault = ""
                if token != self._refused:
                    return token
            except InvalidArguments as error:
                self.token_fault = error.message
            await asyncio.sleep(TOKEN_SECONDS)

    async def failed(self, error: TabhubError, token: str, longest: float = LONGEST_WAIT) -> None:
        """Wait before the next attempt."""
        if isinstance(error, AccessError):
            self._refused = token
            return
        self._failures += 1
        rounds = self._failures // len(self._access.urls)
        await asyncio.sleep(random.uniform(0, min(longest, 2.0 ** min(rounds, 10))))


class RemoteBrowser:
    """One browser elsewhere."""

    def __init__(
        self, listed: ExtensionListed, access: ProxyAccess, serve: Serve, max_bytes: int
    ) -> None:
        self._id = listed.id
        self._name = listed.name
        self._serve = serve
        self._max_bytes = max_bytes
        self._attempts = Attempts(access)
        self._link: TunnelLink | None = None
        self._is_refused = False
        self._failure: TabhubError | None = None

    @property
    def problem(self) -> str:
        """Why it could not be used the last time."""
        return "" if self._failure is None else self._failure.message

    def summary(self) -> dict[str, Any]:
        state = self._state
        problem = {} if state == "connected" else _problem(self._failure)
        return {"id": self._id, "name": self._name, "state": state, **problem}

    @property
    def _state(self) -> State:
        if self._link is not None and not self._link.is_ended and self._link.is_connected:
            return "connected"
        return "refused" if self._is_refused else "connecting"

    async def run(self) -> None:
        """Keep a link until the proxy no longer knows the browser."""
        try:
            while await self._attempt():
                pass
        finally:
            if self._link is not None:
                await self._link.stop()

    async def _attempt(self) -> bool:
        token = await self._attempts.token()
        try:
            async with proxy_connection(self._attempts.url, token) as connection:
                await connection.request("connect", {"extension_id": self._id})
                await self._use(connection)
        except TabhubError as error:
            self._failed(error)
            if error.reason == "extension_not_found" and not self._can_resume:
                return False
            if isinstance(error, AccessError) and self._link is not None:
                # It cannot come back by itself, and a call should not wait for that.
                await self._link.stop()
            longest = LONGEST_WAIT_TO_RESUME if self._can_resume else LONGEST_WAIT
            await self._attempts.failed(error, token, longest)
        return True

    @property
    def _can_resume(self) -> bool:
        return self._link is not None and not self._link.is_ended

    async def _use(self, connection: ProxyConnection) -> None:
        """Run sessions over a connection until it closes."""
        closed = asyncio.ensure_future(connection.closed())
        try:
            while not closed.done():
                link = await self._next_link()
                link.connected(connection)
                began = asyncio.get_running_loop().time()
                await self._until_ended(link, closed)
                lasted = asyncio.get_running_loop().time() - began
                if self._waits_for_person(link):
                    # The panel offers to allow a client while it is connected.
                    await asyncio.wait({closed}, timeout=ASK_SECONDS)
                else:
                    self._judge(link, lasted >= LASTING_SECONDS)
            raise connection.lost()
        finally:
            closed.cancel()
            if self._link is not None:
                self._link.disconnected()

    async def _next_link(self) -> TunnelLink:
        if self._link is None or self._link.is_ended:
            if self._link is not None:
                await self._link.ended()
            self._link = TunnelLink(self._serve, self._id, self._max_bytes)
        return self._link

    async def _until_ended(self, link: TunnelLink, closed: "asyncio.Future[None]") -> None:
        ended = asyncio.ensure_future(link.ended())
        try:
            await asyncio.wait({ended, closed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()

    def _waits_for_person(self, link: TunnelLink) -> bool:
        """Whether the person at the browser has not allowed this client, or no longer."""
        refusal = None if link.is_open else link.failure
        if refusal is None or refusal.reason != "permission_off":
            return False
        self._is_refused = True
        self._failed(refusal)
        return True

    def _judge(self, link: TunnelLink, has_lasted: bool) -> None:
        """Raise if the session was refused or ended soon: another one is not opened at once."""
        self._is_refused = not link.is_open and link.failure is not None
        if has_lasted:
            self._attempts.succeeded()
        elif link.is_ended and link.code != CUT:
            raise link.failure or Unavailable(f"The session was closed with code {link.code}.")

    def _failed(self, error: TabhubError) -> None:
        if error.message != self.problem:
            log.warning("browser %s through the proxy: %s", self._id, error)
        self._failure = error


def _problem(failure: TabhubError | None) -> dict[str, str]:
    """A failure as `/health` shows it."""
    return {} if failure is None else {"problem": failure.message, "reason": failure.reason}


class RemoteBrowsers:
    """All browsers of the user."""

    def __init__(self, access: ProxyAccess, serve: Serve, max_bytes: int) -> None:
        self._access = access
        self._serve = serve
        self._max_bytes = max_bytes
        self._attempts = Attempts(access)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._browsers: dict[str, RemoteBrowser] = {}
        self._is_connected = False
        self._failure: TabhubError | None = None
        self._token_ends: float | None = None

    @property
    def _problem(self) -> str:
        """Why the proxy cannot be used now."""
        return "" if self._failure is None else self._failure.message

    def summary(self) -> dict[str, Any]:
        """What `/health` and `tabhub status` say."""
        fault = self._attempts.token_fault
        failure = InvalidArguments(fault) if fault and not self._is_connected else self._failure
        return {
            "urls": self._access.urls,
            "tokenFile": str(self._access.token_file),
            "tokenExpires": self._token_ends,
            "connected": self._is_connected,
            "browsers": [browser.summary() for browser in self._browsers.values()],
            **_problem(failure),
        }

    def absence(self) -> str:
        """Why no browser can be used through the proxy, in a sentence."""
        problems = [self._problem, *(browser.problem for browser in self._browsers.values())]
        said = next(filter(None, problems), "")
        if said:
            return f"Through the proxy: {one_line(said, LONGEST_WORDS)}"
        if not self._is_connected:
            return "The proxy has not answered yet."
        return "The proxy has no browser of yours: connect one in the options of its extension."

    async def run(self) -> None:
        """Loop: keep a link to every browser that the proxy lists."""
        try:
            while True:
                await self._attempt()
        finally:
            running = [*self._running.values()]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _attempt(self) -> None:
        token = await self._attempts.token()
        self._token_ends = expiry_of(token)
        try:
            async with proxy_connection(self._attempts.url, token) as connection:
                self._attempts.succeeded()
                log.info("connected to the proxy")
                await self._follow(connection)
        except TabhubError as error:
            self._is_connected = False
            if error.message != self._problem:
                log.warning("the proxy: %s", error)
            self._failure = error
            await self._attempts.failed(error, token)

    async def _follow(self, connection: ProxyConnection) -> None:
        while True:
            listed = await connection.request("list_extensions", {})
            self._is_connected, self._failure = True, None
            self._found(_extensions(listed))
            await asyncio.sleep(LIST_SECONDS)

    def _found(self, extensions: list[ExtensionListed]) -> None:
        for listed in extensions:
            # A proxy that lists more than a user can have would cost a socket and a task for each.
            if listed.id not in self._running and len(self._running) < MOST_EXTENSIONS:
                self._start(listed)

    def _start(self, listed: ExtensionListed) -> None:
        browser = RemoteBrowser(listed, self._access, self._serve, self._max_bytes)
        self._browsers[listed.id] = browser
        task = self._running[listed.id] = asyncio.create_task(browser.run())
        task.add_done_callback(lambda done: self._left(listed.id, done))

    def _left(self, id: str, task: "asyncio.Task[None]") -> None:
        del self._running[id], self._browsers[id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the link to browser %s failed", id, exc_info=error)
