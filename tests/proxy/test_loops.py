"""The loops of a node: one that meets a fault goes on, or the node ends and says so."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from nats.aio.client import Client

from tabhub.errors import Unavailable
from tabhub.proxy.certificates import ServedCertificate
from tabhub.proxy.nodes.nats_network import NatsNetwork
from tabhub.proxy.outputs import Identity
from tabhub.proxy.proxy_server import ProxyServer, ProxySettings
from tabhub.proxy.service import ProxyService
from tests.proxy.certificates import certificate
from tests.proxy.served import SECRET, listener
from tests.support.eventually import PATIENCE, eventually


class FailsOnce:
    """Does what it is told to, but not the first time."""

    def __init__(self, action: Callable[..., Any]) -> None:
        self.action = action
        self.calls = 0

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("a fault")
        return self.action(*given)


async def no_identity(token: str) -> Identity:
    raise AssertionError("nobody shows a token")


async def test_the_clock_goes_on_after_a_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tabhub.proxy.service.TICK_SECONDS", 0.01)
    service = ProxyService(no_identity, ())
    tick = FailsOnce(service.board.tick)
    monkeypatch.setattr(service.board, "tick", tick)
    keeping = asyncio.create_task(service.keep_time())
    await eventually(lambda: tick.calls > 2)
    assert "a fault" in caplog.text
    keeping.cancel()


async def test_a_node_that_loses_a_loop_ends_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(certificate: ServedCertificate) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(ServedCertificate, "follow", fail)
    cert, key = certificate(tmp_path, "proxy.example")
    settings = ProxySettings(
        secret=SECRET, certificate=cert, certificate_key=key, drain_seconds=0.0
    )
    server = ProxyServer(settings, listener(), listener())
    with pytest.raises(Unavailable, match="loop of this node has failed: a fault"):
        await asyncio.wait_for(server.serve(), PATIENCE)


class SilentNats:
    """A double of a client of NATS, alone."""

    max_payload = 1_000_000

    def __init__(self) -> None:
        self.published: list[str] = []
        self.publish_now: Callable[[str], None] = self.published.append

    async def subscribe(self, subject: str, cb: object) -> None:
        return

    async def flush(self, timeout: float = 1) -> None:
        return

    async def publish(self, subject: str, data: bytes, reply: str) -> None:
        self.publish_now(subject)

    async def request(self, subject: str, data: bytes, timeout: float) -> None:
        raise RuntimeError("a fault")


@asynccontextmanager
async def networked(
    nats: SilentNats, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[NatsNetwork]:
    service = ProxyService(no_identity, ())
    network = NatsNetwork(service, cast(Client, nats), lambda: None, clock)
    await network.start()
    try:
        yield network
    finally:
        await network.stop()


@pytest.fixture
def quick_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabhub.proxy.nodes.nats_network.BEAT_SECONDS", 0.01)


@pytest.mark.usefixtures("quick_beats")
async def test_a_node_is_heard_after_a_fault_in_writing(caplog: pytest.LogCaptureFixture) -> None:
    nats = SilentNats()
    nats.publish_now = FailsOnce(nats.published.append)
    async with networked(nats):
        await eventually(lambda: nats.published.count("beat") > 2)
    assert "a fault" in caplog.text


@pytest.mark.usefixtures("quick_beats")
async def test_a_node_is_heard_after_a_fault_in_checking_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nats, is_wrong = SilentNats(), [False]

    def clock() -> float:
        if is_wrong[0]:
            raise RuntimeError("a fault")
        return time.monotonic()

    async with networked(nats, clock):
        is_wrong[0] = True
        await eventually(lambda: "a fault" in caplog.text)
        is_wrong[0] = False
        beats = nats.published.count("beat")
        await eventually(lambda: nats.published.count("beat") > beats + 2)


async def test_a_fault_while_a_room_is_asked_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with networked(SilentNats()) as network:
        network.ask("room")
        await eventually(lambda: "a task of the network has failed" in caplog.text)
