"""A node with real sockets: the whole way, limits, bad frames, pairing, revoking, TLS, draining."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode

from tests.proxy.certificates import certificate, trusting
from tests.proxy.meeting import Meeting, request, result
from tests.proxy.served import (
    SECRET,
    ServedProxy,
    Side,
    answered,
    client,
    extension,
    served,
    token,
)
from tests.support.eventually import PATIENCE, eventually

pytestmark = pytest.mark.requirement("PX-02")
AUTHORIZED = {"Authorization": f"Bearer {SECRET.decode()}"}


async def test_a_request_goes_to_the_extension_and_its_answer_back() -> None:
    async with served() as proxy, extension(proxy) as (browser, id), client(proxy) as agent:
        listed = await agent.ask(2, "list_extensions")
        assert listed["result"]["extensions"] == [
            {"id": id, "name": "Chrome 141", "connected": True}
        ]
        connected = await agent.ask(3, "connect", {"extension_id": id})
        connection = connected["result"]["connection_id"]
        answering = asyncio.create_task(answered(browser, result={"tabId": 42}))
        answer = await agent.ask(100, "createTab", {"url": "https://a.example"})
        assert answer == {"jsonrpc": "2.0", "id": 100, "result": {"tabId": 42}}
        assert (await answering)["id"] == f"{connection}:100"


async def test_a_bad_token_is_answered_and_the_socket_closed() -> None:
    async with served() as proxy, proxy.connect("/mcp") as connection:
        side = Side(connection)
        refused = await side.ask(1, "mcp_handshake", {"accessToken": "nonsense"})
        assert refused["error"]["code"] == -32000
        assert (await side.closed())[0] == 4401


async def test_a_token_that_expires_closes_its_socket() -> None:
    async with served() as proxy, client(proxy, token(seconds=2)) as agent:
        assert await agent.closed() == (4401, "token_expired")


@pytest.mark.requirement("PX-06")
async def test_messages_that_are_too_large_or_no_text_close_only_their_own_socket() -> None:
    async with served() as proxy, extension(proxy) as (browser, id), client(proxy) as other:
        await other.ask(2, "connect", {"extension_id": id})
        for message, code in (
            ("x" * 11_000_000, 4413),
            (b"binary", 1003),
            (["x" * 6_000_000, "x" * 6_000_000], 4413),
            ([""] * 20_000, 4429),
        ):
            async with client(proxy) as agent:
                with pytest.raises(ConnectionClosed):
                    await agent.connection.send(message)
                    await agent.connection.recv()
                    await agent.connection.recv()
                assert (await agent.closed())[0] == code
        answering = asyncio.create_task(answered(browser, result={}))
        assert (await other.ask(3, "getTabs"))["result"] == {}
        await answering


async def test_text_that_is_no_utf8_closes_the_socket() -> None:
    async with served() as proxy, client(proxy) as agent:
        frame = Frame(Opcode.TEXT, b'{"\xff"}').serialize(mask=True)
        agent.connection.transport.write(frame)
        assert (await agent.closed())[0] == 1007


async def test_a_large_answer_arrives_whole() -> None:
    async with served() as proxy, extension(proxy) as (browser, id), client(proxy) as agent:
        await agent.ask(2, "connect", {"extension_id": id})
        answering = asyncio.create_task(answered(browser, result="x" * 9_000_000))
        assert (await agent.ask(3, "screenshot"))["result"] == "x" * 9_000_000
        await answering


@pytest.mark.parametrize(
    ("path", "name", "headers", "status"),
    [
        ("/elsewhere", "proxy.example", {}, 404),
        ("/mcp", "proxy.example", {"Origin": "https://evil.example"}, 403),
        ("/extension", "proxy.example", {"Origin": "null"}, 403),
        ("/mcp", "evil.example", {}, 421),
        ("/mcp", "proxy.example:9516", {}, 421),
        ("/mcp", "proxy.example", {"Host": "evil.example"}, 421),
    ],
)
async def test_other_paths_origins_and_hosts_are_refused(
    path: str, name: str, headers: dict[str, str], status: int
) -> None:
    async with served(hosts=frozenset({"proxy.example"})) as proxy:
        with pytest.raises(InvalidStatus) as refused:
            await proxy.connect(path, name, additional_headers=headers)
        assert refused.value.response.status_code == status
        async with client(proxy, name="Proxy.example") as agent:
            assert "result" in await agent.ask(2, "list_extensions")


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("evil.example", None, 421),
        ("proxy.example:9516", None, 421),
        ("Proxy.example", "https://evil.example", 403),
        ("Proxy.example", "null", 403),
        ("Proxy.example", "chrome-extension://abc", 401),
        ("proxy.example", None, 401),
    ],
)
async def test_codes_are_exchanged_only_under_the_names_of_the_service(
    host: str, origin: str | None, status: int
) -> None:
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    async with served(hosts=frozenset({"proxy.example"})) as proxy, proxy.http() as http:
        answer = await http.post(
            f"{proxy.public}/pair", json={"code": "ABCD-EFGH"}, headers=headers
        )
        assert answer.status_code == status
        if status == 421:
            assert f"--allowed-host {host}" in answer.json()["error"]["message"]


async def test_a_name_that_is_not_the_services_is_named_in_the_refusal() -> None:
    async with served(hosts=frozenset({"proxy.example"})) as proxy:
        with pytest.raises(InvalidStatus) as refused:
            await proxy.connect("/mcp", "proxy.example:9516")
        assert b"--allowed-host proxy.example:9516" in refused.value.response.body


async def test_the_origin_of_an_extension_is_taken() -> None:
    async with served() as proxy:
        origin = {"Origin": "chrome-extension://abcdefgh"}
        async with extension(proxy, additional_headers=origin) as (_, id):
            assert id.startswith("ext-")


@pytest.mark.requirement("PX-06")
async def test_one_address_holds_so_many_sockets_without_a_token() -> None:
    async with served() as proxy:
        strangers = [await proxy.connect("/extension") for _ in range(20)]
        with pytest.raises(InvalidStatus) as refused:
            await proxy.connect("/mcp")
        assert refused.value.response.status_code == 429
        for stranger in strangers[:2]:
            await stranger.close()
        async with client(proxy) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        for stranger in strangers:
            await stranger.close()


@pytest.mark.requirement("PX-06")
async def test_a_client_that_does_not_read_is_dropped_and_the_memory_freed() -> None:
    async with served() as proxy, extension(proxy) as (browser, id), client(proxy) as agent:
        await agent.ask(2, "connect", {"extension_id": id})
        for number in range(12):
            await agent.send({"jsonrpc": "2.0", "id": f"n{number}", "method": "screenshot"})
        agent.connection.transport.pause_reading()
        for _ in range(12):
            await answered(browser, result="x" * 5_000_000)
        board = proxy.server.service.board
        await eventually(lambda: board.sockets()["clients"] == 0)
        assert (await browser.next(method="status"))["params"]["peer_count"] == 0
        agent.connection.transport.abort()


async def test_a_node_takes_the_tokens_of_its_own_pairing_whatever_it_demands() -> None:
    async with served(issuer="me", audience="tabhub") as proxy, proxy.http() as http:
        asked = {"user_id": "ann"}
        made = await http.post(f"{proxy.admin}/pair", json=asked, headers=AUTHORIZED)
        given = await http.post(f"{proxy.public}/pair", json={"code": made.json()["code"]})
        async with client(proxy, given.json()["token"]) as agent:
            assert "result" in await agent.ask(2, "list_extensions")


async def test_a_code_is_exchanged_once_for_a_token_that_works() -> None:
    async with served() as proxy, proxy.http() as http:
        asked = {"user_id": "ann", "client": "laptop"}
        refused = await http.post(f"{proxy.admin}/pair", json=asked)
        assert refused.status_code == 401
        made = await http.post(f"{proxy.admin}/pair", json=asked, headers=AUTHORIZED)
        code = made.json()["code"]
        assert len(code.replace("-", "")) == 8
        given = await http.post(f"{proxy.public}/pair", json={"code": code.lower()})
        assert given.json()["user_id"] == "ann"
        async with client(proxy, given.json()["token"]) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        again = await http.post(f"{proxy.public}/pair", json={"code": code})
        assert (again.status_code, again.json()["error"]["reason"]) == (401, "not_authenticated")


async def test_revoking_closes_sockets_and_keeps_the_token_out() -> None:
    async with served() as proxy, proxy.http(SECRET.decode()) as http:
        mine, other = token(jti="t1"), token("bob")
        async with client(proxy, mine) as agent, client(proxy, other) as bob:
            done = await http.post(f"{proxy.admin}/revoke", json={"jti": "t1"})
            assert done.status_code == 200
            assert (await agent.closed())[0] == 4401
            await http.post(f"{proxy.admin}/revoke", json={"user_id": "bob"})
            assert (await bob.closed())[0] == 4401
        async with proxy.connect("/mcp") as connection:
            refused = await Side(connection).ask(1, "mcp_handshake", {"accessToken": mine})
            assert refused["error"]["data"]["reason"] == "not_authenticated"
        for wrong in ({}, {"jti": "a", "user_id": "b"}, {"jti": 5}):
            assert (await http.post(f"{proxy.admin}/revoke", json=wrong)).status_code == 400


async def test_operators_see_health_and_metrics_without_a_label_for_users() -> None:
    async with served() as proxy, proxy.http() as http, extension(proxy):
        assert (await http.get(f"{proxy.admin}/healthz")).json() == {"status": "ok"}
        assert (await http.get(f"{proxy.admin}/readyz")).status_code == 200
        page = (await http.get(f"{proxy.admin}/metrics")).text
        assert 'tabhub_proxy_sockets{kind="extensions"} 1.0' in page
        assert "ann" not in page
        assert (await http.get(f"{proxy.public}/metrics")).status_code == 404
        assert (await http.get(f"{proxy.public}/mcp")).status_code == 404


async def test_draining_takes_no_new_sockets_and_lets_calls_end() -> None:
    async with Meeting() as meeting, meeting.proxy.http() as http:
        proxy, agent = meeting.proxy, meeting.agent
        idle, _ = await meeting.join()
        asked = await meeting.forwarded(request(3, "getTabs"))
        draining = asyncio.create_task(proxy.server.service.drain(3600))
        assert (await idle.closed())[0] == 1012
        assert (await http.get(f"{proxy.admin}/readyz")).status_code == 503
        with pytest.raises(InvalidStatus):
            await proxy.connect("/mcp")
        assert "result" in await agent.ask(4, "list_extensions")
        await meeting.browser.send(result(asked["id"], tabs=[]))
        assert await agent.next(id=3) == result(3, tabs=[])
        assert (await agent.closed())[0] == (await meeting.browser.closed())[0] == 1012
        await asyncio.wait_for(draining, PATIENCE)


async def test_draining_does_not_wait_for_a_tunnel_which_goes_on_elsewhere() -> None:
    async with Meeting() as meeting:
        await meeting.forwarded(request(3, "tabhub.link"))
        await asyncio.wait_for(meeting.proxy.server.service.drain(3600), PATIENCE)
        assert (await meeting.agent.closed())[0] == 1012


async def test_at_the_end_of_the_drain_calls_are_cut_off() -> None:
    async with Meeting() as meeting:
        await meeting.forwarded(request(3, "getTabs"))
        await asyncio.wait_for(meeting.proxy.server.service.drain(0.1), PATIENCE)
        assert (await meeting.agent.closed())[0] == 1012


UPGRADE = (
    b"GET /extension HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


async def test_a_socket_that_does_not_answer_pings_is_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.proxy.sockets.PING_SECONDS", 0.05)
    async with served() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(UPGRADE)
        received = b""
        with suppress(ConnectionResetError):
            while data := await asyncio.wait_for(reader.read(65536), PATIENCE):
                received += data
        assert received.startswith(b"HTTP/1.1 101")
        assert b"\x89\x00" in received, "a ping"
        writer.transport.abort()


@pytest.mark.requirement("PX-06")
async def test_a_client_that_reads_nothing_for_long_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.proxy.sockets.UNREAD_SECONDS", 0.05)
    async with Meeting() as meeting:
        board = meeting.proxy.server.service.board
        for id in range(3):
            await meeting.agent.send(request(id, "screenshot"))
        meeting.agent.connection.transport.pause_reading()
        for _ in range(3):
            await answered(meeting.browser, result="x" * 9_000_000)
        await eventually(lambda: board.sockets()["clients"] == 0)
        meeting.agent.connection.transport.abort()


async def test_a_new_certificate_is_taken_while_old_sockets_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabhub.proxy.certificates.LOOK_SECONDS", 0.05)
    paths = certificate(tmp_path, "first.example")

    async def name(proxy: ServedProxy) -> bytes:
        async with proxy.connect("/mcp", ssl=trusting()) as connection:
            found: bytes = connection.transport.get_extra_info("ssl_object").getpeercert(True)
            return found

    async with served(certificate=paths[0], certificate_key=paths[1]) as proxy:
        async with client(proxy, ssl=trusting()) as agent:
            assert b"first.example" in await name(proxy)
            certificate(tmp_path, "second.example")

            async def is_new() -> bool:
                return b"second.example" in await name(proxy)

            await eventually(is_new)
            assert "result" in await agent.ask(2, "list_extensions")


async def test_what_sockets_send_is_json_in_one_piece() -> None:
    async with served() as proxy, proxy.connect("/extension") as connection:
        assert json.loads(await connection.recv())["method"] == "authenticate"
