"""Bad input over real sockets: it gets its code and its reason, and disturbs nobody else."""

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.proxy.issuer import FAR, IssuerServer
from tests.proxy.meeting import Meeting, request, result
from tests.proxy.served import Side, answered, client, extension, served, token

HUGE = 2**63
DEEP = 100_000


async def goes_on(meeting: Meeting, other: Side) -> None:
    """Both clients still reach the extension."""
    for side in (meeting.agent, other):
        await side.send(request("still", "getTabs"))
        await answered(meeting.browser, result={"tabs": []})
        assert await side.next(id="still") == result("still", tabs=[])


@pytest.mark.requirement("PX-06")
@pytest.mark.parametrize(
    ("text", "id", "code", "reason"),
    [
        ("", None, -32700, "parse_error"),
        ("{", None, -32700, "parse_error"),
        ('{"jsonrpc":"2.0","id":1,"method":"getTabs",}', None, -32700, "parse_error"),
        ('{"jsonrpc":"2.0","id":NaN,"method":"getTabs"}', None, -32700, "parse_error"),
        ('{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', None, -32700, "parse_error"),
        ("5", None, -32600, "invalid_request"),
        ("[]", None, -32600, "invalid_request"),
        ('[{"jsonrpc":"2.0","id":1,"method":"getTabs"}]', None, -32600, "invalid_request"),
        ('{"jsonrpc":"1.0","id":1,"method":"getTabs"}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":2.0,"id":1,"method":"getTabs"}', 1, -32600, "invalid_request"),
        ('{"id":1,"method":"getTabs"}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"method":""}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":null,"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1.0,"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1e3,"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":true,"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":{},"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":[1],"method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":"proxy:1","method":"getTabs"}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":"ext:1","method":"getTabs"}', None, -32600, "invalid_request"),
        (f'{{"jsonrpc":"2.0","id":"{"x" * 2000}","method":"a"}}', None, -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"method":"authenticate"}', 1, -32601, "method_not_found"),
        ('{"jsonrpc":"2.0","id":1,"method":"connect","params":[]}', 1, -32602, "invalid_params"),
        ('{"jsonrpc":"2.0","id":1,"method":"a","connectionId":5}', 1, -32602, "invalid_params"),
        ('{"jsonrpc":"2.0","id":1,"method":"a","connectionId":"b"}', 1, -32602, "invalid_params"),
        (
            f'{{"jsonrpc":"2.0","id":1,"method":"a","params":{"[" * DEEP}{"]" * DEEP}}}',
            None,
            -32600,
            "invalid_request",
        ),
    ],
    ids=range(29),
)
async def test_a_bad_message_of_a_client_is_answered(
    text: str, id: Any, code: int, reason: str
) -> None:
    async with Meeting() as meeting:
        other, _ = await meeting.join()
        await meeting.agent.send(text)
        refused = await meeting.agent.next(id=id, jsonrpc="2.0", method=None)
        assert (refused["error"]["code"], refused["error"]["data"]["reason"]) == (code, reason)
        await goes_on(meeting, other)


@pytest.mark.requirement("PX-03")
async def test_ids_of_all_allowed_kinds_are_in_flight_together() -> None:
    ids: list[Any] = [0, "", "0", 1, "1", -1, HUGE, str(HUGE), "a:b", "é", "null"]
    async with Meeting() as meeting:
        other, _ = await meeting.join()
        for number, id in enumerate(ids):
            await meeting.agent.send(request(id, "getTabs", {"number": number}))
        for _ in ids:
            asked = await meeting.browser.next(method="getTabs")
            await meeting.browser.send(result(asked["id"], **asked["params"]))
        got = [await meeting.agent.next(jsonrpc="2.0", method=None) for _ in ids]
        assert got == [result(id, number=number) for number, id in enumerate(ids)]
        await goes_on(meeting, other)


async def test_an_id_in_flight_is_refused_and_its_first_request_still_answered() -> None:
    async with Meeting() as meeting:
        asked = await meeting.forwarded(request(1, "getTabs"))
        again = await meeting.agent.ask(1, "getTabs")
        assert again["error"]["data"]["reason"] == "duplicate_id"
        await meeting.browser.send(result(asked["id"], tabs=[]))
        assert await meeting.agent.next(id=1) == result(1, tabs=[])


async def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    async with Meeting() as meeting:
        text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"connect","method":"getTabs"}'
        await meeting.agent.send(text)
        asked = await meeting.browser.next(method="getTabs")
        assert asked["id"] == f"{meeting.connection}:2"


@pytest.mark.requirement("PX-03")
async def test_answers_that_nobody_waits_for_reach_nobody() -> None:
    async with Meeting() as meeting, extension(meeting.proxy) as (thief, _):
        other, connection = await meeting.join()
        asked = await meeting.forwarded(request(1, "getTabs"))
        counts = meeting.proxy.server.service.board.counts
        before = counts["dropped"]
        wrong = [f"{meeting.connection}:2", f"{connection}:1", "conn-nobody:1", "1", ""]
        for id in wrong:
            await meeting.browser.send(result(id, stolen=True))
        await thief.send(result(asked["id"], stolen=True))
        await meeting.browser.send({"jsonrpc": "2.0", "method": "news", "params": {}})
        await meeting.browser.send(result(asked["id"], tabs=[]))
        await meeting.browser.send(result(asked["id"], stolen="twice"))
        assert await meeting.agent.next(id=1) == result(1, tabs=[])
        await goes_on(meeting, other)
        # An answer of the thief's comes before its later one is refused.
        await thief.send(request(1, "ask"))
        await thief.next(id=1)
        assert counts["dropped"] - before == len(wrong) + 3
        assert "stolen" not in str([*meeting.agent.seen, *other.seen])


@pytest.mark.parametrize("answer", ["{", "[]", "5", '{"id": 5, "result": {}}'])
async def test_a_bad_message_of_an_extension_is_refused(answer: str) -> None:
    async with Meeting() as meeting:
        other, _ = await meeting.join()
        await meeting.browser.send(answer)
        refused = await meeting.browser.next(jsonrpc="2.0", method=None)
        assert refused["error"]["code"] in (-32700, -32600)
        await goes_on(meeting, other)


@pytest.mark.requirement("PX-04")
@pytest.mark.parametrize("user", ["a.b", "*", ">", "a >", "ann\u0000", "x" * 10_000, "room.ann"])
async def test_users_with_odd_names_are_kept_apart(user: str) -> None:
    own = token(user)
    async with served() as proxy, extension(proxy, own) as (browser, id), extension(proxy):
        async with client(proxy, own) as agent, client(proxy) as stranger:
            listed = (await agent.ask(2, "list_extensions"))["result"]["extensions"]
            assert [one["id"] for one in listed] == [id]
            refused = await stranger.ask(2, "connect", {"extension_id": id})
            assert refused["error"]["data"]["reason"] == "extension_not_found"
            await agent.ask(3, "connect", {"extension_id": id})
            await agent.send(request(4, "getTabs"))
            await answered(browser, result={"tabs": []})
            assert await agent.next(id=4) == result(4, tabs=[])


async def reason_for(proxy: Any, given: str) -> str:
    """Why a node refuses a token; it also closes the socket."""
    async with proxy.connect("/mcp") as connection:
        side = Side(connection)
        answer = await side.ask(1, "mcp_handshake", {"accessToken": given})
        assert (await side.closed())[0] == 4401
        return str(answer["error"]["message"])


@pytest.mark.requirement("PX-05")
async def test_tokens_that_confuse_keys_and_algorithms_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.proxy.identity.UNKNOWN_KEY_SECONDS", 0.0)
    async with IssuerServer() as issuer, served(key_set_url=issuer.url) as proxy:
        name = issuer.add_key()
        async with client(proxy, issuer.token(name)) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        public = issuer.keys[name].public_key()
        claims = {"user_id": "ann", "exp": FAR}
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        forged = jwt.api_jws.PyJWS().encode(b"{}", "", algorithm="none", headers={"kid": name})
        for bad in (
            forged,
            jwt.encode(claims, "", algorithm="none"),
            issuer.signed_with(pem, name, claims),
            issuer.token("unknown", key=name),
            issuer.token(name, exp=1),
        ):
            assert "Authentication failed" in await reason_for(proxy, bad)


@pytest.mark.requirement("PX-05")
async def test_only_tokens_of_the_issuer_and_for_the_audience_count() -> None:
    async with served(issuer="https://id.example", audience="tabhub") as proxy:
        right: dict[str, Any] = {"iss": "https://id.example", "aud": "tabhub"}
        async with client(proxy, token(**right)) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        wrong: dict[str, Any]
        for wrong in (
            {},
            {"iss": "https://id.example"},
            {"aud": "tabhub"},
            {**right, "aud": "other"},
            {**right, "iss": "https://evil.example"},
        ):
            assert "Authentication failed" in await reason_for(proxy, token(**wrong))


@pytest.mark.requirement("PX-05")
async def test_keys_that_an_issuer_rotates_are_taken_without_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.proxy.identity.UNKNOWN_KEY_SECONDS", 0.0)
    async with IssuerServer() as issuer, served(secret=None, key_set_url=issuer.url) as proxy:
        first = issuer.add_key()
        async with client(proxy, issuer.token(first)) as agent:
            second = issuer.add_key()
            async with client(proxy, issuer.token(second)) as other:
                assert "result" in await other.ask(2, "list_extensions")
            issuer.remove_key(first)
            third = issuer.add_key()
            async with client(proxy, issuer.token(third)):
                assert "Invalid token" in await reason_for(proxy, issuer.token(first))
            assert "result" in await agent.ask(2, "list_extensions")
        issuer.is_down = True
        async with client(proxy, issuer.token(third)) as last:
            assert "result" in await last.ask(2, "list_extensions")


@pytest.mark.requirement("PX-05")
async def test_while_the_keys_cannot_be_fetched_sockets_are_told_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.proxy.identity.UNKNOWN_KEY_SECONDS", 0.0)
    async with IssuerServer() as issuer, served(secret=None, key_set_url=issuer.url) as proxy:
        good = issuer.token(issuer.add_key())
        issuer.is_down = True
        async with proxy.connect("/mcp") as connection:
            side = Side(connection)
            refused = await side.ask(1, "mcp_handshake", {"accessToken": good})
            assert refused["error"]["data"]["reason"] == "server_unavailable"
            assert await side.closed() == (1013, "server_unavailable")
        issuer.is_down = False
        async with client(proxy, good) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
