"""What a person does with plugins over the link and by REST, on a whole server."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.errors import TabhubError
from tabhub.plugins import folders
from tabhub.server import plugin_management
from tabhub.server.serving import Server
from tests.plugins.fake_registry import FakeRegistry, plugin_files, serving_registry
from tests.plugins.packages import package_json, write_package
from tests.plugins.tarballs import package_of
from tests.support.browsers.extension import FakeExtension, connected
from tests.support.eventually import eventually
from tests.support.serving import client, served

NAME = "opentabs-plugin-notes"
SCHEMA = {
    "token": {"type": "string", "label": "Token", "required": True},
    "limit": {"type": "number", "label": "Limit"},
}
SWORDFISH = "swordfish-of-the-deep"


class Setup(NamedTuple):
    server: Server
    extension: FakeExtension
    registry: FakeRegistry
    home: Home

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request of the panel."""
        answer = await self.extension.ask(method, params)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def refusal(self, method: str, **params: Any) -> dict[str, Any]:
        answer = await self.extension.ask(method, params)
        return {"message": answer["error"]["message"], **answer["error"]["data"]}


@asynccontextmanager
async def _set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Setup]:
    home = Home(tmp_path / "home").create()
    async with serving_registry() as registry:
        tarball = package_of(plugin_files(NAME, "1.0.0", configSchema=SCHEMA))
        registry.publish(NAME, "1.0.0", tarball)
        (tmp_path / "npmrc").write_text(f"registry={registry.url}")
        monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
        async with served(home=home) as server, connected(server.port) as extension:
            yield Setup(server, extension, registry, home)


@pytest.fixture
async def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Setup]:
    async with _set_up(tmp_path, monkeypatch) as setup:
        yield setup


@pytest.mark.requirement("OT-36", "OT-47")
@pytest.mark.document("OT-received-11", "OT-received-12")
async def test_a_plugin_is_searched_and_installed(setup: Setup) -> None:
    told: list[bool] = []
    setup.server.app.plugin_management.on_change(lambda: told.append(True))
    found = (await setup.ask("plugin.search", query="notes"))["results"]
    assert [(entry["name"], entry["plugin"]) for entry in found] == [(NAME, "notes")]
    done = await setup.ask("plugin.install", name=found[0]["name"])
    assert done == {
        "ok": True,
        "plugin": {
            "name": "notes",
            "displayName": "Demo",
            "package": NAME,
            "version": "1.0.0",
            "toolCount": 1,
            "waits": False,
            "isNew": True,
        },
    }
    assert list(setup.server.app.plugins.all()) == ["notes"] and told


@pytest.mark.requirement("OT-36")
@pytest.mark.document("OT-received-13", "OT-received-15")
async def test_an_update_is_found_and_waits_beside_the_reviewed_version(setup: Setup) -> None:
    await setup.ask("plugin.install", name=NAME)
    app = setup.server.app
    app.reviews.approve(app.plugins.get("notes"))
    assert await setup.ask("plugin.checkUpdates") == {"outdated": [], "failed": {}}
    unchanged = await setup.ask("plugin.updateFromRegistry", name="notes")
    assert (unchanged["plugin"]["version"], unchanged["plugin"]["isNew"]) == ("1.0.0", False)
    setup.registry.publish(NAME, "1.1.0")
    [outdated] = (await setup.ask("plugin.checkUpdates"))["outdated"]
    assert (outdated["currentVersion"], outdated["latestVersion"]) == ("1.0.0", "1.1.0")
    updated = await setup.ask("plugin.updateFromRegistry", name="notes")
    assert (updated["plugin"]["version"], updated["plugin"]["waits"]) == ("1.1.0", True)
    assert app.plugins.get("notes").version == "1.0.0"
    assert app.reviews.is_open(app.plugins.get("notes"))


@pytest.mark.requirement("OT-36")
@pytest.mark.document("OT-received-14")
@pytest.mark.parametrize(
    ("method", "params"),
    [("plugin.remove", {"name": "notes"}), ("plugin.removeBySpecifier", {"specifier": NAME})],
)
async def test_a_removed_plugin_leaves_no_settings_level_or_review(
    setup: Setup, method: str, params: dict[str, str]
) -> None:
    await setup.ask("plugin.install", name=NAME)
    app = setup.server.app
    package = app.plugins.get("notes")
    app.reviews.approve(package)
    await setup.ask("config.setPluginSettings", plugin="notes", settings={"token": SWORDFISH})
    assert await setup.ask(method, **params) == {"ok": True}
    assert app.plugins.all() == {} and app.reviews.state(package) == "never"
    assert "notes" not in setup.home.config.read_text()
    await setup.ask("plugin.install", name=NAME)
    assert not app.reviews.is_open(app.plugins.get("notes"))


@pytest.mark.requirement("OT-35", "OT-47")
@pytest.mark.document("OT-received-10")
async def test_the_panel_sets_values_that_nothing_shows(
    setup: Setup, caplog: pytest.LogCaptureFixture
) -> None:
    await setup.ask("plugin.install", name=NAME)
    given = {"token": SWORDFISH, "limit": 3}
    assert await setup.ask("config.setPluginSettings", plugin="notes", settings=given) == {}
    app = setup.server.app
    assert app.plugin_management.values(app.plugins.get("notes")) == given
    wrong = {"token": [SWORDFISH]}
    refused = await setup.refusal("config.setPluginSettings", plugin="notes", settings=wrong)
    assert refused["reason"] == "invalid_arguments" and "not changed" in refused["message"]
    assert app.plugin_management.values(app.plugins.get("notes")) == given
    async with client(setup.server.port) as http:
        shown = [await http.get(path) for path in ("/audit", "/settings", "/health", "/tools")]
    state = json.dumps(await setup.extension.state())
    assert SWORDFISH in setup.home.config.read_text()
    texts = [*(answer.text for answer in shown), state, caplog.text, str(refused)]
    assert [text for text in texts if SWORDFISH in text] == []
    assert SWORDFISH not in setup.home.audit.read_text()


@pytest.mark.requirement("OT-35", "OT-44")
@pytest.mark.document("OT-endpoints-9")
async def test_rest_checks_values_against_the_configschema(setup: Setup) -> None:
    await setup.ask("plugin.install", name=NAME)
    app = setup.server.app
    async with client(setup.server.port) as http:
        for settings, status in (({"token": SWORDFISH}, 200), ({"limit": "x"}, 400), ({}, 200)):
            body = {"plugin": "notes", "settings": settings}
            answer = await http.post("/plugin-settings", json=body)
            assert answer.status_code == status and SWORDFISH not in answer.text
        unknown = await http.post("/plugin-settings", json={"plugin": "x", "settings": {}})
        assert unknown.status_code == 404
    assert app.plugin_management.values(app.plugins.get("notes")) == {"token": SWORDFISH}
    assert SWORDFISH not in setup.home.audit.read_text()


async def test_a_plugin_that_was_put_there_by_hand_can_be_set_up_at_once(setup: Setup) -> None:
    schema = {"token": {"type": "string", "label": "Token"}}
    write_package(setup.home.plugins / "demo", package_json(configSchema=schema))
    await setup.ask("config.setPluginSettings", plugin="demo", settings={"token": "x"})
    assert list(setup.server.app.plugins.all()) == ["demo"]


async def test_an_agents_token_changes_no_settings(setup: Setup) -> None:
    await setup.ask("plugin.install", name=NAME)
    token = Clients(setup.home).add("laptop")
    async with client(setup.server.port, token) as http:
        body = {"plugin": "notes", "settings": {"token": "x"}}
        assert (await http.post("/plugin-settings", json=body)).status_code == 403
    assert not setup.home.config.exists()


async def test_settings_written_by_hand_are_taken_at_the_next_reload(setup: Setup) -> None:
    await setup.ask("plugin.install", name=NAME)
    management = setup.server.app.plugin_management
    told: list[bool] = []
    management.on_change(lambda: told.append(True))
    setup.home.config.write_text('{"settings": {"notes": {"token": "x", "limit": "wrong"}}}')
    setup.server.app.reload()
    assert management.values(setup.server.app.plugins.get("notes")) == {"token": "x"}
    assert told


@pytest.mark.parametrize(
    ("method", "params", "reason"),
    [
        ("plugin.install", {"name": "left-pad"}, "invalid_arguments"),
        ("plugin.install", {"name": "opentabs-plugin-none"}, "not_found"),
        ("plugin.install", {"name": f"{NAME}@2.0.0"}, "not_found"),
        ("plugin.install", {"name": 1}, "invalid_params"),
        ("plugin.updateFromRegistry", {"name": "none"}, "not_found"),
        ("plugin.remove", {"name": "../home"}, "not_found"),
        ("plugin.removeBySpecifier", {"specifier": NAME}, "not_found"),
        ("config.setPluginSettings", {"plugin": "none", "settings": {}}, "not_found"),
        ("plugin.search", {}, "invalid_params"),
    ],
)
async def test_a_wrong_request_is_refused_and_changes_nothing(
    setup: Setup, method: str, params: dict[str, Any], reason: str
) -> None:
    assert (await setup.refusal(method, **params))["reason"] == reason
    assert not setup.home.plugins.exists() or list(setup.home.plugins.glob("[!.]*")) == []
    async with client(setup.server.port) as http:
        [entry, *_] = (await http.get("/audit")).json()
    assert (entry["tool"], entry["success"]) == (method, False)


async def test_a_slow_registry_does_not_hold_up_the_link(setup: Setup) -> None:
    answered = asyncio.Event()

    async def late(*_: Any) -> None:
        await answered.wait()

    setup.registry.answers["/opentabs-plugin-slow"] = late
    await setup.extension.send(
        {"id": "slow", "method": "plugin.install", "params": {"name": "opentabs-plugin-slow"}}
    )
    await eventually(lambda: setup.registry.requests)
    assert (await setup.extension.ask("plugin.install", {"name": NAME}))["id"] == "x"
    answered.set()


@pytest.mark.requirement("OT-47")
@pytest.mark.document("OT-received-16")
async def test_only_folders_of_plugins_are_opened(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[Path] = []

    async def show(folder: Path) -> None:
        opened.append(folder)

    monkeypatch.setattr(plugin_management, "show_folder", show)
    await setup.ask("plugin.install", name=NAME)
    folder = setup.home.plugins / "notes"
    for path in (folder, setup.home.plugins):
        assert await setup.ask("folder.open", path=str(path)) == {}
    other = [tmp_path, setup.home.root, folder / "..", folder / "dist", "/", "", "relative"]
    for wrong in other:
        refused = await setup.refusal("folder.open", path=str(wrong))
        assert refused["reason"] == "invalid_arguments"
    assert opened == [folder, setup.home.plugins]


async def test_a_folder_is_shown_by_the_systems_file_manager(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$@" "$TABHUB_TOKEN" > {tmp_path}/shown\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("TABHUB_TOKEN", "secret")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    folder = tmp_path / "-a folder"
    await folders.show_folder(folder)
    shown = tmp_path / "shown"
    text = await eventually(shown.read_text, ignore=(FileNotFoundError,))
    assert text.strip() == str(folder)
    await eventually(lambda: not folders.running)
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(TabhubError, match="No window"):
        await folders.show_folder(folder)


class _Enough(Exception):
    """The test has seen enough of a loop."""


async def test_updates_are_looked_for_as_often_as_the_settings_say(setup: Setup) -> None:
    await setup.ask("plugin.install", name=NAME)
    setup.registry.publish(NAME, "1.1.0")
    management, settings = setup.server.app.plugin_management, setup.server.app.settings
    before, asked, minute = len(setup.registry.requests), list[int](), 0
    assert settings.plugin_update_minutes == 30

    async def pass_a_minute(seconds: float) -> None:
        nonlocal minute
        asked.append(len(setup.registry.requests) - before)
        minute += 1
        settings.plugin_update_minutes = 0 if 40 <= minute < 80 else 30
        if minute == 120:
            raise _Enough

    with pytest.raises(_Enough):
        await management.look_after(pass_a_minute)
    # Asked after 30 minutes, not while it is off, then at once because it is overdue, then again.
    assert [asked.count(number) for number in range(5)] == [30, 50, 30, 10, 0]
    assert [update.latest for update in management.last_check.updates] == ["1.1.0"]


async def test_a_check_that_fails_is_logged_and_made_again(
    setup: Setup, caplog: pytest.LogCaptureFixture
) -> None:
    await setup.ask("plugin.install", name=NAME)
    management, minute = setup.server.app.plugin_management, 0
    del setup.registry.packages[NAME]

    async def pass_a_minute(seconds: float) -> None:
        nonlocal minute
        minute += 1
        if minute == 62:
            raise _Enough

    with pytest.raises(_Enough):
        await management.look_after(pass_a_minute)
    assert list(management.last_check.failed) == ["notes"]
    assert caplog.text.count("no package") == 2
