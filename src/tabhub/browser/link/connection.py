"""JSON-RPC with one connected extension or page worker: requests out, responses and events in."""

import asyncio
import logging
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import isawaitable
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from tabhub.browser.link.pending import (
    Pending,
    invalid_response,
    reads_output,
    report_of,
    require_input,
)
from tabhub.calls.time_limit import Progress
from tabhub.config.paths import in_development
from tabhub.errors import (
    Internal,
    InvalidArguments,
    NotFound,
    ProtocolError,
    TabhubError,
    Unavailable,
)
from tabhub.wire import jsonrpc, link, methods, plugins
from tabhub.wire import link_versions as versions
from tabhub.wire.pages import NOT_RECEIVED, Execute, Outcome

log = logging.getLogger(__name__)

HangUp = Callable[[], Awaitable[None]]
SendText = Callable[[str], Awaitable[None]]
Handle = Callable[["LinkConnection", str, msgspec.Raw], Any]
"""Takes a message of the other side; what it returns is the result of a request."""
LogFault = Callable[..., object]
"""Takes a format string and its arguments, as a logger does."""
_outcome = msgspec.json.Decoder(Outcome).decode
_uninstalled = msgspec.json.Decoder(plugins.PluginUninstalled).decode


class LinkConnection:
    """One socket. Calls wait here for their results, and all fail when it closes."""

    def __init__(
        self,
        send: SendText,
        handle: Handle,
        max_bytes: int,
        log_fault: LogFault = log.warning,
        table: methods.Link = methods.EXTENSION,
        extension: versions.End = versions.SERVER,
    ) -> None:
        self._extension = extension
        self._table = table
        self._handlers = _HANDLERS[table]
        self._send = send
        self._log_fault = log_fault
        self._handle = handle
        self._max_bytes = max_bytes
        # A late response to an earlier connection must not match a request of this one.
        self._name = secrets.token_hex(4)
        self._numbers = count(1)
        self._pending: dict[str, Pending] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._is_checked = in_development()
        self.closed = False
        self.hang_up: HangUp = _no_socket
        """Closes the socket; the extension then reconnects."""

    @property
    def pending(self) -> int:
        """How many commands wait for a result."""
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
            raise disconnected()
        self._require_known(command, input)
        pending = pending or Pending()
        if self._is_checked:
            require_input(command, input)
            pending.read_result = reads_output(command)
        id = self._new_id()
        body = self._request(id, command, input, tab, pending)
        return await self._result(id, body, pending, progress)

    def _require_known(self, command: str, input: Any) -> None:
        """Raise if the extension would ignore what the command is to act on."""
        member = versions.unknown_target(self._extension, command, input)
        if member is not None:
            raise InvalidArguments(
                f"The browser's extension is too old for {member} ({self._extension}). Nothing "
                f"was done. Name the target in another way, or update the extension: "
                f"{versions.UPDATE_EXTENSION}."
            )

    async def call_plugin(self, request: link.Dispatch, progress: Progress) -> Any:
        """Run a tool of a plugin in a tab; its `dispatchId` is set here."""
        if self.closed:
            raise disconnected()
        id = self._new_id()
        body = self._encoded(id, "tool.dispatch", replace(request, dispatch_id=id))
        return await self._result(id, body, Pending(), progress)

    async def uninstall(self, request: plugins.PluginUninstall) -> plugins.PluginUninstalled:
        """End a plugin in every tab; returns what is left."""
        if self.closed:
            raise disconnected()
        id = self._new_id()
        body = self._encoded(id, "plugin.uninstall", request)
        done: plugins.PluginUninstalled = await self._result(
            id, body, Pending(read_result=_uninstalled), _unheard
        )
        return done

    async def execute(self, call: Execute, progress: Progress) -> Outcome:
        """Run a tool of a page; its `callId` is set here."""
        if self.closed:
            raise disconnected()
        id = self._new_id()
        body = self._encoded(id, "browser/executeTool", replace(call, call_id=id))
        pending = Pending(read_result=_outcome)
        try:
            outcome: Outcome = await self._result(id, body, pending, progress)
        except TabhubError as error:
            # A command of the browser can fail with the same reasons after an effect.
            if error.reason in NOT_RECEIVED:
                raise error.with_effect("none") from None
            raise
        return outcome

    async def _result(self, id: str, body: str, pending: Pending, progress: Progress) -> Any:
        self._pending[id] = pending
        try:
            await self._send_request(body)
            return await pending.outcome(progress)
        except asyncio.CancelledError:
            self.notify("tool.cancel", link.Cancel(dispatch_id=id))
            raise
        finally:
            self._pending.pop(id, None)

    async def send_notification(self, method: str, params: Any) -> None:
        """Send a notification, and return when it was sent."""
        self._table.require_sent(method, params)
        await self._send(jsonrpc.notification(method, params).decode())

    def notify(self, method: str, params: Any) -> None:
        """Send a notification in the background."""
        self._table.require_sent(method, params)
        if not self.closed:
            self._in_background(self.send_notification(method, params))

    def receive(self, text: str | bytes) -> None:
        """Take one message; an unreadable one is logged, and fails the call it responds to."""
        body = text.encode(errors="replace") if isinstance(text, str) else text
        try:
            self._take(jsonrpc.decode(body))
        except (TabhubError, *jsonrpc.UNREADABLE) as error:
            self._log_fault("a message from the extension cannot be read: %s", error)
            pending = self._pending.get(link.answered_id(body) or "")
            if pending is not None:
                pending.report(invalid_response())

    def close(self) -> None:
        """Fail every waiting call: the socket has closed."""
        self.closed = True
        for pending in self._pending.values():
            pending.report(
                Unavailable(
                    "The connection to the browser was lost during this call. The page may have "
                    "received it: look at the page before you try again.",
                    "page_may_have_received",
                )
            )

    def disconnect(self) -> None:
        """Ignore all further messages, and close the socket; the extension then reconnects."""
        self.close()
        self._in_background(self.hang_up())

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

    async def _send_request(self, body: str) -> None:
        try:
            await self._send(body)
        except OSError:
            raise disconnected() from None

    def _take(self, message: jsonrpc.Incoming) -> None:
        if isinstance(message.method, str):
            params = message.params if isinstance(message.params, msgspec.Raw) else jsonrpc.EMPTY
            self._respond(message.id, message.method, params)
        elif (pending := self._pending.get(str(message.id))) is not None:
            pending.report(report_of(message, pending.read_result))

    def _respond(self, id: object, method: str, params: msgspec.Raw) -> None:
        try:
            result = self._dispatch(method, params)
        except Exception as error:
            self._send_response(id, self._failure(id, method, error))
            return
        if isawaitable(result):
            self._in_background(self._respond_later(id, method, result))
        else:
            self._send_response(id, jsonrpc.success(_known(id), result or {}))

    async def _respond_later(self, id: object, method: str, result: Awaitable[Any]) -> None:
        """Respond to a request that takes a while, such as one to the npm registry."""
        try:
            body = jsonrpc.success(_known(id), await result or {})
        except Exception as error:
            body = self._failure(id, method, error)
        self._send_response(id, body)

    def _failure(self, id: object, method: str, error: Exception) -> bytes:
        if isinstance(error, TabhubError):
            self._log_fault("%s from the extension: %s", method, error)
            return jsonrpc.failure(_known(id), error)
        # A failure here, such as a full disk, must not close the link.
        log.error("%s from the extension", method, exc_info=error)
        return jsonrpc.failure(_known(id), Internal("Something went wrong inside tabhub."))

    def _send_response(self, id: object, body: bytes) -> None:
        if isinstance(id, int | str) and not self.closed:
            self._in_background(self._send(body.decode()))

    def _dispatch(self, method: str, params: msgspec.Raw) -> Any:
        if method in self._handlers:
            return self._handlers.handle(method, params, self)
        return self._handle(self, method, params)

    def _ping(self, _: link.Nothing) -> None:
        self.notify("pong", link.Nothing())

    def _progress(self, params: link.Progress) -> None:
        if (pending := self._pending.get(params.dispatch_id)) is not None:
            pending.report(params)

    def _frames(self, params: link.FramesAsked) -> link.FramesAllowed:
        pending = self._pending.get(params.dispatch_id)
        if pending is None:
            return link.FramesAllowed(sites=[])
        allowed = pending.readable if params.reading else pending.enterable
        return link.FramesAllowed(sites=allowed(params.sites))

    def _read(self, params: link.FileRead) -> link.FilePiece:
        pending = self._pending.get(params.dispatch_id)
        if pending is None:
            raise NotFound("This call has ended.")
        data = b64encode(pending.piece(params.index, params.offset))
        return link.FilePiece(data=data.decode())

    def _in_background(self, sending: Awaitable[None]) -> None:
        task = asyncio.ensure_future(_unless_closed(sending))
        self._background.add(task)
        task.add_done_callback(self._background.discard)


_ON_EVERY_LINK: dict[str, Callable[..., Any]] = {
    "ping": LinkConnection._ping,
    "tool.progress": LinkConnection._progress,
}
_HANDLERS = {
    methods.EXTENSION: methods.Handlers(
        methods.EXTENSION.taken_by("connection"),
        {
            **_ON_EVERY_LINK,
            "frames.allowed": LinkConnection._frames,
            "files.read": LinkConnection._read,
        },
    ),
    methods.PAGE: methods.Handlers(methods.PAGE.taken_by("connection"), _ON_EVERY_LINK),
}


def _known(id: object) -> int | str:
    """The id of a response; a notification has none, and gets no response."""
    return id if isinstance(id, int | str) else 0


async def _unless_closed(sending: Awaitable[None]) -> None:
    with suppress(OSError):
        await sending


async def _no_socket() -> None:
    """Nothing to close."""


async def _unheard(progress: float, total: float | None, message: str | None) -> None:
    """Nobody waits for progress."""


def disconnected() -> Unavailable:
    return Unavailable(
        "The browser has just disconnected; nothing was sent. It reconnects if it still runs."
    )
