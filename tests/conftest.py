"""What every test may use."""

import pytest
from hypothesis import settings

pytest_plugins = ["tests.plugin_requirements"]
# A busy machine makes an example slow, not wrong.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests begin first, so that the others run beside them and not before them."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
