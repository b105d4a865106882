"""JSON-RPC with one connected extension: requests out, answers and news in."""

import asyncio
import logging
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from tabhub.browser.link.pending import Pending, as_told, nonsense, reads_output, require_input
from tabhub.calls.time_limit import Progress
from tabhub.config.environment import in_development
from tabhub.errors import Internal, NotFound, ProtocolError, TabhubError, Unavailable
from tabhub.wire import jsonrpc, link, methods
from tabhub.wire.pages import Execute, Outcome

log = logging.getLogger(__name__)

HangUp = Callable[[], Awaitable[None]]
SendText = Callable[[str], Awaitable[None]]
News = Callable[["Connection", str, msgspec.Raw], Any]
"""Takes a message of the extension; what it returns answers a request."""
Complain = Callable[..., object]
"""Takes what is wrong with a message, as a log does."""
_outcome = msgspec.json.Decoder(Outcome).decode


class Connection:
    """One socket. Calls wait here for their answers and fail together when it goes."""

    def __init__(
        self,
        send: SendText,
        news: News,
        max_bytes: int,
        complain: Complain = log.warning,
        table: methods.Link = methods.EXTENSION,
    ) -> None:
        self._table = table
        self._handlers = _HANDLERS[table]
        self._send = send
        self._complain = complain
        self._news = news
        self._max_bytes = max_bytes
        # An answer to an earlier connection's call must never fit one of ours.
        self._name = secrets.token_hex(4)
        self._numbers = count(1)
        self._pending: dict[str, Pending] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._is_checked = in_development()
        self.closed = False
        self.hang_up: HangUp = _nowhere
        """Ends the connection from our side; the extension comes back by itself."""

    @property
    def pending(self) -> int:
        """How many commands wait for the browser."""
        return len(self._pending)

    async def dispatch(
        self,
        command: str,
        input: Any,
        tab: int | None,
        progress: Progress,
        pending: Pending | None = None,
    ) -> Any:
        """Run a command in the browser, where it may act, and return its output."""
        if self.closed:
            raise gone()
        pending = pending or Pending()
        if self._is_checked:
            require_input(command, input)
            pending.reads = reads_output(command)
        id = self._new_id()
        body = self._request(id, command, input, tab, pending)
        return await self._answered(id, body, pending, progress)

    async def execute(self, call: Execute, progress: Progress) -> Outcome:
        """Run a tool of a page; its `callId` is set here."""
        if self.closed:
            raise gone()
        id = self._new_id()
        body = self._encoded(id, "browser/executeTool", replace(call, call_id=id))
        pending = Pending(reads=_outcome)
        found: Outcome = await self._answered(id, body, pending, progress)
        return found

    async def _answered(self, id: str, body: str, pending: Pending, progress: Progress) -> Any:
        self._pending[id] = pending
        try:
            await self._leave(body)
            return await pending.outcome(progress)
        except asyncio.CancelledError:
            self.notify("tool.cancel", link.Cancel(dispatch_id=id))
            raise
        finally:
            self._pending.pop(id, None)

    async def tell(self, method: str, params: Any) -> None:
        """Send a notification; it has left when this returns."""
        self._table.require_sent(method, params)
        await self._send(jsonrpc.notification(method, params).decode())

    def notify(self, method: str, params: Any) -> None:
        """Send a notification without waiting for it to leave."""
        self._table.require_sent(method, params)
        if not self.closed:
            self._soon(self.tell(method, params))

    def receive(self, text: str | bytes) -> None:
        """Take one message; one that makes no sense is logged, and fails the call it answers."""
        body = text.encode(errors="replace") if isinstance(text, str) else text
        try:
            self._take(jsonrpc.decode(body))
        except (TabhubError, *jsonrpc.UNREADABLE) as error:
            self._complain("a message from the extension makes no sense: %s", error)
            pending = self._pending.get(link.answered_id(body) or "")
            if pending is not None:
                pending.tell(nonsense())

    def close(self) -> None:
        """The socket has gone: nobody waits any longer."""
        self.closed = True
        for pending in self._pending.values():
            pending.tell(
                Unavailable(
                    "The connection to the browser broke off during this call. The page may have "
                    "received it: look at the page before you try again.",
                    "page_may_have_received",
                )
            )

    def cut(self) -> None:
        """Have nothing more to do with who is there; the extension comes back by itself."""
        self.close()
        self._soon(self.hang_up())

    def _request(self, id: str, command: str, input: Any, tab: int | None, pending: Pending) -> str:
        params = link.Dispatch(
            plugin="browser",
            tool=command,
            input=input,
            tab_id=tab,
            dispatch_id=id,
            site=pending.site,
            frames=pending.may_enter is not None,
            untrusted=pending.untrusted,
        )
        return self._encoded(id, "tool.dispatch", params)

    def _new_id(self) -> str:
        return f"{self._name}-{next(self._numbers)}"

    def _encoded(self, id: str, method: str, params: Any) -> str:
        self._table.require_sent(method, params)
        body = jsonrpc.request(id, method, params)
        if len(body) > self._max_bytes:
            raise ProtocolError("The call is too large for the link to the browser.", "too_large")
        return body.decode()

    async def _leave(self, body: str) -> None:
        try:
            await self._send(body)
        except OSError:
            raise gone() from None

    def _take(self, message: jsonrpc.Incoming) -> None:
        if isinstance(message.method, str):
            params = message.params if isinstance(message.params, msgspec.Raw) else jsonrpc.EMPTY
            self._hear(message.id, message.method, params)
        elif (pending := self._pending.get(str(message.id))) is not None:
            pending.tell(as_told(message, pending.reads))

    def _hear(self, id: object, method: str, params: msgspec.Raw) -> None:
        known = id if isinstance(id, int | str) else 0
        try:
            body = jsonrpc.success(known, self._act(method, params) or {})
        except TabhubError as refused:
            self._complain("%s from the extension: %s", method, refused)
            body = jsonrpc.failure(known, refused)
        except Exception:
            # A disk that is full must not cost the browser its link.
            log.exception("%s from the extension", method)
            body = jsonrpc.failure(known, Internal("Something went wrong inside tabhub."))
        if isinstance(id, int | str):
            self._soon(self._send(body.decode()))

    def _act(self, method: str, params: msgspec.Raw) -> Any:
        if method in self._handlers:
            return self._handlers.handle(method, params, self)
        return self._news(self, method, params)

    def _ping(self, _: link.Nothing) -> None:
        self.notify("pong", link.Nothing())

    def _progress(self, told: link.Progress) -> None:
        if (pending := self._pending.get(told.dispatch_id)) is not None:
            pending.tell(told)

    def _frames(self, asked: link.FramesAsked) -> link.FramesAllowed:
        known = self._pending.get(asked.dispatch_id)
        return link.FramesAllowed(sites=known.entered(asked.sites) if known else [])

    def _read(self, wanted: link.FileRead) -> link.FilePiece:
        pending = self._pending.get(wanted.dispatch_id)
        if pending is None:
            raise NotFound("This call has ended.")
        data = b64encode(pending.piece(wanted.index, wanted.offset))
        return link.FilePiece(data=data.decode())

    def _soon(self, sending: Awaitable[None]) -> None:
        task = asyncio.ensure_future(_unless_gone(sending))
        self._background.add(task)
        task.add_done_callback(self._background.discard)


_ON_EVERY_LINK: dict[str, Callable[..., Any]] = {
    "ping": Connection._ping,
    "tool.progress": Connection._progress,
}
_HANDLERS = {
    methods.EXTENSION: methods.Handlers(
        methods.EXTENSION.taken_by("connection"),
        {
            **_ON_EVERY_LINK,
            "frames.allowed": Connection._frames,
            "files.read": Connection._read,
        },
    ),
    methods.PAGE: methods.Handlers(methods.PAGE.taken_by("connection"), _ON_EVERY_LINK),
}


async def _unless_gone(sending: Awaitable[None]) -> None:
    with suppress(OSError):
        await sending


async def _nowhere() -> None:
    """There is no socket."""


def gone() -> Unavailable:
    return Unavailable(
        "The browser has just disconnected; nothing was sent. It comes back by itself if it runs."
    )
