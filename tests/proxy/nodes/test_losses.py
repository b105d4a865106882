"""Nodes and servers of NATS that die, stand still and come back: no request is left without end."""

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.proxy.nodes.conversations import answering, connected, next_request, sees, works
from tests.proxy.nodes.nats_servers import nats_cluster, nats_server
from tests.proxy.nodes.network_namespace import network_namespace
from tests.proxy.nodes.node_process import node_process
from tests.proxy.served import Json, Side, client, extension, served
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.requirement("PX-09"),
    pytest.mark.nats,
    # nats-py forgets to close the connection to a server that does not greet it.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
    pytest.mark.usefixtures("swept"),
]


async def given_up(agent: Side) -> Json:
    """Request 7 gets its end, and the client learns that its connection has ended."""
    failed = await agent.next(id=7)
    assert failed["error"]["data"]["reason"] == "extension_gone"
    return await agent.next(method="disconnected")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes do not give each other up because a busy machine makes them late."""
    monkeypatch.setattr("tabhub.proxy.nodes.nats_network.LOST_SECONDS", 600.0)


async def test_a_node_that_is_killed_costs_only_its_own_sockets(
    tmp_path: Path, patient: None
) -> None:
    async with (
        nats_server(tmp_path) as nats,
        node_process(nats.url) as dying,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
        extension(one, profile="stays") as (other, other_id),
        client(two) as agent,
        client(two) as bystander,
        answering(other),
    ):
        await connected(bystander, other_id)
        async with extension(dying, profile="p") as (browser, id):
            await connected(agent, id)
            await agent.send({"jsonrpc": "2.0", "id": 7, "method": "click"})
            await next_request(browser)
            dying.signal(signal.SIGKILL)
            await browser.closed()
        asked = await ask_until_gone(agent)
        await sees(agent, other_id)
        ends = Counter(message.get("id") for message in agent.seen)
        assert all(ends[id] == 1 for id in (7, *asked))
        assert (await bystander.ask(8, "getTabs", {"n": 1}))["result"] == {"n": 1}
        async with extension(one, profile="p") as (browser, again), answering(browser):
            assert again == id
            await works(agent, id)


async def ask_until_gone(agent: Side) -> list[int]:
    """Requests until one finds that nobody listens to the node any more; their ids."""
    gone = asyncio.create_task(agent.next(method="disconnected"))
    asked: list[int] = []

    async def ask() -> bool:
        asked.append(100 + len(asked))
        await agent.send({"jsonrpc": "2.0", "id": asked[-1], "method": "click"})
        return gone.done()

    await eventually(ask)
    return asked


async def test_a_connection_that_the_network_cannot_carry_is_ended_alone(
    tmp_path: Path, patient: None
) -> None:
    async with (
        nats_server(tmp_path) as nats,
        node_process(nats.url) as still,
        served(nats=(nats.url,)) as one,
        extension(still) as (_, id),
        client(one) as agent,
    ):
        await connected(agent, id)
        still.signal(signal.SIGSTOP)
        text = "x" * 9_000_000
        for number in range(4):
            request = {"jsonrpc": "2.0", "id": number, "method": "type", "params": {"text": text}}
            await agent.send(request)
        gone = await agent.next(method="disconnected")
        assert gone["params"]["reason"] == "slow_reader"
        ends = Counter(message.get("id") for message in agent.seen)
        assert [ends[number] for number in range(4)] == [1, 1, 1, 1]
        still.signal(signal.SIGCONT)


async def test_a_node_that_stands_still_is_given_up_and_found_again(tmp_path: Path) -> None:
    async with (
        nats_server(tmp_path) as nats,
        node_process(nats.url) as still,
        served(nats=(nats.url,)) as one,
        extension(still) as (browser, id),
        client(one) as agent,
    ):
        connection = await connected(agent, id)
        await agent.send({"jsonrpc": "2.0", "id": 7, "method": "click"})
        request = await next_request(browser)
        still.signal(signal.SIGSTOP)
        await given_up(agent)
        await sees(agent)
        still.signal(signal.SIGCONT)
        gone = await browser.next(method="disconnected")
        assert gone["params"]["connection_id"] == connection
        await browser.send({"jsonrpc": "2.0", "id": request["id"], "result": "too late"})
        await sees(agent, id)
        async with answering(browser):
            await works(agent, id)
        assert not any(message.get("result") == "too late" for message in agent.seen)


async def test_a_server_of_nats_that_restarts_is_found_again(tmp_path: Path) -> None:
    async with (
        nats_server(tmp_path) as nats,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
        extension(one) as (browser, id),
        client(two) as agent,
        client(one) as local,
        answering(browser),
    ):
        await connected(agent, id)
        await connected(local, id)
        nats.kill()
        await agent.send({"jsonrpc": "2.0", "id": 7, "method": "click", "params": {"n": 7}})
        assert (await local.ask(8, "getTabs", {"n": 8}))["result"] == {"n": 8}
        await nats.start()
        ended = await agent.next(id=7)
        assert ended.get("result") == {"n": 7} or "error" in ended
        await works(agent, id)


async def test_nodes_without_nats_serve_their_own_and_meet_again(tmp_path: Path) -> None:
    async with (
        nats_server(tmp_path) as nats,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
        extension(one, profile="a") as (_, first),
        client(two) as agent,
    ):
        await sees(agent, first)
        nats.kill()
        await sees(agent)
        async with extension(two, profile="b") as (_, second), client(one) as late:
            await sees(agent, second)
            await sees(late, first)
            await nats.start()
            await sees(agent, first, second)
            await sees(late, first, second)


async def test_a_node_whose_network_is_cut_is_given_up_and_found_again(tmp_path: Path) -> None:
    with network_namespace() as apart:
        async with (
            nats_server(tmp_path, host=apart.host) as nats,
            node_process(nats.url, host=apart.inside, prefix=apart.prefix) as cut,
            served(nats=(nats.url,)) as one,
            extension(cut) as (browser, id),
            client(one) as agent,
        ):
            connection = await connected(agent, id)
            await agent.send({"jsonrpc": "2.0", "id": 7, "method": "click"})
            request = await next_request(browser)
            apart.cut()
            await given_up(agent)
            apart.join()
            gone = await browser.next(method="disconnected")
            assert gone["params"]["connection_id"] == connection
            await browser.send({"jsonrpc": "2.0", "id": request["id"], "result": "too late"})
            async with answering(browser):
                await works(agent, id)
            assert not any(message.get("result") == "too late" for message in agent.seen)


@pytest.mark.parametrize("way", ["killed", "stopped"])
async def test_one_of_three_servers_of_nats_may_go(tmp_path: Path, way: str) -> None:
    async with nats_cluster(tmp_path) as cluster:
        urls = [server.url for server in cluster]
        async with (
            served(nats=(urls[0],)) as one,
            served(nats=(urls[1],)) as two,
            served(nats=(urls[2],)) as three,
            extension(one) as (browser, id),
            client(two) as agent,
            client(three) as other,
            answering(browser) as methods,
        ):
            await connected(other, id)
            await connected(agent, id)
            await agent.ask(6, "getTabs")
            cluster[0].kill() if way == "killed" else cluster[0].stand_still()
            await agent.send({"jsonrpc": "2.0", "id": 7, "method": "click"})
            ended = await agent.next(id=7)
            assert "result" in ended or "error" in ended
            await works(agent, id)
            await works(other, id)
            assert methods.count("click") <= 1
