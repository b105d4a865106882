"""Approvals: the request on the link, every kind of answer, and no answer."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.config.settings import Limits, PermissionSettings, Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import asked_again, question, respond
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import client, served

ASK = Settings(permissions=PermissionSettings(tools={"browser_execute_script": "ask"}))
Asking = tuple[Server, FakeExtension, Agent]


@asynccontextmanager
async def asking(settings: Settings = ASK, panels: int = 1) -> AsyncIterator[Asking]:
    """A server with a rule that asks, a browser with a panel, and an agent."""
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        extension.handlers["page.evaluate"] = lambda params: {"value": params["tabId"]}
        await extension.sync(tab(1), tab(2, url="https://other.example/"), panels=panels)
        yield server, extension, Agent(http)


def script(agent: Agent, tab_id: int = 1, code: str = "1") -> "asyncio.Task[dict[str, Any]]":
    call: Coroutine[Any, Any, dict[str, Any]] = agent.call(
        "browser_execute_script", code=code, tabId=tab_id
    )
    return asyncio.create_task(call)


@pytest.mark.document("OT-tosend-7", "OT-received-17")
@pytest.mark.requirement("OT-34")
async def test_a_request_has_the_client_the_tool_the_tab_all_parameters_and_the_rule() -> None:
    async with asking() as (_, extension, agent):
        code = "document.title // " + "x" * 5000
        call = script(agent, code=code)
        request = await question(extension)
        assert request["tool"] == "browser_execute_script" and request["plugin"] == "browser"
        assert request["client"] == "main" and request["origin"] == "example.com"
        assert request["tab"] == {"tabId": 1, "title": "Tab 1", "url": "https://example.com/1"}
        assert request["parameters"] == {"code": code}
        assert "permissions.tools.browser_execute_script = ask" in request["rule"]
        assert request["why"] == "you have set this tool to ask."
        assert request["scopes"] == ["once", "session", "domain", "always"]
        assert (await extension.state())["confirmations"] == [request]
        assert await respond(extension, request["id"], "allow", scope="once")
        assert await call == {"value": 1}
        closed = (await extension.next("confirmation.closed"))["params"]
        assert closed == {"id": request["id"], "outcome": "allowed"}
        assert (await extension.state())["confirmations"] == []


@pytest.mark.requirement("OT-34")
async def test_a_denial_ends_the_call_with_the_advice_not_to_work_around_it() -> None:
    async with asking() as (server, extension, agent):
        call = script(agent)
        assert await respond(extension, (await question(extension))["id"], "deny")
        with pytest.raises(ToolFailed) as failed:
            await call
        entry = server.app.audit.entries(1)[0]
    assert failed.value.reason == "permission_denied"
    assert "Do not try to do the same in another way" in failed.value.message
    assert not failed.value.error["retryable"]
    assert entry["verdict"] == "denied" and entry["error"]["reason"] == "permission_denied"


@pytest.mark.requirement("OT-34")
@pytest.mark.parametrize(
    ("answer", "same_site", "other_site", "other_session"),
    [
        ({"decision": "allow", "scope": "once"}, True, True, True),
        ({"decision": "allow"}, True, True, True),
        ({"decision": "allow", "scope": "session"}, False, True, True),
        ({"decision": "allow_session"}, False, True, True),
        ({"decision": "allow", "scope": "domain"}, False, True, False),
        ({"decision": "allow", "scope": "always"}, False, False, False),
        ({"decision": "allow_always"}, False, False, False),
    ],
)
async def test_a_grant_has_the_scope_that_the_person_chose(
    answer: dict[str, str], same_site: bool, other_site: bool, other_session: bool
) -> None:
    async with asking() as (server, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        await extension.ask("confirmation.response", {"id": id, **answer})
        assert await call == {"value": 1}
        assert await asked_again(extension, script(agent)) is same_site
        assert await asked_again(extension, script(agent, 2)) is other_site
        server.app.session_ends.release("token:main")
        assert await asked_again(extension, script(agent)) is other_session


async def test_a_grant_for_a_time_expires() -> None:
    async with asking() as (server, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        await respond(extension, id, "allow", scope="always", seconds=3600)
        await call
        grants = server.app.rules.grants
        assert not await asked_again(extension, script(agent))
        (grant,) = grants.all()
        assert grant.expires is not None
        assert grants.drop_expired(grant.expires + 1) == [grant]
        assert await asked_again(extension, script(agent))


async def test_a_grant_can_be_revoked_in_the_panel() -> None:
    async with asking() as (_, extension, agent):
        call = script(agent)
        await respond(extension, (await question(extension))["id"], "allow", scope="always")
        await call
        (grant,) = (await extension.state())["grants"]
        assert (grant["scope"], grant["tool"]) == ("always", "browser_execute_script")
        assert await extension.ask("grant.revoke", {"id": grant["id"]}) == _answered({})
        assert await asked_again(extension, script(agent))
        second_response = await extension.ask("grant.revoke", {"id": grant["id"]})
        assert second_response["error"]["data"]["reason"] == "not_found"


def _answered(result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "x", "result": result}


async def test_an_unanswered_request_ends_the_call_after_its_time() -> None:
    settings = Settings(permissions=ASK.permissions, limits=Limits(approval_seconds=0.2))
    async with asking(settings) as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "approval_timeout"
        closed = (await extension.next("confirmation.closed"))["params"]
        assert closed == {"id": id, "outcome": "timeout"}
        assert await respond(extension, id, "allow") is False


@pytest.mark.requirement("OT-34")
async def test_the_first_of_two_answers_counts_and_an_unknown_answer_is_ignored() -> None:
    async with asking() as (server, first, agent):
        async with connected(server.port, "second") as second:
            await second.sync(panels=1)
            call = script(agent)
            ids = [(await question(extension))["id"] for extension in (first, second)]
            assert ids[0] == ids[1]
            assert await respond(second, "another", "allow") is False
            assert await respond(second, ids[0], "deny") is True
            late = {"id": ids[0], "decision": "allow", "scope": "always"}
            assert await first.ask("confirmation.response", late) == _answered(
                {"accepted": False, "outcome": "denied"}
            )
            with pytest.raises(ToolFailed) as failed:
                await call
            assert await respond(first, ids[0], "allow") is False
        assert failed.value.reason == "permission_denied"
        assert server.app.rules.grants.all() == []


async def test_without_a_panel_the_call_is_refused_at_once_and_recorded_as_missed() -> None:
    async with asking(panels=0) as (_, extension, agent):
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_execute_script", code="secret()", tabId=1)
        missed = (await extension.next("confirmation.missed"))["params"]
    assert failed.value.reason == "approval_unavailable"
    assert "side panel" in failed.value.message
    assert missed["tool"] == "browser_execute_script" and "parameters" not in missed


async def test_closing_the_last_panel_ends_the_wait() -> None:
    async with asking(panels=2) as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        await extension.notify("panel.changed", {"open": 1})
        await extension.settled()
        assert not call.done()
        await extension.notify("panel.changed", {"open": 0})
        with pytest.raises(ToolFailed) as failed:
            await call
        assert await respond(extension, id, "allow") is False
    assert failed.value.reason == "approval_unavailable"


async def test_a_browser_that_disconnects_during_a_request_ends_the_wait() -> None:
    async with asking() as (server, first, agent):
        await first.notify("panel.changed", {"open": 0})
        await first.settled()
        async with connected(server.port, "second") as second:
            await second.sync(panels=1)
            call = script(agent)
            await question(second)
        with pytest.raises(ToolFailed) as failed:
            await call
    assert failed.value.reason == "approval_unavailable"


async def test_an_agent_that_disconnects_withdraws_its_request() -> None:
    async with asking() as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        call.cancel()
        closed = (await extension.next("confirmation.closed"))["params"]
    assert closed == {"id": id, "outcome": "cancelled"}


async def test_an_approval_for_one_site_does_not_count_on_another() -> None:
    async with asking() as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        moved = {"tabId": 1, "state": "updated", "tab": tab(1, url="https://bank.example/")}
        await extension.ask("tab.stateChanged", moved)
        assert await respond(extension, id, "allow", scope="always")
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "navigated_away"
        assert (await extension.state())["grants"] == []


async def test_a_call_that_waits_for_a_person_does_not_use_up_its_own_time() -> None:
    settings = Settings(permissions=ASK.permissions, limits=Limits(call_seconds=2))
    async with asking(settings) as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        await asyncio.sleep(2.1)
        await respond(extension, id, "allow")
        assert await call == {"value": 1}


async def test_an_operation_id_needs_one_approval() -> None:
    async with asking() as (_, extension, agent):
        meta = {"tabhub/operationId": "one"}
        calls = [
            asyncio.create_task(
                agent.result("browser_execute_script", _meta=meta, code="1", tabId=1)
            )
            for _ in range(2)
        ]
        id = (await question(extension))["id"]
        assert len((await extension.state())["confirmations"]) == 1
        await respond(extension, id, "allow")
        for call in calls:
            assert (await call)["structuredContent"] == {"value": 1}


@pytest.mark.document("OT-received-9", "OT-health-10")
@pytest.mark.requirement("OT-38")
async def test_skipping_turns_ask_into_auto_with_a_warning_and_does_not_change_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    levels = {"browser_execute_script": "ask", "browser_read_page": "off"}
    settings = Settings(permissions=PermissionSettings(tools=levels))  # type: ignore[arg-type]
    async with asking(settings, panels=0) as (server, extension, agent):
        await extension.ask("config.setSkipPermissions", {"skip": True})
        assert "SKIPPED" in caplog.text
        async with client(server.port) as http:
            assert (await http.get("/health")).json()["skipPermissions"] is True
        assert (await extension.state())["skipPermissions"] is True
        assert await agent.call("browser_execute_script", code="1", tabId=1) == {"value": 1}
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_read_page", tabId=1)
        assert failed.value.reason == "permission_off"
        await extension.ask("config.setSkipPermissions", {"skip": False})
        with pytest.raises(ToolFailed) as failed_again:
            await agent.call("browser_execute_script", code="1", tabId=1)
        assert failed_again.value.reason == "approval_unavailable"


async def test_an_approval_for_one_page_does_not_count_on_another_of_the_same_site() -> None:
    async with asking() as (_, extension, agent):
        call = script(agent)
        id = (await question(extension))["id"]
        moved = {"tabId": 1, "state": "updated", "tab": tab(1, url="https://example.com/delete")}
        await extension.ask("tab.stateChanged", moved)
        assert await respond(extension, id, "allow")
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "navigated_away"


async def test_title_and_address_of_the_page_are_cut_in_a_request() -> None:
    async with asking() as (_, extension, agent):
        title, url = "\u202ea\x1b[2J\n" + "x" * 100_000, "https://example.com/" + "y" * 10**6
        changed = {"tabId": 1, "state": "updated", "tab": tab(1, title=title, url=url)}
        await extension.ask("tab.stateChanged", changed)
        call = script(agent)
        request = await question(extension)
        assert len(request["tab"]["title"]) <= 200 and request["tab"]["title"].isprintable()
        assert len(request["tab"]["url"]) <= 2048
        await respond(extension, request["id"], "allow")
        await call


async def test_a_request_that_is_too_large_to_read_is_refused() -> None:
    async with asking() as (_, extension, agent):
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_execute_script", code="x" * 100_000, tabId=1)
        assert failed.value.reason == "approval_unavailable"
        assert (await extension.state())["confirmations"] == []


async def test_the_open_requests_of_a_client_are_limited() -> None:
    async with asking() as (_, extension, agent):
        calls = [script(agent) for _ in range(9)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        with pytest.raises(ToolFailed) as failed:
            await done.pop()
        assert failed.value.reason == "too_many_calls"
        assert len((await extension.state())["confirmations"]) == 8
        for call in calls:
            call.cancel()


async def test_a_blank_popup_is_on_the_site_of_the_page_that_opened_it() -> None:
    settings = Settings(permissions=PermissionSettings(domains={"example.com": "off"}))
    async with asking(settings) as (_, extension, agent):
        blank = {"tabId": 7, "state": "opened", "tab": tab(7, url="about:blank"), "openedBy": 1}
        await extension.ask("tab.stateChanged", blank)
        await extension.share_all()
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_execute_script", code="1", tabId=7)
        assert failed.value.reason == "permission_off"
        sent = {"tabId": 8, "state": "opened", "tab": tab(8, url="about:blank"), "openedBy": 2}
        await extension.ask("tab.stateChanged", sent)
        await extension.share_all()
        await agent.call("browser_execute_script", code="1", tabId=8)
        dispatched = await extension.next("tool.dispatch")
        assert dispatched["params"]["site"] == "" and dispatched["params"]["frames"] is True


async def test_a_popup_that_has_left_its_blank_page_for_its_openers_site_is_used_there() -> None:
    async with asking() as (_, extension, agent):
        blank = {"tabId": 7, "state": "opened", "tab": tab(7, url="about:blank"), "openedBy": 1}
        await extension.ask("tab.stateChanged", blank)
        await extension.share_all()
        del extension.handlers["page.evaluate"]
        call = script(agent, 7)
        assert await respond(extension, (await question(extension))["id"], "allow")
        early = await extension.command("page.evaluate")
        there = tab(7, url="https://example.com/popup")
        await extension.notify("tab.stateChanged", {"tabId": 7, "state": "updated", "tab": there})
        await extension.send({"id": early["id"], "error": Refusal("tab_url_mismatch").wire})
        again = await extension.command("page.evaluate")
        assert (early["params"]["site"], again["params"]["site"]) == ("", "example.com")
        await extension.send({"id": again["id"], "result": {"output": {"value": 1}}})
        assert await call == {"value": 1}


async def test_a_frame_of_another_site_is_entered_only_where_the_call_would_be_allowed() -> None:
    domains = {"off.example": "off", "ask.example": "ask", "free.example": "auto"}
    settings = Settings(permissions=PermissionSettings(domains=domains))  # type: ignore[arg-type]
    async with asking(settings) as (_, extension, agent):
        del extension.handlers["page.evaluate"]
        call = script(agent)
        sent = await extension.next("tool.dispatch")
        params = {"dispatchId": sent["params"]["dispatchId"]}
        params["sites"] = ["example.com", *domains, "elsewhere.example"]
        answer = await extension.ask("frames.allowed", params)
        assert answer["result"]["sites"] == ["example.com", "free.example", "elsewhere.example"]
        unknown = await extension.ask("frames.allowed", {**params, "dispatchId": "x"})
        assert unknown["result"]["sites"] == []
        call.cancel()


async def test_acting_in_a_frame_needs_the_approval_for_its_site() -> None:
    settings = Settings(permissions=PermissionSettings(domains={"pay.example": "ask"}))
    async with asking(settings) as (_, extension, agent):
        tried: list[Any] = []

        def act(params: dict[str, Any]) -> Any:
            tried.append(params)
            if len(tried) == 1:
                raise Refusal("permission_off", data={"frameSite": "pay.example"})
            return {"effect": {"mutated": True}, "trusted": True}

        extension.handlers["page.click"] = act
        call = asyncio.create_task(agent.call("browser_click_element", ref="ref_1", tabId=1))
        request = await question(extension)
        assert request["origin"] == "pay.example"
        await respond(extension, request["id"], "allow")
        assert (await call)["trusted"] is True


async def test_a_rule_that_is_turned_off_ends_the_question() -> None:
    off = {"plugin": "browser", "tool": "browser_execute_script", "permission": "off"}
    async with asking() as (server, extension, agent):
        call = script(agent)
        request = await question(extension)
        assert (await extension.ask("config.setToolPermission", off))["result"] == {}
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "permission_off"
        closed = (await extension.next("confirmation.closed"))["params"]
        assert closed == {"id": request["id"], "outcome": "denied"}
        late = await extension.ask(
            "confirmation.response", {"id": request["id"], "decision": "allow"}
        )
        assert late["result"] == {"accepted": False, "outcome": "denied"}
        entries = server.app.audit.entries(9)
        entry = next(one for one in entries if one["tool"] == "browser_execute_script")
        assert entry["verdict"] == "denied" and "permission_off: " in entry["rule"]


async def test_long_names_of_agents_and_tools_are_cut() -> None:
    async with asking() as (_, extension, agent):
        agent.http.headers["User-Agent"] = "x" * 5000
        call = script(agent)
        request = await question(extension)
        assert len(request["agent"]) <= 80 and len(request["title"]) <= 200
        call.cancel()


async def test_a_call_that_waits_when_the_server_stops_is_told_that_nothing_was_done() -> None:
    async with asking() as (server, extension, agent):
        ran: list[Any] = []
        extension.handlers["page.evaluate"] = ran.append
        call = script(agent)
        await question(extension)
        await server.stop()
        with pytest.raises(ToolFailed, match="so it did not run") as failed:
            await call
        assert failed.value.reason == "server_unavailable"
        assert not ran
