"""The four applications: each started on a free port with seeded data, reset, and inspected."""

import json
import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from bench.tasks import seeded
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import free_port

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".venv" / "tasks" / "bin"
NODE_RED = ROOT / "bench" / "tasks" / "npm" / "node_modules" / "node-red" / "red.js"
SEEDS = Path(__file__).parent / "seeds"
QUIET = {
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
START_SECONDS = 180.0

Json = Any


class Application(ABC):
    """One application, with a folder of its own."""

    name: str
    ready = "/"
    """The path that answers once the application has started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def start_page(self) -> str:
        """The address that a task begins at."""
        return f"{self.url}/"

    def prepare(self) -> None:
        """Write what must be there before the start."""
        return

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def reset(self) -> None:
        """Bring the data back to what it was at the start."""

    @contextmanager
    def running(self) -> Iterator["Application"]:
        self.prepare()
        with (self.folder / "output").open("w") as output:
            process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                env={**os.environ, **QUIET, "HOME": str(self.folder)},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                self._wait(process)
                yield self
            finally:
                # The whole group: some applications have processes of their own.
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(PATIENCE)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        def answers() -> bool:
            if process.poll() is not None:
                output = (self.folder / "output").read_text()
                raise RuntimeError(f"{self.name} has ended: {output[-2000:]}")
            try:
                self.ask("GET", self.ready)
            except OSError:
                return False
            return True

        eventually_sync(answers, f"{self.name} to answer", seconds=START_SECONDS)

    def ask(self, method: str, path: str, body: Json = None) -> Json:
        """The JSON of a response, or its text."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(self.url + path, data, headers, method=method)
        try:
            with urlopen(request, timeout=PATIENCE) as response:
                text = response.read().decode()
        except HTTPError as error:
            raise OSError(f"{method} {path}: {error.code} {error.read()[:300]!r}") from error
        try:
            return json.loads(text)
        except ValueError:
            return text


class DjangoAdmin(Application):
    name = "Django admin"
    ready = "/admin/login/"

    @property
    def start_page(self) -> str:
        return f"{self.url}/admin/"

    @property
    def database(self) -> Path:
        return self.folder / "library.db"

    def command(self) -> list[str]:
        return self._manage("runserver", "--noreload", f"127.0.0.1:{self.port}")

    def prepare(self) -> None:
        subprocess.run(self._manage("seed"), check=True)
        shutil.copy(self.database, self.folder / "seeded.db")

    def reset(self) -> None:
        shutil.copy(self.folder / "seeded.db", self.database)

    def _manage(self, *arguments: str) -> list[str]:
        return [
            str(PROGRAMS / "python"),
            str(SEEDS / "library_site.py"),
            str(self.folder),
            *arguments,
        ]


class JupyterLab(Application):
    name = "JupyterLab"
    ready = "/api/contents"

    @property
    def start_page(self) -> str:
        return f"{self.url}/lab"

    @property
    def files(self) -> Path:
        return self.folder / "files"

    def command(self) -> list[str]:
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.root_dir": self.files,
            "IdentityProvider.token": "",
            "LabApp.user_settings_dir": self.folder / "settings",
            "LabApp.workspaces_dir": self.folder / "workspaces",
            "LabApp.extension_manager": "readonly",
            "ServerApp.disable_check_xsrf": True,
        }
        given = [f"--{name}={value}" for name, value in options.items()]
        return [str(PROGRAMS / "jupyter-lab"), "--no-browser", "--allow-root", *given]

    def prepare(self) -> None:
        self.files.mkdir()
        settings = self.folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        news = {"fetchNews": "false", "checkForUpdates": False}
        (settings / "notification.jupyterlab-settings").write_text(json.dumps(news))
        self._write()

    def reset(self) -> None:
        for session in self.ask("GET", "/api/sessions"):
            self.ask("DELETE", f"/api/sessions/{session['id']}")
        for workspace in self.ask("GET", "/lab/api/workspaces")["workspaces"]["ids"]:
            self.ask("DELETE", f"/lab/api/workspaces/{workspace}")
        self._write()

    def _write(self) -> None:
        for file in self.files.iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        for name, notebook in seeded.notebooks().items():
            (self.files / name).write_text(json.dumps(notebook))


class NodeRed(Application):
    name = "Node-RED"
    ready = "/flows"

    def command(self) -> list[str]:
        return ["node", str(NODE_RED), "--userDir", str(self.folder), "--port", str(self.port)]

    def prepare(self) -> None:
        (self.folder / "settings.js").write_text(
            f"module.exports = {json.dumps(seeded.NODE_RED_SETTINGS)};\n"
        )
        (self.folder / "flows.json").write_text(json.dumps(seeded.flows()))

    def reset(self) -> None:
        self.ask("POST", "/flows", seeded.flows())
        self.ask("POST", "/settings/user", {"editor": {"view": {"view-show-grid": True}}})
        for key in self.ask("GET", "/context/global").get("memory", {}):
            self.ask("DELETE", f"/context/global/{key}")


class MLflow(Application):
    name = "MLflow"
    ready = "/health"
    _api = "/api/2.0/mlflow"
    _experiment = ""

    @property
    def start_page(self) -> str:
        return f"{self.url}/#/experiments/{self._experiment}/runs"

    def command(self) -> list[str]:
        return [
            *(str(PROGRAMS / "mlflow"), "server", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--backend-store-uri", f"sqlite:///{self.folder / 'runs.db'}", "--workers", "1"),
            *("--artifacts-destination", str(self.folder / "artifacts")),
        ]

    def reset(self) -> None:
        if self._experiment:
            self._undo()
            return
        made = self.post("experiments/create", name=seeded.EXPERIMENT, tags=[seeded.TRAINING])
        self._experiment = made["experiment_id"]
        for run in seeded.runs():
            self._add(run)

    def _undo(self) -> None:
        for run in self.runs("ALL"):
            id = run["info"]["run_id"]
            if run["info"]["lifecycle_stage"] == "deleted":
                self.post("runs/restore", run_id=id)
            for tag in own_tags(run):
                self.post("runs/delete-tag", run_id=id, key=tag)

    def _add(self, run: seeded.Run) -> None:
        start = seeded.STARTED + run.number * 60_000
        made = self.post(
            "runs/create", experiment_id=self._experiment, run_name=run.name, start_time=start
        )
        id = made["run"]["info"]["run_id"]
        metrics = [
            {"key": key, "value": value, "timestamp": start, "step": 0}
            for key, value in run.metrics.items()
        ]
        params = [{"key": key, "value": value} for key, value in run.parameters.items()]
        self.post("runs/log-batch", run_id=id, metrics=metrics, params=params)
        self.post("runs/update", run_id=id, status=run.status, end_time=start + 30_000)

    def runs(self, kind: str = "ACTIVE_ONLY") -> list[Json]:
        found = self.post(
            "runs/search", experiment_ids=[self._experiment], max_results=1000, run_view_type=kind
        )
        runs: list[Json] = found.get("runs", [])
        return runs

    def post(self, path: str, **body: Json) -> Json:
        return self.ask("POST", f"{self._api}/{path}", body)


def own_tags(run: Json) -> dict[str, str]:
    """The tags of a run, without those of MLflow itself."""
    tags = {tag["key"]: tag["value"] for tag in run["data"].get("tags", [])}
    return {key: value for key, value in tags.items() if not key.startswith("mlflow.")}


ALL = (DjangoAdmin, JupyterLab, NodeRed, MLflow)
