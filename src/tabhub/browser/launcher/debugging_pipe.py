"""The debugging pipe, by which an extension is loaded into Google's own Chrome.

Commands go to the browser's descriptor 3, and responses come from its descriptor 4, as JSON that
ends in NUL. Unlike a debugging port, only the process that made the pipe can use it. The browser
ends when the pipe is closed, so it stays open as long as the browser runs.
"""

import asyncio
import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from tabhub.browser.launcher.finder import BLANK, BrowserFailed
from tabhub.errors import TimedOut

ANSWER_SECONDS = 30.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024
_FIRST_FREE = 10
_END = b"\0"


class PipeClosed(BrowserFailed):
    """The browser has ended, or is about to."""


class DebuggingPipe:
    """Created before the browser is started, connected after that."""

    def __init__(self) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self.browser_ends = (_above_nine(commands), _above_nine(answers))
        self._open = {*self.browser_ends, self._commands, self._answers}
        self._transports: list[asyncio.BaseTransport] = []
        self._outgoing: asyncio.WriteTransport | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ids = count(1)
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command in a shell that gives the pipe's ends the descriptors the browser expects.

        A `preexec_fn` could do that too, but is not safe in a process that has threads.
        """
        commands, answers = self.browser_ends
        script = f'exec "$@" 3</dev/fd/{commands} 4>/dev/fd/{answers}'
        return ["/bin/sh", "-c", script, "sh", *arguments]

    async def connect(self) -> None:
        """Close the browser's ends and read from ours."""
        self._close(self.browser_ends)
        loop = asyncio.get_running_loop()
        stream = asyncio.StreamReader(limit=MAX_ANSWER_BYTES)
        incoming, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), self._hand_over(self._answers, "rb")
        )
        self._outgoing, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, self._hand_over(self._commands, "wb")
        )
        self._transports = [incoming, self._outgoing]
        self._reading = asyncio.create_task(self._read(stream))

    async def load_extension(self, folder: Path) -> str:
        """Load an unpacked extension and return its id."""
        answer = await self.send("Extensions.loadUnpacked", {"path": str(folder)})
        found = answer.get("id")
        if not isinstance(found, str) or not found:
            raise BrowserFailed(f"The browser did not confirm that it loaded {folder}: {answer}.")
        return found

    async def open_pages(self, urls: Sequence[str]) -> None:
        """Open pages and close the blank page that the browser started with."""
        if not urls:
            return
        targets = (await self.send("Target.getTargets", {}))["targetInfos"]
        for url in urls:
            await self.send("Target.createTarget", {"url": url})
        for target in targets:
            if target["type"] == "page" and target["url"] == BLANK:
                await self.send("Target.closeTarget", {"targetId": target["targetId"]})

    async def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one command and wait for its result."""
        if self._outgoing is None or self._reading is None or self._reading.done():
            raise _closed()
        number = next(self._ids)
        self._pending[number] = asyncio.get_running_loop().create_future()
        command = {"id": number, "method": method, "params": params}
        self._outgoing.write(msgspec.json.encode(command) + _END)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._pending[number]
        except TimeoutError:
            raise TimedOut(f"The browser did not answer {method}.") from None
        finally:
            del self._pending[number]
        return _result(method, answer)

    def close(self) -> None:
        """Close all descriptors; the browser then ends."""
        self._close(tuple(self._open))
        if self._reading:
            self._reading.cancel()
        for transport in self._transports:
            transport.close()

    async def _read(self, stream: asyncio.StreamReader) -> None:
        try:
            with suppress(
                asyncio.IncompleteReadError, asyncio.LimitOverrunError, msgspec.DecodeError
            ):
                while True:
                    message = await stream.readuntil(_END)
                    self._take(msgspec.json.decode(message[:-1], type=dict[str, Any]))
        finally:
            self._fail_pending()

    def _fail_pending(self) -> None:
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_exception(_closed())

    def _take(self, message: dict[str, Any]) -> None:
        waiting = self._pending.get(message.get("id", 0))
        if waiting and not waiting.done():
            waiting.set_result(message)

    def _hand_over(self, end: int, mode: str) -> IO[bytes]:
        """The descriptor as a file; the event loop closes it from now on."""
        self._open.discard(end)
        return cast(IO[bytes], os.fdopen(end, mode, 0))

    def _close(self, ends: tuple[int, ...]) -> None:
        for end in self._open.intersection(ends):
            os.close(end)
            self._open.discard(end)


def _result(method: str, answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        reason = answer["error"].get("message", "no reason given")
        raise BrowserFailed(f"The browser refused {method}: {reason}.")
    result: dict[str, Any] = answer.get("result", {})
    return result


def _closed() -> PipeClosed:
    return PipeClosed("The browser closed its debugging pipe before it had answered.")


def _above_nine(end: int) -> int:
    """Move a descriptor above 9, because the shell will overwrite 3 and 4."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    os.close(end)
    return moved
