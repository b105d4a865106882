"""A browser that tabhub started, with all its helper processes.

asyncio's own subprocesses are used, and not `subprocess.Popen`, because the end of the browser is
then an event of the loop, to be awaited beside others. The browser leads a session of its own:
Ctrl-C in the terminal does not reach it before tabhub does, and one signal reaches all its group.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tabhub.browser.launcher.debugging_pipe import DebuggingPipe, PipeClosed
from tabhub.browser.launcher.finder import Browser, BrowserFailed, ProfileInUse, browser_arguments
from tabhub.browser.launcher.profile import owner, prepare_profile
from tabhub.config.paths import Home

KEPT_BYTES = 8192
SHOWN_LINES = 5
_NOISE = ("unexpected operator", "dbus/", "zygote_linux.cc")
"""Said by Debian's wrapper, on machines without a desktop, and by helpers that see the end."""


class LastWords(asyncio.Protocol):
    """One end of a pipe whose other end every process of the browser inherits.

    So its end means that all of them are gone, also those that left the process group.
    """

    def __init__(self) -> None:
        self.silence = asyncio.Event()
        self._kept = b""
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def listen(cls) -> tuple["LastWords", int]:
        """Also returns the end to hand to the browser, to be closed after that."""
        reading, writing = os.pipe()
        _, words = await asyncio.get_running_loop().connect_read_pipe(
            cls, os.fdopen(reading, "rb", 0)
        )
        return words, writing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-KEPT_BYTES:]

    def connection_lost(self, error: Exception | None) -> None:
        self.silence.set()

    def text(self) -> str:
        lines = self._kept.decode(errors="replace").splitlines()
        told = [line.strip() for line in lines if not any(noise in line for noise in _NOISE)]
        return "\n".join(list(filter(None, told))[-SHOWN_LINES:])

    def close(self) -> None:
        if self._transport:
            self._transport.close()


START_SECONDS = 20.0
STOP_SECONDS = 5.0
_KILL_SECONDS = 5.0
_LAST_WORDS_SECONDS = 1.0
_LOOK_SECONDS = 0.02
_PROFILE_IN_USE = 21
"""What a headless browser exits with where one with windows hands over and exits with 0."""


class BrowserProcess:
    """A running browser; whoever started it stops it, even when it has ended by itself."""

    def __init__(
        self, process: Process, profile: Path, words: LastWords, pipe: DebuggingPipe | None
    ) -> None:
        self._process = process
        self._profile = profile
        self._words = words
        self._pipe = pipe

    @classmethod
    async def start(
        cls,
        browser: Browser,
        *,
        home: Home,
        profile: Path,
        headless: bool,
        urls: Sequence[str] = (),
        extra_args: Sequence[str] = (),
    ) -> "BrowserProcess":
        """Start a browser with the installed extension; returns when the profile is its own.

        It can still fail after that, before the extension calls: await `failure` beside the call.
        """
        profile, extension = profile.expanduser().absolute(), home.managed_extension.absolute()
        prepare_profile(profile)
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
        """Wait until the browser ends, for whatever reason; returns its exit code."""
        return await self._process.wait()

    async def failure(self) -> BrowserFailed:
        """Wait until the browser ends, as `wait`, where its end is an error; returns that error."""
        code, other = await self._process.wait(), owner(self._profile)
        if code in (0, _PROFILE_IN_USE) and other is not None and not self._is_ours(other):
            return ProfileInUse(
                f"The profile {self._profile} is open in another browser: close that one (or end"
                f" process {other}, if an earlier run left it), or choose another --user-data-dir."
            )
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await self._words.silence.wait()
        said = self._words.text() or "it said nothing"
        return BrowserFailed(f"The browser ended with exit code {code}: {said}")

    async def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End every process of the browser: politely, then not."""
        try:
            self._signal(signal.SIGTERM)
            if not await self._is_gone_within(timeout):
                self._signal(signal.SIGKILL)
                await self._is_gone_within(_KILL_SECONDS)
        except asyncio.CancelledError:
            self._signal(signal.SIGKILL)
            raise
        finally:
            self._close()

    @classmethod
    async def _spawn(cls, arguments: list[str], profile: Path, with_pipe: bool) -> "BrowserProcess":
        words, stderr = await LastWords.listen()
        pipe = DebuggingPipe() if with_pipe else None
        try:
            process = await asyncio.create_subprocess_exec(
                *(pipe.command(arguments) if pipe else arguments),
                stdin=DEVNULL,
                # Ours may be the line to an agent.
                stdout=DEVNULL,
                stderr=stderr,
                start_new_session=True,
                pass_fds=pipe.browser_ends if pipe else (),
            )
        except BaseException as error:
            words.close()
            if pipe:
                pipe.close()
            if isinstance(error, OSError):
                raise BrowserFailed(f"{arguments[0]} cannot be started: {error}.") from None
            raise
        finally:
            os.close(stderr)
        return cls(process, profile, words, pipe)

    async def _take_profile(self) -> None:
        """Wait until the browser has the profile, or has ended because it cannot have it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while self._process.returncode is None:
                    if self._is_ours(owner(self._profile)):
                        return
                    # The lock is a link in a folder: nothing tells when it appears.
                    await asyncio.sleep(_LOOK_SECONDS)
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
            # The browser ends with its pipe, and its own words say more.
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    raise await self.failure() from None
            raise closed

    def _is_ours(self, pid: int | None) -> bool:
        """A wrapper may have started the browser, so it need not be the process we know."""
        if pid is None:
            return False
        try:
            return os.getpgid(pid) == self.pid
        except OSError:
            return False

    async def _is_gone_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
                await self._words.silence.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        # Once all are gone the number may be another's.
        if self._process.returncode is not None and self._words.silence.is_set():
            return
        # macOS says "not permitted" of a group in which only the dead are left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _close(self) -> None:
        self._words.close()
        if self._pipe:
            self._pipe.close()


async def _finished(spawning: asyncio.Task[BrowserProcess]) -> BrowserProcess:
    """Cancelled halfway, asyncio would end the browser but not the helpers it already has."""
    try:
        return await asyncio.shield(spawning)
    except asyncio.CancelledError:
        with suppress(BrowserFailed):
            await (await spawning).stop()
        raise
