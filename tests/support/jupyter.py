"""A real Jupyter server on this machine, from an environment of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import free_port

PROGRAM = Path(__file__).parents[2] / ".venv" / "jupyter" / "bin" / "jupyter-server"
TOKEN = "sesame"


class Jupyter:
    """A running server, and the folder with its files."""

    def __init__(self, port: int, files: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.login = f"{self.url}/?token={TOKEN}"
        """The page that gives the browser its session."""
        self.files = files


@contextmanager
def running_jupyter(folder: Path) -> Iterator[Jupyter]:
    """Run a server whose files and settings lie in a folder."""
    assert PROGRAM.exists(), "Jupyter is not installed: run `make .venv/jupyter/.stamp`"
    files, port = folder / "files", free_port()
    files.mkdir()
    places = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.root_dir": files,
        "IdentityProvider.token": TOKEN,
    }
    given = [f"--{name}={value}" for name, value in options.items()]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PROGRAM, "--no-browser", "--allow-root", *given],
            env={**os.environ, **places},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            eventually_sync(lambda: _answers(port), "Jupyter answers")
            yield Jupyter(port, files)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/api", timeout=PATIENCE):
            return True
    except HTTPError:
        return True
    except OSError:
        return False
