"""`GET /calls`: the calls of agents as they begin and end, for the person only."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.agents.call_stream import MOST_STREAMS
from tabhub.browser.panel.panel_approvals import MOST_PENDING
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent
from tests.support.approvals import question, respond
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import PATIENCE
from tests.support.serving import client, served

Json = dict[str, Any]


class Stream:
    """The events of an open stream."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def next(self) -> tuple[str, Json]:
        name = ""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    return name, json.loads(value)
        raise AssertionError("the stream has ended")


async def test_each_call_has_a_start_and_an_end_without_arguments_or_results() -> None:
    async with served() as server, client(server.port) as http:
        async with http.stream("GET", "/calls") as response:
            stream = Stream(response)
            await Agent(http).call("permissions_check", tool="navigate")
            (began, start), (ended, end) = await stream.next(), await stream.next()
    assert (began, ended) == ("start", "end")
    assert start.items() <= end.items()
    assert end["tool"] == "permissions_check"
    assert (end["outcome"], end["reason"]) == ("done", None)
    assert end["bytes"] > 0
    assert "navigate" not in json.dumps(end)


async def test_the_last_calls_come_first_if_they_are_wanted() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        for tool in ("navigate", "find"):
            await agent.call("permissions_check", tool=tool)
        await agent.result("browser_list_tabs")
        async with http.stream("GET", "/calls?recent=2") as response:
            stream = Stream(response)
            found = [(await stream.next())[1]["tool"] for _ in range(2)]
    assert found == ["permissions_check", "browser_list_tabs"]


@pytest.mark.parametrize("query", ["recent=-1", "recent=x", "recent=101", "more=1"])
async def test_a_wrong_query_is_refused(query: str) -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.get(f"/calls?{query}")
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "invalid_arguments")


async def test_few_streams_are_open_at_once_and_a_closed_one_makes_room() -> None:
    async with served() as server, client(server.port) as http:
        streams = [http.stream("GET", "/calls") for _ in range(MOST_STREAMS)]
        for stream in streams:
            response = await stream.__aenter__()
            assert response.status_code == 200
        refused = await http.get("/calls")
        assert refused.status_code == 429
        await streams[0].__aexit__(None, None, None)
        async with asyncio.timeout(PATIENCE):
            while True:
                async with http.stream("GET", "/calls") as response:
                    if response.status_code == 200:
                        break
                await asyncio.sleep(0.02)
        for stream in streams[1:]:
            await stream.__aexit__(None, None, None)


async def test_a_server_that_stops_ends_its_streams() -> None:
    async with served() as server, client(server.port) as http:
        async with http.stream("GET", "/calls") as response:
            await server.stop()
            async with asyncio.timeout(PATIENCE):
                async for _ in response.aiter_lines():
                    pass


async def test_a_call_that_waits_for_the_person_is_named_until_it_is_answered() -> None:
    settings = Settings(permissions=PermissionSettings(tools={"browser_read_page": "ask"}))
    async with (
        served(settings) as server,
        client(server.port) as http,
        connected(server.port) as extension,
        http.stream("GET", "/calls") as response,
    ):
        stream = Stream(response)
        await extension.sync(tab(1), panels=1)
        call = asyncio.create_task(Agent(http).result("browser_read_page", tabId=1))
        asked = await question(extension)
        began = await stream.next()
        async with http.stream("GET", "/calls") as later:
            assert await Stream(later).next() == began
        await respond(extension, asked["id"], "deny")
        ended = await stream.next()
        assert (await stream.next())[0] == "end"
        await call
    (waiting,) = began[1]["calls"]
    assert (began[0], waiting["tool"]) == ("asked", "browser_read_page")
    assert waiting["where"] == "browser"
    assert ended == ("asked", {"count": 0, "calls": []})


async def test_all_calls_that_wait_are_named_also_when_many_agents_have_many(
    tmp_path: Path,
) -> None:
    settings = Settings(permissions=PermissionSettings(tools={"browser_read_page": "ask"}))
    home = Home(tmp_path / "home").create()
    tokens = {name: Clients(home).add(name) for name in ("ann", "ben", "cat")}
    async with (
        served(settings, home=home) as server,
        client(server.port) as http,
        connected(server.port) as extension,
        AsyncExitStack() as agents,
    ):
        await extension.sync(tab(1), panels=1)
        calls = []
        for token in tokens.values():
            agent = Agent(await agents.enter_async_context(client(server.port, token)))
            for _ in range(MOST_PENDING):
                asking = agent.result("browser_read_page", tabId=1)
                calls.append(asyncio.create_task(asking))
        for _ in calls:
            await question(extension)
        async with http.stream("GET", "/calls") as response:
            name, facts = await Stream(response).next()
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
    named = Counter(call["client"] for call in facts["calls"])
    assert (name, named) == ("asked", dict.fromkeys(tokens, MOST_PENDING))
