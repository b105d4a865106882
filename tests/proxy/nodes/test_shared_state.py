"""What all nodes know: revocations and pairing codes, with JetStream and without."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import nats
import pytest
from nats.errors import Error as NatsError
from nats.js.kv import KeyValue

from tabhub.proxy.nodes.buckets import read_all
from tests.proxy.nodes.nats_servers import NatsServer, nats_cluster, nats_server
from tests.proxy.served import SECRET, ProxyAddress, Side, client, served, token
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.requirement("PX-09"),
    pytest.mark.nats,
    # nats-py forgets to close the connection to a server that does not greet it.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
    pytest.mark.usefixtures("swept"),
]
JETSTREAM = pytest.mark.parametrize("jetstream", [True, False], ids=["jetstream", "core"])


@asynccontextmanager
async def nats_with(folder: Path, jetstream: bool) -> AsyncIterator[NatsServer]:
    flags = ["-js", "-sd", str(folder / "jetstream")] if jetstream else []
    async with nats_server(folder, *flags) as found:
        yield found


async def refused(proxy: ProxyAddress, given: str) -> str:
    """The reason with which a token is refused."""
    async with proxy.connect("/mcp") as connection:
        answer = await Side(connection).ask(1, "mcp_handshake", {"accessToken": given})
        reason: str = answer["error"]["data"]["reason"]
        return reason


async def revoke(proxy: ProxyAddress, **what: str) -> int:
    async with proxy.http(SECRET.decode()) as http:
        return (await http.post(f"{proxy.admin}/revoke", json=what)).status_code


@JETSTREAM
async def test_a_revocation_counts_on_all_nodes_and_on_those_that_start_later(
    tmp_path: Path, jetstream: bool
) -> None:
    mine, theirs = token(jti="t1"), token("b.*")
    async with nats_with(tmp_path, jetstream) as nats, served(nats=(nats.url,)) as one:
        async with (
            served(nats=(nats.url,)) as two,
            client(two, mine) as agent,
            client(two, theirs) as other,
        ):
            assert await revoke(one, jti="t1") == 200
            assert (await agent.closed())[0] == 4401
            assert await revoke(one, user_id="b.*") == 200
            assert (await other.closed())[0] == 4401
            assert await refused(two, mine) == "not_authenticated"
        async with served(nats=(nats.url,)) as three:
            assert await refused(three, mine) == "not_authenticated"
            assert await refused(three, theirs) == "not_authenticated"
            async with client(three, token("ann")) as agent:
                assert "result" in await agent.ask(2, "list_extensions")


async def test_a_revocation_survives_the_restart_of_everything(tmp_path: Path) -> None:
    mine = token(jti="t1")
    async with nats_with(tmp_path, True) as nats:
        async with served(nats=(nats.url,)) as one:
            assert await revoke(one, jti="t1") == 200
        nats.kill()
        await nats.start()
        async with served(nats=(nats.url,)) as again:
            assert await refused(again, mine) == "not_authenticated"


async def test_a_revocation_that_a_node_has_missed_reaches_it_when_nats_is_back(
    tmp_path: Path,
) -> None:
    async with nats_cluster(tmp_path) as servers:
        async with (
            served(nats=(servers[0].url,)) as one,
            served(nats=(servers[1].url,)) as two,
            client(one),
            client(two, token(jti="t1")) as agent,
        ):
            for server in servers:
                server.stand_still()
            assert await revoke(one, jti="t1") == 503
            for server in servers:
                server.go_on()
            assert (await agent.closed())[0] == 4401


@JETSTREAM
async def test_a_code_of_one_node_is_exchanged_once_on_any(tmp_path: Path, jetstream: bool) -> None:
    async with (
        nats_with(tmp_path, jetstream) as nats,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
        two.http() as http,
    ):
        code = await paired(one)
        tries = [http.post(f"{node.public}/pair", json={"code": code}) for node in (one, two, one)]
        answers = await asyncio.gather(*tries)
        assert sorted(answer.status_code for answer in answers) == [200, 401, 401]
        given = next(answer.json() for answer in answers if answer.status_code == 200)
        assert given["user_id"] == "ann"
        async with client(two, given["token"]) as agent:
            assert "result" in await agent.ask(2, "list_extensions")


@JETSTREAM
async def test_wrong_tries_count_on_all_nodes_together(tmp_path: Path, jetstream: bool) -> None:
    async with (
        nats_with(tmp_path, jetstream) as nats,
        served(nats=(nats.url,)) as one,
        served(nats=(nats.url,)) as two,
        two.http() as http,
    ):
        code = await paired(one)
        wrong = code[:-1] + ("2" if code[-1] != "2" else "3")
        for node in (one, two, one, two, one):
            assert (await http.post(f"{node.public}/pair", json={"code": wrong})).status_code == 401
        tries = [http.post(f"{node.public}/pair", json={"code": code}) for node in (one, two)]
        assert {answer.status_code for answer in await asyncio.gather(*tries)} == {401}
        for strange in ("", "*", ">", "AB.DEFGH", "ABCDEFG\u00e9"):
            answer = await http.post(f"{two.public}/pair", json={"code": strange})
            assert answer.json()["error"]["reason"] == "not_authenticated"


async def paired(node: ProxyAddress) -> str:
    async with node.http(SECRET.decode()) as http:
        made = await http.post(f"{node.admin}/pair", json={"user_id": "ann"})
        code: str = made.json().get("code", "")
        return code


@asynccontextmanager
async def jetstream_cluster(folder: Path) -> AsyncIterator[list[NatsServer]]:
    """Three servers, each with a place of its own to keep what nodes share."""
    own = [["-js", "-sd", str(folder / f"jetstream-{number}")] for number in range(3)]
    async with nats_cluster(folder, each=own) as servers:
        yield servers


@pytest.mark.parametrize("way", ["killed", "stopped"])
async def test_revocations_and_codes_outlive_the_server_that_leads_them(
    tmp_path: Path, way: str
) -> None:
    mine = token(jti="t1")
    async with jetstream_cluster(tmp_path) as servers:
        urls = tuple(server.url for server in servers)
        async with served(nats=urls) as one, served(nats=urls) as two, two.http() as http:
            await eventually(lambda: revoke(one, jti="t1"), until=lambda status: status == 200)
            # On a busy machine, a server may come to the cluster after what it is to keep.
            await eventually(lambda: strengthened(one, urls), "three copies")
            await eventually(lambda: codes_strengthened(one, urls), "three copies of the codes")
            code = await eventually(lambda: paired(one))
            leading = servers[(await kept(urls)).leader]
            leading.kill() if way == "killed" else leading.stand_still()
            others = tuple(server.url for server in servers if server is not leading)
            for bucket in ("tabhub_revocations", "tabhub_pairing"):
                await kept(others, bucket)

            statuses: list[int] = []

            async def exchanged() -> int:
                answer = await http.post(f"{two.public}/pair", json={"code": code})
                statuses.append(answer.status_code)
                return answer.status_code

            first = await eventually(exchanged, until=lambda status: status != 503)
            # An exchange whose answer was late may have been made, and a code has one use.
            assert first == 200 or (first == 401 and 503 in statuses)
            assert await eventually(exchanged, until=lambda status: status != 503) == 401
            async with served(nats=urls) as late:
                assert await refused(late, mine) == "not_authenticated"


async def test_a_node_that_starts_also_learns_what_only_another_node_knows(tmp_path: Path) -> None:
    mine = token(jti="t1")
    async with nats_with(tmp_path, True) as server, served(nats=(server.url,)) as one:
        assert await revoke(one, jti="t1") == 200
        operator = await nats.connect(server.url)
        await operator.jetstream().purge_stream("KV_tabhub_revocations")
        await operator.close()
        async with served(nats=(server.url,)) as two:
            assert await refused(two, mine) == "not_authenticated"


async def test_a_node_that_hangs_keeps_no_other_from_starting(tmp_path: Path) -> None:
    mine = token(jti="t1")
    async with nats_with(tmp_path, True) as server:
        async with served(nats=(server.url,)) as one:
            assert await revoke(one, jti="t1") == 200
        hanging = await nats.connect(server.url)
        await hanging.subscribe("revocations")
        async with served(nats=(server.url,)) as two:
            assert await refused(two, mine) == "not_authenticated"
        await hanging.close()


async def test_a_server_that_has_not_caught_up_is_asked_again() -> None:
    class Watcher:
        def __init__(self, values: list[bytes]) -> None:
            self.values = values

        async def updates(self, seconds: float) -> SimpleNamespace | None:
            return SimpleNamespace(value=self.values.pop()) if self.values else None

        async def stop(self) -> None:
            return

    class Bucket:
        """One whose leader has two values."""

        values: tuple[bytes, ...] = (b"a",)

        async def status(self) -> SimpleNamespace:
            return SimpleNamespace(values=2)

        async def watchall(self, **how: object) -> Watcher:
            return Watcher(list(self.values))

    bucket = Bucket()
    with pytest.raises(NatsError, match="1 of 2"):
        await read_all(cast(KeyValue, bucket))
    bucket.values = (b"a", b"b")
    assert sorted(await read_all(cast(KeyValue, bucket))) == [b"a", b"b"]


async def test_what_was_kept_while_a_server_was_missing_is_kept_by_all_later(
    tmp_path: Path,
) -> None:
    mine = token(jti="t1")
    async with jetstream_cluster(tmp_path) as servers:
        urls = tuple(server.url for server in servers)
        servers[2].kill()
        async with served(nats=urls) as one:
            await eventually(lambda: revoke(one, jti="t1"), until=lambda status: status == 200)
            alone = await kept(urls)
            assert alone.copies == 1
            await servers[2].start()
            await eventually(lambda: strengthened(one, urls), "three copies")
        servers[alone.leader].kill()
        async with served(nats=urls) as late:
            assert await refused(late, mine) == "not_authenticated"


async def strengthened(node: ProxyAddress, urls: tuple[str, ...]) -> bool:
    """Whether all servers keep the revocations; every one that is added is an occasion."""
    await revoke(node, jti="t3")
    return (await kept(urls)).copies == 3


async def codes_strengthened(node: ProxyAddress, urls: tuple[str, ...]) -> bool:
    """The same for the codes."""
    await paired(node)
    return (await kept(urls, "tabhub_pairing")).copies == 3


class Kept(NamedTuple):
    """How many servers keep the revocations and are up to date, and the one that leads."""

    copies: int
    leader: int


async def kept(urls: tuple[str, ...], bucket: str = "tabhub_revocations") -> Kept:
    client = await nats.connect(list(urls))

    async def look() -> Kept | None:
        try:
            found = (await client.jetstream().stream_info(f"KV_{bucket}")).cluster
        except NatsError:
            return None
        if found is None or not found.leader:
            return None
        current = sum(1 for peer in found.replicas or () if peer.current)
        return Kept(1 + current, int(found.leader.removeprefix("s")))

    try:
        return await eventually(look)
    finally:
        await client.close()


async def test_a_node_is_not_ready_while_nats_is_away(tmp_path: Path) -> None:
    async with (
        nats_server(tmp_path) as nats,
        served(nats=(nats.url,)) as one,
        one.http() as http,
    ):

        async def status() -> int:
            return (await http.get(f"{one.admin}/readyz")).status_code

        assert await status() == 200
        nats.kill()
        await eventually(status, until=lambda found: found == 503)
        await nats.start()
        await eventually(status, until=lambda found: found == 200)
