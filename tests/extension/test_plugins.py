"""The extension without a server: it runs plugins in pages, as OpenTabs' own extension does."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.plugins import ADAPTER, PRE_SCRIPT, TOKEN, PluginBench, plugin_bench
from tests.support.eventually import eventually
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.real_browser

STRICT = "script-src 'none'; require-trusted-types-for 'script'"
BUSY = """<script>setInterval(() => {
  const start = performance.now();
  while (performance.now() - start < 30);
}, 1)</script>"""


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[PluginBench]:
    async with plugin_bench(tmp_path / "home") as made:
        yield made


@pytest.mark.requirement("OT-30", "OT-31")
@pytest.mark.document("OT-dispatch-4")
async def test_a_plugin_is_injected_once_in_a_document_under_any_policy(made: PluginBench) -> None:
    await made.sync(made.plugin(settings={"colour": "red"}))
    for policy in ("", STRICT):
        page, tab = await made.open("<h1>Notes</h1>", **({"policy": policy} if policy else {}))
        await made.ready(tab)
        for text in ("a", "b"):
            found = await made.call(tab, "echo", text=text)
            assert found == {"input": {"text": text}, "config": {"colour": "red"}}
        await made.sync(made.plugin(settings={"colour": "red"}))
        assert (await made.call(tab, "echo", text="c"))["input"] == {"text": "c"}
        assert await made.value(page, "adapterRuns") == 1
    assert (await made.refusal(tab, "unheard_of"))["reason"] == "unknown_tool"


@pytest.mark.requirement("OT-45")
async def test_only_pages_that_the_plugin_is_for_get_its_code(made: PluginBench) -> None:
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    page, tab = await made.open(host=made.site.other)
    _, mine = await made.open()
    await made.ready(mine)
    assert await made.value(page, "[window.adapterRuns, window.preScriptRuns].join()") == ","
    refusal = await made.refusal(tab, "echo", text="a")
    assert refusal["reason"] == "tab_url_mismatch"
    stranger = await made.refusal(mine, "echo", plugin="stranger", text="a")
    assert (stranger["reason"], stranger["readiness"]) == ("adapter_not_ready", "off")


async def test_a_pre_script_sees_what_only_the_start_of_a_page_shows(made: PluginBench) -> None:
    page, tab = await made.open(TOKEN + "<script>window.ready = Boolean(false)</script>")
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    await made.readiness(tab, ready=False, reason="needs_reload")
    assert await made.value(page, "window.preScriptRuns") is None
    await made.cdp.in_worker(f"chrome.tabs.reload({tab})")
    await made.readiness(tab, ready=False, reason="not_ready")
    await made.value(page, "window.ready = true")
    assert await made.call(tab, "whoami") == {"token": "at the start"}
    assert await made.value(page, "preScriptRuns") == 1


async def test_readiness_follows_the_page_without_navigation(made: PluginBench) -> None:
    await made.sync(made.plugin())
    page, tab = await made.open("<script>window.ready = false</script>")
    await made.readiness(tab, ready=False, reason="not_ready")
    error = await made.refusal(tab, "echo", text="a")
    assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_ready")
    await made.value(page, "window.ready = true; __openTabs._notifyReadinessChanged()")
    await made.ready(tab)
    await made.value(page, "window.ready = 'throw'; history.pushState(1, '', location.href + '&x')")
    found = await made.readiness(tab, ready=False, reason="threw")
    assert "not now" in found["message"]
    await made.value(page, "window.ready = 'never'; __openTabs._notifyReadinessChanged()")
    await made.readiness(tab, ready=False, reason="timed_out")


async def test_a_file_that_is_missing_is_asked_for_once_and_a_changed_one_never_runs(
    made: PluginBench,
) -> None:
    plugin = made.plugin()
    file = made.file("notes", ADAPTER)
    file.unlink()
    page, tab = await made.open()
    await made.sync(plugin)
    asked = await made.server.until(lambda message: message.get("method") == "sync.requestFull")
    file.write_bytes(b"window.adapterRuns = 'evil';")
    await made.server.respond(asked["id"])
    found = await made.readiness(tab, ready=False, reason="not_injected")
    while "changed" not in found["message"]:
        found = await made.readiness(tab, message="Its file has changed since it was reviewed.")
    assert await made.value(page, "window.adapterRuns") is None
    assert (await made.refusal(tab, "echo", text="a"))["readiness"] == "not_injected"
    file.write_bytes(ADAPTER)
    assert (await made.call(tab, "echo", text="a"))["input"] == {"text": "a"}
    requests = [m for m in made.server.received if m.get("method") == "sync.requestFull"]
    assert len(requests) == 1


@pytest.mark.requirement("OT-45", "OT-46")
async def test_turning_off_tears_down_and_says_which_tabs_need_a_reload(made: PluginBench) -> None:
    before, first = await made.open()
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    page, tab = await made.open(TOKEN)
    await made.ready(tab)
    await made.ready(first)
    left = (await made.server.ask("plugin.uninstall", name="notes"))["result"]
    assert sorted(left["tornDown"]) == sorted([first, tab])
    assert left["needReload"] == [tab]
    for target in (before, page):
        assert await made.value(target, "pluginEvents.at(-1)") == "torn down"
        assert await made.value(target, "Boolean(__openTabs.adapters.notes)") is False
    assert (await made.refusal(tab, "echo", text="a"))["readiness"] == "off"
    await made.open(host=made.site.other)
    other, _ = await made.open(TOKEN)
    await made.happens(other, "document.readyState === 'complete'")
    assert await made.value(other, "[window.adapterRuns, window.preScriptRuns].join()") == ","


async def test_tabs_whose_frames_have_run_a_pre_script_need_a_reload_too(made: PluginBench) -> None:
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    frame = f"{made.site.url}/html?body=inside"
    _, tab = await made.open(f"<iframe src='{frame}'></iframe>", host=made.site.other)
    await made.open("<p>", host=made.site.other)
    code = "describeTabState().then((all) => all.plugins.framed.length)"
    await eventually(lambda: made.cdp.in_worker(code), "the frame has started")
    left = (await made.server.ask("plugin.uninstall", name="notes"))["result"]
    assert left == {"tornDown": [], "needReload": [tab]}


async def test_without_a_server_nothing_of_a_plugin_gets_into_pages(made: PluginBench) -> None:
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    _, tab = await made.open()
    await made.ready(tab)
    made.server.refuses_with = 4003
    await made.server.hang_up()
    await made.without_scripts()
    page, _ = await made.open(TOKEN)
    await made.happens(page, "document.readyState === 'complete'")
    assert await made.value(page, "[window.adapterRuns, window.preScriptRuns].join()") == ","


async def test_a_new_version_takes_the_place_of_the_old_one_at_once(made: PluginBench) -> None:
    await made.sync(made.plugin())
    page, tab = await made.open()
    await made.ready(tab)
    newer = ADAPTER + b"\nwindow.isNewer = true;"
    await made.server.notify("plugin.update", {"plugin": made.plugin(adapter=newer)})
    await made.happens(page, "window.isNewer")
    assert await made.value(page, "pluginEvents.join()") == "activated,torn down,activated"
    assert (await made.call(tab, "echo", text="a"))["input"] == {"text": "a"}


@pytest.mark.parametrize("page", ["<p>", BUSY])
async def test_a_handler_that_navigates_and_returns_is_answered(
    made: PluginBench, page: str
) -> None:
    await made.sync(made.plugin())
    _, tab = await made.open(page)
    await made.ready(tab)
    to = f"{made.site.url}/html?body=next"
    assert await made.call(tab, "go", to=to) == {"going": to}
    assert await made.tab(to) == tab
    await made.ready(tab)
    lost = await made.refusal(tab, "go", to=f"{to}2", wait=60_000)
    assert lost["reason"] == "page_may_have_received"


async def test_cancelling_aborts_the_signal_of_the_handler(made: PluginBench) -> None:
    await made.sync(made.plugin())
    page, tab = await made.open()
    await made.ready(tab)
    id = await made.begin(tab, "hang")
    await made.happens(page, "pluginEvents.includes('began')")
    await made.server.notify("tool.cancel", {"dispatchId": made.dispatched})
    answer = await made.server.answer(id)
    assert answer["error"]["data"]["reason"] == "cancelled"
    await made.happens(page, "pluginEvents.includes('aborted')")


@pytest.mark.requirement("OT-04")
async def test_progress_logs_and_errors_leave_the_page(made: PluginBench) -> None:
    await made.sync(made.plugin())
    _, tab = await made.open()
    await made.ready(tab)
    assert await made.call(tab, "count", to=3) == {"counted": 3}
    sent = made.server.received
    reports = [m["params"] for m in sent if m.get("method") == "tool.progress"]
    assert [(r["progress"], r["total"], r["message"]) for r in reports] == [
        (number, 3, f"note {number}") for number in (1, 2, 3)
    ]
    logs = [m["params"] for m in sent if m.get("method") == "plugin.log"]
    entries = [entry["message"] for log in logs for entry in log["entries"]]
    assert entries == ["counted 1", "counted 2", "counted 3"]
    assert {(log["plugin"], log["tabId"]) for log in logs} == {("notes", tab)}
    error = await made.refusal(tab, "fail", category="rate_limit")
    assert (error["reason"], error["failure"]["category"]) == ("script_error", "rate_limit")
    assert error["failure"]["retryAfterMs"] == 1500


@pytest.mark.parametrize(
    ("what", "reason"),
    [("cycle", "invalid_response"), ("bigint", "invalid_response"), ("huge", "too_large")],
)
async def test_odd_results_are_errors(made: PluginBench, what: str, reason: str) -> None:
    await made.sync(made.plugin())
    _, tab = await made.open()
    await made.ready(tab)
    assert (await made.refusal(tab, "odd", what=what))["reason"] == reason
    assert await made.call(tab, "odd", what="undefined") is None


async def test_a_result_of_many_quotes_arrives_if_the_link_carries_it(made: PluginBench) -> None:
    many = b'const odd = { many: Array(2_000_000).fill("a"), more: Array(3_000_000).fill("a"),'
    await made.sync(made.plugin(adapter=ADAPTER.replace(b"const odd = {", many)))
    _, tab = await made.open()
    await made.ready(tab)
    assert await made.call(tab, "odd", what="many") == ["a"] * 2_000_000
    assert (await made.refusal(tab, "odd", what="more"))["reason"] == "too_large"


async def test_a_page_that_takes_the_place_first_is_named(made: PluginBench) -> None:
    await made.sync(made.plugin())
    fixed = "Object.defineProperty(window, '__openTabs', {value: Object.freeze({})})"
    page, tab = await made.open(f"<script>{fixed}</script>")
    found = await made.readiness(tab, ready=False, reason="not_injected")
    while "__openTabs" not in found["message"]:
        found = await made.readiness(
            tab, message="The page has a `__openTabs` that cannot be replaced."
        )
    assert await made.value(page, "window.adapterRuns") is None


async def test_a_page_cannot_flood_the_server_with_forged_logs(made: PluginBench) -> None:
    await made.sync(made.plugin())
    page, tab = await made.open()
    await made.ready(tab)
    forge = """for (let i = 0; i < 3000; i++) {
      const entries = Array.from({length: 50}, () => ({level: "info", message: "forged"}));
      const nonce = i % 2 ? __openTabs._logNonce : "guessed";
      postMessage({type: "opentabs:plugin-logs", plugin: "notes", nonce, entries}, "*");
      postMessage({type: "opentabs:plugin-logs", plugin: "other", nonce, entries}, "*");
    } 1"""
    await made.value(page, forge)
    assert (await made.call(tab, "echo", text="a"))["input"] == {"text": "a"}

    def logs() -> list[Any]:
        return [m["params"] for m in made.server.received if m.get("method") == "plugin.log"]

    await eventually(logs, "some arrive")
    # The calls go the same way after them.
    assert (await made.call(tab, "echo", text="b"))["input"] == {"text": "b"}
    assert {log["plugin"] for log in logs()} == {"notes"}
    assert sum(len(log["entries"]) for log in logs()) < 5000


async def test_a_page_cannot_flood_a_plugin_with_forged_changes_of_its_readiness(
    made: PluginBench,
) -> None:
    counting = b"async isReady() { window.asked = (window.asked ?? 0) + 1;"
    await made.sync(made.plugin(adapter=ADAPTER.replace(b"async isReady() {", counting)))
    page, tab = await made.open()
    await made.ready(tab)
    before = await made.value(page, "window.asked")
    forge = """for (let i = 0; i < 3000; i++) {
      const nonce = i % 2 ? __openTabs._readinessNonce : "guessed";
      for (const plugin of ["notes", "other", "__proto__"])
        postMessage({type: "opentabs:readiness-changed", plugin, nonce}, "*");
    } window.ready = false; 1"""
    await made.value(page, forge)
    await made.value(page, "__openTabs._notifyReadinessChanged(); 1")
    error = await made.refusal(tab, "echo", text="a")
    assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_ready")
    assert await made.value(page, "window.asked") - before < 50


async def test_two_plugins_share_a_page_with_their_own_settings(made: PluginBench) -> None:
    other = ADAPTER.replace(b'const NAME = "notes"', b'const NAME = "others"')
    urls = {"site": {"here": f"{made.site.url}/", "there": "https://there.example/"}}
    await made.sync(
        made.plugin(settings={"who": "notes"}),
        made.plugin("others", other, settings={"who": "others"}, urls=urls),
    )
    _, tab = await made.open()
    await made.ready(tab)
    await made.ready(tab, "others")
    configs = [
        (await made.call(tab, "echo", plugin, text="a"))["config"] for plugin in ("notes", "others")
    ]
    assert configs == [{"who": "notes"}, {"who": "others", "site": f"{made.site.url}/"}]


async def test_a_worker_that_was_killed_injects_nothing_again(made: PluginBench) -> None:
    await made.sync(made.plugin(pre=PRE_SCRIPT))
    page, tab = await made.open(TOKEN)
    await made.ready(tab)
    start = len(made.server.received)
    await made.cdp.kill_worker()
    await made.server.params_of("plugin.readiness", start)
    assert await made.call(tab, "whoami") == {"token": "at the start"}
    assert await made.value(page, "[adapterRuns, preScriptRuns].join()") == "1,1"
    left = (await made.server.ask("plugin.uninstall", name="notes"))["result"]
    assert left == {"tornDown": [tab], "needReload": [tab]}


async def test_a_plugin_that_went_while_the_worker_was_dead_is_torn_down(made: PluginBench) -> None:
    await made.sync(made.plugin())
    page, tab = await made.open()
    await made.ready(tab)
    made.server.greeting = {**made.server.greeting, "plugins": []}
    await made.cdp.kill_worker()
    await made.happens(page, "pluginEvents.at(-1) === 'torn down'")


@pytest.mark.requirement("OT-45")
async def test_after_a_restart_of_the_browser_no_pre_script_runs_by_itself(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with plugin_bench(home) as made:
        await made.sync(made.plugin(pre=PRE_SCRIPT))
        page, tab = await made.open(TOKEN)
        await made.ready(tab)
        assert await made.value(page, "preScriptRuns") == 1
    (home / "profile" / "DevToolsActivePort").unlink()
    silent = ScriptedServer()
    silent.refuses_with = 4003
    async with plugin_bench(home, silent) as made:
        page, _ = await made.open(TOKEN)
        await made.happens(page, "document.readyState === 'complete'")
        assert await made.value(page, "window.preScriptRuns") is None


COUNT = """
  self.scripts = [];
  const { executeScript } = chrome.scripting;
  chrome.scripting.executeScript = (given) => {
    scripts.push(given.files ? "file" : given.func.name);
    return executeScript.call(chrome.scripting, given);
  };
  1
"""


async def test_a_call_takes_one_message_and_the_first_in_a_document_two_scripts_more(
    made: PluginBench,
) -> None:
    await made.sync(made.plugin())
    _, tab = await made.open()
    await made.ready(tab)
    await made.cdp.in_worker(COUNT)
    await made.call(tab, "echo", text="a")
    await made.call(tab, "echo", text="b")
    assert await made.cdp.in_worker("scripts.splice(0).join()") == ""
    newer = made.plugin(adapter=ADAPTER + b"\n")
    hidden = made.file("notes", ADAPTER + b"\n").rename(made.adapters / "hidden")
    await made.server.notify("plugin.update", {"plugin": newer})
    asked = await made.server.until(lambda message: message.get("method") == "sync.requestFull")
    await made.server.respond(asked["id"])
    await made.readiness(tab, ready=False, reason="not_injected")
    hidden.rename(made.file("notes", ADAPTER + b"\n"))
    await made.cdp.in_worker("scripts.splice(0); 1")
    await made.call(tab, "echo", text="c")
    assert await made.cdp.in_worker("scripts.splice(0).join()") == "prepare,file"
