"""A command that waits for the browser's result, and how a response is read.

In development, inputs and outputs are also checked against the table of commands.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tabhub.calls.marks import with_marks
from tabhub.calls.time_limit import Progress
from tabhub.config.paths import in_development
from tabhub.errors import Internal, NotFound, TabhubError, Unavailable, from_reason
from tabhub.wire import jsonrpc, link

log = logging.getLogger(__name__)

MARK = "not as declared"
"""Begins the log line about a command that does not match the table."""
MISFITS: list[str] = []
"""Every mismatch so far, for tests."""

Learn = Callable[[Any], Any]
ReadFile = Callable[[int, int], bytes]
"""Takes the number of a file and an offset; returns the bytes that follow."""
ReadResult = Callable[[msgspec.Raw], Any]
"""Takes the result of a response; returns the output of the command."""
Report = link.Progress | link.Dispatched | TabhubError

_decode_output = msgspec.json.Decoder(link.Dispatched).decode
_decode_error = msgspec.json.Decoder(jsonrpc.RemoteError).decode


class Pending:
    """One command: where in a tab it may act, and what the browser reports of it.

    The browser reports progress any number of times, then a result or an error.
    """

    __slots__ = (
        "_learn",
        "_reports",
        "_waiting",
        "may_enter",
        "may_read",
        "read_file",
        "read_result",
        "site",
        "untrusted",
    )

    def __init__(
        self,
        site: str | None = None,
        may_enter: Callable[[str], bool] | None = None,
        *,
        may_read: Callable[[str], bool] | None = None,
        learn: Learn | None = None,
        read_file: ReadFile | None = None,
        untrusted: bool = False,
        read_result: ReadResult | None = None,
    ) -> None:
        self.site = site
        """The site that the tab must show; None for any."""
        self.may_enter = may_enter
        """Whether it may enter frames of another site; None allows all."""
        self.may_read = may_read
        """Whether its result may say what has changed in frames of another site; None: nowhere."""
        self.read_file = read_file
        """Reads the files that it uploads."""
        self.untrusted = untrusted
        """Whether a script may do it where the debugger cannot be used."""
        self.read_result = read_result or dispatched
        self._learn = learn
        """Turns the output into the return value, before any later message is handled."""
        # For each command a queue of asyncio would take longer to make than to use.
        self._reports: deque[Report] = deque()
        self._waiting: asyncio.Future[None] | None = None

    def report(self, report: Report) -> None:
        """Take progress, the result or an error."""
        if isinstance(report, link.Dispatched) and self._learn is not None:
            report = _learned(self._learn, report.output)
        self._reports.append(report)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def enterable(self, sites: list[str]) -> list[str]:
        """Those of the sites whose frames may be entered."""
        may_enter = self.may_enter
        return sites if may_enter is None else [site for site in sites if may_enter(site)]

    def readable(self, sites: list[str]) -> list[str]:
        """Those of the sites of whose frames the result may say what has changed."""
        may_read = self.may_read
        return [] if may_read is None else [site for site in sites if may_read(site)]

    def piece(self, index: int, offset: int) -> bytes:
        """The next bytes of a file that the command uploads."""
        if self.read_file is None:
            raise NotFound("This command has no files.")
        return self.read_file(index, offset)

    async def outcome(self, progress: Progress) -> Any:
        """Wait for the output; an error is raised."""
        while True:
            if not self._reports:
                self._waiting = asyncio.get_running_loop().create_future()
                await self._waiting
            report = self._reports.popleft()
            if isinstance(report, link.Dispatched):
                return report.output
            if isinstance(report, TabhubError):
                raise report
            await progress(report.progress, report.total, report.message)


def _learned(learn: Learn, output: Any) -> Report:
    try:
        return link.Dispatched(output=learn(output))
    except TabhubError as error:
        return error
    except (msgspec.ValidationError, KeyError, TypeError):
        return invalid_response()
    except Exception:
        log.exception("the browser's result could not be processed")
        return Internal("Something went wrong inside tabhub.")


def report_of(message: jsonrpc.Incoming, read_result: ReadResult) -> Report:
    """A response as its result or its error."""
    try:
        if isinstance(message.error, msgspec.Raw):
            error = _decode_error(message.error)
            data = error.data or {}
            words = with_marks(error.message)
            return from_reason(str(data.get("reason", "internal")), words, data)
        if isinstance(message.result, msgspec.Raw):
            return link.Dispatched(output=read_result(message.result))
    except jsonrpc.UNREADABLE:
        pass
    return invalid_response()


def dispatched(result: msgspec.Raw) -> Any:
    """The output in the result of a `tool.dispatch`."""
    return _decode_output(result).output


def invalid_response() -> Unavailable:
    return Unavailable("The extension's response cannot be read.", "invalid_response")


def require_input(command: str, input: Any) -> None:
    """Fail if the server is about to send an input that does not match the table."""
    if (mismatch := _mismatch(command, "input", input)) is not None:
        raise Internal(mismatch)


def reads_output(command: str) -> ReadResult:
    """Reads the output of a command; one that does not match the table counts as unreadable."""

    def read(result: msgspec.Raw) -> Any:
        output = dispatched(result)
        if (mismatch := _mismatch(command, "output", output)) is not None:
            raise ValueError(mismatch)
        return output

    return read


def _mismatch(command: str, side: Literal["input", "output"], value: Any) -> str | None:
    # Imported here because only development needs the table.
    from tabhub.wire.commands import misfit

    mismatch = misfit(command, side, value)
    if mismatch is not None:
        MISFITS.append(mismatch)
        log.error("%s: %s", MARK, mismatch)
    return mismatch


def development_schemas() -> dict[str, Any]:
    """What `sync.full` adds in development, so that the extension checks its inputs as well."""
    if not in_development():
        return {}
    from tabhub.wire.commands import input_schemas

    return {"commands": input_schemas()}
