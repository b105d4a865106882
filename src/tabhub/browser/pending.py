"""A command that waits for the browser's answer."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from tabhub.calls.ports import Progress
from tabhub.errors import Internal, NotFound, TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc, link

log = logging.getLogger(__name__)

Learn = Callable[[Any], Any]
ReadFile = Callable[[int, int], bytes]
"""Takes the number of a file and a place in it; the bytes that come next."""


class Fence(NamedTuple):
    """Where in a tab a command may act, and on what."""

    site: str
    """What the tab must show."""
    may_enter: Callable[[str], bool] | None
    """Whether it may go into frames of another site; None: into all."""
    read_file: ReadFile | None = None
    """For what it uploads."""
    untrusted: bool = False
    """Whether a script may do it where the debugger cannot be used."""


Told = link.ProgressTold | link.Dispatched | TabhubError
_output = msgspec.json.Decoder(link.Dispatched).decode
Reads = Callable[[msgspec.Raw], Any]
"""Takes the result of a response; what the command has put out."""
_error = msgspec.json.Decoder(jsonrpc.RemoteError).decode


class Pending:
    """What is told of one command: progress, any number of times, then its end."""

    def __init__(
        self, learn: Learn | None, fence: Fence | None, reads: Reads | None = None
    ) -> None:
        self.reads = reads or dispatched
        self._learn = learn
        self._fence = fence
        self._told: asyncio.Queue[Told] = asyncio.Queue()

    def tell(self, told: Told) -> None:
        if isinstance(told, link.Dispatched) and self._learn is not None:
            try:
                told = link.Dispatched(output=self._learn(told.output))
            except TabhubError as refused:
                told = refused
            except (msgspec.ValidationError, KeyError, TypeError):
                told = nonsense()
            except Exception:
                log.exception("what the browser answered could not be taken in")
                told = Internal("Something went wrong inside tabhub.")
        self._told.put_nowait(told)

    def entered(self, sites: list[str]) -> list[str]:
        """Those of the sites whose frames may be entered."""
        may_enter = self._fence.may_enter if self._fence else None
        return sites if may_enter is None else [site for site in sites if may_enter(site)]

    def piece(self, index: int, offset: int) -> bytes:
        """The next bytes of a file that the command uploads."""
        read = self._fence.read_file if self._fence else None
        if read is None:
            raise NotFound("This command has no files.")
        return read(index, offset)

    async def outcome(self, progress: Progress) -> Any:
        while True:
            told = await self._told.get()
            if isinstance(told, link.Dispatched):
                return told.output
            if isinstance(told, TabhubError):
                raise told
            await progress(told.progress, told.total, told.message)


def as_told(message: jsonrpc.Incoming, reads: Reads) -> Told:
    """A response as its result or its error."""
    try:
        if isinstance(message.error, msgspec.Raw):
            error = _error(message.error)
            data = error.data or {}
            return from_reason(str(data.get("reason", "internal")), error.message, data)
        if isinstance(message.result, msgspec.Raw):
            return link.Dispatched(output=reads(message.result))
    except jsonrpc.UNREADABLE:
        pass
    return nonsense()


def dispatched(result: msgspec.Raw) -> Any:
    """The output in the result of a `tool.dispatch`."""
    return _output(result).output


def nonsense() -> Unavailable:
    return Unavailable("The extension's answer makes no sense.", "invalid_response")
