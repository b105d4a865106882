"""A node of the proxy, and a browser that it serves."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.served import ServedProxy, served
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import RemoteAgent, remote_agent, remote_browser


@pytest.fixture
async def proxy() -> AsyncIterator[ServedProxy]:
    async with served() as found:
        yield found


@pytest.fixture
async def browser(tmp_path: Path, proxy: ServedProxy) -> AsyncIterator[Cdp]:
    """A browser that tabhub started."""
    async with remote_browser(tmp_path / "browser", proxy) as found:
        yield found


@pytest.fixture
async def personal(tmp_path: Path, proxy: ServedProxy) -> AsyncIterator[Cdp]:
    """A browser of a person, who has allowed nobody."""
    async with remote_browser(tmp_path / "personal", proxy, lambda extension: None) as found:
        yield found


@pytest.fixture
async def remote(proxy: ServedProxy, browser: Cdp) -> AsyncIterator[RemoteAgent]:
    async with remote_agent(proxy) as found:
        yield found
