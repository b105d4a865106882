"""A browser that tabhub started, with all its helper processes.

It uses asyncio's subprocesses and not `subprocess.Popen`, because the end of the browser is then
an event of the loop that can be awaited with others. The browser leads a session of its own, so
that Ctrl-C in the terminal does not end it before tabhub does, and one signal ends its group.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tabhub.browser.launcher.debugging_pipe import DebuggingPipe, PipeClosed
from tabhub.browser.launcher.finder import (
    BrowserFailed,
    InstalledBrowser,
    ProfileInUse,
    browser_arguments,
)
from tabhub.browser.launcher.profile import is_held_by, owner, prepare_profile
from tabhub.config.paths import Home
from tabhub.system.pipes import connect_reading
from tabhub.system.processes import end_group, is_in_group, leading_group
from tabhub.system.signals import stop_signals

START_SECONDS = 20.0
STOP_SECONDS = 5.0
_KILL_SECONDS = 5.0
_STDERR_SECONDS = 1.0
_POLL_SECONDS = 0.02
_PROFILE_IN_USE = 21
"""The exit code of a headless browser whose profile is open; one with windows exits with 0."""
_TOLD = (*stop_signals(), *filter(None, [getattr(signal, "SIGHUP", None)]))
_ON_PURPOSE = frozenset((0, _PROFILE_IN_USE, *(-n for n in _TOLD), *(128 + n for n in _TOLD)))
"""The exit codes of a browser that was closed; a wrapper script adds 128 to a signal."""
KEPT_BYTES = 8192
SHOWN_LINES = 5
_NOISE = ("unexpected operator", "dbus/", "zygote_linux.cc")
"""Lines of Debian's wrapper, of machines without a desktop, and of helpers at the end."""


class BrowserProcess:
    """A running browser; it must be stopped even after it has ended."""

    def __init__(
        self, process: Process, profile: Path, stderr: "ErrorOutput", pipe: DebuggingPipe | None
    ) -> None:
        self._process = process
        self._profile = profile
        self._stderr = stderr
        self._pipe = pipe

    @classmethod
    async def start(
        cls,
        browser: InstalledBrowser,
        *,
        home: Home,
        profile: Path,
        headless: bool,
        urls: Sequence[str] = (),
        extra_args: Sequence[str] = (),
        downloads: Path | None = None,
    ) -> "BrowserProcess":
        """Start a browser with the installed extension; returns when it has opened the profile.

        It can still fail before its extension connects: await `failure` together with that.
        """
        profile, extension = profile.expanduser().absolute(), home.managed_extension.absolute()
        prepare_profile(profile, downloads)
        arguments = browser_arguments(
            browser,
            extension=extension,
            profile=profile,
            headless=headless,
            urls=urls,
            extra=extra_args,
        )
        spawning = asyncio.create_task(cls._spawn(arguments, profile, browser.needs_debugging_pipe))
        started = await _finished(spawning)
        try:
            await started._take_profile()
            await started._load(extension, urls)
        except BaseException:
            await started.stop()
            raise
        return started

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        """Wait until the browser ends for any reason; returns its exit code."""
        return await self._process.wait()

    @property
    def has_crashed(self) -> bool:
        """Whether it has ended, and neither closed itself nor was told to end."""
        return self._process.returncode not in (None, *_ON_PURPOSE)

    async def failure(self) -> BrowserFailed:
        """Wait until the browser ends where that is an error; returns the error."""
        code = await self._process.wait()
        other = owner(self._profile) if code in (0, _PROFILE_IN_USE) else None
        if other is not None and not is_in_group(other, self.pid):
            return ProfileInUse(
                f"The profile {self._profile} is open in another browser: close that one (or end"
                f" process {other}, if an earlier run left it), or choose another --user-data-dir."
            )
        with suppress(TimeoutError):
            async with asyncio.timeout(_STDERR_SECONDS):
                await self._stderr.closed.wait()
        output = self._stderr.text() or "it printed nothing"
        return BrowserFailed(f"The browser ended with exit code {code}: {output}")

    async def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Ask every process of the browser to end, and then end it."""
        try:
            self._end()
            if not await self._is_gone_within(timeout):
                self._end(at_once=True)
                await self._is_gone_within(_KILL_SECONDS)
        except asyncio.CancelledError:
            self._end(at_once=True)
            raise
        finally:
            self._close()

    @classmethod
    async def _spawn(cls, arguments: list[str], profile: Path, with_pipe: bool) -> "BrowserProcess":
        stderr, writing_end = await ErrorOutput.listen()
        pipe = DebuggingPipe() if with_pipe else None
        try:
            program, *more = pipe.command(arguments) if pipe else arguments
            process = await asyncio.create_subprocess_exec(
                program,
                *more,
                stdin=DEVNULL,
                # tabhub's own stdout may be the connection to an agent.
                stdout=DEVNULL,
                stderr=writing_end,
                **leading_group(),
                **(pipe.inheritance() if pipe else {}),
            )
        except BaseException as error:
            stderr.close()
            if pipe:
                pipe.close()
            if isinstance(error, OSError):
                raise BrowserFailed(f"{arguments[0]} cannot be started: {error}.") from None
            raise
        finally:
            os.close(writing_end)
        return cls(process, profile, stderr, pipe)

    async def _take_profile(self) -> None:
        """Wait until the browser has opened the profile, or has ended because it cannot."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while self._process.returncode is None:
                    if is_held_by(self._profile, self.pid):
                        return
                    # No event says when the browser's lock appears.
                    await asyncio.sleep(_POLL_SECONDS)
        if self._process.returncode is not None:
            raise await self.failure()

    async def _load(self, extension: Path, urls: Sequence[str]) -> None:
        if self._pipe is None:
            return
        try:
            await self._pipe.connect()
            await self._pipe.load_extension(extension)
            await self._pipe.open_pages(urls)
        except PipeClosed as closed:
            # The browser ends with its pipe, and its own output says more.
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    raise await self.failure() from None
            raise closed

    async def _is_gone_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
                await self._stderr.closed.wait()
        except TimeoutError:
            return False
        return True

    def _end(self, *, at_once: bool = False) -> None:
        # After all processes have ended, the number may belong to another group.
        if self._process.returncode is not None and self._stderr.closed.is_set():
            return
        end_group(self.pid, at_once=at_once)

    def _close(self) -> None:
        self._stderr.close()
        if self._pipe:
            self._pipe.close()


class ErrorOutput(asyncio.Protocol):
    """The end of the browser's stderr: one pipe that all processes of the browser inherit.

    When it closes, all of them have ended, even those that left the process group.
    """

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self._kept = b""
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def listen(cls) -> tuple["ErrorOutput", int]:
        """Also returns the writing end for the browser, which the caller closes after that."""
        reading, writing = os.pipe()
        output = cls()
        await connect_reading(lambda: output, reading)
        return output, writing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-KEPT_BYTES:]

    def connection_lost(self, error: Exception | None) -> None:
        self.closed.set()

    def text(self) -> str:
        """The last lines, without known noise."""
        lines = self._kept.decode(errors="replace").splitlines()
        useful = [line.strip() for line in lines if not any(noise in line for noise in _NOISE)]
        return "\n".join(list(filter(None, useful))[-SHOWN_LINES:])

    def close(self) -> None:
        if self._transport:
            self._transport.close()


async def _finished(spawning: asyncio.Task[BrowserProcess]) -> BrowserProcess:
    """Wait for the start even if cancelled: asyncio would end the browser, but not its helpers."""
    try:
        return await asyncio.shield(spawning)
    except asyncio.CancelledError:
        with suppress(BrowserFailed):
            await (await spawning).stop()
        raise
