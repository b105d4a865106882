"""Memory of the server after a thousand calls: of the echo, and with a real browser."""

from collections.abc import Iterator

import uvloop

from bench.browser.browser_setup import browser_setup
from bench.processes import rss_megabytes, server
from bench.rows import Row
from bench.server.echo import drive, written

LIMIT = 80
CALLS = 1000


def measure() -> Iterator[Row]:
    yield _echo()
    yield from uvloop.run(_real())


def _echo() -> Row:
    with server("bench.server.echo_server") as product:
        before = rss_megabytes(product.pid)
        uvloop.run(drive(product.port, uvloop.run(written("session", product.port, CALLS)), 1))
        return _row("echo calls", rss_megabytes(product.pid), before)


async def _real() -> list[Row]:
    """A thousand lists of tabs, then a thousand scripts, in the same server."""
    async with browser_setup() as ready:
        agent = ready.agent
        tab = await agent.open(ready.site.page("form"))
        before = rss_megabytes(ready.server_pid)
        for _ in range(CALLS):
            await agent.call("browser_list_tabs")
        listed = rss_megabytes(ready.server_pid)
        for _ in range(CALLS):
            await agent.call("browser_execute_script", code="1+1", tabId=tab)
        return [
            _row("browser_list_tabs", listed, before),
            _row("browser_execute_script, afterwards", rss_megabytes(ready.server_pid), listed),
        ]


def _row(calls: str, after: float, before: float) -> Row:
    return Row(f"memory, {CALLS} {calls}", after, " MB", LIMIT, f"{after - before:+.1f} MB")
