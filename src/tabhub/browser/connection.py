"""JSON-RPC with one connected extension: requests out, answers and news in."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import msgspec

from tabhub.calls.ports import Progress
from tabhub.errors import ProtocolError, TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc, link
from tabhub.wire.limits import WS_BYTES

log = logging.getLogger(__name__)

SendText = Callable[[str], Awaitable[None]]
News = Callable[[str, msgspec.Raw], None]
_progress = msgspec.json.Decoder(link.ProgressTold).decode
_output = msgspec.json.Decoder(link.Dispatched).decode
_error = msgspec.json.Decoder(jsonrpc.RemoteError).decode

Told = link.ProgressTold | link.Dispatched | TabhubError


class Connection:
    """One socket. Calls wait here for their answers and fail together when it goes."""

    def __init__(self, send: SendText, news: News) -> None:
        self._send = send
        self._news = news
        self._numbers = count(1)
        self._pending: dict[str, asyncio.Queue[Told]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self.closed = False

    async def dispatch(self, command: str, input: Any, tab: int | None, progress: Progress) -> Any:
        """Run a command in the browser and return its output."""
        id = str(next(self._numbers))
        params = link.Dispatch(
            plugin="browser", tool=command, input=input, tab_id=tab, dispatch_id=id
        )
        body = jsonrpc.request(id, "tool.dispatch", params)
        if len(body) > WS_BYTES:
            raise ProtocolError("The call is too large for the link to the browser.", "too_large")
        waiting = self._pending[id] = asyncio.Queue()
        try:
            await self._send(body.decode())
            return await _outcome(waiting, progress)
        except asyncio.CancelledError:
            self.notify("tool.cancel", {"dispatchId": id})
            raise
        finally:
            self._pending.pop(id, None)

    async def tell(self, method: str, params: Any) -> None:
        """Send news; they have left when this returns."""
        await self._send(jsonrpc.notification(method, params).decode())

    def notify(self, method: str, params: Any) -> None:
        """Send news without waiting for them to leave."""
        if not self.closed:
            self._soon(self.tell(method, params))

    def receive(self, text: str | bytes) -> None:
        """Take one message; one that makes no sense is logged and ignored."""
        body = text.encode() if isinstance(text, str) else text
        try:
            message = jsonrpc.decode(body)
            self._take(message)
        except (TabhubError, msgspec.DecodeError) as error:
            log.warning("ignored a message from the extension: %s", error)

    def close(self) -> None:
        """The socket has gone: nobody waits any longer."""
        self.closed = True
        for waiting in self._pending.values():
            waiting.put_nowait(
                Unavailable(
                    "The connection to the browser broke off during this call. The page may have "
                    "received it: look at the page before you try again.",
                    "page_may_have_received",
                )
            )

    def _take(self, message: jsonrpc.Incoming) -> None:
        if isinstance(message.method, str):
            params = message.params if isinstance(message.params, msgspec.Raw) else jsonrpc.EMPTY
            self._hear(message, message.method, params)
        elif (waiting := self._pending.get(str(message.id))) is not None:
            waiting.put_nowait(_answer(message))

    def _hear(self, message: jsonrpc.Incoming, method: str, params: msgspec.Raw) -> None:
        answer = isinstance(message.id, int | str)
        try:
            self._act(method, params)
            body = jsonrpc.success(message.id, {}) if answer else b""  # type: ignore[arg-type]
        except TabhubError as error:
            body = jsonrpc.failure(message.id, error) if answer else b""  # type: ignore[arg-type]
            log.warning("%s from the extension: %s", method, error)
        if body:
            self._soon(self._send(body.decode()))

    def _act(self, method: str, params: msgspec.Raw) -> None:
        if method == "ping":
            self.notify("pong", {})
        elif method == "tool.progress":
            told = _progress(params)
            if (waiting := self._pending.get(told.dispatch_id)) is not None:
                waiting.put_nowait(told)
        else:
            self._news(method, params)

    def _soon(self, sending: Awaitable[None]) -> None:
        task = asyncio.ensure_future(sending)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _outcome(waiting: "asyncio.Queue[Told]", progress: Progress) -> Any:
    while True:
        told = await waiting.get()
        if isinstance(told, link.Dispatched):
            return told.output
        if isinstance(told, TabhubError):
            raise told
        await progress(told.progress, told.total, told.message)


def _answer(message: jsonrpc.Incoming) -> Told:
    try:
        if isinstance(message.error, msgspec.Raw):
            error = _error(message.error)
            data = error.data or {}
            return from_reason(str(data.get("reason", "internal")), error.message, data)
        return _output(message.result)  # type: ignore[arg-type]
    except msgspec.DecodeError:
        return Unavailable("The extension's answer makes no sense.", "invalid_response")
