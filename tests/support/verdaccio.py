"""A real npm registry on this machine: verdaccio, without any other registry behind it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import free_port
from tests.support.site import NPM

NODE = NPM / "node" / "bin" / "node"
SCOPE = "@acme"
"""Packages of this scope are for users only."""
CONFIG = f"""
storage: storage
auth: {{htpasswd: {{file: htpasswd}}}}
uplinks: {{}}
packages:
  '{SCOPE}/*': {{access: $authenticated, publish: $authenticated}}
  '**': {{access: $all, publish: $authenticated}}
log: {{type: stdout, format: pretty, level: warn}}
"""


class Verdaccio:
    """A running registry, and a user of it who publishes."""

    def __init__(self, port: int, folder: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.token = self._add_user()
        self.npmrc = folder / "npmrc"
        self.npmrc.write_text(f"registry={self.url}\n{self.token_line}")

    @property
    def token_line(self) -> str:
        return f"{self.url.removeprefix('http:')}:_authToken={self.token}\n"

    def publish(self, folder: Path) -> None:
        """Publish the package in a folder, with npm itself."""
        command = ["npm", "publish", f"--userconfig={self.npmrc}", "--access=public", "--silent"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)

    def _add_user(self) -> str:
        body = json.dumps({"name": "ada", "password": "swordfish"}).encode()
        url = f"{self.url}-/user/org.couchdb.user:ada"
        request = Request(url, body, {"Content-Type": "application/json"}, method="PUT")
        with urlopen(request, timeout=PATIENCE) as answer:
            return str(json.load(answer)["token"])


@contextmanager
def running_verdaccio(folder: Path) -> Iterator[Verdaccio]:
    """Run a registry whose packages lie in a folder."""
    (folder / "config.yaml").write_text(CONFIG)
    program, port = NPM / "verdaccio" / "bin" / "verdaccio", free_port()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [NODE, program, "--config", "config.yaml", "--listen", f"127.0.0.1:{port}"],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            eventually_sync(lambda: _answers(port), "verdaccio answers")
            yield Verdaccio(port, folder)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/-/ping", timeout=PATIENCE):
            return True
    except OSError:
        return False
