"""The product as a person runs it: by its command line, with its own home folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from tabhub.browser.link.pending import MARK
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import NO_TLS, authorization, client_of

NO_RATES = {
    "sessionsPerMinute": 0,
    "clientSessionsPerMinute": 0,
    "adminPerMinute": 0,
    "messagesPerMinute": 0,
}


class Product:
    """A home folder, and the tabhub processes started in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{
                k: v
                for k, v in os.environ.items()
                if k not in ("PORT", "TABHUB_PORT", "TABHUB_TOKEN") and not k.startswith("CLAUDE_")
            },
            "TABHUB_HOME": str(home),
        }

    def lift_rates(self) -> None:
        """Switch rate limits off: tests open many sessions. Tests about limits set their own."""
        file = self.home / "config.json"
        try:
            config = json.loads(file.read_text()) if file.exists() else {}
        except ValueError:
            return
        if "rates" not in config:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_text(json.dumps({**config, "rates": NO_RATES}))

    def run(
        self, *arguments: str, timeout: float = PATIENCE, stdin: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end."""
        command = [sys.executable, "-m", "tabhub", *arguments]
        return subprocess.run(
            command,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    @contextmanager
    def running(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """Run a command that keeps running; end it with SIGINT, as Ctrl-C does."""
        self.lift_rates()
        command = [sys.executable, "-u", "-m", "tabhub", *arguments]
        output = (self.home.parent / f"{self.home.name}.out").open("a+")
        process = subprocess.Popen(
            command, env=self.environment, stdout=output, stderr=subprocess.STDOUT, text=True
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
                output.close()
        self._require_declared()

    def _require_declared(self) -> None:
        """Fail if the server has logged a command that does not match its declaration."""
        log = self.home / "server.log"
        output = self.output + (log.read_text() if log.exists() else "")
        assert [line for line in output.splitlines() if MARK in line] == []

    @property
    def command(self) -> str:
        """How advice names this tabhub: by its path, unless `tabhub` alone finds it."""
        script = Path(sys.executable).with_name("tabhub")
        found = shutil.which("tabhub", path=self.environment.get("PATH"))
        is_this = found is not None and os.path.realpath(found) == os.path.realpath(script)
        return "tabhub" if is_this else str(script)

    @property
    def output(self) -> str:
        return (self.home.parent / f"{self.home.name}.out").read_text()

    def status(self) -> dict[str, Any]:
        """The output of `tabhub status --json`, without a process for each look."""
        with suppress(FileNotFoundError, httpx.HTTPError):
            port = json.loads((self.home / "server.pid").read_text())["port"]
            health = f"http://127.0.0.1:{port}/health"
            headers = authorization(self.secret)
            response = httpx.get(health, headers=headers, timeout=PATIENCE, verify=NO_TLS)
            return {"running": True, **response.raise_for_status().json(), "port": port}
        return {"running": False}

    @property
    def secret(self) -> str:
        found: str = json.loads((self.home / "extension" / "auth.json").read_text())["secret"]
        return found

    def wait_running(self) -> int:
        """The port, once the server answers."""
        look: Callable[[], int | None] = lambda: self.status().get("port")  # noqa: E731
        return eventually_sync(look, "the server to answer")

    def audit(self) -> list[dict[str, Any]]:
        """The entries of the log, without the lines that say that a call begins."""
        file = self.home / "audit.log"
        *lines, _ = file.read_text().split("\n") if file.exists() else [""]  # the last is not whole
        return [entry for entry in map(json.loads, lines) if not entry.get("began")]

    def wait_browser(self, after: int = 0) -> dict[str, Any]:
        """The status, once an extension has connected after this time and reported its tabs."""

        def ready() -> dict[str, Any] | None:
            status = self.status()
            browsers = status.get("browsers", [])
            fresh = [b for b in browsers if b["ready"] and b["connectedAt"] > after]
            return status if fresh else None

        return eventually_sync(ready, "the extension to connect")

    def client(self, port: int) -> httpx.AsyncClient:
        return client_of(port, self.secret)
