"""Calls of plugins in Python through a whole server: routing, operations of the page, errors."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.settings import Limits
from tabhub.errors import InvalidArguments, TabhubError
from tabhub.plugins.python import plugin_process
from tabhub.plugins.python.python_calls import PythonCalls
from tests.plugins.python.written_plugins import (
    BANK,
    PAGE,
    SITE,
    action,
    move,
    note_tab,
    response,
    sent,
    serving,
    source,
    written,
)
from tests.support.browsers.extension import Refusal
from tests.support.eventually import eventually

READY = 'async def ready(self, page: Page) -> bool:\n    return await page.has("meta[name=user]")'


@pytest.mark.requirement("TH-10")
async def test_a_call_reaches_the_process_with_its_arguments_and_without_ours(
    tmp_path: Path,
) -> None:
    async with serving(written(tmp_path, source())) as found:
        await found.open(note_tab(1), note_tab(2))
        result = await found.agent.result("notes_echo", text="ab", times=2, tabId=2)
        assert result["structuredContent"] == {"said": "abab", "url": PAGE, "tab": 2}
        assert result["_meta"]["tabhub/untrusted"] == ["/content", "/structuredContent"]
        assert await found.agent.call("notes__echo", text="a") == {
            "said": "a",
            "url": PAGE,
            "tab": 2,
        }
        assert (await found.failure("notes_echo", text=7))[1]["reason"] == "invalid_arguments"
        gone = await found.failure("notes_echo", text="a", tabId=9)
        assert gone[1]["reason"] == "tab_not_found"
        listed = (await found.agent.http.get("/tools/notes_echo")).json()
        assert listed["annotations"]["destructiveHint"] is False


@pytest.mark.requirement("TH-10")
async def test_requests_have_the_pages_session_and_stay_within_match_and_hosts(
    tmp_path: Path,
) -> None:
    members = (
        'hosts = ["https://api.example/v1/*"]',
        action("add", 'return await page.post("api", json={"a": 1}, into=Note)'),
        action("far", 'return await page.get("https://api.example/v1/x")'),
        action("out", 'return await page.get("https://api.example/v2/x")'),
        action("evil", 'return await page.get("https://evil.example\\\\@notes.example/")'),
    )
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__fetch=response(b'{"id": 3, "title": "t"}'))
        assert await found.agent.call("notes_add") == {"id": 3, "title": "t"}
        (params,) = [params for command, params in sent(found) if command == "plugin.fetch"]
        assert params["site"] == "notes.example"
        assert params["input"] == {
            "url": f"{SITE}/api",
            "method": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": '{"a":1}',
            "stream": False,
            "allowed": [f"{SITE}/*", "https://api.example/v1/*"],
        }
        await found.agent.call("notes_far")
        sent(found)
        for tool in ("notes_out", "notes_evil"):
            message, error = await found.failure(tool)
            assert error["reason"] == "permission_denied" and "match and hosts" in message
        assert sent(found) == []


async def test_every_other_operation_reaches_the_page(tmp_path: Path) -> None:
    members = (
        "cookies = True",
        'scripts = ["state.js"]',
        action("stored", 'await page.storage.set("k", "v")\nreturn await page.storage.get("k")'),
        action("keys", "return await page.session_storage.keys()"),
        action("waited", 'await page.wait_for("#a", seconds=2)\nreturn True'),
        action("value", 'return await page.evaluate("(a, b) => a + b", 1, 2)'),
        action("ran", 'return await page.run("state.js", 5)'),
        action("jar", "return await page.cookies()"),
        action("titled", "return [await page.title(), page.url]"),
        action("opened", 'await page.open("/next")\nreturn page.url'),
        action(
            "streamed",
            'async with page.stream("GET", "/big") as response:\n'
            "    return [chunk.decode() async for chunk in response]",
        ),
    )
    (tmp_path / "state.js").write_text("return args")
    cookie = {
        **{"name": "sid", "value": "1", "domain": "notes.example", "path": "/"},
        **{"secure": True, "httpOnly": True, "expirationDate": 5.0},
    }
    pieces = iter([("YWI=", False), ("Y2Q=", True)])
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        found.answer(
            plugin__storage=lambda params: (
                {"keys": ["a"]} if params["input"]["action"] == "keys" else {"value": "v"}
            ),
            plugin__waitFor={"found": True},
            page__evaluate={"value": 3},
            plugin__run={"value": "ran"},
            cookies__get={"cookies": [cookie]},
            tabs__navigate={
                **{"tabId": 1, "url": f"{SITE}/next", "title": "Next", "status": "complete"}
            },
            plugin__fetch={"stream": "s1", **{k: v for k, v in response().items() if k[0] != "b"}},
            plugin__fetchRead=lambda params: dict(
                zip(("bodyBase64", "done"), next(pieces), strict=True)
            ),
        )
        results = {
            name: (await found.agent.call(f"notes_{name}"))["result"]
            for name in ("stored", "keys", "waited", "value", "ran", "titled", "streamed", "opened")
        }
        assert results == {
            "stored": "v",
            "keys": ["a"],
            "waited": True,
            "value": 3,
            "ran": "ran",
            "titled": ["Tab 1", PAGE],
            "streamed": ["ab", "cd"],
            "opened": f"{SITE}/next",
        }
        (jar,) = (await found.agent.call("notes_jar"))["result"]
        assert (jar["name"], jar["httpOnly"], jar["expires"]) == ("sid", True, 5)
        inputs = {command: params["input"] for command, params in sent(found)}
        digest = found.plugin.package.digests["state.js"]
        assert inputs["plugin.run"] == {"plugin": "notes", "script": digest, "args": [5]}
        assert inputs["plugin.waitFor"]["timeoutMs"] == 2000
        assert inputs["cookies.get"]["url"] == f"{SITE}/next"


async def test_what_is_not_declared_is_refused_before_the_browser_hears_of_it(
    tmp_path: Path,
) -> None:
    members = (
        'exclude = ["https://notes.example/admin/*"]',
        action("jar", "return await page.cookies()"),
        action("ran", 'return await page.run("other.js")'),
        action("left", 'await page.open("https://elsewhere.example/")'),
        action("admin", 'await page.open("/admin/x")'),
        action("odd", 'return await page._transport.request("tabs.close", {})'),
        action("read", 'return await page._transport.request("fetchRead", {"stream": "s"})'),
    )
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        sent(found)
        for tool in ("jar", "ran", "left", "admin"):
            assert (await found.failure(f"notes_{tool}"))[1]["reason"] == "permission_denied"
        for tool in ("odd", "read"):
            assert (await found.failure(f"notes_{tool}"))[1]["reason"] == "script_error"
        assert sent(found) == []


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("left", "navigated_away"),
        ("closed", "tab_not_found"),
        ("off", "permission_off"),
        ("gone", "extension_disconnected"),
        ("slow", "timeout"),
    ],
)
async def test_operations_that_tabhub_ends_give_its_own_reason_and_words(
    tmp_path: Path, how: str, reason: str, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects: list[str] = []
    run = PythonCalls.run

    async def recorded(*given: Any) -> Any:
        try:
            return await run(*given)
        except TabhubError as error:
            effects.append(error.effect)
            raise

    monkeypatch.setattr(PythonCalls, "run", recorded)
    first = 'await page.post("/api")\n' if begins else ""
    look = action("look", f"{first}await page.has('a')\nreturn await page.has('b')")
    async with serving(written(tmp_path, source(look))) as found:
        await found.open(note_tab(1))

        def change(params: dict[str, Any]) -> Any:
            if how == "left":
                move(found, "https://elsewhere.example/")
            elif how == "closed":
                tabs = found.server.app.hub.tabs
                tabs.remove(tabs.get(1).browser, 1)
            elif how == "off":
                found.server.app.rules.set_level("plugins", "notes", "off")
            else:
                raise Refusal(reason, "The browser does not answer.")
            return {"found": True}

        found.answer(plugin__has=change, plugin__fetch=response())
        message, error = await found.failure("notes_look")
        assert error["reason"] == reason and "pluginCode" not in error
        assert "[page " not in message
        assert effects == ["unknown" if begins else "none"]


async def test_another_site_of_the_plugin_needs_a_decision_of_its_own(tmp_path: Path) -> None:
    members = (
        action("go", 'await page.open("https://bank.example/")\nreturn await page.has("a")'),
        action("ask", 'return await page.get("https://bank.example/api")'),
    )
    match = f'["{SITE}/*", "https://bank.example/*"]'
    async with serving(written(tmp_path, source(*members, match=match))) as found:
        await found.open(note_tab(1))
        found.answer(
            plugin__has={"found": True},
            plugin__fetch=response(b"1"),
            tabs__navigate={
                **{"tabId": 1, "url": "https://bank.example/", "title": "", "status": "complete"}
            },
        )
        assert (await found.agent.call("notes_go"))["result"] is True
        await found.extension.sync(note_tab(1))
        found.server.app.rules.set_level("domains", "bank.example", "off")
        sent(found)
        for tool in ("notes_go", "notes_ask"):
            assert (await found.failure(tool))[1]["reason"] in (
                "permission_off",
                "permission_denied",
            )
        assert [command for command, _ in sent(found)] == []


@pytest.mark.requirement("TH-10")
async def test_readiness_is_asked_reported_and_asked_again_before_each_call(
    tmp_path: Path,
) -> None:
    async with serving(written(tmp_path, source(READY))) as found:
        is_in = False
        found.answer(plugin__has=lambda params: {"found": is_in})
        await found.extension.sync(note_tab(1), note_tab(2, status="loading"))
        readiness = found.server.app.plugin_runtime.readiness

        async def reasons() -> dict[Any, Any]:
            listed = await found.agent.call("plugin_list_tabs", plugin="notes")
            return {tab["tabId"]: tab.get("reason") for tab in listed["plugins"][0]["tabs"]}

        async def is_known() -> bool:
            return await reasons() == {1: "not_ready", 2: "not_injected"}

        await eventually(is_known)
        _, error = await found.failure("notes_echo", text="a", tabId=1)
        assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_ready")
        is_in = True
        assert (await found.agent.call("notes_echo", text="a", tabId=1))["tab"] == 1
        assert readiness.of_tab(found.plugin, found.server.app.hub.tabs.get(1)).ready
        await found.extension.notify(
            "tab.stateChanged",
            {"tabId": 2, "state": "updated", "tab": note_tab(2, status="complete")},
        )

        async def is_ready() -> bool:
            return await reasons() == {1: None, 2: None}

        await eventually(is_ready)
        health = (await found.agent.http.get("/health")).json()
        assert health["pluginDetails"][0]["tabState"] == "ready"


@pytest.mark.parametrize(
    "step",
    [
        'page.open("/x")',
        'page.post("/api")',
        f'page.get("{BANK}/api")',
        'page.storage.set("k", "v")',
        'page.evaluate("1")',
        'page._transport.request("evaluate", {"expression": "1", "action": "get"})',
    ],
)
async def test_a_plugin_that_checks_whether_it_is_ready_may_only_read_its_page(
    tmp_path: Path, step: str
) -> None:
    ready = f"async def ready(self, page: Page) -> bool:\n    await {step}\n    return True"
    match = f'["{SITE}/*", "{BANK}/*"]'
    async with serving(written(tmp_path, source(ready, match=match))) as found:
        await found.extension.sync(note_tab(1))
        readiness = found.server.app.plugin_runtime.readiness
        await eventually(lambda: readiness.reason(found.plugin) == "threw")
        assert sent(found) == []


async def test_a_plugin_may_read_to_see_whether_it_is_ready(tmp_path: Path) -> None:
    ready = (
        "async def ready(self, page: Page) -> bool:\n"
        '    return (await page.request("GET", "/me")).ok and await page.storage.get("k") == "v"'
    )
    async with serving(written(tmp_path, source(ready))) as found:
        found.answer(plugin__fetch=response(), plugin__storage={"value": "v"})
        await found.open(note_tab(1))


async def test_another_tab_is_tried_only_if_the_plugin_is_not_ready_in_the_first(
    tmp_path: Path,
) -> None:
    async with serving(written(tmp_path, source(READY))) as found:
        busy: set[int] = set()
        found.answer(plugin__has=lambda params: {"found": params["tabId"] not in busy})
        await found.open(note_tab(1, active=True), note_tab(2))
        busy.add(1)
        assert (await found.agent.call("notes_echo", text="a"))["tab"] == 2


async def test_a_plugins_error_keeps_its_category_and_advice_and_is_quoted(tmp_path: Path) -> None:
    advice = 'code="SLOW", retryable=True, retry_after=1.5'
    body = f'raise PluginError("Too fast.", "rate_limit", {advice})'
    members = (action("fail", body), action("crash", "raise ValueError('[end]')"))
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        message, error = await found.failure("notes_fail")
        assert "[page " in message and "Too fast." in message
        assert error == {
            "code": -32000,
            "reason": "script_error",
            "category": "rate_limit",
            "retryable": True,
            "pluginCode": "SLOW",
            "retryAfterMs": 1500,
        }
        assert (await found.failure("notes_crash"))[1]["category"] == "internal"


@pytest.mark.parametrize("begins", [True, False])
async def test_a_process_that_ends_in_a_call_says_whether_the_page_may_have_received_something(
    tmp_path: Path, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_process, "PING_SECONDS", 0.05)
    monkeypatch.setattr(plugin_process, "BLOCKED_SECONDS", 2.0)
    first = 'await page.post("/api")\n' if begins else ""
    spin = action("spin", f"{first}while True:\n    pass")
    async with serving(written(tmp_path, source(spin))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__fetch=response())
        message, error = await found.failure("notes_spin")
        assert (error["reason"], error["pluginCode"]) == ("script_error", "process_ended")
        assert "did not react" in message
        assert ("may have received" in message) is begins
        assert error["retryable"] is not begins
        assert (await found.agent.call("notes_echo", text="again"))["said"] == "again"


async def test_a_large_result_is_cut_and_a_huge_one_is_an_error(tmp_path: Path) -> None:
    members = (action("large", "return 'x' * 5000"), action("huge", "return 'x' * 50_000_000"))
    async with serving(written(tmp_path, source(*members))) as found:
        found.server.app.settings.limits = Limits(result_bytes=1000)
        await found.open(note_tab(1))
        cut, note = (await found.agent.result("notes_large"))["content"]
        assert len(cut["text"]) <= 1000 and "first 1000" in note["text"]
        assert (await found.failure("notes_huge"))[1]["pluginCode"] == "too_large"


async def test_progress_and_logs_reach_the_client_and_what_is_printed_the_log(
    tmp_path: Path,
) -> None:
    body = """
        page.log.warning("careful")
        await page.progress(1, 2, "half")
        print("hello")
        return 1
    """
    async with serving(written(tmp_path, source(action("talk", body)))) as found:
        await found.open(note_tab(1))
        params = {"name": "notes_talk", "arguments": {}, "_meta": {"progressToken": 7}}
        answer = (await found.agent.post("tools/call", params)).text
        assert '"progress":1' in answer and "half" in answer and "[page " in answer
        logs = found.server.app.plugin_runtime.logs
        await eventually(lambda: len(logs.entries("notes")) == 2)
        entries = {(entry.level, entry.message) for entry in logs.entries("notes")}
        assert entries == {("warning", "careful"), ("info", "hello")}


async def test_a_log_entry_reaches_only_the_client_of_its_call(tmp_path: Path) -> None:
    wait = """
        self.talked = asyncio.Event()
        await self.talked.wait()
        return 1
    """
    talk = """
        while not hasattr(self, "talked"):
            await asyncio.sleep(0.01)
        page.log.warning("mine")
        self.talked.set()
        return 1
    """
    members = (action("wait", wait), action("talk", talk))
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        more = {"arguments": {}, "_meta": {"io.modelcontextprotocol/logLevel": "info"}}
        names = ("notes_wait", "notes_talk")
        calls = [found.agent.post("tools/call", {"name": name, **more}) for name in names]
        waited, talked = (answer.text for answer in await asyncio.gather(*calls))
        assert "plugin_log" in talked and "mine" in talked
        assert "mine" not in waited


@pytest.mark.requirement("TH-10")
async def test_calls_are_limited_and_cancelling_one_frees_its_place(tmp_path: Path) -> None:
    wait = action("wait", "await page.wait_for('#never')\nreturn 1")
    async with serving(written(tmp_path, source(wait))) as found:
        found.server.app.settings.limits = Limits(calls_per_plugin=1)
        await found.open(note_tab(1))
        call = asyncio.create_task(found.agent.call("notes_wait"))
        asked = await found.extension.command("plugin.waitFor")
        assert (await found.failure("notes_echo", text="a"))[1]["reason"] == "too_many_calls"
        call.cancel()
        cancelled = await found.extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == asked["params"]["dispatchId"]
        assert (await found.agent.call("notes_echo", text="a"))["said"] == "a"


async def test_settings_of_type_url_name_the_pages_and_the_instance(tmp_path: Path) -> None:
    members = ('site: Url = setting("Site", required=True)', action("where", "return self.site"))
    async with serving(written(tmp_path, source(*members, match="[]"))) as found:
        work, home = "https://work.example/", "https://home.example/"
        found.server.app.plugin_management.configure("notes", {"site": {"w": work, "h": home}})
        await found.open(note_tab(1, url=f"{work}a"), note_tab(2, url=f"{home}a"))
        assert (await found.agent.call("notes_where", instance="w"))["result"] == work
        assert (await found.agent.call("notes_where", instance="h"))["result"] == home


async def test_a_stream_that_a_tool_leaves_open_is_closed(tmp_path: Path) -> None:
    body = (
        "transport = page._transport\n"
        'await transport.request("fetch", {"url": "/big", "stream": True})\nreturn 1'
    )
    async with serving(written(tmp_path, source(action("leave", body)))) as found:
        await found.open(note_tab(1))
        plain = {name: value for name, value in response().items() if name != "bodyBase64"}
        found.answer(plugin__fetch={**plain, "stream": "s1"}, plugin__fetchClose={})
        await found.agent.call("notes_leave")
        assert (await found.extension.command("plugin.fetchClose"))["params"]["input"] == {
            "stream": "s1"
        }


async def test_an_error_of_the_browser_is_the_plugins_to_handle(tmp_path: Path) -> None:
    body = "try:\n    await page.has('[')\nexcept PluginError as error:\n    return error.code"
    async with serving(written(tmp_path, source(action("look", body)))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__has=Refusal("invalid_arguments", "no selector"))
        assert (await found.agent.call("notes_look"))["result"] == "invalid_arguments"


async def test_the_error_about_a_destructive_tool_names_the_command_for_the_tool_itself(
    tmp_path: Path,
) -> None:
    erase = action("erase", "return None", "@tool")
    async with serving(written(tmp_path, source(erase))) as found:
        rules = found.server.app.rules
        await found.open(note_tab(1))
        for level in ("ask", "auto"):
            rules.set_level("plugins", "notes", level)
            message, error = await found.failure("notes_erase")
            assert error["reason"] == "approval_unavailable"
            assert "or has run: tabhub permissions set notes_erase auto." in message
        rules.set_level("tools", "notes_erase", "auto")
        assert await found.agent.call("notes_erase") == {"result": None}


async def test_a_setting_of_type_int_takes_whole_numbers_only(tmp_path: Path) -> None:
    members = (
        'most: int = setting("At most")',
        'ratio: float = setting("Ratio")',
        action("numbers", "return [self.most, self.ratio]", "@tool(read_only=True)"),
    )
    async with serving(written(tmp_path, source(*members))) as found:
        configure = found.server.app.plugin_management.configure
        await found.open(note_tab(1))
        with pytest.raises(InvalidArguments, match="most must be a whole number"):
            configure("notes", {"most": 2.5})
        configure("notes", {"most": 3, "ratio": 2.5})
        assert await found.agent.call("notes_numbers") == {"result": [3, 2.5]}


@pytest.mark.parametrize(
    "notice",
    [
        'await page.progress(float("inf"), float("nan"))',
        'await page.progress(float("nan"))',
        "await page.progress(10 ** 400)",
        'page._transport.notify("progress", {"progress": "much"})',
        'page._transport.notify("progress", [1])',
        'page._transport.notify("log", {"message": 7, "level": "loud"})',
    ],
)
async def test_a_notice_that_cannot_be_taken_costs_nothing_but_itself(
    tmp_path: Path, notice: str
) -> None:
    body = f'{notice}\n{notice}\nreturn await page.has("a")'
    async with serving(written(tmp_path, source(action("tell", body)))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__has={"found": True})
        assert (await found.agent.call("notes_tell"))["result"] is True


async def test_numbers_that_are_no_json_cost_only_their_call(tmp_path: Path) -> None:
    members = (
        action("infinite", 'return float("inf")'),
        action("huge", 'return msgspec.Raw(b"1e999")'),
        action("given", 'return await page._transport.request("has", msgspec.Raw(b"[1e999]"))'),
        action("process", "return os.getpid()"),
    )
    async with serving(written(tmp_path, source(*members, head="import msgspec"))) as found:
        await found.open(note_tab(1))
        process = await found.agent.call("notes_process")
        assert (await found.agent.call("notes_infinite"))["result"] is None
        for tool in ("notes_huge", "notes_given"):
            assert (await found.failure(tool))[1]["reason"] == "script_error"
        assert await found.agent.call("notes_process") == process
