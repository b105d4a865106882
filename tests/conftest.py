"""What every test may use."""

import pytest

pytest_plugins = ["tests.plugin_requirements"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests begin first, so that the others run beside them and not before them."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
