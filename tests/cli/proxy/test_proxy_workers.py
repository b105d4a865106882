"""`tabhub proxy serve --workers`: several processes are one service, and none stays dead."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest

from tests.proxy.nodes.conversations import answering, works
from tests.proxy.nodes.nats_servers import nats_server
from tests.proxy.served import ProxyAddress, Side, client, extension
from tests.support.eventually import PATIENCE, eventually, eventually_sync
from tests.support.product import Product

pytestmark = [pytest.mark.requirement("PX-09"), pytest.mark.nats]
FREE = ("--port", "0", "--admin-port", "0")


def children(pid: int) -> set[int]:
    return {int(found) for found in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def admin_ports(product: Product) -> list[int]:
    lines = [line for line in product.output.splitlines() if line.startswith("Health")]
    return [int(line.rpartition(":")[2]) for line in lines]


@contextmanager
def two_workers(product: Product, nats: str) -> Iterator[tuple[ProxyAddress, int]]:
    """The service, and the process that keeps its workers."""
    file = product.home / "proxy.json"
    flags = ("--nats", nats, "--workers", "2", "--drain-seconds", "1")
    with product.running("proxy", "serve", *FREE, *flags) as process:
        eventually_sync(lambda: file.exists() and len(admin_ports(product)) == 2, "two workers")
        known = json.loads(file.read_text())
        assert known["admin_port"] == admin_ports(product)[0]
        yield ProxyAddress(known["port"], known["admin_port"]), process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def token_of(product: Product) -> str:
    return product.run("proxy", "token", "--user-id", "ann").stdout.strip()


async def test_workers_are_one_service_and_one_that_dies_is_started_again(
    product: Product, tmp_path: Path
) -> None:
    async with nats_server(tmp_path) as nats:
        with two_workers(product, nats.url) as (proxy, parent):
            token = token_of(product)
            async with AsyncExitStack() as stack:
                agents = await _agents_of_both(stack, proxy, product, token)
                browser, id = await stack.enter_async_context(extension(proxy, token))
                await stack.enter_async_context(answering(browser))
                for agent in agents:
                    await works(agent, id)
            before = children(parent)
            os.kill(min(before), signal.SIGKILL)
            await eventually(lambda: len(children(parent) - before) == 1, "another worker")
            async with AsyncExitStack() as stack:
                agents = await _agents_of_both(stack, proxy, product, token)
                browser, id = await stack.enter_async_context(extension(proxy, token))
                await stack.enter_async_context(answering(browser))
                for agent in agents:
                    await works(agent, id)


async def _agents_of_both(
    stack: AsyncExitStack, proxy: ProxyAddress, product: Product, token: str
) -> list[Side]:
    """Clients until each worker has one."""
    agents: list[Side] = []

    async def has_sockets(port: int) -> bool:
        async with proxy.http() as http:
            page = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
        return 'tabhub_proxy_sockets{kind="clients"} 0.0' not in page

    async def both_have() -> bool:
        agents.append(await stack.enter_async_context(client(proxy, token)))
        return all([await has_sockets(port) for port in admin_ports(product)])

    await eventually(both_have)
    return agents


def test_workers_end_with_the_process_that_keeps_them(product: Product) -> None:
    flags = ("--nats", "nats://127.0.0.1:1", "--workers", "2", "--drain-seconds", "0")
    with product.running("proxy", "serve", *FREE, *flags) as process:
        eventually_sync(lambda: len(children(process.pid)) == 2, "two workers")
        found = children(process.pid)
        process.kill()
        eventually_sync(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in found), "the end of workers"
        )


def test_a_worker_that_cannot_start_ends_the_command(product: Product, tmp_path: Path) -> None:
    nothing = tmp_path / "empty.pem"
    nothing.touch()
    tls = ("--tls-cert", str(nothing), "--tls-key", str(nothing))
    nats = ("--nats", "nats://127.0.0.1:1", "--workers", "2")
    ended = product.run("proxy", "serve", *FREE, *tls, *nats)
    assert ended.returncode == 2
    assert "has no certificate in it" in ended.stderr


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--workers", "2"), "--workers takes --nats"),
        (("--nats-creds", "/none"), "--nats-creds takes --nats"),
        (("--nats", "nats://127.0.0.1:1", "--nats-creds", "/none"), "/none cannot be read"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    product: Product, flags: tuple[str, ...], why: str
) -> None:
    refused = product.run("proxy", "serve", *FREE, *flags)
    assert refused.returncode == 2
    assert why in refused.stderr
