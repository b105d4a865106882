"""The review of plugins in Python: what the person reads, what it opens, and what closes it."""

from base64 import b64decode
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.plugins.review_content import NO_SANDBOX
from tests.plugins.python.written_plugins import (
    action,
    note_tab,
    read,
    serving,
    source,
    written,
)
from tests.support.agent import Agent
from tests.support.browsers.extension import connected
from tests.support.eventually import eventually
from tests.support.serving import client, served

TRACE = "open({path!r}, 'a').write('ran ')"


def tracing(folder: Path, *members: str) -> tuple[Path, Path]:
    """A plugin that leaves a trace whenever it is imported."""
    trace = folder / "trace"
    text = source(*members, head=TRACE.format(path=str(trace)))
    return written(folder / "code", text), trace


@pytest.mark.requirement("TH-10")
async def test_nothing_runs_or_is_listed_before_the_review(tmp_path: Path) -> None:
    path, trace = tracing(tmp_path)
    settings = Settings(local_plugins=[str(path)])
    async with served(settings) as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(note_tab(1))
            agent, app = Agent(http), server.app
            assert (await http.get("/tools/notes_echo")).status_code == 404
            assert not trace.exists()
            page = await agent.call("plugin_inspect", plugin="notes")
            assert page["about"]["warning"] == NO_SANDBOX
            assert page["about"]["language"] == "python"
            assert "class Notes(Plugin)" in page["source"]
            shown = (await extension.ask("plugin.getReview", {"plugin": "notes"}))["result"]
            assert (shown["warning"], shown["review"]) == (NO_SANDBOX, "never")
            digests = [file["sha256"] for file in shown["files"]]
            approval = {"plugin": "notes", "sha256": digests, "level": "auto"}
            await extension.ask("plugin.approve", approval)
            await eventually(lambda: app.hub.tools.find("notes_echo") is not None)
            assert (await http.get("/tools/notes_echo")).status_code == 200
            assert trace.read_text() == "ran "


async def test_a_changed_file_closes_it_and_the_review_shows_the_difference(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    path, trace = tracing(tmp_path)
    async with serving(path, home=home) as found:
        await found.open(note_tab(1))
        ran = trace.read_text()
        path.write_text(path.read_text().replace("text * times", "text * 99"))
        found.server.app.plugins.reload()
        assert (await found.agent.http.get("/tools/notes_echo")).status_code == 404
        assert found.plugin.closed == "not_reviewed"
        app = found.server.app
        await eventually(lambda: not app.plugin_runtime.python.supervision.running())
        (difference,) = app.reviews.differences(app.plugins.get("notes"))
        assert difference.name == "notes.py"
        assert any(line.startswith("+") and "text * 99" in line for line in difference.lines)
        assert trace.read_text() == ran


async def test_a_file_swapped_after_the_review_never_runs(tmp_path: Path) -> None:
    path, trace = tracing(tmp_path)
    settings = Settings(local_plugins=[str(path)])
    async with served(settings) as server:
        app = server.app
        package = app.plugins.get("notes")
        evil = tmp_path / "evil"
        # The person approves what they were shown; the file changes before the process starts.
        app.reviews.approve(package, "auto")
        path.write_text(f"{TRACE.format(path=str(evil))}\n{path.read_text()}")
        await eventually(lambda: app.plugin_runtime.python.supervision.running() == [])
        await eventually(lambda: app.plugins.failed or app.plugins.all())
        assert app.hub.tools.find("notes_echo") is None
        assert not evil.exists() and not trace.exists()


async def test_a_plugin_that_cannot_be_described_is_a_failed_plugin(tmp_path: Path) -> None:
    good = written(tmp_path / "good", source())
    text = source('name = "broken"', head="raise RuntimeError('at import')")
    bad = written(tmp_path / "bad", text, "broken.py")
    settings = Settings(local_plugins=[str(good), str(bad)])
    async with served(settings) as server, client(server.port) as http:
        app = server.app
        for name in ("broken", "notes"):
            app.reviews.approve(app.plugins.get(name), "auto")
        await eventually(lambda: app.hub.tools.find("notes_echo") is not None)
        await eventually(lambda: app.plugins.failed)
        (failed,) = (await http.get("/health")).json()["failedPlugins"]
        assert (failed["path"], failed["name"]) == (str(bad), "broken")
        assert "RuntimeError: at import" in failed["error"]
        bad.write_text(source('name = "broken"'))
        app.reload()
        assert app.plugins.failed == []


@pytest.mark.parametrize("name", ["broken", "my-broken"])
async def test_the_error_for_a_tool_of_a_plugin_that_cannot_be_loaded_says_why(
    tmp_path: Path, name: str
) -> None:
    text = source(f'name = "{name}"', head="import nothing_like_this")
    path = written(tmp_path, text, f"{name.replace('-', '_')}.py")
    async with served(Settings(local_plugins=[str(path)])) as server, client(server.port) as http:
        app = server.app
        app.reviews.approve(app.plugins.get(name), "auto")
        await eventually(lambda: app.plugins.failed)
        agent = Agent(http)
        for spelled in (f"{name}_echo", f"{name}__echo"):
            words = await refusal(agent, spelled)
            assert f"{name} cannot be used" in words
            assert "No module named 'nothing_like_this'" in words
        path.write_text(path.read_text().replace("nothing_like_this", "something_secret"))
        app.reload()
        assert f"tabhub plugin review {name}" in await refusal(agent, f"{name}_echo")
        path.write_text(path.read_text().replace("class Notes", "class Secret of Notes"))
        app.reload()
        words = await refusal(agent, f"{name}_echo")
        assert "tabhub plugin list" in words and "ecret" not in words


async def refusal(agent: Agent, tool: str) -> str:
    """The words of the error for a tool that is not there."""
    answer = await agent.post("tools/call", {"name": tool, "arguments": {}})
    error: dict[str, str] = answer.json()["error"]
    return error["message"]


@pytest.mark.requirement("TH-10")
async def test_a_restart_lists_the_tools_without_starting_a_process(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    path, trace = tracing(tmp_path)
    async with serving(path, home=home):
        assert trace.read_text() == "ran "
    async with served(Settings(local_plugins=[str(path)]), home=home) as server:
        assert server.app.hub.tools.find("notes_echo") is not None
        assert server.app.plugin_runtime.python.supervision.running() == []
        assert trace.read_text() == "ran "


async def test_turning_it_off_ends_its_process_and_lists_its_tools_as_disabled(
    tmp_path: Path,
) -> None:
    async with serving(written(tmp_path, source())) as found:
        await found.open(note_tab(1))
        await found.agent.call("notes_echo", text="a")
        app = found.server.app
        assert app.plugin_runtime.python.supervision.running() == ["notes"]
        app.rules.set_level("plugins", "notes", "off")
        await eventually(lambda: not app.plugin_runtime.python.supervision.running())
        assert app.hub.tools.find("notes_echo") is not None
        assert found.plugin.closed == "off"
        assert (await found.failure("notes_echo", text="a"))[1]["reason"] == "permission_off"


async def test_turning_it_off_and_on_while_it_is_described_is_no_failure(tmp_path: Path) -> None:
    path = written(tmp_path, source(head="time.sleep(0.5)"))
    async with served(Settings(local_plugins=[str(path)])) as server:
        app = server.app
        app.reviews.approve(app.plugins.get("notes"), "auto")
        describing = app.plugin_runtime.python._describing
        await eventually(lambda: describing)
        app.rules.set_level("plugins", "notes", "off")
        await eventually(lambda: not describing)
        assert app.plugins.failed == []
        app.rules.set_level("plugins", "notes", "auto")
        await eventually(lambda: app.hub.tools.find("notes_echo") is not None)


async def test_extensions_get_its_scripts_and_nothing_else_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "state.js").write_text("return 1")
    path = written(tmp_path / "code", source('scripts = ["state.js"]', action("now", "return 1")))
    digest = read(path).digests["state.js"]
    async with serving(path, home=home) as found:
        assert found.extension.greeting["plugins"] == []
        files = [file.name for file in (home.extension / "adapters").iterdir()]
        assert files == [f"notes-{digest}.js"]
        asked = {"plugin": "notes", "digest": digest}
        code = (await found.extension.ask("plugin.code", asked))["result"]
        assert b64decode(code["data"]) == b"return 1"
        (path.parent / "state.js").write_text("evil()")
        refused = await found.extension.ask("plugin.code", asked)
        assert refused["error"]["data"]["reason"] == "not_found"
