"""The debugging pipe, by which an extension is loaded into Google's own Chrome.

Commands go to the browser's descriptor 3, and responses come from its descriptor 4, as JSON that
ends in NUL. Unlike a debugging port, only the process that made the pipe can use it. The browser
ends when the pipe is closed, so it stays open as long as the browser runs. Windows has handles
instead of descriptors, and the browser gets their numbers as an argument.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from tabhub.browser.launcher.finder import BLANK, BrowserFailed
from tabhub.errors import TimedOut
from tabhub.system.pipes import connect_reading, connect_writing

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
        self._browser_ends = (_above_nine(commands), _above_nine(answers))
        self._open = {*self._browser_ends, self._commands, self._answers}
        self._transports: list[asyncio.BaseTransport] = []
        self._outgoing: asyncio.WriteTransport | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ids = count(1)
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command in a shell that gives the pipe's ends the descriptors the browser expects.

        A `preexec_fn` could do that too, but is not safe in a process that has threads.
        """
        if sys.platform == "win32":
            handles = ",".join(map(str, self._handles()))
            return [*arguments, f"--remote-debugging-io-pipes={handles}"]
        else:
            commands, answers = self._browser_ends
            script = f'exec "$@" 3</dev/fd/{commands} 4>/dev/fd/{answers}'
            return ["/bin/sh", "-c", script, "sh", *arguments]

    def inheritance(self) -> dict[str, Any]:
        """The options of a subprocess by which the browser inherits its ends of the pipe."""
        if sys.platform == "win32":
            handles = self._handles()
            for handle in handles:
                os.set_handle_inheritable(handle, True)
            return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})}
        else:
            return {"pass_fds": self._browser_ends}

    def _handles(self) -> list[int]:
        if sys.platform == "win32":
            import msvcrt

            return [msvcrt.get_osfhandle(end) for end in self._browser_ends]
        else:
            raise NotImplementedError

    async def connect(self) -> None:
        """Close the browser's ends and read from ours."""
        self._close(self._browser_ends)
        stream = asyncio.StreamReader(limit=MAX_ANSWER_BYTES)
        incoming, _ = await connect_reading(
            lambda: asyncio.StreamReaderProtocol(stream), self._hand_over(self._answers)
        )
        self._outgoing = await connect_writing(self._hand_over(self._commands))
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

    def _hand_over(self, end: int) -> int:
        """The descriptor; its transport closes it from now on."""
        self._open.discard(end)
        return end

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
    if sys.platform == "win32":
        return end
    else:
        import fcntl

        moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
        os.close(end)
        return moved
