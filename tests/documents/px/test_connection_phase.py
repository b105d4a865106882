"""The document's messages from the first socket to a connection, on both sides."""

import jwt
import pytest
from websockets.exceptions import InvalidStatus

from tests.proxy.meeting import (
    CONNECTION,
    TEXT,
    Begins,
    Meeting,
    error,
    notice,
    request,
    result,
    without_data,
)
from tests.proxy.served import SECRET, Side, client, extension, served, token

USER = "83898119-db4f-4848-9d27-ea328b73a4df"


@pytest.mark.requirement("PX-01")
@pytest.mark.document(
    "PX-extension-1",
    "PX-extension-2",
    "PX-extension-3",
    "PX-ids-2",
    "PX-lifecycle-1",
    "PX-principles-1",
)
async def test_an_extension_waits_is_asked_and_confirmed() -> None:
    async with served() as proxy, proxy.connect("/extension") as connection:
        side = Side(connection)
        assert await side.next() == request("proxy:1", "authenticate")
        credentials = {"name": "Chrome 141", "accessToken": token(USER)}
        await side.send(result("proxy:1", **credentials))
        confirmed = notice("authenticated", user_id=USER, extension_id=Begins("ext-"))
        assert await side.next() == confirmed


@pytest.mark.document("PX-extensions-2")
async def test_an_answer_without_jsonrpc_is_taken_from_an_extension() -> None:
    async with served() as proxy, proxy.connect("/extension") as connection:
        side = Side(connection)
        asked = await side.next()
        credentials = {"name": "Chrome 141", "accessToken": token()}
        await side.send({"id": asked["id"], "result": credentials})
        assert (await side.next())["method"] == "authenticated"


@pytest.mark.requirement("PX-02")
@pytest.mark.document("PX-client-1", "PX-client-2", "PX-principles-5")
async def test_a_client_shakes_hands_first() -> None:
    async with served() as proxy, proxy.connect("/mcp") as connection:
        side = Side(connection)
        await side.send(request(1, "mcp_handshake", {"accessToken": token(USER)}))
        answer = result(1, authenticated=True, user_id=USER, mcp_client_id=Begins("mcp-"))
        assert await side.next() == answer


@pytest.mark.document("PX-connection-1", "PX-control-3")
async def test_a_client_lists_the_extensions_of_its_own_user() -> None:
    async with served() as proxy, client(proxy) as agent:
        assert await agent.ask(2, "list_extensions") == result(2, extensions=[])
        async with extension(proxy) as (_, id), extension(proxy, token("bob")):
            listed = [{"id": id, "name": "Chrome 141", "connected": True}]
            assert await agent.ask(1, "list_extensions") == result(1, extensions=listed)


@pytest.mark.document("PX-connection-2", "PX-lifecycle-2")
async def test_a_client_connects_to_an_extension_and_uses_it() -> None:
    async with served() as proxy, extension(proxy) as (browser, id), client(proxy) as agent:
        about = {"connection_id": CONNECTION, "extension_id": id, "extension_name": "Chrome 141"}
        connected = await agent.ask(3, "connect", {"extension_id": id})
        assert connected == result(3, **about)
        await agent.send(request(4, "createTab", {"url": "https://a.example"}))
        asked = await browser.next(method="createTab")
        assert asked["id"] == f"{connected['result']['connection_id']}:4"
        await browser.send(result(asked["id"], tabId=42))
        assert await agent.next(id=4) == result(4, tabId=42)


@pytest.mark.document("PX-connection-3", "PX-control-5")
async def test_a_second_connection_of_a_client_is_refused() -> None:
    async with Meeting() as meeting:
        again = await meeting.agent.ask(3, "connect", {"extension_id": meeting.extension})
        refused = error(3, -32001, "MCP client already connected to an extension")
        assert without_data(again) == refused


@pytest.mark.requirement("PX-04")
@pytest.mark.document("PX-control-4", "PX-security-2")
async def test_an_extension_of_another_user_is_as_unknown_as_one_that_is_not_there() -> None:
    async with served() as proxy, extension(proxy, token("bob")) as (_, id):
        async with client(proxy) as agent:
            foreign = await agent.ask(3, "connect", {"extension_id": id})
            unknown = await agent.ask(3, "connect", {"extension_id": "ext-nobody"})
            assert foreign == unknown
            refused = error(3, -32000, "Extension not found or not accessible")
            assert without_data(unknown) == refused


@pytest.mark.document("PX-control-6", "PX-lifecycle-3", "PX-control-7")
async def test_clients_share_an_extension_and_leave_it_without_harm() -> None:
    async with Meeting() as meeting:
        other, _ = await meeting.join()
        assert await meeting.agent.ask(4, "disconnect") == result(4, disconnected=True)
        assert await meeting.agent.ask(5, "disconnect") == result(5, disconnected=True)
        await other.send(request(1, "getTabs"))
        asked = await meeting.browser.next(method="getTabs")
        await meeting.browser.send(result(asked["id"], tabs=[]))
        assert await other.next(id=1) == result(1, tabs=[])
        again = await meeting.agent.ask(6, "connect", {"extension_id": meeting.extension})
        assert again["result"]["connection_id"] != meeting.connection


@pytest.mark.requirement("PX-01", "PX-05")
@pytest.mark.document("PX-control-1", "PX-authentication-1", "PX-authentication-3")
@pytest.mark.parametrize(
    "forged",
    [
        "eyJhbGci...",
        jwt.encode({"user_id": "ann", "exp": 4_000_000_000}, "x" * 32, algorithm="HS256"),
        jwt.encode({"user_id": "ann", "exp": 4_000_000_000}, "", algorithm="none"),
        jwt.encode({"user_id": "ann", "exp": 1}, SECRET, algorithm="HS256"),
    ],
    ids=["cut", "foreign", "none", "expired"],
)
async def test_an_extension_with_a_bad_token_gets_an_error_and_its_socket_is_closed(
    forged: str,
) -> None:
    async with served() as proxy, proxy.connect("/extension") as connection:
        side = Side(connection)
        await side.next(method="authenticate")
        await side.send(result("proxy:1", name="Chrome 141", accessToken=forged))
        refused = error("proxy:1", -32000, Begins("Authentication failed: "))
        assert without_data(await side.next()) == refused
        assert (await side.closed())[0] == 4401


@pytest.mark.document("PX-control-2")
async def test_a_handshake_with_a_wrong_token_is_answered() -> None:
    async with served() as proxy, proxy.connect("/mcp") as connection:
        side = Side(connection)
        answer = await side.ask(1, "mcp_handshake", {"accessToken": "eyJhbGci..."})
        assert without_data(answer) == error(1, -32000, "Authentication failed: Invalid token")
        assert (await side.closed())[0] == 4401


@pytest.mark.document("PX-authentication-2")
async def test_a_token_for_another_service_is_refused() -> None:
    async with served(hosts=frozenset({"proxy.example"})) as proxy:
        own = token(connection_url="wss://proxy.example/mcp")
        async with client(proxy, own, name="proxy.example") as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        async with proxy.connect("/mcp", "proxy.example") as connection:
            foreign = token(connection_url="wss://other.example/mcp")
            answer = await Side(connection).ask(1, "mcp_handshake", {"accessToken": foreign})
            assert answer["error"]["data"]["reason"] == "not_authenticated"
        with pytest.raises(InvalidStatus):
            await proxy.connect("/mcp", "other.example")


@pytest.mark.requirement("PX-04")
@pytest.mark.document("PX-notifications-1", "PX-notifications-2")
async def test_both_sides_are_told_who_is_there_and_who_has_left() -> None:
    async with Meeting() as meeting:
        status = {"connected": True, "peer_count": 1, "timestamp": TEXT}
        named = {**status, "clients": [{"connection_id": meeting.connection, "name": ""}]}
        told = await meeting.browser.next(method="status")
        while told["params"]["peer_count"] == 0:
            told = await meeting.browser.next(method="status")
        assert told == notice("status", **named)
        told = await meeting.agent.next(method="status")
        while not told["params"]["connected"]:
            told = await meeting.agent.next(method="status")
        assert told == notice("status", **status)
        other, connection = await meeting.join()
        await meeting.browser.connection.close()
        for side, own in ((meeting.agent, meeting.connection), (other, connection)):
            left = notice("disconnected", connection_id=own, reason="Extension closed")
            assert await side.next(method="disconnected") == left
