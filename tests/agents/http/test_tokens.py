"""Client tokens: which endpoints they open, whose sessions they reach, and what limits they set."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.server.app import App
from tabhub.server.serving import Server
from tabhub.wire.asgi import Scope
from tests.agents.mcp.clients import SessionClient, connect
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.examples import examples
from tests.support.serving import SECRET, client, served
from tests.support.tools import in_toolset

Json = dict[str, Any]
READING = in_toolset("core", reading=True) | {"list_browser_tabs"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


async def tools(http: httpx.AsyncClient) -> set[str]:
    """The tool names, which must be the same in both eras."""
    alone = (await Agent(http).post("tools/list")).json()["result"]["tools"]
    session = (await (await connect(http)).request("tools/list")).json()["result"]["tools"]
    names = {tool["name"] for tool in alone}
    assert names == {tool["name"] for tool in session}
    return names


def reason(result: Json) -> str:
    word: str = result["structuredContent"]["error"]["reason"]
    return word


def refused(server: Server, name: str) -> list[tuple[str, str]]:
    """A client's refusals in the audit log, oldest first."""
    return [
        (entry["tool"], entry["error"]["reason"])
        for entry in reversed(server.app.audit.entries(plugin="door"))
        if entry["client"] == name
    ]


@pytest.mark.requirement("OT-16")
async def test_a_client_token_opens_mcp_in_both_eras_and_a_short_health(
    home: Home,
) -> None:
    token = Clients(home).add("ann")
    async with served(home=home) as server, client(server.port, token) as http:
        assert "browser_click_element" in await tools(http)
        health = (await http.get("/health")).json()
    assert health["client"] == "ann"
    assert health.keys().isdisjoint({"pid", "browsers", "agentNames", "waitingPages"})


async def test_a_token_is_accepted_as_soon_as_it_is_made_and_refused_once_revoked(
    home: Home,
) -> None:
    async with served(home=home) as server:
        token = Clients(home).add("ann")
        async with client(server.port, token) as http:
            session = await connect(http)
            assert (await session.request("ping")).status_code == 200
            Clients(home).revoke("ann")
            for answer in (await session.request("ping"), await http.get("/health")):
                assert answer.status_code == 401
                assert answer.json()["error"]["reason"] == "not_authenticated"


Attempt = Callable[[SessionClient], Any]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ATTEMPTS: dict[str, tuple[str, Attempt]] = {
    "request": ("POST", lambda session: session.request("ping")),
    "notification": ("POST", lambda session: session.notify("notifications/initialized")),
    "answer": ("POST", lambda session: session.send({"jsonrpc": "2.0", "id": 1, "result": {}})),
    "batch": ("POST", lambda session: session.send([PING])),
    "stream": ("GET", lambda session: session.http.get("/mcp", headers=session.headers)),
    "end": ("DELETE", lambda session: session.end()),
}


@asynccontextmanager
async def two_clients(home: Home, port: int) -> AsyncIterator[tuple[httpx.AsyncClient, ...]]:
    tokens = [Clients(home).add(name) for name in ("ann", "bob")]
    async with client(port, tokens[0]) as ann, client(port, tokens[1]) as bob:
        yield ann, bob


def used_by(http: httpx.AsyncClient, session: SessionClient) -> SessionClient:
    return SessionClient(http, session.headers["mcp-protocol-version"], session.session)


async def assert_all_refused(server: Server, stolen: SessionClient) -> None:
    for name, (method, attempt) in ATTEMPTS.items():
        answer = await attempt(stolen)
        assert answer.status_code == 403, name
        assert answer.json()["error"]["data"]["reason"] == "permission_denied"
        assert refused(server, "bob")[-1] == (f"{method} /mcp", "permission_denied")
    assert len(refused(server, "bob")) == len(ATTEMPTS)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
async def test_another_clients_session_is_refused_by_every_method_and_goes_on(
    home: Home, version: str
) -> None:
    async with served(home=home) as server, two_clients(home, server.port) as (ann, bob):
        session = await connect(ann, version)
        await assert_all_refused(server, used_by(bob, session))
        assert (await session.request("ping")).status_code == 200


async def test_after_a_restart_a_session_still_belongs_to_its_client(home: Home) -> None:
    tokens = {name: Clients(home).add(name) for name in ("ann", "bob")}
    async with served(home=home) as server, client(server.port, tokens["ann"]) as ann:
        session = await connect(ann, "2025-03-26")
    async with (
        served(home=home) as server,
        client(server.port, tokens["ann"]) as ann,
        client(server.port, tokens["bob"]) as bob,
    ):
        await assert_all_refused(server, used_by(bob, session))
        assert (await used_by(ann, session).request("ping")).status_code == 200


async def test_a_session_has_the_limits_of_the_token_it_is_used_with(home: Home) -> None:
    clients = Clients(home)
    async with served(home=home) as server:
        async with client(server.port, clients.add("ann")) as http:
            session = await connect(http)
        clients.revoke("ann")
        async with client(server.port, clients.add("ann", read_only=True)) as http:
            same = used_by(http, session)
            result = (await same.call("browser_open_tab", url="https://a.example/")).json()
    assert reason(result["result"]) == "permission_denied"


def in_group(handle: object) -> Json:
    return {"name": "browser_list_tabs", "_meta": {"tabhub/group": handle}}


async def test_another_clients_group_is_refused_and_an_unknown_one_is_not_found(
    home: Home,
) -> None:
    async with (
        served(home=home) as server,
        connected(server.port) as extension,
        two_clients(home, server.port) as (ann, bob),
    ):
        await extension.sync()
        extension.handlers["tabs.open"] = lambda params: tab(9)
        extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(9)]}
        anns, bobs = await connect(ann), await connect(bob)
        await anns.call("browser_list_tabs")
        made = (await Agent(ann).call("tabs_context_mcp", createIfEmpty=True))["groupHandle"]
        for handle in (made, anns.session, "token:ann"):
            alone = await Agent(bob).post("tools/call", in_group(handle))
            within = await bobs.request("tools/call", in_group(handle))
            assert alone.status_code == within.status_code == 403
            for answer in (alone, within):
                assert answer.json()["error"]["data"]["reason"] == "permission_denied"
        assert refused(server, "bob") == [("tabhub/group", "permission_denied")] * 6
        for handle in ("grp_unknown", "", 7, {}):
            answer = await Agent(bob).post("tools/call", in_group(handle))
            assert answer.json()["error"]["data"]["reason"] == "unknown_session"
        for sibling in (
            await Agent(ann).post("tools/call", in_group(anns.session)),
            await anns.request("tools/call", in_group("token:ann")),
        ):
            assert sibling.status_code == 403
        own = (await Agent(ann).post("tools/call", in_group(made))).json()
        assert own["result"]["structuredContent"]["tabs"][0]["usable"] is True


async def test_a_read_only_token_lists_and_calls_only_reading_tools(
    home: Home,
) -> None:
    token = Clients(home).add("reader", read_only=True)
    async with (
        served(home=home) as server,
        connected(server.port) as extension,
        client(server.port, token) as http,
    ):
        await extension.sync(tab(1))
        extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(1)]}
        assert await tools(http) == READING
        agent = Agent(http)
        assert not (await agent.result("browser_list_tabs")).get("isError")
        for name, arguments in CHANGING.items():
            assert reason(await agent.result(name, **arguments)) == "permission_denied", name


CHANGING: dict[str, Json] = {
    "browser_execute_script": {"code": "1", "tabId": 1},
    "browser_click_element": {"ref": "ref_1", "tabId": 1},
    "browser_open_tab": {"url": "https://a.example/"},
    "tabs_context_mcp": {"createIfEmpty": True},
}


async def test_the_toolsets_of_a_token_limit_listing_and_calling(home: Home) -> None:
    token = Clients(home).add("narrow", ["claude"])
    async with served(Settings(toolsets=["all"]), home=home) as server:
        async with client(server.port, token) as http:
            agent = Agent(http)
            assert await tools(http) == in_toolset("claude")
            assert not (await agent.result("permissions_check")).get("isError")
            assert reason(await agent.result("browser_list_tabs")) == "permission_denied"
            wide = await Agent(http, "/mcp?toolsets=all").post("tools/list")
            assert len(wide.json()["result"]["tools"]) == len(in_toolset("claude"))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/list", {}),
        ("resources/read", {"uri": "tab://1"}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "tab://{id}"},
                "argument": {"name": "id", "value": ""},
            },
        ),
    ],
)
async def test_a_token_that_may_not_list_tabs_does_not_see_them_as_resources_either(
    home: Home, method: str, params: Json
) -> None:
    token = Clients(home).add("narrow", ["claude"])
    async with served(home=home) as server, client(server.port, token) as http:
        answer = (await Agent(http).post(method, params)).json()
    assert answer["error"]["data"]["reason"] == "permission_denied"


def _app(folder: Path) -> App:
    home = Home(folder).create()
    Clients(home).add("ann")
    return App(Settings(), SECRET, home=home)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    app = _app(tmp_path_factory.mktemp("guarded"))
    yield app
    app.close()


TOKENS = st.binary(max_size=80) | st.sampled_from([b"", b" ", SECRET.encode()[:-1], b"thc_"])
SCHEMES = st.sampled_from([b"Bearer ", b"bearer\t", b"", b"Basic "])


async def _answer(app: App, scope: Scope) -> tuple[int, bool]:
    """The status of the response to a scope, and whether a WebSocket was accepted."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    usual = {
        "headers": [(b"host", b"127.0.0.1")],
        "query_string": b"",
        "server": ("127.0.0.1", 9),
        "extensions": {"websocket.http.response": {}},
    }
    await app.asgi({**usual, **scope}, receive, send)
    statuses = [message["status"] for message in sent if "status" in message]
    return statuses[0], any(message["type"] == "websocket.accept" for message in sent)


@examples(150)
@given(token=TOKENS, scheme=SCHEMES, path=st.sampled_from(["/mcp", "/health", "/reload", "/x"]))
async def test_no_bytes_in_place_of_a_token_are_accepted(
    guarded: App, token: bytes, scheme: bytes, path: str
) -> None:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", scheme + token)]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    assert await _answer(guarded, scope) == (401, False)


@examples(150)
@given(names=st.lists(TOKENS.map(lambda token: token.decode("latin-1")), max_size=4))
async def test_no_subprotocol_in_place_of_a_token_opens_the_link(
    guarded: App, names: list[str]
) -> None:
    for first in ([], ["tabhub"]):
        scope = {"type": "websocket", "path": "/ws", "subprotocols": [*first, *names]}
        assert await _answer(guarded, scope) == (401, False)
