"""The first hour: from the wheel to the first real call, with the packages in pip's cache."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.rows import Row
from tests.built_package import ROOT, NewMachine
from tests.support.site import serving

SECONDS = 30
MEGABYTES = 3


def measure() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        wheel = _built(folder / "dist")
        yield Row("wheel: size", wheel.stat().st_size / 1e6, " MB", MEGABYTES)
        # The first one fills the cache.
        times = [_first_call(folder / str(number), wheel) for number in range(3)]
        note = f"the first, with whatever was cached, {times[0]:.1f} s"
        yield Row("wheel to first call", min(times[1:]), " s", SECONDS, note)


def _built(folder: Path) -> Path:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _first_call(folder: Path, wheel: Path) -> float:
    """Seconds for a new environment, the installation, the server, its browser and one call."""
    folder.mkdir()
    with serving() as site:
        page = site.page("form")
        begin = time.perf_counter()
        machine = NewMachine(folder)
        machine.install(wheel)
        try:
            for command in (
                "start --browser --background",
                f"tool call browser_open_tab url={page}",
            ):
                machine.run(f"tabhub {command}").check_returncode()
            return time.perf_counter() - begin
        finally:
            machine.run("tabhub stop")
