"""Approvals by the person at the agent's own client, where the policy allows that."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.server.serving import Server
from tests.agents.mcp.clients import (
    Client,
    LoneClient,
    SessionClient,
    called,
    connect,
    events,
    messages,
    next_message,
)
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
SCRIPT = "browser_execute_script"
POLICY = f'elicitation = true\n[tools]\n{SCRIPT} = "ask"\n'
CAPABLE: Json = {"elicitation": {}}
ONCE: Json = {"action": "accept", "content": {"decision": "allow once"}}
SESSION: Json = {"action": "accept", "content": {"decision": "allow for this session"}}
NOT_A_YES: list[Json] = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept"},
    {"action": "accept", "content": {"decision": "deny"}},
    {"action": "accept", "content": {"decision": "always"}},
    {"action": "accept", "content": {"decision": ["allow once"]}},
    {"action": "accept", "content": {"decision": True}},
    {"action": "accept", "content": "allow once"},
    {"action": ["accept"], "content": {"decision": "allow once"}},
    {"content": {"decision": "allow once"}},
    {},
]


@dataclass
class Place:
    """A server without an open panel, and the scripts that ran in its browser."""

    server: Server
    http: httpx.AsyncClient
    extension: FakeExtension
    ran: list[Json] = field(default_factory=list)

    def run(self, params: Json) -> Json:
        self.ran.append(params)
        return {"value": params["tabId"]}


@asynccontextmanager
async def place(folder: Path, policy: str = POLICY, panels: int = 0) -> AsyncIterator[Place]:
    home = Home(folder / "home").create()
    home.policy.write_text(policy)
    async with (
        served(home=home) as server,
        connected(server.port) as extension,
        client(server.port, Clients(home).add("ann")) as http,
    ):
        here = Place(server, http, extension)
        extension.handlers["page.evaluate"] = here.run
        await extension.sync(tab(1), tab(2, url="https://other.example/"), panels=panels)
        yield here


def outcome(answer: Json) -> Any:
    """The value of a script, or the reason why it did not run."""
    content = answer["result"]["structuredContent"]
    return content["error"]["reason"] if answer["result"].get("isError") else content["value"]


async def ask_session(agent: SessionClient, **reply: Any) -> tuple[Json | None, Any]:
    """Run a script in a session and answer the question; return the question and the outcome."""
    async with agent.streaming("tools/call", called(SCRIPT, code="1", tabId=1)) as response:
        if response.headers["content-type"] == "application/json":
            await response.aread()
            return None, outcome(response.json())
        stream = events(response)
        question = await next_message(stream)
        answer = {"jsonrpc": "2.0", "id": question["id"], **reply}
        assert (await agent.send(answer)).status_code == 202
        return question, outcome(await next_message(stream))


async def first_round(agent: LoneClient, **arguments: Any) -> Json:
    script = {"code": "1", "tabId": 1, **arguments}
    result: Json = (await agent.call(SCRIPT, **script)).json()["result"]
    assert result["resultType"] == "input_required"
    return result


async def call_again(agent: LoneClient, reply: Json, state: str | None, **changes: Any) -> Json:
    params = {**called(SCRIPT, code="1", tabId=1), "inputResponses": {"approval": reply}}
    sent = {**params, **({} if state is None else {"requestState": state}), **changes}
    response: Json = (await agent.request("tools/call", sent)).json()
    return response


def asks(answer: Json) -> bool:
    return bool(answer["result"].get("resultType") == "input_required")


async def test_a_session_is_asked_and_a_yes_counts_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = await connect(here.http, capabilities=CAPABLE)
        for _ in range(2):
            question, value = await ask_session(agent, result=ONCE)
            assert question is not None and question["method"] == "elicitation/create"
            assert "example.com" in question["params"]["message"]
            assert '"code": "1"' in question["params"]["message"]
            assert value == 1
        entry = here.server.app.audit.entries(1)[0]
        assert (entry["verdict"], entry["client"]) == ("asked", "ann")
        assert here.server.app.rules.grants.all() == []


async def test_a_call_about_which_the_agent_asks_does_not_wait_in_the_browser(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here, client(here.server.port) as person:
        agent = await connect(here.http, capabilities=CAPABLE)
        script = called(SCRIPT, code="1", tabId=1)
        async with agent.streaming("tools/call", script) as response:
            await next_message(events(response))
            async with person.stream("GET", "/calls") as calls:
                facts = await next_message(events(calls))
    assert facts["calls"] == [{"client": "ann", "tool": SCRIPT, "where": "client"}]


@pytest.mark.requirement("OT-34")
async def test_any_answer_of_a_session_except_a_clear_yes_is_a_no(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = await connect(here.http, capabilities=CAPABLE)
        nonsense: list[Any] = [None, [], "accept", True]
        for reply in [*NOT_A_YES, *nonsense]:
            assert (await ask_session(agent, result=reply))[1] == "permission_denied", reply
        refusal = {"code": -1, "message": "No."}
        assert (await ask_session(agent, error=refusal))[1] == "approval_unavailable"
        assert here.ran == []


async def test_a_yes_for_the_session_is_remembered_for_that_session_alone(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent, other = [await connect(here.http, capabilities=CAPABLE) for _ in range(2)]
        assert (await ask_session(agent, result=SESSION))[1] == 1
        assert await ask_session(agent) == (None, 1)
        assert (await ask_session(other, result={"action": "decline"}))[1] == "permission_denied"
        await agent.end()
        assert here.server.app.rules.grants.all() == []


async def test_another_sessions_answer_does_not_count(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent, other = [await connect(here.http, capabilities=CAPABLE) for _ in range(2)]
        async with agent.streaming("tools/call", called(SCRIPT, code="1", tabId=1)) as response:
            stream = events(response)
            question = await next_message(stream)
            for sender, reply in ((other, ONCE), (agent, {"action": "decline"}), (agent, ONCE)):
                await sender.send({"jsonrpc": "2.0", "id": question["id"], "result": reply})
            assert outcome(await next_message(stream)) == "permission_denied"
        assert here.ran == []


async def test_a_sessionless_call_is_repeated_with_the_answer(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        result = await first_round(agent)
        question = result["inputRequests"]["approval"]
        assert question["method"] == "elicitation/create"
        assert "example.com" in question["params"]["message"]
        assert here.ran == []
        assert outcome(await call_again(agent, ONCE, result["requestState"])) == 1
        assert asks((await agent.call(SCRIPT, code="1", tabId=1)).json())


@pytest.mark.requirement("OT-34")
async def test_any_answer_of_a_sessionless_client_except_a_clear_yes_is_a_no(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        for reply in NOT_A_YES:
            state = (await first_round(agent))["requestState"]
            assert outcome(await call_again(agent, reply, state)) == "permission_denied", reply
        assert here.ran == []


@pytest.mark.requirement("OT-34")
async def test_an_answer_without_our_state_or_sent_twice_does_not_count(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        assert asks(await call_again(agent, ONCE, None))
        state = (await first_round(agent))["requestState"]
        assert outcome(await call_again(agent, ONCE, state)) == 1
        assert asks(await call_again(agent, ONCE, state))
        denied = (await first_round(agent))["requestState"]
        assert (
            outcome(await call_again(agent, {"action": "decline"}, denied)) == "permission_denied"
        )
        assert asks(await call_again(agent, ONCE, denied))
        assert len(here.ran) == 1


@pytest.mark.requirement("OT-34")
async def test_an_answer_counts_only_for_the_call_it_was_asked_about(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        state = (await first_round(agent))["requestState"]
        other = called(SCRIPT, code="evil()", tabId=1)
        for changes in (other, {"requestState": "A" + state}, {"requestState": ""}):
            refused = await call_again(agent, ONCE, state, **changes)
            assert refused["error"]["data"]["reason"] == "invalid_params"
        assert here.ran == []


@pytest.mark.requirement("OT-34")
async def test_an_answer_does_not_count_for_another_client(tmp_path: Path) -> None:
    async with place(tmp_path) as here, client(here.server.port) as main:
        state = (await first_round(LoneClient(here.http, CAPABLE)))["requestState"]
        refused = await call_again(LoneClient(main, CAPABLE), ONCE, state)
        assert refused["error"]["data"]["reason"] == "invalid_params"
        assert here.ran == []


@pytest.mark.requirement("OT-34")
async def test_an_answer_does_not_count_after_the_tab_has_navigated_to_another_site(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        state = (await first_round(agent))["requestState"]
        moved = {"tabId": 1, "state": "updated", "tab": tab(1, url="https://bank.example/")}
        await here.extension.ask("tab.stateChanged", moved)
        response = await call_again(agent, ONCE, state)
        assert asks(response)
        message = response["result"]["inputRequests"]["approval"]["params"]["message"]
        assert "bank.example" in message
        assert here.ran == []


@pytest.mark.requirement("OT-34")
async def test_an_answer_does_not_count_for_another_tab_that_has_become_the_current_one(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent, key = LoneClient(here.http, CAPABLE), "token:ann"
        await first_round(agent)
        sessions = here.server.app.hub.sessions
        sessions.use(key, 1)
        without_tab = called(SCRIPT, code="1")
        result = (await agent.request("tools/call", without_tab)).json()["result"]
        sessions.use(key, 2)
        assert asks(await call_again(agent, ONCE, result["requestState"], **without_tab))
        assert here.ran == []


async def test_a_sessionless_yes_for_the_session_holds_for_the_clients_calls(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        state = (await first_round(agent))["requestState"]
        assert outcome(await call_again(agent, SESSION, state)) == 1
        assert outcome((await agent.call(SCRIPT, code="2", tabId=1)).json()) == 1
        assert asks((await agent.call(SCRIPT, code="1", tabId=2)).json())


async def test_an_operation_id_needs_one_approval_and_runs_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        named = called(SCRIPT, {"tabhub/operationId": "one"}, code="1", tabId=1)
        response = (await agent.request("tools/call", named)).json()
        state = response["result"]["requestState"]
        for _ in range(2):
            assert outcome(await call_again(agent, ONCE, state, **named)) == 1
        assert len(here.ran) == 1


async def agents(http: httpx.AsyncClient, capabilities: Json) -> list[Client]:
    return [await connect(http, capabilities=capabilities), LoneClient(http, capabilities)]


@pytest.mark.parametrize(
    ("policy", "capabilities"),
    [
        (POLICY, {}),
        (POLICY, {"sampling": {}}),
        (POLICY.replace("true", "false"), CAPABLE),
        (POLICY.replace("elicitation = true\n", ""), CAPABLE),
    ],
)
async def test_without_the_policy_or_the_capability_the_client_is_not_asked(
    tmp_path: Path, policy: str, capabilities: Json
) -> None:
    async with place(tmp_path, policy) as here:
        for agent in await agents(here.http, capabilities):
            answer = (await agent.call(SCRIPT, code="1", tabId=1)).json()
            assert outcome(answer) == "approval_unavailable"
        assert here.ran == []


async def denied_in_panel(here: Place, call: Coroutine[Any, Any, Any]) -> Any:
    """Make a call and deny it in the panel."""
    running = asyncio.create_task(call)
    id = (await here.extension.next("confirmation.request"))["params"]["id"]
    await here.extension.ask("confirmation.response", {"id": id, "decision": "deny"})
    return await running


@pytest.mark.requirement("OT-34")
async def test_an_open_panel_is_asked_instead_of_the_client(tmp_path: Path) -> None:
    async with place(tmp_path, panels=1) as here:
        agent = LoneClient(here.http, CAPABLE)
        session = await connect(here.http, capabilities=CAPABLE)
        for running in (call_again(agent, ONCE, None), session.call(SCRIPT, code="1", tabId=1)):
            answer = await denied_in_panel(here, running)
            response = answer if isinstance(answer, dict) else (await messages(answer))[-1]
            assert outcome(response) == "permission_denied"
        assert here.ran == []


async def test_a_state_from_before_the_panel_was_opened_does_not_count(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE)
        state = (await first_round(agent))["requestState"]
        await here.extension.notify("panel.changed", {"open": 1})
        answer = await denied_in_panel(here, call_again(agent, ONCE, state))
        assert outcome(answer) == "permission_denied"
        assert here.ran == []


BEHIND: Json = {"name": SCRIPT, "arguments": {"code": "1", "tabId": 1}}
GATEWAY = "/mcp/gateway"


async def test_a_session_of_the_gateway_is_asked_about_the_tool_it_calls(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        agent = await connect(here.http, capabilities=CAPABLE, path=GATEWAY)
        async with agent.streaming("tools/call", called("tabhub_call", **BEHIND)) as response:
            stream = events(response)
            question = await next_message(stream)
            assert "example.com" in question["params"]["message"]
            assert '"code": "1"' in question["params"]["message"]
            await agent.send({"jsonrpc": "2.0", "id": question["id"], "result": ONCE})
            assert outcome(await next_message(stream)) == 1
        entry = here.server.app.audit.entries(1)[0]
    assert (entry["tool"], entry["verdict"]) == (SCRIPT, "asked")


@pytest.mark.requirement("OT-34")
async def test_an_answer_through_the_gateway_counts_once_and_only_for_its_own_call(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        agent = LoneClient(here.http, CAPABLE, path=GATEWAY)
        params = called("tabhub_call", **BEHIND)
        result = (await agent.request("tools/call", params)).json()["result"]
        reply = {"inputResponses": {"approval": ONCE}, "requestState": result["requestState"]}
        other = called("tabhub_call", name=SCRIPT, arguments={"code": "2", "tabId": 1})
        refused = (await agent.request("tools/call", {**other, **reply})).json()
        assert refused["error"]["data"]["reason"] == "invalid_params"
        direct = LoneClient(here.http, CAPABLE)
        elsewhere = {**called(SCRIPT, code="1", tabId=1), **reply}
        assert "error" in (await direct.request("tools/call", elsewhere)).json()
        assert here.ran == []
        assert outcome((await agent.request("tools/call", {**params, **reply})).json()) == 1
        assert asks((await agent.request("tools/call", {**params, **reply})).json())
    assert len(here.ran) == 1
