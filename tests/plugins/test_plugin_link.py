"""What server and extension tell each other about plugins, and the files that they share."""

import asyncio
import json
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.launcher.installation import install_extension
from tabhub.config.paths import Home
from tabhub.plugins.adapters import AdapterFiles
from tabhub.plugins.package import read_package
from tests.agents.mcp.clients import connect
from tests.plugins.fixture_plugin import NOTES, PAGE, Notes, copied, note_tab, notes
from tests.support.agent import ToolFailed

PACKAGE = read_package(NOTES, "local")
ADAPTER, PRE_SCRIPT = map(PACKAGE.digest_of, (PACKAGE.adapter, PACKAGE.pre_script))
FILES = {f"notes-{ADAPTER}.js", f"notes-{PRE_SCRIPT}.js"}


def reasons(found: Notes) -> list[tuple[int, str | None]]:
    plugin = found.plugins.find("notes")
    assert plugin is not None
    tabs = found.readiness.tabs_of(plugin)
    return [(each.tab.id, each.readiness.reason) for each in tabs]


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("adapters/*")}


@pytest.mark.requirement("OT-46")
@pytest.mark.document("OT-tosend-3", "OT-tosend-4", "OT-tosend-5")
async def test_a_browser_learns_of_every_change_of_a_plugin(tmp_path: Path) -> None:
    folder = copied(tmp_path / "notes", colour={"type": "string", "label": "Colour"})
    async with notes(folder=folder) as found:
        found.set(colour="red")
        update = (await found.extension.next("plugin.update"))["params"]["plugin"]
        assert (update["name"], update["version"]) == ("notes", "1.0.0")
        assert update["adapter"] == ADAPTER
        assert update["preScript"] == PRE_SCRIPT
        assert update["settings"] == {"colour": "red"}
        await found.extension.next("plugins.changed")
        found.switch.why = "off"
        found.plugins.refresh()
        ended = await found.extension.next("plugin.uninstall")
        assert ended["params"] == {"name": "notes"}
        assert found.plugins.codes() == []


@pytest.mark.document("OT-tosend-2")
async def test_after_a_reload_every_browser_gets_the_whole_list_again() -> None:
    async with notes() as found:
        assert (await found.agent.http.post("/reload")).json()["plugins"] == 1
        listed = (await found.extension.next("sync.full"))["params"]["plugins"]
        assert [plugin["name"] for plugin in listed] == ["notes"]


async def test_a_browser_that_misses_a_file_gets_the_files_and_the_whole_list(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    install_extension(home)
    async with notes(home) as found:
        assert files_in(home.managed_extension) == FILES
        for name in FILES:
            (home.managed_extension / "adapters" / name).unlink()
        assert "result" in await found.extension.ask("sync.requestFull", {})
        listed = (await found.extension.next("sync.full"))["params"]["plugins"]
        assert [plugin["name"] for plugin in listed] == ["notes"]
        assert files_in(home.managed_extension) == files_in(home.extension) == FILES


async def test_the_files_of_a_plugin_that_is_off_are_removed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    install_extension(home)
    async with notes(home) as found:
        install_extension(home)
        assert files_in(home.extension) == FILES
        found.switch.why = "not_reviewed"
        found.plugins.refresh()
        assert files_in(home.extension) == files_in(home.managed_extension) == set()


def test_code_that_has_changed_since_it_was_read_is_not_written(tmp_path: Path) -> None:
    folder, copy = tmp_path / "plugin", tmp_path / "copy"
    for name in ("package.json", "dist/tools.json", "dist/adapter.iife.js"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((NOTES / name).read_bytes())
    (folder / "dist/pre-script.iife.js").write_text("1")
    copy.mkdir()
    package = read_package(folder, "local")
    files = AdapterFiles([copy, tmp_path / "not-installed"])
    assert files.write([package]) == set()
    assert len(files_in(copy)) == 2
    assert package.adapter is not None
    package.adapter.write_text("evil()")
    assert files.write([package]) == {"notes"}
    assert files_in(copy) == set()


async def test_an_extension_without_files_gets_the_code_of_plugins_that_may_run() -> None:
    async with notes() as found:
        adapter = (NOTES / "dist" / "adapter.iife.js").read_bytes()
        digest = ADAPTER

        async def code(**params: Any) -> Any:
            asked = {"plugin": "notes", "digest": digest, **params}
            return await found.extension.ask("plugin.code", asked)

        whole = (await code())["result"]
        assert (b64decode(whole["data"]), whole["size"]) == (adapter, len(adapter))
        rest = (await code(offset=100))["result"]
        assert b64decode(rest["data"]) == adapter[100:]
        for wrong in (
            {"plugin": "others"},
            {"digest": "0" * 64},
            {"digest": PACKAGE.digests["dist/tools.json"]},
        ):
            assert (await code(**wrong))["error"]["data"]["reason"] == "not_found"
        assert (await code(plugin="others"))["error"]["data"]["reason"] == "not_found"
        assert (await code(offset=-1))["error"]["data"]["reason"] == "invalid_params"
        found.switch.why = "off"
        found.plugins.refresh()
        assert (await code())["error"]["data"]["reason"] == "not_found"


async def test_a_plugin_whose_code_has_changed_counts_as_not_reviewed(tmp_path: Path) -> None:
    folder = copied(tmp_path / "notes")
    home = Home(tmp_path / "home")
    home.create()
    async with notes(home, folder) as found:
        await found.open(note_tab(1))
        (folder / "dist" / "adapter.iife.js").write_text("evil()")
        await found.extension.ask("sync.requestFull", {})
        await found.extension.next("plugin.uninstall")
        assert reasons(found) == [(1, "not_reviewed")]


@pytest.mark.document("OT-received-3")
async def test_readiness_is_known_with_its_reason_and_ends_with_the_connection() -> None:
    async with notes() as found:
        await found.extension.sync(note_tab(1), note_tab(2), note_tab(3, url="https://a.example/"))
        assert reasons(found) == [(1, "not_injected"), (2, "not_injected")]
        await found.report(2)
        await found.report(1, ready=False, reason="threw", message="no\nway")
        await found.report(3)
        assert reasons(found) == [(2, None), (1, "threw")]
        wrong = {"tabId": 1, "plugin": "notes", "ready": False, "reason": "bored"}
        answer = await found.extension.ask("plugin.readiness", {"tabs": [wrong]})
        assert answer["error"]["data"]["reason"] == "invalid_params"
        found.server.app.plugin_runtime.messages.left("profile-a")
        assert reasons(found) == [(1, "not_injected"), (2, "not_injected")]


async def test_tabs_that_need_a_reload_after_turning_off_are_named_until_they_load() -> None:
    async with notes() as found:
        await found.open(note_tab(1), note_tab(2))
        found.extension.uninstalled = {"tornDown": [1, 2], "needReload": [2]}
        found.switch.why = "off"
        found.plugins.refresh()
        await found.extension.next("plugin.uninstall")
        await found.extension.settled()
        assert reasons(found) == [(1, "off"), (2, "needs_reload")]
        change = {"tabId": 2, "state": "updated", "tab": note_tab(2, status="loading")}
        await found.extension.ask("tab.stateChanged", change)
        assert reasons(found) == [(1, "off"), (2, "off")]


async def test_the_shapes_of_opentabs_are_understood_beside_ours() -> None:
    async with notes() as found:
        known = {"tabId": 7, "url": PAGE, "title": "Notes", "ready": True}
        tabs = {"notes": {"state": "ready", "tabs": [known]}, "other": {"state": "closed"}}
        await found.extension.notify("tab.syncAll", {"tabs": tabs})
        await found.extension.settled()
        assert reasons(found) == [(7, None)]
        later = {"plugin": "notes", "state": "unavailable", "tabs": [{**known, "ready": False}]}
        assert "result" in await found.extension.ask("tab.stateChanged", later)
        assert reasons(found) == [(7, "not_ready")]
        for wrong in ({"state": "ready"}, {"tabId": 7, "state": "ready"}, {**later, "tabId": 7}):
            answer = await found.extension.ask("tab.stateChanged", wrong)
            assert answer["error"]["data"]["reason"] == "invalid_params"


@pytest.mark.requirement("OT-47")
@pytest.mark.document("OT-received-5")
async def test_logs_are_kept_with_limits_and_those_of_strangers_are_not() -> None:
    logs = "plugin.log"
    async with notes() as found:
        await found.open(note_tab(1))
        kept = found.server.app.plugin_runtime.logs
        entries = [{"level": "warning", "message": f"m{n}", "data": [n]} for n in range(50)]
        for _ in range(12):
            await found.extension.notify(logs, {"plugin": "notes", "tabId": 1, "entries": entries})
        await found.extension.notify(logs, {"plugin": "stranger", "tabId": 1, "entries": entries})
        huge = [{"message": "x", "data": "y" * 100_000}]
        await found.extension.notify(logs, {"plugin": "notes", "tabId": 2, "entries": huge})
        await found.extension.settled()
        # 500 of the first tab in a second; a slow machine may let a second begin.
        assert 501 <= kept.size("notes") <= 601
        assert kept.size("stranger") == 0
        assert len(json.dumps(kept.entries("notes")[-1].data)) < 100


async def test_the_panel_shows_the_last_lines_of_a_plugins_log_as_cut_text() -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        ask = found.extension.ask
        assert (await ask("plugin.logs", {"plugin": "notes"}))["result"] == {"lines": []}
        entries = [{"level": "error", "message": f"m{n}", "data": [n]} for n in range(250)]
        entries.append({"message": "\x1b[2J<b>bold</b>" + "x" * 10_000})
        said = {"plugin": "notes", "tabId": 1, "entries": entries}
        before = time.time() * 1000 - 1000
        await found.extension.notify("plugin.log", said)
        lines = (await ask("plugin.logs", {"plugin": "notes"}))["result"]["lines"]
        assert len(lines) == 200
        assert (lines[-2]["level"], lines[-2]["text"]) == ("error", "m249 [249]")
        assert before <= lines[-2]["time"] <= time.time() * 1000 + 1000
        assert lines[-1]["text"].startswith("[2J<b>bold</b>xxx") and len(lines[-1]["text"]) <= 2000
        unknown = await ask("plugin.logs", {"plugin": "stranger"})
        assert unknown["error"]["data"]["reason"] == "not_found"


@pytest.mark.requirement("OT-04")
@pytest.mark.document("OT-capabilities-4")
async def test_logs_during_a_call_reach_its_client_as_page_content() -> None:
    async with notes() as found:
        await found.open(note_tab(1), note_tab(2))
        meta = {"io.modelcontextprotocol/logLevel": "info"}
        params = {"name": "notes_echo", "arguments": {"text": "a", "tabId": 1}, "_meta": meta}
        call = asyncio.create_task(found.agent.post("tools/call", params))
        sent = await found.extension.next("tool.dispatch")
        entries = [{"level": "info", "message": "one", "data": [{"a": 1}]}]
        for number in (1, 2):
            said = {"plugin": "notes", "tabId": number, "entries": entries}
            await found.extension.notify("plugin.log", said)
        await found.extension.settled()
        await found.extension.send({"id": sent["id"], "result": {"output": {}}})
        messages = _messages((await call).text)
    assert len(messages) == 1
    level, data = messages[0]["level"], messages[0]["data"]
    assert (level, data["plugin"], data["tabId"]) == ("info", "notes", 1)
    assert 'one [{"a":1}]' in data["message"] and "[page " in data["message"]


LEVELS = ("debug", "info", "warning", "error")


@pytest.mark.requirement("OT-41")
async def test_each_client_gets_log_lines_from_the_level_that_it_chose() -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        chosen = ("debug", "warning", "emergency", None)
        calls = [asyncio.create_task(_call_with_level(found, level)) for level in chosen]
        sent = [await found.extension.next("tool.dispatch") for _ in chosen]
        entries = [{"level": level, "message": level} for level in LEVELS]
        await found.extension.notify(
            "plugin.log", {"plugin": "notes", "tabId": 1, "entries": entries}
        )
        await found.extension.settled()
        for each in sent:
            await found.extension.send({"id": each["id"], "result": {"output": {}}})
        received = [[message["level"] for message in await call] for call in calls]
    assert received == [[*LEVELS], ["warning", "error"], [], []]


@pytest.mark.requirement("OT-41")
async def test_a_client_with_a_session_chooses_the_level_for_all_its_calls() -> None:
    async with notes() as found:
        await found.open(note_tab(1))
        session = await connect(found.agent.http)
        await session.request("logging/setLevel", {"level": "error"})
        params = {"name": "notes_echo", "arguments": {"text": "a"}}
        call = asyncio.create_task(session.request("tools/call", params))
        sent = await found.extension.next("tool.dispatch")
        entries = [{"level": level, "message": level} for level in LEVELS]
        await found.extension.notify(
            "plugin.log", {"plugin": "notes", "tabId": 1, "entries": entries}
        )
        await found.extension.settled()
        await found.extension.send({"id": sent["id"], "result": {"output": {}}})
        assert [message["level"] for message in _messages((await call).text)] == ["error"]


async def _call_with_level(found: Notes, level: str | None) -> list[dict[str, Any]]:
    meta = {} if level is None else {"io.modelcontextprotocol/logLevel": level}
    params = {"name": "notes_echo", "arguments": {"text": "a", "tabId": 1}, "_meta": meta}
    return _messages((await found.agent.post("tools/call", params)).text)


def _messages(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data:").strip() for line in text.splitlines() if "data:" in line]
    events = [json.loads(line) for line in lines if line]
    return [e["params"] for e in events if e.get("method") == "notifications/message"]


async def test_settings_of_type_url_add_the_pages_of_their_hosts(tmp_path: Path) -> None:
    url = {"type": "url", "label": "Address", "default": "https://default.example/"}
    colour = {"type": "string", "label": "Colour", "default": "blue"}
    async with notes(folder=copied(tmp_path / "notes", site=url, colour=colour)) as found:
        plugin = found.plugins.find("notes")
        assert plugin is not None and plugin.matches("https://default.example/a")
        assert plugin.code.settings == {"colour": "blue"}
        found.set(site={"work": "https://Work.example:8443/x"}, colour="red")
        plugin = found.plugins.find("notes")
        assert plugin is not None and not plugin.matches("https://default.example/a")
        assert plugin.code.urls == {"site": {"work": "https://Work.example:8443/x"}}
        assert plugin.code.settings == {"colour": "red"}
        await found.open(note_tab(1, url="https://work.example:8443/y"))
        assert plugin.instance_of("https://work.example:8443/y") == "work"
        found.set(site={"work": "https://elsewhere.example/"})
        with pytest.raises(ToolFailed) as failed:
            await found.agent.call("notes_echo", text="a")
        assert failed.value.reason == "no_tab_for_tool"
