"""One endpoint on the workbench, reached without a socket (`http`) or over one (`wire`)."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tabhub.agents.mcp.http import McpEndpoint
from tests.agents.mcp.clients import in_process, over_socket
from tests.agents.mcp.workbench import Workbench


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def endpoint(bench: Workbench, clock: Clock) -> McpEndpoint:
    return McpEndpoint(bench, clock=clock, idle_seconds=60, max_body=100_000)


@pytest.fixture
async def http(endpoint: McpEndpoint) -> AsyncIterator[httpx.AsyncClient]:
    async with in_process(endpoint) as client:
        yield client


@pytest.fixture
async def wire(endpoint: McpEndpoint) -> AsyncIterator[httpx.AsyncClient]:
    async with over_socket(endpoint) as client:
        yield client
