"""Settings of every test run, and the check of the link in every test."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tabhub.browser.link import pending as checked
from tests.support.examples import QUICK

# Both ends of the link check each command, also in servers that tests start as processes.
os.environ["TABHUB_DEVELOPMENT"] = "1"
# A run in the background of a shell ignores Ctrl-C, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.plugin_requirements", "pytester"]
# A busy machine makes an example slow, not wrong.
settings.register_profile("unhurried", deadline=None)
settings.register_profile(QUICK, deadline=None, max_examples=20)
settings.load_profile("unhurried")
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start slow tests first, so that the others run beside them and not before them.

    Each worker starts with a share of the same size. The first one has the slowest test, and the
    others take over the rest of its share meanwhile.
    """
    slow = [item for item in items if item.get_closest_marker("slow")]
    others = [item for item in items if not item.get_closest_marker("slow")]
    slow.sort(key=_seconds, reverse=True)
    share = len(items) // WORKERS
    items[:] = []
    for number, share_of_slow in enumerate(_dealt(slow)):
        rest = others if number == WORKERS - 1 else others[: max(share - len(share_of_slow), 0)]
        items += share_of_slow + rest
        others = others[len(rest) :]


def _dealt(slow: list[pytest.Item]) -> list[list[pytest.Item]]:
    if WORKERS == 1:
        return [slow]
    return [slow[:1], *(slow[1 + number :: WORKERS - 1] for number in range(WORKERS - 1))]


def _seconds(item: pytest.Item) -> float:
    """The time limit in the mark of a test."""
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark else 0


@pytest.fixture(autouse=True)
def _link_as_declared() -> Iterator[None]:
    """Fail where a server in this process sends a command, or gets an output, unlike its type."""
    checked.MISFITS.clear()
    yield
    assert checked.MISFITS == []
