"""A home for a bridge and its server."""

from pathlib import Path

import pytest

from tabhub.config.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()
