"""One server with its browser for all tests of a file."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.browsers.cdp import browser_of
from tests.support.browsers.managed import CONFIG, Rig, managed_product
from tests.support.product import Product

OPENER = '#!/bin/sh\necho "$1" >> "{}"\n'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, int]]:
    """A server that asks about scripts, on a desktop whose file manager only notes folders."""
    folder = tmp_path_factory.mktemp("panel")
    opener = folder / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(OPENER.format(folder / "shown"))
    opener.chmod(0o700)
    desktop = {"PATH": f"{opener.parent}:{os.environ['PATH']}", "DISPLAY": ":99"}
    with managed_product(folder, CONFIG, **desktop) as found:
        yield found


@pytest.fixture
async def here(running: tuple[Product, int]) -> AsyncIterator[Rig]:
    product, port = running
    async with browser_of(product.home) as cdp:
        yield Rig(product, port, cdp)


@pytest.fixture
def shown(running: tuple[Product, int]) -> Path:
    """The file with the folders that were shown."""
    return running[0].home.parent / "shown"
