"""The web site of the attacks in real browsers."""

from collections.abc import Iterator

import pytest

from tests.support.site import Site, serving


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serving() as found:
        yield found
