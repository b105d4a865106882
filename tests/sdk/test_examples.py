"""The plugins in examples/plugins: their own tests pass."""

from pathlib import Path

import pytest

from tests.support.product import Product

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"
FOLDERS = [file.parent for file in sorted(EXAMPLES.glob("*/plugin.py"))]


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_passes_its_own_tests(folder: Path, tmp_path: Path) -> None:
    done = Product(tmp_path / "home").run("plugin", "test", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_says_what_it_is_in_a_screen(folder: Path) -> None:
    lines = (folder / "README.md").read_text().splitlines()
    assert 10 < len(lines) < 50
