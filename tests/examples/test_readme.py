"""The page of the examples names each of them."""

import re

from tests.built_package import ROOT

FOLDER = ROOT / "examples"


def test_every_example_has_a_line() -> None:
    links = re.findall(r"^\| \[.+?\]\(([^)]+)\)", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert [link for link in links if not (FOLDER / link).exists()] == []
    examples = {path.name for path in FOLDER.iterdir() if path.name not in ("README.md",)}
    assert {link.split("/")[0] for link in links} == examples - {"__pycache__", ".mypy_cache"}
