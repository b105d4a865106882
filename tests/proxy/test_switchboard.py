"""The core of the proxy: authentication, connecting, forwarding, bad messages, several nodes."""

import json
from typing import Any

import pytest

from tests.proxy.network import (
    Json,
    Network,
    Peer,
    client,
    connected,
    extension,
    extension_id,
    requests,
)


def reason(answer: Json) -> Any:
    return answer["error"]["data"]["reason"]


def waiting(network: Network, token: str) -> Peer:
    """A client that has sent its token, and has no answer."""
    peer = Peer(network, "one", "client")
    params = {"accessToken": token}
    peer.send({"jsonrpc": "2.0", "id": "hello", "method": "mcp_handshake", "params": params})
    return peer


@pytest.fixture(params=[("one", "one"), ("one", "two")], ids=["one node", "two nodes"])
def nodes(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The node of the extension and that of the client."""
    found: tuple[str, str] = request.param
    return found


@pytest.mark.requirement("PX-03")
def test_two_clients_with_the_same_ids_never_get_each_others_answers(
    nodes: tuple[str, str],
) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    (ann, first), (bob, second) = (connected(network, browser, nodes[1]) for _ in range(2))
    for peer in (ann, bob):
        for id in (1, "1", 0, "", -7, 2**63, 10**30):
            peer.send({"jsonrpc": "2.0", "id": id, "method": "getTabs", "params": {"of": id}})
    asked = list(requests(browser))
    assert len({request["id"] for request in asked}) == len(asked) == 14
    for request in asked:
        answer = {"mine": request["id"].split(":")[0], "of": request["params"]["of"]}
        browser.send({"jsonrpc": "2.0", "id": request["id"], "result": answer})
    for peer, connection in ((ann, first), (bob, second)):
        for id in (1, "1", 0, "", -7, 2**63, 10**30):
            assert peer.answer(id)["result"] == {"mine": connection, "of": id}


def test_what_is_inside_a_message_is_passed_on_to_the_last_digit(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    peer, connection = connected(network, browser, nodes[1])
    peer.send(
        b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"n":1.0,"big":123456789012345678901}}'
    )
    assert b'{"n":1.0,"big":123456789012345678901}' in browser.raw[-1]
    text = f'{{"jsonrpc":"2.0","id":"{connection}:5","error":{{"code":-1.0,"message":"no"}}}}'
    browser.send(text)
    assert peer.raw[-1] == b'{"jsonrpc":"2.0","id":5,"error":{"code":-1.0,"message":"no"}}'


@pytest.mark.parametrize("members", [{}, {"result": 1, "error": {"code": 1, "message": "x"}}])
@pytest.mark.requirement("PX-03")
def test_an_answer_with_neither_or_both_of_result_and_error_is_an_error(members: Json) -> None:
    network = Network()
    browser = extension(network)
    peer, connection = connected(network, browser)
    peer.send({"jsonrpc": "2.0", "id": 3, "method": "click"})
    browser.send({"jsonrpc": "2.0", "id": f"{connection}:3", **members})
    assert peer.answer(3)["error"]["code"] == -32603
    assert reason(peer.answer(3)) == "invalid_response"


def test_an_answer_that_is_no_strict_json_still_ends_its_request() -> None:
    network = Network()
    browser = extension(network)
    peer, connection = connected(network, browser)
    peer.send({"jsonrpc": "2.0", "id": 3, "method": "click"})
    browser.send(f'{{"jsonrpc":"2.0","id":"{connection}:3","result":"\\ud800"}}')
    assert reason(peer.answer(3)) == "invalid_response"


@pytest.mark.requirement("PX-03")
def test_answers_to_nobody_are_dropped_and_counted() -> None:
    network = Network()
    mine, other = extension(network), extension(network)
    peer, connection = connected(network, mine)
    peer.send({"jsonrpc": "2.0", "id": 3, "method": "click"})
    before = len(peer.received)
    for id in (f"{connection}:4", "conn-none:3", "nonsense", f"{connection}:03"):
        mine.send({"jsonrpc": "2.0", "id": id, "result": {}})
    other.send({"jsonrpc": "2.0", "id": f"{connection}:3", "result": "of another extension"})
    assert len(peer.received) == before
    assert network.boards["one"].counts["dropped"] == 5
    mine.send({"jsonrpc": "2.0", "id": f"{connection}:3", "result": {}})
    mine.send({"jsonrpc": "2.0", "id": f"{connection}:3", "result": "twice"})
    assert [m for m in peer.received if m.get("id") == 3] == [
        {"jsonrpc": "2.0", "id": 3, "result": {}}
    ]


@pytest.mark.requirement("PX-06")
@pytest.mark.parametrize("id", [None, 1.5, True, {}, [], 1e3, "proxy:1", "ext:5", "x" * 2000])
def test_ids_of_other_kinds_are_refused(id: Any) -> None:
    network = Network()
    peer, _ = connected(network, extension(network))
    peer.send({"jsonrpc": "2.0", "id": id, "method": "click"})
    assert peer.received[-1]["id"] is None
    assert peer.received[-1]["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("{", -32700, "parse_error"),
        ("", -32700, "parse_error"),
        ("nonsense", -32700, "parse_error"),
        ("[]", -32600, "invalid_request"),
        ('[{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600, "invalid_request"),
        ("3", -32600, "invalid_request"),
        ('{"id":1,"method":"x"}', -32600, "invalid_request"),
        ('{"jsonrpc":"1.0","id":1,"method":"x"}', -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1}', -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"method":5}', -32600, "invalid_request"),
        ('{"jsonrpc":"2.0","id":1,"method":"x","connectionId":5}', -32602, "invalid_params"),
        ('{"jsonrpc":"2.0","id":1,"method":"x","connectionId":"conn-b"}', -32602, "invalid_params"),
        ('{"jsonrpc":"2.0","id":1,"method":"connect","params":{}}', -32602, "invalid_params"),
        ('{"jsonrpc":"2.0","id":1,"method":"status","params":{}}', -32601, "method_not_found"),
        ('{"jsonrpc":"2.0","id":1,"method":"mcp_handshake"}', -32601, "method_not_found"),
        ('{"jsonrpc":"2.0","id":1,"method":"x","params":' + "[" * 2000, -32600, "invalid_request"),
    ],
)
def test_bad_messages_get_their_code_and_disturb_nobody(text: str, code: int, word: str) -> None:
    network = Network()
    browser = extension(network)
    peer, connection = connected(network, browser)
    peer.send(text)
    answer = peer.received[-1]
    assert (answer["error"]["code"], reason(answer)) == (code, word)
    assert peer.closed is None and not list(requests(browser))
    peer.send({"jsonrpc": "2.0", "id": 8, "method": "getTabs"})
    assert [request["id"] for request in requests(browser)] == [f"{connection}:8"]


def test_of_names_that_stand_twice_the_last_counts_for_both_sides() -> None:
    network = Network()
    browser = extension(network)
    peer, connection = connected(network, browser)
    peer.send('{"jsonrpc":"2.0","id":1,"id":2,"method":"connect","method":"click"}')
    (request,) = requests(browser)
    assert (request["id"], request["method"]) == (f"{connection}:2", "click")


def test_notifications_of_clients_and_extensions_are_dropped() -> None:
    network = Network()
    browser = extension(network)
    peer, _ = connected(network, browser)
    before = len(peer.received), len(browser.received)
    peer.send({"jsonrpc": "2.0", "method": "click"})
    browser.send({"jsonrpc": "2.0", "method": "news"})
    assert (len(peer.received), len(browser.received)) == before
    assert network.boards["one"].counts["dropped"] == 2


def test_an_extension_that_asks_is_refused() -> None:
    browser = extension(Network())
    browser.send({"jsonrpc": "2.0", "id": "ext:1", "method": "config.getState"})
    assert browser.received[-1]["id"] == "ext:1"
    assert browser.received[-1]["error"]["code"] == -32600


def test_an_id_in_flight_cannot_be_used_again_and_an_answered_one_can() -> None:
    network = Network()
    browser = extension(network)
    peer, connection = connected(network, browser)
    for _ in range(2):
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "click"})
    assert reason(peer.answer(1)) == "duplicate_id"
    browser.send({"jsonrpc": "2.0", "id": f"{connection}:1", "result": 1})
    assert peer.answer(1)["result"] == 1
    peer.send({"jsonrpc": "2.0", "id": 1, "method": "click"})
    assert len(list(requests(browser))) == 2


@pytest.mark.requirement("PX-06")
def test_so_many_requests_may_be_in_flight_and_no_more() -> None:
    network = Network()
    peer, _ = connected(network, extension(network))
    for id in range(256):
        peer.send({"jsonrpc": "2.0", "id": id, "method": "click"})
    assert reason(peer.ask(256, "click")) == "too_many_calls"


@pytest.mark.requirement("PX-06")
def test_a_client_that_sends_too_fast_is_told_to_wait_and_at_last_closed() -> None:
    network = Network()
    browser = extension(network)
    peer, _ = connected(network, browser)
    while "error" not in peer.ask("again", "list_extensions"):
        pass
    assert reason(peer.answer("again")) == "rate_limited"
    assert peer.answer("again")["error"]["data"]["retryAfterMs"] > 0
    network.tick(1.0)
    assert "result" in peer.ask("later", "list_extensions")
    for _ in range(2000):
        if peer.closed is None:
            peer.send({"jsonrpc": "2.0", "id": "flood", "method": "list_extensions"})
    assert peer.closed == (4429, "rate_limited")
    assert browser.told("status")[-1]["peer_count"] == 0


@pytest.mark.requirement("PX-04")
def test_nobody_sees_or_reaches_what_belongs_to_another_user(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0], "bob")
    peer = client(network, nodes[1], "ann")
    assert peer.ask(1, "list_extensions")["result"] == {"extensions": []}
    peer.ask(2, "connect", {"extension_id": extension_id(browser)})
    foreign = peer.raw[-1]
    peer.ask(2, "connect", {"extension_id": "ext-unknown"})
    assert peer.raw[-1] == foreign
    assert reason(peer.answer(2)) == "extension_not_found"
    assert browser.told("status")[-1]["peer_count"] == 0


@pytest.mark.requirement("PX-04")
def test_an_extension_knows_its_clients_before_their_first_request(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    network.is_held = True
    peer = client(network, nodes[1], "ann/claude")
    peer.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "connect",
            "params": {"extension_id": extension_id(browser)},
        }
    )
    peer.send({"jsonrpc": "2.0", "id": 2, "method": "click"})
    network.settle()
    names = [m.get("method") for m in browser.received]
    assert names.index("click") > names.index("status", 3)
    connection = peer.answer(1)["result"]["connection_id"]
    assert browser.told("status")[-1]["clients"] == [
        {"connection_id": connection, "name": "claude"}
    ]


@pytest.mark.requirement("PX-04")
def test_both_sides_hear_of_every_change_of_peers(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    assert [status["peer_count"] for status in browser.told("status")] == [0]
    ann, first = connected(network, browser, nodes[1])
    bob, second = connected(network, browser, nodes[1])
    assert ann.told("status")[-1]["peer_count"] == 2 == bob.told("status")[-1]["peer_count"]
    assert ann.ask(9, "disconnect")["result"] == {"disconnected": True}
    assert ann.ask(10, "disconnect")["result"] == {"disconnected": True}
    assert browser.told("disconnected")[-1]["connection_id"] == first
    assert bob.told("status")[-1]["peer_count"] == 1
    bob.close()
    assert browser.told("disconnected")[-1]["connection_id"] == second
    assert browser.told("status")[-1]["peer_count"] == 0
    assert browser.told("status")[-1]["timestamp"].endswith("+00:00")


def test_a_client_has_one_connection_and_may_change_it() -> None:
    network = Network()
    first, second = extension(network), extension(network)
    peer, _ = connected(network, first)
    params = {"extension_id": extension_id(second)}
    assert peer.ask(2, "connect", params)["error"]["code"] == -32001
    assert reason(peer.answer(2)) == "already_connected"
    peer.ask(3, "disconnect")
    assert reason(peer.ask(4, "click")) == "not_connected"
    assert peer.ask(5, "connect", params)["result"]["extension_id"] == extension_id(second)


def test_when_an_extension_leaves_every_request_in_flight_gets_one_end(
    nodes: tuple[str, str],
) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    peer, connection = connected(network, browser, nodes[1])
    for id in (1, "a"):
        peer.send({"jsonrpc": "2.0", "id": id, "method": "click"})
    browser.close()
    assert {reason(peer.answer(id)) for id in (1, "a")} == {"extension_gone"}
    assert peer.told("disconnected") == [
        {"connection_id": connection, "reason": "Extension closed"}
    ]
    assert peer.ask(5, "list_extensions")["result"] == {"extensions": []}


def test_a_node_that_dies_takes_only_its_own_sockets_with_it() -> None:
    network = Network("one", "two", "three")
    away, stays = extension(network, "two"), extension(network, "one")
    ann, _ = connected(network, away, "one")
    bob, _ = connected(network, stays, "two")
    cat, connection = connected(network, stays, "three")
    ann.send({"jsonrpc": "2.0", "id": 1, "method": "click"})
    network.kill("two")
    assert reason(ann.answer(1)) == "extension_gone"
    assert stays.told("status")[-1]["clients"] == [{"connection_id": connection, "name": ""}]
    listed = [one["id"] for one in cat.ask(2, "list_extensions")["result"]["extensions"]]
    assert listed == [extension_id(stays)]
    assert bob.closed is not None


@pytest.mark.requirement("PX-01")
def test_a_profile_keeps_its_id_and_its_newest_socket_counts(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    old = extension(network, nodes[0], profile="p1")
    peer, _ = connected(network, old, nodes[0])
    new = extension(network, nodes[1], profile="p1")
    assert extension_id(new) == extension_id(old)
    assert old.closed is not None and old.closed[0] == 4001
    assert new.is_open() and peer.told("disconnected")
    listed = peer.ask(1, "list_extensions")["result"]["extensions"]
    assert [one["id"] for one in listed] == [extension_id(new)]
    again = extension(network, nodes[0], profile="p1")
    assert not new.is_open() and again.is_open()
    other = extension(network, nodes[0], "bob", profile="p1")
    assert extension_id(other) != extension_id(again)
    plain = [extension(network, nodes[0]) for _ in range(2)]
    assert len({extension_id(one) for one in plain}) == 2


@pytest.mark.requirement("PX-06")
def test_a_user_has_so_many_extensions_and_clients(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    found = [extension(network, nodes[index % 2]) for index in range(17)]
    assert [one.closed for one in found[:16]] == [None] * 16
    assert found[16].closed is not None and found[16].closed[0] == 4429
    clients = [client(network, nodes[index % 2]) for index in range(65)]
    assert clients[63].closed is None
    assert clients[64].closed is not None and clients[64].closed[0] == 4429
    assert reason(clients[64].received[-1]) == "rate_limited"
    assert extension(network, nodes[0], "bob").closed is None


@pytest.mark.requirement("PX-01")
@pytest.mark.parametrize("answer", [{"name": "x", "accessToken": "bad"}, {"name": "x"}, None, 5])
def test_a_bad_token_of_an_extension_gets_an_error_and_the_socket_closes(answer: Any) -> None:
    browser = Peer(Network(), "one", "extension")
    assert browser.received == [
        {"jsonrpc": "2.0", "id": "proxy:1", "method": "authenticate", "params": {}}
    ]
    browser.send({"jsonrpc": "2.0", "id": "proxy:1", "result": answer})
    assert browser.received[-1]["id"] == "proxy:1"
    assert browser.received[-1]["error"]["code"] == -32000
    assert browser.closed == (4401, "not_authenticated")


@pytest.mark.requirement("PX-02")
def test_anything_before_the_handshake_is_refused_and_the_socket_closes() -> None:
    for message in (
        {"jsonrpc": "2.0", "id": 7, "method": "list_extensions"},
        {"jsonrpc": "2.0", "method": "mcp_handshake", "params": {"accessToken": "ann"}},
    ):
        peer = Peer(Network(), "one", "client")
        peer.send(message)
        assert reason(peer.received[-1]) == "not_authenticated"
        assert peer.closed == (4401, "not_authenticated")


def test_a_wrong_token_of_a_client_is_refused_as_the_document_says() -> None:
    peer = client(Network(), token="bad")
    error = peer.answer("hello")["error"]
    assert (error["code"], error["message"]) == (-32000, "Authentication failed: Invalid token")
    assert peer.closed == (4401, "not_authenticated")


def test_who_says_nothing_for_ten_seconds_is_closed() -> None:
    network = Network()
    silent = [Peer(network, "one", "extension"), Peer(network, "one", "client")]
    known = client(network)
    network.tick(10.0)
    assert [peer.closed for peer in silent] == [(4408, "not_authenticated")] * 2
    assert known.closed is None


@pytest.mark.requirement("PX-05")
def test_a_token_that_expires_ends_its_open_socket() -> None:
    network = Network()
    browser = extension(network, token="ann//60")
    peer, _ = connected(network, browser, token="ann//90")
    network.tick(60.0)
    assert browser.closed == (4401, "token_expired") and peer.closed is None
    network.tick(30.0)
    assert peer.closed == (4401, "token_expired")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 100),
        ("😀" * 51, "😀" * 50),
        ("x" + "😀" * 50, "x" + "😀" * 49),
    ],
    ids=["all of it", "a long one", "pairs", "half a pair"],
)
def test_both_sides_know_a_client_by_the_same_name(
    nodes: tuple[str, str], name: str, shown: str
) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    connected(network, browser, nodes[1], f"ann/{name}")
    [listed] = browser.told("status")[-1]["clients"]
    assert listed["name"] == shown


def test_answers_to_nothing_do_not_hide_a_call_that_runs(nodes: tuple[str, str]) -> None:
    network = Network(*sorted(set(nodes)))
    browser = extension(network, nodes[0])
    peer, connection = connected(network, browser, nodes[1])
    board = network.boards[nodes[0]]

    def answer(id: int) -> None:
        browser.send({"jsonrpc": "2.0", "id": f"{connection}:{id}", "result": 1})

    answer(99)
    peer.send({"jsonrpc": "2.0", "id": 5, "method": "click"})
    assert board.is_busy(browser.socket)
    answer(99)
    assert board.is_busy(browser.socket)
    answer(5)
    assert not board.is_busy(browser.socket)


def test_sockets_that_are_closed_leave_nothing_behind() -> None:
    network = Network()
    stays, silent = client(network, token="bob//90"), Peer(network, "one", "client")
    for _ in range(100):
        extension(network, token="ann//2000000").close()
        client(network, token="ann//2000000").close()
    assert network.boards["one"].times < 20
    network.tick(10.0)
    assert silent.closed == (4408, "not_authenticated")
    network.tick(80.0)
    assert stays.closed == (4401, "token_expired")


def test_revoking_ends_the_sockets_of_a_token_or_a_user() -> None:
    network = Network()
    browser, peer, other = (
        extension(network),
        client(network, token="ann/x"),
        client(network, token="bob"),
    )
    network.do("one", lambda board: board.revoke(lambda one: one.token_id == "ann/x"))
    assert peer.closed == (4401, "not_authenticated") and browser.is_open()
    network.do("one", lambda board: board.revoke(lambda one: one.user == "ann"))
    assert not browser.is_open() and other.is_open()


def test_revoking_ends_sockets_that_wait_for_their_room() -> None:
    network = Network()
    network.are_rooms_silent = True
    agent, browser, other = waiting(network, "ann"), extension(network), waiting(network, "bob")
    network.do("one", lambda board: board.revoke(lambda one: one.user == "ann"))
    network.answer_rooms()
    assert agent.closed == browser.closed == (4401, "not_authenticated")
    assert reason(agent.answer("hello")) == "not_authenticated"
    assert other.is_open() and "result" in other.answer("hello")


def test_an_extension_hears_something_at_least_every_twenty_seconds() -> None:
    network = Network()
    browser = extension(network)
    for _ in range(60):
        network.tick(1.0)
    assert len(browser.told("status")) == 4
    connected(network, browser)
    network.tick(19.0)
    assert len(browser.told("status")) == 5
    network.tick(1.0)
    assert len(browser.told("status")) == 6


def test_a_user_id_may_have_any_characters() -> None:
    network = Network("one", "two")
    for user in (".", "*", ">", "a b", "x" * 10_000, "\n", "ü"):
        browser = extension(network, "two", user)
        peer = client(network, "one", user)
        listed = peer.ask(1, "list_extensions")["result"]["extensions"]
        assert [one["id"] for one in listed] == [extension_id(browser)]
    assert all(len(room) == 64 and room.isalnum() for room in network.rooms)


def test_a_node_without_sockets_of_a_user_keeps_nothing_of_that_user() -> None:
    network = Network("one", "two")
    browser = extension(network, "one")
    peer, _ = connected(network, browser, "two")
    peer.close()
    browser.close()
    assert not any(network.rooms.values())
    assert network.boards["one"].sockets() == {"strangers": 0, "clients": 0, "extensions": 0}


def test_two_nodes_that_join_at_the_same_moment_learn_of_each_other() -> None:
    network = Network("one", "two")
    network.is_held = True
    first, second = extension(network, "one"), extension(network, "two")
    peers = [client(network, "one"), client(network, "two")]
    network.settle()
    for peer in peers:
        listed = peer.ask(1, "list_extensions")["result"]["extensions"]
        assert {one["id"] for one in listed} == {extension_id(first), extension_id(second)}


def test_nodes_that_took_each_other_for_dead_agree_again() -> None:
    network = Network("one", "two")
    browser = extension(network, "one")
    peer, _ = connected(network, browser, "two")
    network.is_held = True
    network.do("one", lambda board: board.lost("two"))
    assert browser.told("status")[-1]["clients"] == []
    # The client's node has not noticed anything, and still sends.
    peer.send({"jsonrpc": "2.0", "id": 1, "method": "click"})
    network.is_held = False
    network.settle()
    assert reason(peer.answer(1)) == "extension_gone"
    assert len(peer.told("disconnected")) == 1 and not list(requests(browser))
    network.do("one", lambda board: board.found("two"))
    network.do("two", lambda board: board.found("one"))
    answer = peer.ask(2, "connect", {"extension_id": extension_id(browser)})
    assert answer["result"]["extension_id"] == extension_id(browser)
    network.do("two", lambda board: board.lost("one"))
    assert peer.ask(3, "list_extensions")["result"] == {"extensions": []}
    network.do("one", lambda board: board.found("two"))
    assert len(peer.ask(4, "list_extensions")["result"]["extensions"]) == 1


def test_messages_have_no_spaces_and_the_members_of_json_rpc_first() -> None:
    network = Network()
    peer, _ = connected(network, extension(network))
    assert json.loads(peer.raw[0]) == peer.received[0]
    assert peer.raw[0].startswith(b'{"jsonrpc":"2.0","id":"hello","result":{')
