"""The package as it is published, built once for all tests, and a machine that never had it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tabhub.config.files import locked
from tests.support.http_client import free_port

ROOT = Path(__file__).parents[1]
PLACE = "Größe und Ziel"


def built_once(factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and source archive; the first worker that needs them builds them."""
    folder = _filled_once(factory, "dist", _build)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def wheels_once(factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel and those of all dependencies, as the lock file has them."""
    wheel = built_once(factory)[0]
    return _filled_once(factory, "wheels", lambda folder: _download(folder, wheel))


def _filled_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with locked(folder):
        if not any(folder.glob("*.whl")):
            fill(folder)
    return folder


def _build(folder: Path) -> None:
    """The wheel is built from the archive, as publishers do."""
    _run("build", "--no-isolation", "--outdir", str(folder), str(ROOT))


def _download(folder: Path, wheel: Path) -> None:
    options = ("--quiet", "--only-binary=:all:", "-c", str(ROOT / "requirements.lock"))
    # uv resolves for all systems at once, and on Windows typer needs one more.
    _run("pip", "download", *options, "--dest", str(folder), str(wheel), "colorama")


def _run(module: str, *arguments: str) -> None:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.stdout


class NewMachine:
    """An empty home with spaces and letters beyond ASCII in its path, and a new environment."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / PLACE
        self.home.mkdir()
        self._bin = folder / "venv" / "bin"
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "TABHUB_PORT": str(free_port()),
        }
        if "TABHUB_BROWSER" in os.environ:
            self.environment["TABHUB_BROWSER"] = os.environ["TABHUB_BROWSER"]
        subprocess.run([sys.executable, "-m", "venv", str(self._bin.parent)], check=True)

    def install(self, wheel: Path) -> None:
        pip = [str(self._bin / "pip"), "install", "--quiet", "--only-binary=:all:"]
        command = [*pip, "-c", str(ROOT / "requirements.lock"), str(wheel)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def run(self, command: str) -> "subprocess.CompletedProcess[str]":
        program, *arguments = shlex.split(command)
        return subprocess.run(
            [str(self._bin / program), *arguments],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=120,
        )
