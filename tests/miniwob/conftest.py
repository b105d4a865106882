"""The pages of the suite, and the product that plays them."""

from collections.abc import Iterator

import pytest

from tests.miniwob.suite import serving
from tests.real.conftest import agent, cdp, product

__all__ = ["agent", "cdp", "pages", "product"]


@pytest.fixture(scope="session")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address
