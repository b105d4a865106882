"""Two nodes on a real nats-server, with real sockets: they are one service."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tabhub.proxy.service import MOST_STRANGERS_OF_ADDRESS
from tests.proxy.nodes.conversations import answered, sees
from tests.proxy.nodes.nats_servers import nats_server
from tests.proxy.served import ServedProxy, client, extension, served, token
from tests.support.eventually import eventually

pytestmark = [pytest.mark.requirement("PX-09"), pytest.mark.nats]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes do not give each other up because a busy machine makes them late."""
    monkeypatch.setattr("tabhub.proxy.nodes.nats_network.LOST_SECONDS", 600.0)


@asynccontextmanager
async def two_nodes(folder: Path) -> AsyncIterator[tuple[ServedProxy, ServedProxy]]:
    async with (
        nats_server(folder) as nats,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
    ):
        yield one, two


async def test_a_client_on_one_node_reaches_an_extension_on_another(tmp_path: Path) -> None:
    async with (
        two_nodes(tmp_path) as (one, two),
        extension(one) as (browser, id),
        client(two) as agent,
    ):
        await sees(agent, id)
        connected = await agent.ask(3, "connect", {"extension_id": id})
        connection = connected["result"]["connection_id"]
        answering = asyncio.create_task(answered(browser, result={"tabId": 42}))
        answer = await agent.ask(100, "createTab", {"url": "https://a.example"})
        assert answer == {"jsonrpc": "2.0", "id": 100, "result": {"tabId": 42}}
        assert (await answering)["id"] == f"{connection}:100"


async def test_one_address_may_have_many_sockets_that_have_authenticated(tmp_path: Path) -> None:
    async with (
        nats_server(tmp_path) as nats,
        served(nats=(nats.url,)) as node,
        AsyncExitStack() as all,
    ):
        for number in range(MOST_STRANGERS_OF_ADDRESS + 5):
            await all.enter_async_context(extension(node, token(f"user-{number}")))


async def test_an_extension_that_comes_and_goes_is_seen_on_the_other_node(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two), client(two) as agent:
        async with extension(one) as (_, id):
            await sees(agent, id)
            connected = await agent.ask(3, "connect", {"extension_id": id})
            assert "result" in connected
        gone = await agent.next(method="disconnected")
        assert gone["params"]["reason"] == "Extension closed"
        await sees(agent)


async def test_the_same_profile_on_another_node_replaces_the_first(tmp_path: Path) -> None:
    async with (
        two_nodes(tmp_path) as (one, two),
        extension(one, profile="p") as (old, first),
        extension(two, profile="p") as (_, second),
        client(one) as agent,
    ):
        assert first == second
        assert (await old.closed())[0] == 4001
        await sees(agent, second)


async def test_users_do_not_see_each_other_across_nodes(tmp_path: Path) -> None:
    strange = "b.*.>" + "o" * 10_000
    async with (
        two_nodes(tmp_path) as (one, two),
        extension(one) as (_, id),
        extension(one, token(strange)) as (_, strange_id),
        client(two, token(strange)) as agent,
    ):
        await sees(agent, strange_id)
        refused = await agent.ask(3, "connect", {"extension_id": id})
        assert refused["error"]["data"]["reason"] == "extension_not_found"
        assert "result" in await agent.ask(4, "connect", {"extension_id": strange_id})


async def test_nine_megabytes_go_across_nodes_with_the_defaults_of_nats(tmp_path: Path) -> None:
    async with (
        two_nodes(tmp_path) as (one, two),
        extension(one) as (browser, id),
        client(two) as agent,
        client(two) as other,
    ):
        await sees(agent, id)
        await agent.ask(2, "connect", {"extension_id": id})
        await other.ask(2, "connect", {"extension_id": id})
        large = "x" * 9_000_000
        answering = asyncio.create_task(answered(browser, result=large))
        assert (await agent.ask(3, "screenshot"))["result"] == large
        await answering
        echoing = asyncio.create_task(answered(browser, result={}))
        assert (await other.ask(4, "type", {"text": large}))["result"] == {}
        assert (await echoing)["params"]["text"] == large


async def test_a_node_that_cannot_reach_nats_says_so_without_the_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        served(nats=("nats://me:hidden@127.0.0.1:1",), is_joined=False) as proxy,
        proxy.http() as http,
    ):

        async def said() -> str:
            return (await http.get(f"{proxy.admin}/readyz")).text

        where = "NATS cannot be reached at nats://127.0.0.1:1"
        found = await eventually(said, until=lambda text: where in text)
        assert "hidden" not in found + caplog.text


def test_a_single_node_does_not_load_the_client_of_nats() -> None:
    look = "import sys, tabhub.cli.proxy.node; print('nats' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
