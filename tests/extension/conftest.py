"""The extension in browsers with and without WebMCP, connected to a double of the server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.browsers.extension_alone import WITHOUT_WEBMCP, Bench, bench


@pytest.fixture
async def native(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path / "native") as made:
        yield made


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[Bench]:
    """The extension in a browser without WebMCP."""
    async with bench(tmp_path / "plain", WITHOUT_WEBMCP) as made:
        yield made
