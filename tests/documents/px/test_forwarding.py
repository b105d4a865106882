"""The document's messages through a connection: mapped ids, results, errors, refusals."""

import pytest

from tests.proxy.meeting import Meeting, error, request, result
from tests.proxy.served import Side, client, extension, served, token

UUID = "550e8400-e29b-41d4-a716-446655440000"
CREATE = {"url": "https://example.com", "stealth": True}


@pytest.mark.requirement("PX-03")
@pytest.mark.document(
    "PX-forwarding-1",
    "PX-forwarding-2",
    "PX-forwarding-3",
    "PX-ids-4",
    "PX-ids-5",
    "PX-proxies-1",
)
async def test_a_command_reaches_the_extension_under_a_mapped_id_and_its_result_comes_back() -> (
    None
):
    async with Meeting() as meeting:
        command = request(100, "createTab", CREATE, connectionId=meeting.connection)
        asked = await meeting.forwarded(command)
        assert asked == request(f"{meeting.connection}:100", "createTab", CREATE)
        created = {"tabId": 42, "url": "https://example.com"}
        await meeting.browser.send(result(asked["id"], **created))
        assert await meeting.agent.next(id=100) == result(100, **created)


@pytest.mark.document("PX-ids-1")
@pytest.mark.parametrize("id", [1, 2, 3, UUID])
async def test_numbers_and_texts_come_back_as_they_were(id: int | str) -> None:
    async with Meeting() as meeting:
        asked = await meeting.forwarded(request(id, "getTabs"))
        await meeting.browser.send(result(asked["id"], tabs=[]))
        assert await meeting.agent.next(id=id) == result(id, tabs=[])


@pytest.mark.requirement("PX-03")
@pytest.mark.document("PX-ids-3", "PX-proxies-2")
async def test_two_clients_with_the_same_id_never_meet() -> None:
    async with Meeting() as meeting:
        other, connection = await meeting.join()
        await meeting.agent.send(request(1, "browser_navigate"))
        await other.send(request(1, "click"))
        first = await meeting.browser.next(method="browser_navigate")
        second = await meeting.browser.next(method="click")
        assert (first["id"], second["id"]) == (f"{meeting.connection}:1", f"{connection}:1")
        await meeting.browser.send(result(second["id"], clicked=True))
        await meeting.browser.send(result(first["id"], url="https://a.example"))
        assert await meeting.agent.next(id=1) == result(1, url="https://a.example")
        assert await other.next(id=1) == result(1, clicked=True)


@pytest.mark.document("PX-forwarding-4")
async def test_an_error_of_the_extension_comes_back_as_it_is() -> None:
    async with Meeting() as meeting:
        asked = await meeting.forwarded(request(100, "createTab", CREATE))
        failed = error(asked["id"], -32000, "Tab creation failed: Permission denied")
        await meeting.browser.send(failed)
        assert await meeting.agent.next(id=100) == {**failed, "id": 100}


@pytest.mark.requirement("PX-03")
@pytest.mark.document("PX-forwarding-5", "PX-errors-5")
async def test_an_answer_that_is_none_becomes_an_internal_error() -> None:
    async with Meeting() as meeting:
        asked = await meeting.forwarded(request(100, "createTab", CREATE))
        await meeting.browser.send({"jsonrpc": "2.0", "id": asked["id"]})
        answer = await meeting.agent.next(id=100)
        assert answer["error"]["code"] == -32603
        assert answer["error"]["data"]["reason"] == "invalid_response"


@pytest.mark.document("PX-principles-2", "PX-extensions-1")
@pytest.mark.parametrize("id", ["ext:1", "1", 1])
async def test_an_extension_that_asks_is_refused(id: str | int) -> None:
    async with Meeting() as meeting:
        await meeting.browser.send(request(id, "handshake"))
        assert (await meeting.browser.next(id=id))["error"]["code"] == -32600
        asked = await meeting.forwarded(request(5, "getTabs"))
        await meeting.browser.send(result(asked["id"]))
        assert await meeting.agent.next(id=5) == result(5)


@pytest.mark.document("PX-principles-3", "PX-methods-2", "PX-errors-3")
async def test_control_methods_are_answered_and_unknown_ones_forwarded() -> None:
    async with Meeting() as meeting:
        assert "result" in await meeting.agent.ask(3, "list_extensions")
        for method in ("authenticate", "authenticated", "status", "disconnected", "mcp_handshake"):
            assert (await meeting.agent.ask(4, method))["error"]["code"] == -32601
        asked = await meeting.forwarded(request(6, "somethingNew", {"deep": [{}]}))
        assert asked["params"] == {"deep": [{}]}
        assert [one["method"] for one in meeting.browser.seen if "id" in one] == []


@pytest.mark.document("PX-errors-1", "PX-errors-2", "PX-errors-4", "PX-clients-1")
@pytest.mark.parametrize(
    ("message", "id", "code"),
    [
        ("{", None, -32700),
        ('{"id": 7, "method": "list_extensions", "params": {}}', 7, -32600),
        ('{"jsonrpc": "2.0", "id": 7}', 7, -32600),
        ('{"jsonrpc": "2.0", "id": 7, "method": "connect"}', 7, -32602),
        ('{"jsonrpc": "2.0", "id": 7, "method": "connect", "params": {}}', 7, -32602),
    ],
)
async def test_the_codes_of_the_table(message: str, id: int | None, code: int) -> None:
    async with served() as proxy, client(proxy) as agent:
        await agent.send(message)
        refused = await agent.next(id=id, jsonrpc="2.0", method=None)
        assert refused["error"]["code"] == code


@pytest.mark.requirement("PX-06")
@pytest.mark.document("PX-security-3")
@pytest.mark.parametrize("id", ["proxy:1", "ext:1", "proxy:"])
async def test_reserved_ids_are_refused_and_never_forwarded(id: str) -> None:
    async with Meeting() as meeting:
        await meeting.agent.send(request(id, "getTabs"))
        refused = await meeting.agent.next(id=None, jsonrpc="2.0", method=None)
        assert refused["error"]["code"] == -32600
        asked = await meeting.forwarded(request(5, "goBack"))
        assert asked["id"] == f"{meeting.connection}:5"


@pytest.mark.requirement("PX-06")
@pytest.mark.document("PX-security-4")
async def test_a_flood_is_refused_and_other_clients_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a slow machine, the usual rate would let all of them pass.
    monkeypatch.setattr("tabhub.proxy.proxy_clients.CONNECTION_RATE", 0.001)
    async with Meeting() as meeting:
        other, _ = await meeting.join()
        for number in range(1000):
            await meeting.agent.send(request(number, "list_extensions"))
        refused = await meeting.agent.next(id=999)
        assert refused["error"]["data"]["reason"] == "rate_limited"
        assert refused["error"]["data"]["retryAfterMs"] > 0
        assert "result" in await other.ask(9, "list_extensions")


@pytest.mark.document("PX-clients-2")
async def test_a_client_that_comes_back_finds_its_extension_again() -> None:
    async with served() as proxy, extension(proxy, token(), "profile-1") as (browser, id):
        for _ in range(2):
            async with client(proxy) as agent:
                await agent.ask(2, "connect", {"extension_id": id})
                await agent.send(request(3, "getTabs"))
                asked = await browser.next(method="getTabs")
                await browser.send(result(asked["id"], tabs=[]))
                assert await agent.next(id=3) == result(3, tabs=[])


@pytest.mark.requirement("PX-01")
@pytest.mark.document("PX-extension-3")
async def test_a_profile_keeps_its_id_and_its_newer_socket_replaces_the_older() -> None:
    async with served() as proxy, extension(proxy, token(), "profile-1") as (old, first):
        async with extension(proxy, token(), "profile-1") as (_, second):
            assert first == second
            assert (await old.closed())[0] == 4001
        async with extension(proxy, token("bob"), "profile-1") as (_, foreign):
            assert foreign != first


@pytest.mark.requirement("PX-02")
@pytest.mark.document("PX-authentication-1")
@pytest.mark.parametrize("method", ["list_extensions", "connect", "createTab", "status"])
async def test_whoever_sends_anything_before_the_handshake_is_not_authenticated(
    method: str,
) -> None:
    async with served() as proxy, proxy.connect("/mcp") as connection:
        side = Side(connection)
        answer = await side.ask(1, method)
        assert answer["error"]["data"]["reason"] == "not_authenticated"
        assert (await side.closed())[0] == 4401
