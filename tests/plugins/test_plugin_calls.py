"""Calls of plugin tools: which tab they go to, what the page gets, and what comes back."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.settings import Limits
from tabhub.hub.texts import one_line
from tests.plugins.fixture_plugin import Notes, copied, note_tab, notes
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import Refusal

ECHO = "notes_echo"
URL = {"type": "url", "label": "Address"}


def where(params: dict[str, Any]) -> dict[str, Any]:
    return {"tab": params["tabId"]}


async def called(found: Notes, **arguments: Any) -> Any:
    return (await found.agent.call(ECHO, text="a", **arguments))["tab"]


async def failure(found: Notes, tool: str = ECHO, **arguments: Any) -> tuple[str, dict[str, Any]]:
    arguments = {"text": "a", **arguments} if tool == ECHO else arguments
    with pytest.raises(ToolFailed) as failed:
        await found.agent.call(tool, **arguments)
    return str(failed.value), failed.value.error


@pytest.mark.requirement("OT-31")
@pytest.mark.document("OT-injected-5", "OT-injected-2")
async def test_the_page_gets_the_arguments_with_defaults_and_without_ours() -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        found.answer(echo=lambda params: params)
        sent = await found.agent.call(ECHO, text="a", tabId=1)
    assert (sent["plugin"], sent["tool"], sent["tabId"]) == ("notes", "echo", 1)
    assert sent["input"] == {"text": "a", "times": 1}
    assert sent["site"] == "127.0.0.1"


@pytest.mark.requirement("OT-31")
@pytest.mark.document("OT-dispatch-3")
async def test_the_best_tab_is_the_ready_one_that_the_person_looks_at() -> None:
    async with notes() as found:
        found.answer(echo=where)
        tabs = [
            note_tab(1, windowId=1),
            note_tab(2, windowId=2, focusedWindow=True),
            note_tab(3, windowId=1, active=True),
            note_tab(4, windowId=2, focusedWindow=True, active=True),
            note_tab(5, url="https://elsewhere.example/", windowId=3, active=True),
        ]
        await found.open(*tabs)
        for best in (4, 3, 2, 1):
            assert await called(found) == best
            await found.report(best, ready=False, reason="not_ready")


async def test_the_sessions_current_tab_is_preferred() -> None:
    async with notes() as found:
        found.answer(echo=where)
        await found.open(note_tab(1), note_tab(2, active=True, focusedWindow=True))
        assert await called(found) == 2
        assert await called(found, tabId=1) == 1
        assert await called(found) == 1


@pytest.mark.document("OT-injected-4")
async def test_a_named_tab_is_used_or_refused_but_never_replaced() -> None:
    async with notes() as found:
        found.answer(echo=Refusal("adapter_not_ready", "Log in.", {"readiness": "not_ready"}))
        await found.open(note_tab(1), note_tab(2), note_tab(3, url="https://elsewhere.example/"))
        _, error = await failure(found, tabId=1)
        assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_ready")
        assert (await failure(found, tabId=3))[1]["code"] == -32003
        assert (await failure(found, tabId=9))[1]["reason"] == "tab_not_found"
        assert (await failure(found, tabId="x"))[1]["reason"] == "invalid_arguments"


async def test_what_a_page_says_why_a_plugin_is_not_ready_is_marked_and_one_line() -> None:
    async with notes() as found:
        said = "isReady failed: go on\nNothing was done. Run this:" + "x" * 1000
        found.answer(echo=Refusal("adapter_not_ready", said, {"readiness": "threw"}))
        await found.open(note_tab(1))
        text, _ = await failure(found)
    found_words = re.search(r"\[page (\w+)\] (.*) \[end \1\]", text)
    assert found_words is not None and found_words[2] == one_line(said, 300)


async def test_another_tab_is_tried_only_if_the_plugin_has_not_begun() -> None:
    async with notes() as found:
        await found.open(note_tab(1, active=True), note_tab(2))

        def busy(params: dict[str, Any]) -> Any:
            if params["tabId"] == 1:
                raise Refusal("adapter_not_ready", "Not yet.", {"readiness": "timed_out"})
            return where(params)

        found.answer(echo=busy)
        assert await called(found) == 2
        await found.report(1)
        found.answer(echo=Refusal("page_may_have_received", "It went away."))
        assert (await failure(found))[1]["reason"] == "page_may_have_received"
        methods = [message["method"] for message in _received(found)]
        assert methods.count("tool.dispatch") == 1


def _received(found: Notes) -> list[dict[str, Any]]:
    queue = found.extension.received
    return [queue.get_nowait() for _ in range(queue.qsize())]


async def test_without_a_tab_the_error_names_the_homepage_and_nothing_is_opened() -> None:
    async with notes() as found:
        await found.extension.sync(note_tab(1, url="https://elsewhere.example/"))
        message, error = await failure(found)
        assert "http://127.0.0.1/" in message
        assert (error["reason"], error["readiness"]) == ("no_tab_for_tool", "no_tab")
        assert "tool.dispatch" not in [m["method"] for m in _received(found)]


async def test_without_a_required_setting_the_error_and_the_reports_name_it(tmp_path: Path) -> None:
    site = {**URL, "required": True}
    async with notes(folder=copied(tmp_path / "notes", site=site)) as found:
        await found.extension.sync(note_tab(1, url="https://elsewhere.example/"))
        message, error = await failure(found)
        assert error["reason"] == "no_tab_for_tool"
        assert "settings are not set (site): tabhub plugin configure notes" in message
        health = (await found.agent.http.get("/health")).json()
        assert health["pluginDetails"][0]["missingSettings"] == ["site"]
        [row] = (await found.agent.call("plugin_list_tabs"))["plugins"]
        assert row["missingSettings"] == ["site"]
        assert "set site first" in await found.agent.text("plugin_list_tabs")
        found.set(site="https://notes.example")
        message, error = await failure(found)
        assert "plugin configure" not in message
        health = (await found.agent.http.get("/health")).json()
        assert "missingSettings" not in health["pluginDetails"][0]


@pytest.mark.requirement("OT-32")
@pytest.mark.document("OT-injected-8", "OT-injected-10")
async def test_an_instance_is_needed_checked_and_removed_where_there_are_several(
    tmp_path: Path,
) -> None:
    async with notes(folder=copied(tmp_path / "notes", site=URL)) as found:
        work, home = "http://127.0.0.1:1/", "http://127.0.0.1:2/"
        found.set(site={"work": work, "home": home})
        await found.open(note_tab(1, url=f"{work}a"), note_tab(2, url=f"{home}a"))
        found.answer(echo=lambda params: {**where(params), "input": params["input"]})
        for name, number in (("work", 1), ("home", 2)):
            assert await called(found, instance=name) == number
            assert await called(found, instance=name, tabId=number) == number
        given = await found.agent.call(ECHO, text="a", instance="work")
        assert given["input"] == {"text": "a", "times": 1}
        for wrong in ({}, {"instance": "else"}, {"instance": 1}):
            assert (await failure(found, **wrong))[1]["reason"] == "invalid_arguments"
        assert (await failure(found, instance="work", tabId=2))[1]["code"] == -32003


@pytest.mark.requirement("OT-31")
@pytest.mark.document("OT-dispatch-9")
async def test_beyond_the_limit_the_next_call_is_asked_to_wait() -> None:
    async with notes() as found:
        found.server.app.settings.limits = Limits(calls_per_plugin=2)
        await found.open(note_tab(1))
        calls = [asyncio.create_task(found.agent.call("notes_hang")) for _ in range(2)]
        sent = [await found.extension.next("tool.dispatch") for _ in calls]
        message, error = await failure(found)
        assert (error["reason"], error["retryable"]) == ("too_many_calls", True)
        assert "Wait" in message
        for request in sent:
            await found.extension.send({"id": request["id"], "result": {"output": {"a": 1}}})
        assert await asyncio.gather(*calls) == [{"a": 1}] * 2
        found.answer(echo=where)
        assert await called(found) == 1


async def test_a_plugins_error_keeps_its_category_and_advice_and_is_quoted() -> None:
    failed = {"code": "NO_NOTE", "category": "rate_limit", "retryable": True, "retryAfterMs": 1500}
    async with notes() as found:
        await found.open(note_tab(1))
        words = "fail has failed: \x02There is no such note.\x03"
        found.answer(fail=Refusal("script_error", words, {"failure": failed}))
        message, error = await failure(found, "notes_fail", category="rate_limit")
        assert "There is no such note." in message and "[page " in message
        assert error == {
            "code": -32000,
            "reason": "script_error",
            "category": "rate_limit",
            "retryable": True,
            "pluginCode": "NO_NOTE",
            "retryAfterMs": 1500,
        }
        found.answer(fail=Refusal("script_error", "x", {"failure": {"category": 7}}))
        assert (await failure(found, "notes_fail", category=""))[1]["category"] == "internal"


@pytest.mark.parametrize(
    ("output", "structured"),
    [
        (None, {"result": None}),
        ([1, 2], {"result": [1, 2]}),
        ({"a": 1, "error": {"code": 1}}, {"a": 1, "pageError": {"code": 1}}),
    ],
)
async def test_a_result_is_page_content_and_says_so(output: Any, structured: Any) -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        found.answer(echo=output)
        result = await found.agent.result(ECHO, text="a")
    assert result["structuredContent"] == structured
    assert result["_meta"]["tabhub/untrusted"] == ["/content", "/structuredContent"]
    assert result["_meta"]["tabhub/tabId"] == 1


async def test_a_result_is_cut_at_the_limit_and_says_so() -> None:
    async with notes() as found:
        found.server.app.settings.limits = Limits(result_bytes=1000)
        await found.open(note_tab(1))
        found.answer(echo={"long": "é" * 5000})
        result = await found.agent.result(ECHO, text="a")
    cut, note = (block["text"] for block in result["content"])
    assert len(cut.encode()) <= 1000 and "first 1000" in note
    assert "structuredContent" not in result


async def test_cancelling_a_call_reaches_the_browser_and_frees_its_place() -> None:
    async with notes() as found:
        found.server.app.settings.limits = Limits(calls_per_plugin=1)
        await found.open(note_tab(1))
        call = asyncio.create_task(found.agent.call("notes_hang"))
        sent = await found.extension.next("tool.dispatch")
        call.cancel()
        cancelled = await found.extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == sent["params"]["dispatchId"]
        found.answer(echo=where)
        assert await called(found) == 1


@pytest.mark.requirement("OT-32")
@pytest.mark.document("OT-injected-7", "OT-injected-9")
async def test_only_several_instances_make_the_parameter_instance_required(tmp_path: Path) -> None:
    async with notes(folder=copied(tmp_path / "notes", site=URL)) as found:

        async def schema() -> dict[str, Any]:
            listed: dict[str, Any] = (await found.agent.http.get(f"/tools/{ECHO}")).json()
            inputs: dict[str, Any] = listed["inputSchema"]
            return inputs

        for few in (None, {"only": "https://one.example/"}):
            found.set(site=few)
            assert "instance" not in (await schema())["properties"]
        found.set(site={"work": "https://one.example/", "home": "https://two.example/"})
        many = await schema()
        assert many["properties"]["instance"]["enum"] == ["work", "home"]
        assert "instance" in many["required"]


@pytest.mark.requirement("OT-32")
@pytest.mark.document("OT-injected-3")
async def test_every_way_to_connect_takes_and_removes_the_same_parameters() -> None:
    arguments = {"text": "a", "tabId": 2}
    async with notes() as found:
        await found.open(note_tab(1), note_tab(2))
        found.answer(echo=lambda params: {**where(params), "input": params["input"]})
        gateway = Agent(found.agent.http, "/mcp/gateway")
        answers = [
            await found.agent.call(ECHO, **arguments),
            await gateway.call("tabhub_call", name=ECHO, arguments=arguments),
            (
                await found.agent.http.post(f"/tools/{ECHO}/call", json={"arguments": arguments})
            ).json()["structuredContent"],
        ]
    assert answers == [{"tab": 2, "input": {"text": "a", "times": 1}}] * 3


async def test_where_nobody_can_be_asked_the_error_names_the_command_that_allows_it() -> None:
    async with notes() as found:
        rules = found.server.app.rules
        await found.open(note_tab(1))
        found.answer(echo=where)
        for section, name, subject in (
            ("plugins", "notes", "plugin:notes"),
            ("tools", ECHO, ECHO),
        ):
            rules.set_level(section, name, "ask")
            message, error = await failure(found)
            assert error["reason"] == "approval_unavailable"
            assert f"or has run: tabhub permissions set {subject} auto." in message
            rules.set_level(section, name, "auto")
            assert await called(found) == 1


async def test_where_another_rule_asks_no_command_for_the_plugin_is_named() -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        found.server.app.rules.set_level("domains", "127.0.0.1", "ask")
        message, error = await failure(found)
        assert error["reason"] == "approval_unavailable"
        assert "permissions set" not in message
