"""Clients and extensions of two users on three nodes, while NATS and a node fail one by one.

The model in `test_proxy_model.py` tries all orders in memory. This is the same promise on real
sockets: no answer crosses, and every request gets exactly one end.
"""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from itertools import count
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.proxy.nodes.conversations import next_request
from tests.proxy.nodes.nats_servers import NatsServer, nats_server
from tests.proxy.nodes.node_process import NodeProcess, node_process
from tests.proxy.served import ProxyAddress, Side, client, extension, served, token
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.requirement("PX-09"),
    pytest.mark.nats,
    # nats-py forgets to close the connection to a server that does not greet it.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
    pytest.mark.usefixtures("swept"),
]
USERS = ("ann", "bob")
BURST = 5
BETWEEN = 100
"""Requests that get their end between two faults."""


class Traffic:
    """What all clients do, and what they got."""

    def __init__(self) -> None:
        self.ends = 0
        self.results = 0
        self.is_over = False
        self.extensions: dict[str, list[str]] = {user: [] for user in USERS}
        self._random = random.Random(16)
        self._numbers = count(1)

    async def browse(self, user: str, browser: Side) -> None:
        """An extension that says in each answer whose it is."""
        with suppress(ConnectionClosed):
            while True:
                request = await next_request(browser)
                result = {"by": user, "number": request["params"]["number"]}
                await browser.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def call(self, user: str, agent: Side) -> None:
        """A client that calls until all is over; each of its requests gets one end."""
        asked: Counter[int] = Counter()
        while not self.is_over:
            numbers = [next(self._numbers) for _ in range(BURST)]
            for number in numbers:
                await agent.send(self._request(user, number))
            for number in numbers:
                await self._end(user, agent, number)
            asked.update(numbers)
        await agent.ask("last", "list_extensions")
        late = Counter(message.get("id") for message in agent.seen)
        assert not asked.keys() & late.keys()

    def _request(self, user: str, number: int) -> dict[str, object]:
        method = self._random.choice(["connect", "disconnect", *["echo"] * 8])
        extension_id = self._random.choice(self.extensions[user])
        params = {"number": number, "extension_id": extension_id}
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    async def _end(self, user: str, agent: Side, number: int) -> None:
        early = [message for message in agent.seen if message.get("id") == number]
        answer = early[0] if early else await agent.next(id=number)
        for message in early:
            agent.seen.remove(message)
        assert len(early) <= 1
        result = answer.get("result", {})
        if "by" in result:
            assert result == {"by": user, "number": number}
            self.results += 1
        self.ends += 1

    async def goes_on(self) -> None:
        """Wait until more requests have got their end, some of them an answer."""
        ends, results = self.ends + BETWEEN, self.results + 1
        await eventually(lambda: self.ends >= ends and self.results >= results)


async def faults(traffic: Traffic, nats: NatsServer, apart: NodeProcess) -> None:
    steps: list[Callable[[], Awaitable[None] | None]] = [
        nats.kill,
        nats.start,
        lambda: apart.signal(signal.SIGSTOP),
        lambda: apart.signal(signal.SIGCONT),
        nats.stand_still,
        nats.go_on,
        lambda: apart.signal(signal.SIGKILL),
    ]
    for step in steps:
        await traffic.goes_on()
        doing = step()
        if doing is not None:
            await doing
    await traffic.goes_on()
    traffic.is_over = True


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients whose requests fail at once send more than they may."""
    for module, what in (("proxy_clients", "CONNECTION"), ("proxy_extensions", "USER")):
        for limit in ("RATE", "BURST"):
            monkeypatch.setattr(f"tabhub.proxy.{module}.{what}_{limit}", 1e12)
    monkeypatch.setattr("tabhub.proxy.rooms.USER_RATE", 1e12)
    monkeypatch.setattr("tabhub.proxy.rooms.USER_BURST", 1e12)


async def test_no_answer_crosses_and_each_request_has_one_end_whatever_fails(
    tmp_path: Path, unlimited: None
) -> None:
    traffic = Traffic()
    async with AsyncExitStack() as stack:
        nats = await stack.enter_async_context(nats_server(tmp_path))
        apart = await stack.enter_async_context(node_process(nats.url))
        one = await stack.enter_async_context(served(nats=(nats.url,)))
        two = await stack.enter_async_context(served(nats=(nats.url,)))
        browsing: list[asyncio.Task[None]] = []
        calling: list[tuple[str, Side]] = []
        for user in USERS:
            for node in (one, apart):
                found = await _extension(stack, node, user)
                traffic.extensions[user].append(found[1])
                browsing.append(asyncio.create_task(traffic.browse(user, found[0])))
            for node in (one, two):
                agent = await stack.enter_async_context(client(node, token(user)))
                calling.append((user, agent))
        clients = (traffic.call(user, agent) for user, agent in calling)
        await asyncio.gather(faults(traffic, nats, apart), *clients)
        for task in browsing:
            task.cancel()
        await asyncio.gather(*browsing, return_exceptions=True)


async def _extension(stack: AsyncExitStack, node: ProxyAddress, user: str) -> tuple[Side, str]:
    return await stack.enter_async_context(extension(node, token(user)))
