"""A client's WebSocket to the proxy: requests with their answers."""

import asyncio
import logging
import os
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import msgspec
from msgspec import UNSET, Raw
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.http11 import Response

from tabhub.errors import AccessError, TabhubError, Unavailable, from_reason
from tabhub.hub.texts import one_line
from tabhub.wire import jsonrpc
from tabhub.wire.proxy import MAX_BYTES

log = logging.getLogger(__name__)

OPEN_SECONDS = 10.0
PING_SECONDS = 20.0
LONGEST_WORDS = 300
"""Of what the proxy says when it refuses a socket."""
_STATUS = {
    404: "Its address may have another path, or be none of a proxy.",
    503: "It is not ready, or stops: it is tried again.",
}
_TRUST = (
    "If it is of your own authority, start tabhub with the environment variable SSL_CERT_FILE, "
    "which names the file of that authority's certificate."
)
_DISTRUST = {
    "expired": "It has to be renewed where the proxy runs.",
    "not yet valid": "Look at the clock of this machine.",
    "mismatch": "Use the name that the certificate is for.",
    "not valid for": "Use the name that the certificate is for.",
    "self-signed": _TRUST,
    "self signed": _TRUST,
    "issuer": _TRUST,
}
"""What to do about a certificate, by words in what OpenSSL says."""
BAD_TOKEN = 4401
"""Close code: the proxy does not take the token, or no longer."""

Answered = Callable[[Raw | TabhubError], None]
_decode_error = msgspec.json.Decoder(jsonrpc.RemoteError).decode


class ProxyConnection:
    """One socket, authenticated. It is good for one extension."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._waiting: dict[int, Answered] = {}
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self._is_closed = False

    def send(self, method: str, params: Any, answered: Answered) -> None:
        """Send a request; `answered` gets its result or its error, or that the socket closed."""
        if self._is_closed:
            asyncio.get_running_loop().call_soon(answered, self.lost())
            return
        number = next(self._numbers)
        self._waiting[number] = answered
        self._out.put_nowait(jsonrpc.request(number, method, params))

    async def request(self, method: str, params: Any) -> Raw:
        """Send a request, and return its result."""
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()

        def settle(said: Raw | TabhubError) -> None:
            if answer.done():
                return
            if isinstance(said, TabhubError):
                answer.set_exception(said)
            else:
                answer.set_result(said)

        self.send(method, params, settle)
        return await answer

    def hang_up(self) -> None:
        """Close without waiting for the other side."""
        self._socket.transport.abort()

    async def closed(self) -> None:
        await self._socket.wait_closed()

    async def run(self) -> None:
        """Read and write until the socket closes."""
        writing = asyncio.create_task(self._write())
        try:
            async for data in self._socket:
                self._take(data.encode() if isinstance(data, str) else data)
        except ConnectionClosed:
            pass
        finally:
            writing.cancel()
            self._fail_all()

    async def _write(self) -> None:
        while True:
            frame = await self._out.get()
            try:
                await self._socket.send(frame, text=True)
            except ConnectionClosed:
                return

    def _fail_all(self) -> None:
        self._is_closed = True
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            answered(self.lost())

    def lost(self) -> TabhubError:
        """Why the socket has closed."""
        if self._socket.close_code == BAD_TOKEN:
            is_expired = self._socket.close_reason == "token_expired"
            reason = "token_expired" if is_expired else "not_authenticated"
            return AccessError("The proxy no longer takes the token.", reason)
        return Unavailable("The connection to the proxy was lost.", "server_unavailable")

    def _take(self, data: bytes) -> None:
        try:
            message = jsonrpc.decode(data)
        except (TabhubError, *jsonrpc.UNREADABLE):
            log.warning("a message from the proxy cannot be read")
            return
        # Notifications say nothing that the answers do not say.
        if message.method is UNSET and isinstance(message.id, int):
            answered = self._waiting.pop(message.id, None)
            if answered is not None:
                answered(_said(message))


def _said(message: jsonrpc.Incoming) -> Raw | TabhubError:
    if isinstance(message.result, Raw):
        return message.result
    try:
        error = _decode_error(message.error if isinstance(message.error, Raw) else b"null")
    except jsonrpc.UNREADABLE:
        return Unavailable("The proxy's answer cannot be read.", "invalid_response")
    data = error.data or {}
    # It goes to the log and to a terminal, and the proxy or an extension may have written anything.
    words = one_line(error.message, LONGEST_WORDS)
    return from_reason(str(data.get("reason", "internal")), words, data)


@asynccontextmanager
async def proxy_connection(url: str, token: str) -> AsyncIterator[ProxyConnection]:
    """A connection that has authenticated; raises TabhubError."""
    async with _opened(url) as socket:
        connection = ProxyConnection(socket)
        running = asyncio.create_task(connection.run())
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await connection.request("mcp_handshake", {"accessToken": token})
            yield connection
        except TimeoutError:
            raise _unreachable(url, "no answer") from None
        finally:
            connection.hang_up()
            await running


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[ClientConnection]:
    tls = ssl.create_default_context() if url.startswith("wss:") else None
    opening = connect(
        url,
        ssl=tls,
        max_size=2 * MAX_BYTES,
        compression=None,
        open_timeout=OPEN_SECONDS,
        ping_interval=PING_SECONDS,
        ping_timeout=PING_SECONDS,
        proxy=None,
    )
    try:
        socket = await opening
    except InvalidStatus as error:
        raise _turned_away(url, error.response) from None
    except ssl.SSLCertVerificationError as error:
        raise _untrusted(url, error) from None
    except (OSError, WebSocketException, TimeoutError, ValueError) as error:
        raise _unreachable(url, _fault(error)) from None
    try:
        yield socket
    finally:
        socket.transport.abort()


def _fault(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, ssl.SSLError):
        return f"it does not speak TLS as we do ({error.reason or error})"
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _turned_away(url: str, response: Response) -> Unavailable:
    """The proxy, or something before it, has refused the socket; the proxy says why in words."""
    said = one_line((response.body or b"")[:LONGEST_WORDS].decode(errors="replace"), LONGEST_WORDS)
    kind = response.headers.get("Content-Type", "")
    why = said if said and kind.startswith("text/plain") else _STATUS.get(response.status_code, "")
    sentence = f"The proxy at {url} refuses the connection (status {response.status_code})."
    return Unavailable(f"{sentence} {why}".rstrip(), "server_unavailable")


def _untrusted(url: str, error: ssl.SSLCertVerificationError) -> Unavailable:
    why = error.verify_message.rstrip(".")
    hint = next((hint for words, hint in _DISTRUST.items() if words in why.lower()), "")
    sentence = f"The certificate of {url} is not trusted: {why}."
    return Unavailable(f"{sentence} {hint}".rstrip(), "server_unavailable")


def _unreachable(url: str, why: str) -> Unavailable:
    return Unavailable(f"The proxy at {url} cannot be reached: {why}.", "server_unavailable")
