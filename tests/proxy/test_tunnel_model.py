"""Two ends of a tunnel over a bad line: the server's, and the extension's in Python and in Node."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck

from tabhub.errors import from_reason
from tabhub.rate_limit import Clock
from tabhub.wire.tunnel import TunnelAnswer
from tests.proxy.answering_end import Answer
from tests.proxy.tunnel_model import TunnelModel
from tests.support.examples import examples

NODE = Path(__file__).parents[1] / "npm" / "node_modules" / "node" / "bin" / "node"
DRIVER = Path(__file__).with_name("tunnel_driver.mjs")
Process = subprocess.Popen[str]
WAITS = [HealthCheck.too_slow]


@pytest.mark.requirement("PX-08")
class TestTunnelModel(TunnelModel.TestCase):  # type: ignore[misc, valid-type]
    settings = examples(100, stateful_step_count=60, suppress_health_check=WAITS)


class WorkerSession:
    """A session in the extension's own code."""

    def __init__(self, tunnels: "WorkerTunnels") -> None:
        self._tunnels = tunnels
        self.messages: list[str] = []
        self.closed: int | None = None
        self.is_over = False

    def send(self, text: str) -> None:
        self._tunnels.do("send", text=text)

    def close(self, code: int) -> None:
        self._tunnels.do("close", code=code)


class WorkerTunnels:
    """The extension's own code, in a process of Node."""

    def __init__(self, process: Process, clock: Clock) -> None:
        self._process = process
        self._clock = clock
        self._now = clock()
        self._answers: list[Answer] = []
        self._session: WorkerSession | None = None
        self.on_open: Any = None
        self.do("reset")

    def do(self, what: str, **more: Any) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self._process.stdin.flush()
        seen = json.loads(self._process.stdout.readline())
        if seen["isOpen"] and self._session is None:
            self._session = WorkerSession(self)
            self.on_open(self._session)
        if self._session is not None:
            self._session.messages += seen["messages"]
            self._session.closed, self._session.is_over = seen["closed"], seen["isOver"]
        for answer in seen["answers"]:
            self._answer(**answer)

    def _answer(self, key: int, result: Any = None, reason: str = "") -> None:
        said = from_reason(reason, reason) if reason else msgspec.convert(result, TunnelAnswer)
        self._answers[key](said)

    def take(self, connection: str, params: Any, answer: Answer) -> None:
        self._answers.append(answer)
        self.do("take", key=len(self._answers) - 1, connection=connection, params=params)

    def left(self, connection: str) -> None:
        self.do("left", connection=connection)

    def tick(self) -> None:
        passed, self._now = self._clock() - self._now, self._clock()
        self.do("tick", ms=round(passed * 1000))


class WorkerModel(TunnelModel):
    process: ClassVar[Process]

    def extension(self) -> WorkerTunnels:
        return WorkerTunnels(self.process, lambda: self.now)


@pytest.mark.npm
@pytest.mark.requirement("PX-08")
class TestWorkerModel(WorkerModel.TestCase):  # type: ignore[misc, valid-type]
    settings = examples(60, stateful_step_count=50, suppress_health_check=WAITS)

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def node(cls) -> Iterator[None]:
        pipe = subprocess.PIPE
        with subprocess.Popen([NODE, DRIVER], stdin=pipe, stdout=pipe, text=True) as process:
            WorkerModel.process = process
            yield
