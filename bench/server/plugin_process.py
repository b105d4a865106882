"""The way to the process of a plugin in Python and back, beside a process that only echoes."""

import asyncio
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.rows import Row
from tabhub.plugins.python.plugin_process import PluginProcess
from tabhub.plugins.python_source.class_source import read_python
from tabhub.plugins.python_source.source_files import location_of

CALLS = 1000
WARMUP = 100
PLUGIN = '''
from tabhub.sdk import Page, Plugin, tool


class Echo(Plugin):
    """Gives back what it gets."""

    match = ["https://echo.example/*"]

    @tool(read_only=True)
    async def echo(self, page: Page, text: str) -> str:
        """Give it back."""
        return text
'''
ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


class Nothing:
    """The operations of a plugin that has none."""

    async def operate(self, operation: str, params: Mapping[str, Any]) -> Any:
        return None

    def notice(self, operation: str, params: Mapping[str, Any]) -> None:
        pass


def measure() -> Iterator[Row]:
    floor, start, hop = asyncio.run(_measured())
    yield Row("echo of a bare process, by two pipes", floor, " ms")
    yield Row("start the process of a plugin in Python", start, " ms")
    yield Row("call a tool in that process", hop, " ms", 1)
    yield Row("the same, in echoes of a bare process", hop / floor, "x")


async def _measured() -> tuple[float, float, float]:
    floor = await _bare()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "echo.py"
        path.write_text(PLUGIN)
        package = read_python(location_of(path), path.name, "local")
        begin = time.perf_counter()
        process = await PluginProcess.start(package, lambda line: None)
        start = (time.perf_counter() - begin) * 1000
        page = ("https://echo.example/", 1)

        async def call() -> None:
            await process.call(Nothing(), "echo", {"text": "a"}, page, {}, 0)

        hop = await _median(call)
        await process.stop("it is measured")
    return floor, start, hop


async def _bare() -> float:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ECHO, stdin=PIPE, stdout=PIPE
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None and stdout is not None

    async def echo() -> None:
        stdin.write(b"a" * 100 + b"\n")
        await stdout.readline()

    floor = await _median(echo)
    stdin.close()
    await process.wait()
    return floor


async def _median(work: Callable[[], Awaitable[None]]) -> float:
    for _ in range(WARMUP):
        await work()
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        await work()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)
