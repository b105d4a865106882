"""One process of a plugin, seen from the server: its start, its calls, and how it ends.

Whatever the process does, only its own calls fail: it may block, die, print without end or send
something that is no message. Each end has a reason.
"""

import asyncio
import logging
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from tabhub.errors import InvalidArguments, ProtocolError, TabhubError, TimedOut
from tabhub.hub.texts import one_line
from tabhub.plugins.package import Package
from tabhub.plugins.python import process_messages as messages
from tabhub.plugins.python_source.source_files import modules_of
from tabhub.plugins.review_content import files_of
from tabhub.system.processes import end_group, leading_group

log = logging.getLogger(__name__)

LOAD_SECONDS = 30.0
EXIT_SECONDS = 1.0
"""How long a process without its pipe may need to exit."""
PING_SECONDS = 2.0
BLOCKED_SECONDS = 10.0
"""How long a process that runs calls may not react."""
MOST_OPERATIONS = 100
"""Of one call at once."""
MOST_PRINTED = 4 * 1024 * 1024
"""Bytes that a process may print in ten seconds."""
PRINTED_SECONDS = 10.0
MOST_UNREAD = 2 * messages.MOST_BYTES
"""Bytes that wait for a process which does not read."""
MOST_NOTICES = 5000
"""Log entries and progress that a process may send in a second."""
LONGEST_LINE = 4000
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP")
_KEPT_ON_WINDOWS = ("SYSTEMROOT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "COMSPEC")

Print = Callable[[str], None]
"""Takes a line that the plugin has printed."""


class CallOperations(Protocol):
    """What a call may do in its page."""

    async def operate(self, operation: str, params: Mapping[str, Any]) -> Any:
        """Do it and return its result."""

    def notice(self, operation: str, params: Mapping[str, Any]) -> None:
        """Take a log entry or progress."""


class ProcessEnded(Exception):
    """The process is gone, so a call in it cannot end any more."""


class _RunningCall:
    """A call in the process, and the operations that it waits for."""

    def __init__(self, operations: CallOperations) -> None:
        self.operations = operations
        self.outcome: asyncio.Future[messages.Outcome] = asyncio.get_running_loop().create_future()
        self.tasks: set[asyncio.Task[None]] = set()
        self.errors: dict[int, TabhubError] = {}

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        if not self.outcome.done():
            self.outcome.cancel()


class CallOutcome(msgspec.Struct):
    """How a call has ended, with the error of the operation that made it fail, if one did."""

    outcome: messages.Outcome
    error: TabhubError | None = None


def environment() -> dict[str, str]:
    """What a plugin's process gets of the server's environment."""
    kept = (*_KEPT, *(_KEPT_ON_WINDOWS if sys.platform == "win32" else ()))
    return {
        name: value for name, value in os.environ.items() if name in kept or name.startswith("LC_")
    }


class PluginProcess:
    """A running process. Use `start`; after `ended` is done, every call raises ProcessEnded."""

    def __init__(
        self,
        package: Package,
        code: messages.Load,
        process: Process,
        folder: Path,
        print_line: Print,
    ) -> None:
        self.package = package
        self.code = code
        self.description = Raw()
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The reason why it has ended."""
        self._process = process
        self._folder = folder
        self._print = print_line
        self._why = ""
        self.is_ended_by_us = False
        """Whether the server has ended it although it did nothing wrong."""
        self._calls: dict[int, _RunningCall] = {}
        self._numbers = count(1)
        self._loaded: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._pinged = 0
        self._pong = asyncio.Event()
        self._notices, self._notices_since = 0, 0.0
        self._has_dropped = False
        self._tasks = [
            asyncio.ensure_future(work)
            for work in (self._read_messages(), self._read_printed(), self._watch())
        ]

    @classmethod
    async def start(
        cls, package: Package, print_line: Print, code: messages.Load | None = None
    ) -> "PluginProcess":
        """Start a process and load the plugin; raises if its files are not those we know.

        Code that was read before is loaded as it is, whatever the files are now.
        """
        code = code or load_message(package)
        load = messages.framed(code)
        folder = Path(tempfile.mkdtemp(prefix="tabhub-plugin-"))
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", "tabhub.plugins.python.child"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=folder,
                env=environment(),
                **leading_group(),
            )
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        started = cls(package, code, process, folder, print_line)
        try:
            await started._load(load)
        except BaseException:
            started.end("it could not be loaded", is_fault=True)
            await started.ended
            raise
        return started

    @property
    def calls(self) -> int:
        return len(self._calls)

    async def _load(self, load: bytes) -> None:
        self._write(load)
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                done, _ = await asyncio.wait(
                    (self._loaded, self.ended), return_when=asyncio.FIRST_COMPLETED
                )
        except TimeoutError:
            raise TimedOut(
                f"{self.package.name} was not loaded within {LOAD_SECONDS:g} seconds.",
                effect="none",
            ) from None
        if self._loaded not in done:
            raise InvalidArguments(f"{self.package.name} cannot be loaded: {self.ended.result()}.")
        self.description = self._loaded.result()

    async def call(
        self,
        operations: CallOperations,
        tool: str,
        arguments: Mapping[str, Any],
        page: tuple[str, int | str],
        settings: Mapping[str, Any],
        ready_seconds: float,
    ) -> CallOutcome:
        """Run a tool, or without its name ask whether the plugin is ready; wait for the outcome."""
        if self.ended.done():
            raise ProcessEnded(self.ended.result())
        number = next(self._numbers)
        self._calls[number] = running = _RunningCall(operations)
        try:
            body, values = map(msgspec.json.encode, (arguments, settings))
            self._send(messages.Invoke(number, tool, Raw(body), *page, Raw(values), ready_seconds))
            outcome = await self._first(running.outcome)
        except asyncio.CancelledError:
            self._send(messages.CancelCall(number))
            raise
        finally:
            del self._calls[number]
            running.end()
        request = outcome.request if isinstance(outcome, messages.Raised) else None
        return CallOutcome(outcome, running.errors.get(request or 0))

    async def _first(self, outcome: asyncio.Future[messages.Outcome]) -> messages.Outcome:
        await asyncio.wait((outcome, self.ended), return_when=asyncio.FIRST_COMPLETED)
        if outcome.done():
            return outcome.result()
        raise ProcessEnded(self.ended.result())

    def end(self, why: str, *, is_fault: bool = False) -> None:
        """Kill the process and whatever it has started."""
        if not self._why:
            self._why, self.is_ended_by_us = why, not is_fault
        self._kill()

    def _kill(self) -> None:
        end_group(self._process.pid, at_once=True)

    async def stop(self, why: str) -> None:
        """Kill the process, and wait until it is gone."""
        self.end(why)
        await self.ended

    def _send(self, message: messages.ToProcess) -> None:
        self._write(messages.framed(message))

    def _write(self, frame: bytes) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing():
            return
        stdin.write(frame)
        if stdin.transport.get_write_buffer_size() > MOST_UNREAD:
            self.end("it does not read what it is sent", is_fault=True)

    async def _read_messages(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            while True:
                header = await stdout.readexactly(messages.HEADER_BYTES)
                body = await stdout.readexactly(messages.length_in(header))
                self._take(messages.decode_from_process(body))
        except asyncio.IncompleteReadError:
            pass
        except (messages.TooLarge, msgspec.DecodeError, UnicodeDecodeError):
            self.end("it wrote something that is no message of the SDK", is_fault=True)
        except Exception:
            log.exception("a message of the plugin %s failed", self.package.name)
            self.end("a message of it could not be handled", is_fault=True)
        await self._has_ended()

    async def _has_ended(self) -> None:
        try:
            code = await asyncio.wait_for(self._process.wait(), EXIT_SECONDS)
        except TimeoutError:
            self.end("it closed its pipe to the server", is_fault=True)
            code = await self._process.wait()
        # What it has started may go on without it.
        self._kill()
        # What it printed last may say why.
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._tasks[1]), EXIT_SECONDS)
        for task in self._tasks[1:]:
            task.cancel()
        self._close_pipes()
        shutil.rmtree(self._folder, ignore_errors=True)
        if not self.ended.done():
            self.ended.set_result(self._why or _exit_words(code))
        for call in self._calls.values():
            for task in call.tasks:
                task.cancel()

    def _close_pipes(self) -> None:
        """Close all three: what was not read to its end, or is held by a stray process, stays open.

        asyncio has no public way to close the pipes that are read.
        """
        self._process._transport.close()  # type: ignore[attr-defined]

    def _take(self, message: messages.FromProcess) -> None:
        match message:
            case messages.Request():
                self._requested(message)
            case messages.Returned() | messages.Raised() | messages.NotReady():
                running = self._calls.get(message.call)
                if running is not None and not running.outcome.done():
                    running.outcome.set_result(message)
            case messages.Notice():
                self._noticed(message)
            case messages.Pong(number) if number == self._pinged:
                self._pong.set()
            case messages.Loaded() if not self._loaded.done():
                self._loaded.set_result(message.description)
            case messages.LoadFailed():
                self._why = one_line(message.message, 500).rstrip(".")

    def _requested(self, message: messages.Request) -> None:
        running = self._calls.get(message.call)
        if running is None or len(running.tasks) >= MOST_OPERATIONS:
            why = "The call has ended." if running is None else "Too many operations at once."
            error = messages.OperationError(why, "too_many_calls", "internal", False)
            self._send(messages.Answer(message.request, error=error))
            return
        task = asyncio.ensure_future(self._operate(running, message))
        running.tasks.add(task)
        task.add_done_callback(running.tasks.discard)

    async def _operate(self, running: _RunningCall, message: messages.Request) -> None:
        try:
            params = msgspec.json.decode(message.params, type=dict[str, Any])
            value = await running.operations.operate(message.operation, params)
            answer = messages.framed(
                messages.Answer(message.request, Raw(msgspec.json.encode(value)))
            )
        except msgspec.DecodeError as error:
            refused = InvalidArguments(f"This operation cannot be done: {error}.")
            answer = messages.framed(messages.Answer(message.request, error=_error_of(refused)))
        except TabhubError as error:
            running.errors[message.request] = error
            answer = messages.framed(messages.Answer(message.request, error=_error_of(error)))
        except messages.TooLarge as error:
            too_large = ProtocolError(f"The answer is too large: {error}.", "too_large")
            answer = messages.framed(messages.Answer(message.request, error=_error_of(too_large)))
        except Exception:
            log.exception("an operation of the plugin %s failed", self.package.name)
            words = messages.OperationError("Something went wrong.", "internal", "internal", False)
            answer = messages.framed(messages.Answer(message.request, error=words))
        self._write(answer)

    def _noticed(self, message: messages.Notice) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._notices_since >= 1:
            self._notices, self._notices_since = 0, now
        self._notices += 1
        if self._notices > MOST_NOTICES:
            self.end(f"it sent more than {MOST_NOTICES} log entries in a second", is_fault=True)
            return
        running = self._calls.get(message.call)
        if running is None:
            return
        try:
            params = msgspec.json.decode(message.params, type=dict[str, Any])
            running.operations.notice(message.operation, params)
        except Exception as error:
            self._drop(message, error)

    def _drop(self, message: messages.Notice, error: Exception) -> None:
        """Nobody waits for a notice, so one that cannot be taken costs nothing but itself."""
        if not self._has_dropped:
            self._has_dropped = True
            words = (self.package.name, one_line(message.operation, 100), one_line(str(error), 300))
            log.warning("a notice of the plugin %s is dropped (%s): %s", *words)

    async def _read_printed(self) -> None:
        """Take what the plugin prints, line by line."""
        stderr = self._process.stderr
        assert stderr is not None
        loop = asyncio.get_running_loop()
        printed, since, rest = 0, loop.time(), b""
        while data := await stderr.read(64 * 1024):
            if loop.time() - since > PRINTED_SECONDS:
                printed, since = 0, loop.time()
            printed += len(data)
            if printed > MOST_PRINTED:
                self.end(f"it printed more than {MOST_PRINTED} bytes at once", is_fault=True)
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._print(line[:LONGEST_LINE].decode(errors="replace"))
            rest = rest[:LONGEST_LINE]
        if rest:
            self._print(rest.decode(errors="replace"))

    async def _watch(self) -> None:
        """Loop: while calls run, see whether the process still reacts."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            if not self._calls:
                continue
            self._pinged += 1
            self._pong.clear()
            self._send(messages.Ping(self._pinged))
            try:
                await asyncio.wait_for(self._pong.wait(), BLOCKED_SECONDS)
            except TimeoutError:
                self.end(f"it did not react for {BLOCKED_SECONDS:g} seconds", is_fault=True)
                return


def load_message(package: Package) -> messages.Load:
    """The plugin as its process gets it; raises if a file is not the one that was read."""
    if package.python is None:
        raise InvalidArguments(f"{package.name} is no plugin in Python.")
    contents = {file.name: file.content for file in files_of(package)}
    return messages.Load(
        [
            messages.Module(
                name=module.name,
                path=str(package.folder / module.file),
                source=contents[module.file],
                is_package=module.is_package,
            )
            for module in modules_of(package)
        ],
        package.python.class_name,
        package.python.prefix,
    )


def _error_of(error: TabhubError) -> messages.OperationError:
    return messages.OperationError(error.message, error.reason, error.row.category, error.retryable)


def _exit_words(code: int) -> str:
    if code < 0:
        return f"its process was ended by signal {-code}"
    return f"its process ended with exit code {code}"
