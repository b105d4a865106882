"""A home for commands, which run in this process: a process for each would take minutes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tabhub.cli import main
from tests.support.product import Product

Here = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path / "home")


@pytest.fixture
def here(
    product: Product, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Here:
    """Run a command as `product.run` does, in this process and with the same environment."""

    def run(*arguments: str) -> "CompletedProcess[str]":
        for name in {*os.environ, *product.environment}:
            if name.startswith("TABHUB_") and name not in product.environment:
                monkeypatch.delenv(name)
        for name, value in product.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["tabhub", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capfd.readouterr()
        return CompletedProcess(sys.argv, int(ended.value.code or 0), output.out, output.err)

    return run
