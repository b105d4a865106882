"""What tests of nodes share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def swept() -> Iterator[None]:
    """What a test has left behind ends with it, and its warnings do not reach another test."""
    yield
    gc.collect()
