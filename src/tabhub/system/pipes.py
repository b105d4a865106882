"""Pipes to other processes as transports of asyncio; on Windows it reads no plain pipes."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

P = TypeVar("P", bound=asyncio.Protocol)
_READ_BYTES = 64 * 1024


async def connect_reading(
    make: Callable[[], P], handle: int
) -> tuple[asyncio.BaseTransport, asyncio.BaseProtocol]:
    """Read a pipe; the transport closes it."""
    if sys.platform == "win32":
        protocol = make()
        return ThreadedReading(protocol, handle), protocol
    else:
        loop = asyncio.get_running_loop()
        return await loop.connect_read_pipe(make, os.fdopen(handle, "rb", 0))


async def connect_writing(handle: int) -> asyncio.WriteTransport:
    """Write to a pipe; the transport closes it."""
    if sys.platform == "win32":
        return PlainWriting(handle)
    else:
        loop = asyncio.get_running_loop()
        file = os.fdopen(handle, "wb", 0)
        transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, file)
        return transport


class ThreadedReading(asyncio.ReadTransport):
    """Reads in a thread, which ends with the pipe: nothing can interrupt a read."""

    def __init__(self, protocol: asyncio.Protocol, handle: int) -> None:
        super().__init__()
        self._protocol = protocol
        self._handle = handle
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        protocol.connection_made(self)
        threading.Thread(target=self._run, name="pipe", daemon=True).start()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._loop.call_soon(self._protocol.connection_lost, None)

    def is_closing(self) -> bool:
        return self._is_closed

    def _run(self) -> None:
        try:
            # A loop that is closed has nobody who wants to know the rest.
            with suppress(OSError, RuntimeError):
                while data := os.read(self._handle, _READ_BYTES):
                    self._loop.call_soon_threadsafe(self._take, data)
        finally:
            os.close(self._handle)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.close)

    def _take(self, data: bytes) -> None:
        if not self._is_closed:
            self._protocol.data_received(data)


class PlainWriting(asyncio.WriteTransport):
    """Writes at once: what is sent through it is far smaller than a pipe holds."""

    def __init__(self, handle: int) -> None:
        super().__init__()
        self._handle = handle

    def write(self, data: bytes | bytearray | memoryview) -> None:
        view = memoryview(data)
        # As in asyncio's own, a pipe that is broken shows where it is read.
        with suppress(OSError):
            while view:
                view = view[os.write(self._handle, view) :]

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def is_closing(self) -> bool:
        return self._handle < 0
