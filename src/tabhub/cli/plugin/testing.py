"""`tabhub plugin test`: runs the tests of a Python plugin with the testing kit."""

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tabhub.cli import FAILED
from tabhub.cli.plugin.creating import TESTS
from tabhub.errors import NotFound, Refused

KIT = "tabhub.sdk.testing"
OWN_SETTINGS = (
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)


def run_tests(folder: Path, live_url: str | None, arguments: list[str]) -> None:
    """Run pytest in the folder; exit with 1 if a test fails, or if there is none."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.")
    if _is_javascript(folder):
        raise Refused(
            "This command runs the tests of plugins in Python. Those of a plugin in JavaScript are "
            f"run by: {TESTS['js'].format(folder=shlex.quote(str(folder)))}"
        )
    if find_spec("pytest") is None:
        raise Refused(
            "The tests of plugins need pytest, which is not installed. Install it with: "
            f"{sys.executable} -m pip install pytest"
        )
    live = [] if live_url is None else [f"--live-url={live_url}"]
    command = [*_pytest(folder.resolve()), *live, *arguments]
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(FAILED)


def _is_javascript(folder: Path) -> bool:
    """Whether there is a plugin in JavaScript, and nothing that pytest could run."""
    has_python = any(folder.glob("*.py")) or any(folder.glob("test*/**/*.py"))
    return (folder / "dist" / "tools.json").is_file() and not has_python


def _pytest(folder: Path) -> list[str]:
    kit = ["-p", KIT, "-p", "no:cacheprovider", "-o", "pythonpath=.", f"--rootdir={folder}"]
    has_settings = any((folder / name).exists() for name in OWN_SETTINGS)
    others = [] if has_settings else _without_settings()
    # -rs: a test with `live_page` is skipped for a reason that the author has to know.
    return [sys.executable, "-m", "pytest", "-rs", "--import-mode=importlib", *kit, *others]


def _without_settings() -> list[str]:
    """Keep pytest from the settings of a folder above, which are for other tests."""
    nothing = ["-c", os.devnull]
    if find_spec("pytest_asyncio") is None:
        return nothing
    # Without it, this plugin of pytest warns about itself.
    return [*nothing, "-o", "asyncio_default_fixture_loop_scope=function"]
