"""A node that starts while NATS is not there: it serves, says why it is not ready, and waits."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tabhub.errors import Unavailable
from tabhub.proxy.proxy_server import ProxyServer, ProxySettings
from tests.proxy.nodes.nats_servers import NatsServer, nats_server
from tests.proxy.served import SECRET, ProxyAddress, ServedProxy, client, listener, served, token
from tests.support.eventually import PATIENCE, eventually

pytestmark = [
    pytest.mark.requirement("PX-09"),
    pytest.mark.nats,
    # nats-py forgets to close the connection to a server that refuses it.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
    pytest.mark.usefixtures("swept"),
]


@asynccontextmanager
async def early_node(nats: NatsServer) -> AsyncIterator[ServedProxy]:
    """A node that has not joined, as no server of NATS runs."""
    async with served(nats=(nats.url,), is_joined=False) as found:
        yield found


async def readiness(proxy: ProxyAddress) -> tuple[int, Any]:
    async with proxy.http() as http:
        answer = await http.get(f"{proxy.admin}/readyz")
    return answer.status_code, answer.json()


async def is_ready(proxy: ProxyAddress) -> bool:
    return (await readiness(proxy))[0] == 200


async def test_a_node_that_starts_first_serves_as_soon_as_nats_is_there(tmp_path: Path) -> None:
    nats = NatsServer(tmp_path)
    async with early_node(nats) as proxy, proxy.http() as http:
        assert (await http.get(f"{proxy.admin}/healthz")).status_code == 200

        async def why() -> str:
            status, said = await readiness(proxy)
            assert status == 503
            return str(said["error"]["message"])

        await eventually(why, until=lambda said: nats.url in said and "refused" in said)
        with pytest.raises(InvalidStatus) as turned_away:
            await proxy.connect("/mcp")
        assert turned_away.value.response.status_code == 503
        # Nobody outside learns how the nodes are connected.
        assert nats.url.encode() not in turned_away.value.response.body
        code = await http.post(f"{proxy.public}/pair", json={"code": "ABCD-EFGH"})
        assert (code.status_code, nats.url in code.text) == (503, False)
        await nats.start()
        try:
            await eventually(lambda: is_ready(proxy))
            async with client(proxy) as agent:
                assert "result" in await agent.ask(2, "list_extensions")
        finally:
            nats.kill()


async def test_what_was_revoked_before_nats_came_counts_on_all_nodes_after(tmp_path: Path) -> None:
    nats = NatsServer(tmp_path)
    async with early_node(nats) as early, early.http(SECRET.decode()) as http:
        answer = await http.post(f"{early.admin}/revoke", json={"jti": "t1"})
        assert answer.status_code == 503
        said = answer.json()["error"]["message"]
        assert "This node has taken the revocation" in said
        await nats.start()
        try:
            async with (
                served(nats=(nats.url,)) as other,
                client(other) as untouched,
                client(other, token(jti="t1")) as agent,
            ):
                assert (await agent.closed())[0] == 4401
                assert "result" in await untouched.ask(2, "list_extensions")
        finally:
            nats.kill()


async def test_a_node_can_be_stopped_before_nats_is_there(tmp_path: Path) -> None:
    async with early_node(NatsServer(tmp_path)) as proxy:
        await eventually(lambda: readiness(proxy), until=lambda found: found[0] == 503)


async def test_a_node_can_be_stopped_after_nats_is_gone(tmp_path: Path) -> None:
    async with nats_server(tmp_path) as nats, served(nats=(nats.url,)) as proxy:
        nats.kill()
        await eventually(lambda: readiness(proxy), until=lambda found: found[0] == 503)


@asynccontextmanager
async def moody_nats(port: int) -> AsyncIterator[None]:
    """A server that greets, and then closes the connection with an error."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        about = {"server_id": "x", "version": "2.9.10", "max_payload": 1_000_000, "proto": 1}
        writer.write(b"INFO %s\r\n" % json.dumps(about).encode())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"PING\r\n")
            writer.write(b"PONG\r\n")
            await reader.readuntil(b"SUB ")
            writer.write(b"-ERR 'Maximum Connections Exceeded'\r\n")
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port):
        yield


async def test_a_connection_that_nats_closes_at_once_is_tried_again(tmp_path: Path) -> None:
    nats = NatsServer(tmp_path)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(moody_nats(nats.port))
        async with early_node(nats) as proxy:

            async def why() -> str:
                return str((await readiness(proxy))[1].get("error"))

            await eventually(why, until=lambda said: "maximum connections exceeded" in said)
            await stack.aclose()
            await nats.start()
            try:
                await eventually(lambda: is_ready(proxy))
            finally:
                nats.kill()


@pytest.mark.parametrize("given", ["none", "broken"])
async def test_a_node_that_nats_refuses_at_once_ends_and_says_why(
    tmp_path: Path, given: str
) -> None:
    broken = tmp_path / "node.creds"
    broken.write_text("no credentials\n")
    async with nats_server(tmp_path, "--user", "u", "--pass", "p") as nats:
        settings = ProxySettings(
            secret=SECRET,
            nats=(nats.url,),
            nats_credentials=broken if given == "broken" else None,
            drain_seconds=0.0,
        )
        with listener() as here, listener() as admin:
            with pytest.raises(Unavailable, match=r"NATS refuses this node.*--nats-creds"):
                await asyncio.wait_for(ProxyServer(settings, here, admin).serve(), PATIENCE)
