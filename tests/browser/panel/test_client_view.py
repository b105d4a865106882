"""The clients in the panel: who has a token, when it was used, and revoking one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, SseSettings
from tabhub.store.saved_state import forget_client
from tabhub.store.store import Store
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

Json = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@asynccontextmanager
async def panel(home: Home, **more: Any) -> AsyncIterator[tuple[FakeExtension, int]]:
    async with served(home=home, **more) as server, connected(server.port) as extension:
        await extension.sync(tab(1), panels=1)
        yield extension, server.port


async def listed(extension: FakeExtension) -> dict[str, Json]:
    answer = (await extension.ask("clients.list", {}))["result"]
    return {one["name"]: one for one in answer["clients"]}


async def test_each_client_is_listed_without_its_token(home: Home) -> None:
    token = Clients(home).add("ann", ["core"], read_only=True)
    async with panel(home) as (extension, _):
        clients = await listed(extension)
        assert clients["main"]["kind"] == "main" and not clients["main"]["revocable"]
        ann = clients["ann"]
        assert (ann["kind"], ann["toolsets"], ann["readOnly"]) == ("token", ["core"], True)
        assert ann["created"] > 1_700_000_000_000
        assert (ann["lastSeen"], ann["sessions"], ann["revocable"]) == (None, 0, True)
        stored = Clients(home).list()[0].hash
        assert token not in str(clients) and stored not in str(clients)


async def test_a_client_is_seen_when_it_connects_also_after_a_restart(home: Home) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (extension, port), client(port, token) as http:
        await extension.settled()
        assert (await http.get("/tools")).status_code == 200
        await extension.next("state.changed")
        first = (await listed(extension))["ann"]["lastSeen"]
        assert first is not None
        await Agent(http).call("permissions_check", tool="browser_open_tab")
        ann = (await listed(extension))["ann"]
        assert ann["lastSeen"] >= first and ann["sessions"] == 1
    async with panel(home) as (extension, _):
        assert (await listed(extension))["ann"]["lastSeen"] >= first


async def test_a_session_counts_before_its_first_call(home: Home) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (extension, port), client(port, token) as http:
        info = {"protocolVersion": "2025-06-18", "capabilities": {}}
        params = {**info, "clientInfo": {"name": "Ann", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        accept = {"Accept": "application/json, text/event-stream"}
        assert (await http.post("/mcp", json=body, headers=accept)).status_code == 200
        assert (await listed(extension))["ann"]["sessions"] == 1


async def test_a_revoked_client_is_out_at_once(home: Home) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (extension, port), client(port, token) as http:
        await Agent(http).call("permissions_check", tool="browser_open_tab")
        assert "result" in await extension.ask("client.revoke", {"name": "ann"})
        assert (await http.get("/tools")).status_code == 401
        assert "ann" not in await listed(extension)
        state = await extension.state()
        assert "ann" not in [agent["client"] for agent in state["agents"]]
        rows = (await extension.ask("audit.list", {"who": "you"}))["result"]["rows"]
        assert "you revoked the token of ann" in [row["words"] for row in rows]


@pytest.mark.parametrize("way", ["panel", "command"])
async def test_nothing_of_a_revoked_client_is_left_for_the_next_of_its_name(
    home: Home, way: str
) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (extension, port), client(port, token) as http:
        assert (await http.get("/tools")).status_code == 200
        assert (await listed(extension))["ann"]["lastSeen"] is not None
        if way == "panel":
            await extension.ask("client.revoke", {"name": "ann"})
        else:
            Clients(home).revoke("ann")
            async with client(port) as person:
                assert (await person.post("/reload")).status_code == 200
        Clients(home).add("ann")
        assert (await listed(extension))["ann"]["lastSeen"] is None
    async with panel(home) as (extension, _):
        assert (await listed(extension))["ann"]["lastSeen"] is None


async def test_nothing_is_left_of_a_client_that_is_revoked_while_no_server_runs(home: Home) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (_, port), client(port, token) as http:
        assert (await http.get("/tools")).status_code == 200
    with closing(Store(home.db)) as store:
        forget_client(store, "ann")
    async with panel(home) as (extension, _):
        assert (await listed(extension))["ann"]["lastSeen"] is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [("main", "invalid_arguments"), ("sse", "invalid_arguments"), ("nobody", "not_found")],
)
async def test_only_a_token_can_be_revoked(home: Home, name: str, reason: str) -> None:
    async with panel(home) as (extension, _):
        refused = await extension.ask("client.revoke", {"name": name})
        assert refused["error"]["data"]["reason"] == reason


async def test_the_client_of_the_setting_is_listed_where_it_is_set(home: Home) -> None:
    settings = Settings(mcp_server=SseSettings(auth_token="a-token-of-twenty-four-signs"))
    async with panel(home, settings=settings) as (extension, _):
        clients = await listed(extension)
        assert not clients["sse"]["revocable"] and "a-token" not in str(clients)


async def test_the_list_says_how_to_connect(home: Home) -> None:
    async with panel(home) as (extension, _):
        commands = (await extension.ask("clients.list", {}))["result"]["connect"]
        by_agent = {one["agent"]: one["command"] for one in commands}
        assert by_agent["Claude Code"].endswith("tabhub connect claude-code")
        assert by_agent["Any other agent"].endswith("tabhub start --show-config")


async def test_a_server_without_a_home_has_only_the_main_client() -> None:
    async with served() as server, connected(server.port) as extension:
        assert [*await listed(extension)] == ["main"]
        refused = await extension.ask("client.revoke", {"name": "ann"})
        assert refused["error"]["data"]["reason"] == "not_found"


async def test_grants_of_a_revoked_client_are_gone(home: Home) -> None:
    token = Clients(home).add("ann")
    async with panel(home) as (extension, port), client(port, token) as http:
        await extension.sync(tab(1), kind="personal", panels=1)
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        calling = _call(http)
        request = (await extension.next("confirmation.request"))["params"]
        await extension.ask(
            "confirmation.response", {"id": request["id"], "decision": "allow", "scope": "always"}
        )
        await calling
        assert (await extension.state())["grants"]
        await extension.ask("client.revoke", {"name": "ann"})

        async def gone() -> bool:
            return not (await extension.state())["grants"]

        await eventually(gone)


def _call(http: httpx.AsyncClient) -> "asyncio.Task[Json]":
    return asyncio.create_task(Agent(http).call("browser_execute_script", code="1", tabId=1))
