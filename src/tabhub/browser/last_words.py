"""What a browser writes on stderr: its last lines, and when nobody can write any more."""

import asyncio
import os

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
