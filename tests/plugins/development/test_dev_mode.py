"""Dev mode: linked plugins run without a review while it lasts, and changes take effect at once."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, load
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import read_package
from tabhub.server.app import App
from tabhub.server.serving import Server
from tests.agents.mcp.clients import LoneClient, events, next_message
from tests.plugins.homes import home_with
from tests.plugins.packages import package_json, tool, write_package
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

RULE = "default of plugins that you work on, in dev mode = ask"
LISTENING = {"notifications": {"toolsListChanged": True}}


def linked(folder: Path, name: str = "demo") -> Path:
    return write_package(folder, package_json(f"opentabs-plugin-{name}"))


def write_tools(folder: Path, *names: str) -> None:
    listed = {"sdkVersion": "0.0.115", "tools": [tool(name) for name in names]}
    (folder / "dist" / "tools.json").write_text(json.dumps(listed))


async def names(server: Server) -> set[str]:
    async with client(server.port) as http:
        found = (await Agent(http).post("tools/list")).json()["result"]["tools"]
    return {tool["name"] for tool in found}


async def health(server: Server) -> dict[str, Any]:
    async with client(server.port) as http:
        found: dict[str, Any] = (await http.get("/health")).json()
    return found


@pytest.mark.requirement("OT-37")
async def test_linked_plugins_are_trusted_until_the_server_ends_and_others_are_not(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "bought")
    linked(tmp_path / "demo")
    settings = Settings(local_plugins=[str(tmp_path / "demo")])
    files = {path: path.read_bytes() for path in home.root.rglob("*.json") if path.is_file()}
    async with served(settings, home=home, dev=True) as server:
        assert "demo_add_note" in await names(server)
        assert "bought_add_note" not in await names(server)
        found = await health(server)
        assert (found["mode"], found["trustedPlugins"]) == ("dev", ["demo"])
        details = {each["name"]: each for each in found["pluginDetails"]}
        assert (details["demo"]["closed"], details["demo"]["trusted"]) == (None, True)
        bought = details["bought"]
        assert (bought["closed"], bought["trusted"]) == ("not_reviewed", False)
        assert details["demo"]["review"] == details["bought"]["review"] == "never"
        async with client(server.port) as http:
            asked = await Agent(http).call("permissions_check", tool="demo_add_note")
        assert (asked["decision"], asked["rule"]) == ("ask", RULE)
    assert {path: path.read_bytes() for path in files} == files and not home.reviews.exists()
    async with served(settings, home=home) as server:
        assert "demo_add_note" not in await names(server)
        assert (await health(server))["trustedPlugins"] == []


async def test_the_setting_dev_watches_but_trusts_nothing(tmp_path: Path) -> None:
    linked(tmp_path / "demo")
    settings = Settings(local_plugins=[str(tmp_path / "demo")], dev=True)
    async with served(settings) as server:
        found = await eventually(
            lambda: health(server), until=lambda seen: seen["fileWatcher"]["lastPollAt"]
        )
        assert (found["mode"], found["trustedPlugins"]) == ("dev", [])
        assert found["fileWatcher"]["watchedPlugins"] == 1
        assert "demo_add_note" not in await names(server)


async def test_a_plugin_that_the_person_has_turned_off_stays_off(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    keys.set_level(home, "plugins", "demo", "off")
    linked(tmp_path / "demo")
    settings = load(home)
    settings.local_plugins = [str(tmp_path / "demo")]
    async with served(settings, home=home, dev=True) as server:
        assert (await health(server))["pluginDetails"][0]["closed"] == "off"


@pytest.mark.requirement("OT-37")
@pytest.mark.document("OT-health-16")
async def test_a_change_reaches_the_clients_and_the_browsers_by_itself(tmp_path: Path) -> None:
    folder = linked(tmp_path / "folders" / "demo")
    settings = Settings(local_plugin_dirs=[str(tmp_path / "folders")])
    async with (
        served(settings, dev=True) as server,
        client(server.port) as http,
        connected(server.port) as extension,
        LoneClient(http).streaming("subscriptions/listen", LISTENING) as stream,
    ):
        messages = events(stream)
        await next_message(messages)
        watcher = (await eventually(lambda: health(server), until=_has_polled))["fileWatcher"]
        assert (watcher["watchedPlugins"], watcher["pollDetections"]) == (1, 0)
        write_tools(folder, "add_note", "remove_note")
        (folder / "dist" / "adapter.iife.js").write_text("// another version")
        message = await next_message(messages)
        assert message["method"] == "notifications/tools/list_changed"
        assert {"demo_add_note", "demo_remove_note"} <= await names(server)
        update = (await extension.next("plugin.update"))["params"]["plugin"]
        digests = read_package(folder, "local").digests
        assert update["adapter"] == digests["dist/adapter.iife.js"]
        assert (await health(server))["fileWatcher"]["pollDetections"] >= 1
        linked(tmp_path / "folders" / "second", "second")
        await eventually(lambda: names(server), until=lambda seen: "second_add_note" in seen)


def _has_polled(found: dict[str, Any]) -> bool:
    return found["fileWatcher"]["lastPollAt"] is not None


@pytest.mark.parametrize("file", ["dist/tools.json", "dist/adapter.iife.js", "package.json"])
async def test_a_plugin_stays_as_it_was_while_its_files_have_a_fault(
    tmp_path: Path, file: str
) -> None:
    folder = linked(tmp_path / "folders" / "demo")
    settings = Settings(local_plugin_dirs=[str(tmp_path / "folders")])
    async with served(settings, dev=True) as server:
        await eventually(lambda: health(server), until=_has_polled)
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(b"")
        broken = await eventually(lambda: health(server), until=lambda seen: seen["failedPlugins"])
        assert file.rpartition("/")[2] in broken["failedPlugins"][0]["error"]
        assert broken["pluginDetails"][0]["closed"] is None
        assert "demo_add_note" in await names(server)
        (folder / file).write_bytes(whole)
        write_tools(folder, "repaired")
        await eventually(lambda: names(server), until=lambda seen: "demo_repaired" in seen)
        assert not (await health(server))["failedPlugins"]


async def test_a_plugin_ends_with_its_folder(tmp_path: Path) -> None:
    folder = linked(tmp_path / "demo")
    settings = Settings(local_plugins=[str(folder)])
    async with served(settings, dev=True) as server:
        await eventually(lambda: health(server), until=_has_polled)
        folder.rename(tmp_path / "elsewhere")
        await eventually(lambda: names(server), until=lambda seen: "demo_add_note" not in seen)
        assert (await health(server))["failedPlugins"]


@pytest.mark.requirement("OT-37")
async def test_a_linked_folder_that_becomes_a_link_to_an_installed_plugin_is_not_trusted(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "bought")
    folder = linked(tmp_path / "demo")
    settings = Settings(local_plugins=[str(folder)])
    async with served(settings, home=home, dev=True) as server:
        await eventually(lambda: health(server), until=_has_polled)
        assert (await health(server))["trustedPlugins"] == ["demo"]
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(home.plugins / "bought")
        await eventually(lambda: names(server), until=lambda seen: "demo_add_note" not in seen)
        found = await health(server)
        assert (found["trustedPlugins"], found["pluginDetails"][0]["name"]) == ([], "bought")
        assert found["pluginDetails"][0]["closed"] == "not_reviewed"
        assert "bought_add_note" not in await names(server)


async def test_another_plugin_in_a_linked_folder_takes_the_place_of_the_one_before(
    tmp_path: Path,
) -> None:
    folder = linked(tmp_path / "demo")
    settings = Settings(local_plugins=[str(folder)])
    async with served(settings, dev=True) as server:
        await eventually(lambda: health(server), until=_has_polled)
        folder.rename(tmp_path / "elsewhere")
        linked(tmp_path / "other", "other").rename(folder)
        await eventually(lambda: names(server), until=lambda seen: "other_add_note" in seen)
        assert "demo_add_note" not in await names(server)
        assert (await health(server))["trustedPlugins"] == ["other"]


@pytest.mark.parametrize("level", ["auto", "off"])
async def test_trust_in_a_local_plugin_never_passes_to_the_installed_one_of_its_name(
    tmp_path: Path, level: str
) -> None:
    home = home_with(tmp_path, "demo")
    keys.set_level(home, "plugins", "demo", level)
    folder = linked(tmp_path / "mine")
    settings = load(home)
    settings.local_plugins = [str(folder)]
    async with served(settings, home=home, dev=True) as server:
        await eventually(lambda: health(server), until=_has_polled)
        assert (await health(server))["trustedPlugins"] == ["demo"]
        folder.rename(tmp_path / "elsewhere")
        await eventually(lambda: health(server), until=lambda seen: not seen["trustedPlugins"])
        details = (await health(server))["pluginDetails"]
        assert [each["closed"] for each in details] == ["not_reviewed"]
        assert "demo_add_note" not in await names(server)


PYTHON = '''
from tabhub.sdk import Page, Plugin, tool

class Demo(Plugin):
    """Notes of demo.example."""

    match = ("https://demo.example/*",)

    @tool(read_only=True)
    async def add_note(self, page: Page, title: str) -> str:
        """Add a note."""
        return title
'''


@pytest.mark.requirement("OT-37")
async def test_the_list_never_lacks_the_tools_of_a_changed_plugin_in_python(
    tmp_path: Path,
) -> None:
    source = tmp_path / "demo" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON)
    settings = Settings(local_plugins=[str(source.parent)])
    async with served(settings, dev=True) as server:
        registry = server.app.hub.tools
        await eventually(lambda: registry.find("demo_add_note"))
        seen: list[bool] = []
        registry.on_change(lambda: seen.append(registry.find("demo_add_note") is not None))
        source.write_text(PYTHON.replace("Add a note.", "Add another note."))
        await eventually(lambda: registry.get("demo_add_note").description == "Add another note.")
        source.write_text(PYTHON.replace("class Demo", "raise OSError\n\nclass Demo"))
        broken = await eventually(lambda: health(server), until=lambda seen: seen["failedPlugins"])
        assert "demo" in broken["failedPlugins"][0]["path"]
        assert registry.get("demo_add_note").description == "Add another note."
        assert seen and all(seen)


BROKEN = {
    "it cannot be imported": PYTHON.replace("class Demo", "raise OSError\n\nclass Demo"),
    "it cannot be read": PYTHON.replace("class Demo", "class Demo of"),
    "its process contradicts it": f"{PYTHON}\nDemo.version = '9.9.9'\n",
}


async def test_a_change_while_a_server_starts_is_not_missed(tmp_path: Path) -> None:
    source = tmp_path / "demo" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON)
    home = Home(tmp_path / "home").create()
    app = App(Settings(local_plugins=[str(source.parent)], dev=True), "secret", home=home)
    assert app.plugins.failed == []
    source.write_text(BROKEN["it cannot be read"])
    watching = asyncio.create_task(app.watch_folders())
    try:
        await eventually(lambda: app.plugins.failed)
    finally:
        watching.cancel()
        app.close()


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("restarted", [False, True])
async def test_calls_use_the_last_version_in_python_that_worked(
    tmp_path: Path, fault: str, restarted: bool
) -> None:
    home = Home(tmp_path / "home").create()
    keys.set_level(home, "plugins", "demo", "auto")
    source = tmp_path / "demo" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON)
    settings = load(home)
    settings.local_plugins = [str(source.parent)]
    if restarted:
        # What its process has said is known already, so this server starts none for it.
        async with served(settings, home=home, dev=True) as server:
            await eventually(lambda: server.app.hub.tools.find("demo_add_note"))
    async with (
        served(settings, home=home, dev=True) as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        app = server.app
        await eventually(lambda: app.hub.tools.find("demo_add_note"))
        source.write_text(BROKEN[fault])
        await eventually(lambda: app.plugins.failed)
        for process in list(app.plugin_runtime.python.supervision._running.values()):
            await process.stop("the test wants another one")
        await extension.sync(tab(1, url="https://demo.example/a"))
        assert await Agent(http).call("demo_add_note", title="kept") == {"result": "kept"}


async def test_a_repaired_plugin_in_python_is_taken_at_once_however_often_it_failed(
    tmp_path: Path,
) -> None:
    source = tmp_path / "demo" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON)
    settings = Settings(local_plugins=[str(source.parent)])
    async with served(settings, dev=True) as server:
        plugins, registry = server.app.plugins, server.app.hub.tools
        await eventually(lambda: registry.find("demo_add_note"))
        for number in range(4):
            fault = f"raise OSError('fault {number}')\n\nclass Demo"
            source.write_text(PYTHON.replace("class Demo", fault))
            await eventually(partial(_is_named, plugins, f"fault {number}"))
        source.write_text(PYTHON.replace("Add a note.", "Add another note."))
        await eventually(lambda: registry.get("demo_add_note").description == "Add another note.")


def _is_named(plugins: Plugins, fault: str) -> bool:
    return any(fault in failed.message for failed in plugins.failed)


async def test_a_change_while_the_one_before_is_being_loaded_is_not_lost(tmp_path: Path) -> None:
    source = tmp_path / "demo" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON.replace("class Demo", "import time\ntime.sleep(2)\n\nclass Demo"))
    settings = Settings(local_plugins=[str(source.parent)])
    async with served(settings, dev=True) as server:
        app = server.app
        await eventually(lambda: app.plugin_runtime.python._describing)
        slow = app.plugins.get("demo").digests
        source.write_text(PYTHON)
        await eventually(lambda: app.plugins.get("demo").digests != slow)
        await eventually(lambda: app.hub.tools.find("demo_add_note"))
