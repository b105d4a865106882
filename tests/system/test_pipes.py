"""Pipes as they are read and written on Windows, which any system can do."""

import asyncio
import os

from tabhub.system.pipes import PlainWriting, ThreadedReading
from tests.support.eventually import eventually


class Received(asyncio.Protocol):
    def __init__(self) -> None:
        self.data = b""
        self.ends = 0

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, error: Exception | None) -> None:
        self.ends += 1


async def test_what_is_written_is_received_in_order_and_the_end_once() -> None:
    reading, writing = os.pipe()
    received, sender = Received(), PlainWriting(writing)
    ThreadedReading(received, reading)
    parts = [b"%d," % number for number in range(2000)]
    for part in parts:
        sender.write(part)
    sender.close()
    sender.close()
    await eventually(lambda: received.ends, "the end")
    assert (received.data, received.ends) == (b"".join(parts), 1)


async def test_nothing_is_received_after_the_reader_has_closed_the_pipe() -> None:
    reading, writing = os.pipe()
    received = Received()
    transport = ThreadedReading(received, reading)
    transport.close()
    assert transport.is_closing()
    os.write(writing, b"too late")
    os.close(writing)
    await eventually(lambda: received.ends, "the end")
    assert (received.data, received.ends) == (b"", 1)


async def test_writing_to_a_pipe_that_nobody_reads_raises_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    sender = PlainWriting(writing)
    sender.write(b"lost")
    sender.close()
    assert sender.is_closing()


async def test_a_stream_reads_lines_through_it() -> None:
    reading, writing = os.pipe()
    stream = asyncio.StreamReader()
    ThreadedReading(asyncio.StreamReaderProtocol(stream), reading)
    os.write(writing, b"one\0two\0")
    assert await stream.readuntil(b"\0") == b"one\0"
    os.close(writing)
    assert await stream.read() == b"two\0"
