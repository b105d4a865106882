"""Any number of clients, extensions and nodes, in any order, with losses: no answer crosses, and
every request gets exactly one end.
"""

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.proxy.network import Json, Network, Peer, client, extension, extension_id, requests

USERS = st.sampled_from(["ann", "bob"])
IDS = st.sampled_from([1, "1", 0, "", "conn-one-1:1"])
PICK = st.integers(0, 1000)


class ProxyModel(RuleBasedStateMachine):
    """Messages between nodes wait until a step lets one of them arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.network = Network("n1", "n2", "n3")
        self.network.is_held = True
        self.users: dict[int, str] = {}
        self.clients: list[Peer] = []
        self.browsers: list[Peer] = []
        self.sent: Counter[tuple[int, str]] = Counter()
        """How many requests were sent, by socket and id as text."""
        self.count = 0

    @initialize(nodes=st.lists(PICK, min_size=6, max_size=6))
    def some_are_there(self, nodes: list[int]) -> None:
        for pick, user in zip(nodes, ["ann", "ann", "bob"] * 2, strict=True):
            if len(self.browsers) < 3:
                self.an_extension_comes(pick, user, None)
            else:
                self.a_client_comes(pick, user)
        self.network.settle()
        for which in range(3):
            self.a_client_connects(which, which)
        self.network.settle()

    def node(self, pick: int) -> str:
        names = sorted(self.network.boards)
        return names[pick % len(names)]

    def open_ones(self, peers: list[Peer]) -> list[Peer]:
        return [peer for peer in peers if peer.is_open()]

    @rule(pick=PICK, user=USERS, profile=st.sampled_from([None, "p"]))
    def an_extension_comes(self, pick: int, user: str, profile: str | None) -> None:
        peer = extension(self.network, self.node(pick), user, profile)
        self.users[peer.socket] = user
        self.browsers.append(peer)

    @rule(pick=PICK, user=USERS)
    def a_client_comes(self, pick: int, user: str) -> None:
        peer = client(self.network, self.node(pick), user)
        self.users[peer.socket] = user
        self.clients.append(peer)

    @precondition(lambda self: self.open_ones(self.clients) and self.browsers)
    @rule(which=PICK, to=PICK)
    def a_client_connects(self, which: int, to: int) -> None:
        peers = self.open_ones(self.clients)
        user = self.users[peers[which % len(peers)].socket]
        known = [one for one in self.browsers if one.told("authenticated")]
        # Mostly the user's own.
        own = [one for one in known if self.users[one.socket] == user]
        found = own if own and to % 10 else known
        if found:
            params = {"extension_id": extension_id(found[to % len(found)])}
            self.request(which, f"connect-{self.count}", "connect", params)

    @precondition(lambda self: self.open_ones(self.clients))
    @rule(which=PICK, id=IDS)
    def a_client_asks(self, which: int, id: Any) -> None:
        self.request(which, id, "click", {})

    @precondition(lambda self: self.open_ones(self.clients))
    @rule(which=PICK)
    def a_client_disconnects(self, which: int) -> None:
        self.request(which, f"disconnect-{self.count}", "disconnect", {})

    def request(self, which: int, id: Any, method: str, params: Json) -> None:
        peers = self.open_ones(self.clients)
        peer = peers[which % len(peers)]
        self.count += 1
        self.sent[peer.socket, repr(id)] += 1
        params = {**params, "number": self.count, "socket": peer.socket, "as": id}
        peer.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    @precondition(lambda self: self.open_ones(self.browsers))
    @rule(which=PICK, request=PICK)
    def an_extension_answers(self, which: int, request: int) -> None:
        browsers = self.open_ones(self.browsers)
        browser = browsers[which % len(browsers)]
        waiting = list(requests(browser))
        if waiting:
            self.answer(browser, waiting[request % len(waiting)])

    def answer(self, browser: Peer, request: Json) -> None:
        result = {**request["params"], "by": self.users[browser.socket]}
        browser.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    @precondition(lambda self: self.open_ones(self.browsers + self.clients))
    @rule(which=PICK)
    def a_socket_closes(self, which: int) -> None:
        if which % 4:
            return
        peers = self.open_ones(self.browsers + self.clients)
        peer = peers[which % len(peers)]
        peer.closed = (1000, "")
        peer.close()

    @rule(which=PICK)
    def a_message_arrives(self, which: int) -> None:
        pairs = sorted(pair for pair, queue in self.network.queues.items() if queue)
        if pairs:
            self.network.arrive(*pairs[which % len(pairs)])

    @precondition(lambda self: len(self.network.boards) > 1)
    @rule(which=PICK)
    def a_node_dies(self, which: int) -> None:
        # Not so often that nothing else happens.
        if which % 4 == 0:
            self.network.kill(self.node(which))
            self.network.add(f"n{self.count}-{len(self.users)}")

    @precondition(lambda self: len(self.network.boards) > 1)
    @rule(which=PICK, other=PICK)
    def a_node_takes_another_for_dead_for_a_moment(self, which: int, other: int) -> None:
        one, two = self.node(which), self.node(other)
        if one != two:
            self.network.do(one, lambda board: board.lost(two))
            self.network.do(one, lambda board: board.found(two))
            self.network.do(two, lambda board: board.found(one))

    @invariant()
    def no_answer_crosses(self) -> None:
        for peer in self.clients:
            for message in peer.received:
                result = message.get("result")
                if isinstance(result, dict) and "by" in result:
                    assert result["socket"] == peer.socket
                    assert repr(result["as"]) == repr(message["id"])
                    assert result["by"] == self.users[peer.socket]

    @invariant()
    def no_request_has_two_ends(self) -> None:
        for peer in self.clients:
            assert all(count <= self.sent[key] for key, count in self.ends(peer).items())

    def ends(self, peer: Peer) -> Counter[tuple[int, str]]:
        answers = [m for m in peer.received if "id" in m and m["id"] != "hello"]
        return Counter((peer.socket, repr(m["id"])) for m in answers)

    def teardown(self) -> None:
        """Once everything has arrived and every extension has left, every request has its end."""
        self.network.is_held = False
        self.network.settle()
        self.no_answer_crosses()
        for browser in self.open_ones(self.browsers):
            browser.closed = (1000, "")
            browser.close()
        self.network.settle()
        for peer in self.open_ones(self.clients):
            sent = {key: count for key, count in self.sent.items() if key[0] == peer.socket}
            assert self.ends(peer) == Counter(sent)


ProxyModel.TestCase.settings = settings(
    stateful_step_count=80, suppress_health_check=[HealthCheck.too_slow]
)
TestProxyModel = ProxyModel.TestCase
