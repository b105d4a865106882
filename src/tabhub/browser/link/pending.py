"""A command that waits for the browser's answer."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tabhub.calls.time_limit import Progress
from tabhub.config.environment import in_development
from tabhub.errors import Internal, NotFound, TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc, link

log = logging.getLogger(__name__)

Learn = Callable[[Any], Any]
ReadFile = Callable[[int, int], bytes]
"""Takes the number of a file and a place in it; the bytes that come next."""


Told = link.Progress | link.Dispatched | TabhubError
_output = msgspec.json.Decoder(link.Dispatched).decode
Reads = Callable[[msgspec.Raw], Any]
"""Takes the result of a response; what the command has put out."""
_error = msgspec.json.Decoder(jsonrpc.RemoteError).decode


class Pending:
    """One command: where in a tab it may act, then what the browser reports of it.

    The browser reports progress any number of times, then its end.
    """

    __slots__ = ("_learn", "_reports", "may_enter", "read_file", "reads", "site", "untrusted")

    def __init__(
        self,
        site: str | None = None,
        may_enter: Callable[[str], bool] | None = None,
        *,
        learn: Learn | None = None,
        read_file: ReadFile | None = None,
        untrusted: bool = False,
        reads: Reads | None = None,
    ) -> None:
        self.site = site
        """What the tab must show; None if that does not matter."""
        self.may_enter = may_enter
        """Whether it may go into frames of another site; None: into all."""
        self.read_file = read_file
        """For what it uploads."""
        self.untrusted = untrusted
        """Whether a script may do it where the debugger cannot be used."""
        self.reads = reads or dispatched
        self._learn = learn
        """Turns the output into what is returned, before any later message is looked at."""
        self._reports: asyncio.Queue[Told] = asyncio.Queue()

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
        self._reports.put_nowait(told)

    def entered(self, sites: list[str]) -> list[str]:
        """Those of the sites whose frames may be entered."""
        may_enter = self.may_enter
        return sites if may_enter is None else [site for site in sites if may_enter(site)]

    def piece(self, index: int, offset: int) -> bytes:
        """The next bytes of a file that the command uploads."""
        if self.read_file is None:
            raise NotFound("This command has no files.")
        return self.read_file(index, offset)

    async def outcome(self, progress: Progress) -> Any:
        while True:
            told = await self._reports.get()
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


MARK = "not as declared"
"""In the log, before what is wrong with a command."""
MISFITS: list[str] = []
"""What was found so far, for tests."""


def require_input(command: str, input: Any) -> None:
    """Fail if the server is about to send what the table does not know."""
    if (found := _found(command, "input", input)) is not None:
        raise Internal(found)


def reads_output(command: str) -> Reads:
    """Read the output of a command; what the table does not know counts as unreadable."""

    def read(result: msgspec.Raw) -> Any:
        output = dispatched(result)
        if (found := _found(command, "output", output)) is not None:
            raise ValueError(found)
        return output

    return read


def _found(command: str, side: Literal["input", "output"], value: Any) -> str | None:
    # Outside development nothing needs the table.
    from tabhub.wire.commands import misfit

    found = misfit(command, side, value)
    if found is not None:
        MISFITS.append(found)
        log.error("%s: %s", MARK, found)
    return found


def greeting() -> dict[str, Any]:
    """What the extension is sent with `sync.full`, so that it checks what it gets as well."""
    if not in_development():
        return {}
    from tabhub.wire.commands import input_schemas

    return {"commands": input_schemas()}
