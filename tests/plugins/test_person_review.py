"""A person reviews a plugin in the side panel; no agent can, whatever it sends and where."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import websockets

from tabhub.agents.routes import ROUTES
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.plugins.person_review import MOST_LINES, PART_CHARACTERS
from tabhub.server.serving import Server
from tests.plugins.homes import home_with, install, installed, review
from tests.plugins.packages import package_json, write_package
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

SOURCE = "let a = 1;\n" * 40_000


class Setting(NamedTuple):
    home: Home
    server: Server
    extension: FakeExtension

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = await self.extension.ask(method, {"plugin": "demo", **params})
        assert "result" in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    async def refusal(self, method: str, **params: Any) -> str:
        answer = await self.extension.ask(method, {"plugin": "demo", **params})
        reason: str = answer["error"]["data"]["reason"]
        return reason

    def is_open(self) -> bool:
        return self.server.app.reviews.is_open(installed(self.home, "demo"))


@asynccontextmanager
async def reviewing(root: Path, **package: Any) -> AsyncIterator[Setting]:
    home = home_with(root, "demo", **package)
    async with served(load(home), home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1), kind="personal", panels=1)
        yield Setting(home, server, extension)


def digests(shown: dict[str, Any]) -> list[str]:
    return [file["sha256"] for file in shown["files"] if file["sha256"]]


async def test_the_panel_shows_what_a_plugin_is_and_approves_what_it_showed(tmp_path: Path) -> None:
    async with reviewing(tmp_path, pre_script="self.early = 1;") as setting:
        shown = await setting.ask("plugin.getReview")
        assert (shown["review"], shown["reviewedVersion"]) == ("never", None)
        assert (shown["package"], shown["source"]) == ("opentabs-plugin-demo", "installed")
        assert (shown["hasPreScript"], shown["urlPatterns"]) == (True, ["https://demo.example/*"])
        assert shown["tools"] == [{"name": "demo_add_note", "description": "Adds a note."}]
        sizes = {file["name"]: file["bytes"] for file in shown["files"]}
        assert sizes["dist/pre-script.iife.js"] == len("self.early = 1;")
        assert not setting.is_open()
        await setting.ask("plugin.approve", sha256=digests(shown), level="auto")
        assert setting.is_open()
        [plugin] = (await setting.extension.state())["plugins"]
        assert (plugin["review"], plugin["closed"]) == ("reviewed", None)
    assert load(setting.home).permissions.plugins == {"demo": "auto"}


async def test_the_source_is_read_in_parts(tmp_path: Path) -> None:
    async with reviewing(tmp_path, adapter=SOURCE) as setting:
        text = ""
        offset: int | None = 0
        while offset is not None:
            part = await setting.ask("plugin.getSource", file="dist/adapter.iife.js", offset=offset)
            assert len(part["text"]) <= PART_CHARACTERS
            text, offset = text + part["text"], part["next"]
        assert text == SOURCE
        assert await setting.refusal("plugin.getSource", file="../../config.json") == "not_found"
        assert await setting.refusal("plugin.getSource", file="x", plugin="none") == "not_found"
        negative = await setting.extension.ask(
            "plugin.getSource", {"plugin": "demo", "file": "package.json", "offset": -1}
        )
        assert "error" in negative


async def test_files_that_have_changed_since_they_were_shown_are_not_approved(
    tmp_path: Path,
) -> None:
    async with reviewing(tmp_path) as setting:
        shown = await setting.ask("plugin.getReview")
        for wrong in ([], digests(shown)[:-1], [*digests(shown), "00"], digests(shown)[::-1]):
            reason = await setting.refusal("plugin.approve", sha256=wrong)
            assert (reason, setting.is_open()) == ("invalid_arguments", False)
        install(setting.home, "demo", adapter="steal();")
        reason = await setting.refusal("plugin.approve", sha256=digests(shown))
        assert (reason, setting.is_open()) == ("invalid_arguments", False)
        setting.server.app.plugins.reload()
        reason = await setting.refusal("plugin.approve", sha256=digests(shown))
        assert (reason, setting.is_open()) == ("invalid_arguments", False)
        # A level that leaves a plugin off is set by permissions, not by a review.
        off = await setting.extension.ask(
            "plugin.approve", {"plugin": "demo", "sha256": digests(shown), "level": "off"}
        )
        assert "error" in off
    assert load(setting.home).permissions.plugins == {}


async def test_the_panel_shows_what_has_changed_since_the_last_review(tmp_path: Path) -> None:
    async with reviewing(tmp_path, adapter=SOURCE, pre_script="self.early = 1;") as setting:
        review(setting.home, "demo")
        update = {**package_json(), "version": "2.0.0"}
        write_package(setting.home.plugins / ".waiting" / "demo", update, adapter=f"{SOURCE}new()")
        setting.server.app.reload()
        shown = await setting.ask("plugin.getReview")
        changes = {file["name"]: file["changes"] for file in shown["files"]}
        assert (shown["version"], shown["reviewedVersion"]) == ("2.0.0", "1.2.3")
        assert changes["dist/adapter.iife.js"][-1] == "+new()"
        assert changes["dist/pre-script.iife.js"] == ["- the whole file"]
        assert setting.is_open()
        await setting.ask("plugin.approve", sha256=digests(shown))
        assert installed(setting.home, "demo").version == "2.0.0"
        assert setting.is_open()
        many = "\n".join(f"b{n}" for n in range(3000))
        install(setting.home, "demo", adapter=many)
        setting.server.app.plugins.reload()
        last = (await setting.ask("plugin.getReview"))["files"][-1]["changes"]
        assert len(last) <= MOST_LINES + 1


@pytest.mark.parametrize("place", [0, 100, 50_000, 99_999])
async def test_the_panel_shows_what_differs_in_a_very_long_line(tmp_path: Path, place: int) -> None:
    """Bundles are one line: its beginning says nothing about a change further on."""
    before = "x" * 100_000
    async with reviewing(tmp_path, adapter=before) as setting:
        review(setting.home, "demo")
        install(setting.home, "demo", adapter=f"{before[:place]}steal(){before[place:]}")
        setting.server.app.reload()
        [file] = [
            file
            for file in (await setting.ask("plugin.getReview"))["files"]
            if file["name"] == "dist/adapter.iife.js"
        ]
        changed = [line for line in file["changes"] if line[0] in "+-"]
        assert [line[0] for line in changed] == ["-", "+"]
        assert "steal()" in changed[1] and "steal" not in changed[0]
        assert all("characters]" in line and len(line) < 600 for line in changed)


async def test_no_endpoint_approves_a_plugin_for_an_agent(tmp_path: Path) -> None:
    home = home_with(tmp_path, "demo")
    token = Clients(home).add("claude")
    body = {"plugin": "demo", "sha256": [], "level": "auto", "settings": {}, "permission": "auto"}
    paths = sorted({route.path.replace("{name}", "plugin_mark_reviewed") for route in ROUTES})
    async with served(load(home), home=home) as server, client(server.port, token) as http:
        for path in paths:
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                answer = await http.request(method, path, json=body)
                assert answer.status_code >= 400, (method, path, answer.text)
            assert not server.app.reviews.is_open(installed(home, "demo"))
    assert load(home).permissions.plugins == {}


async def test_the_link_is_closed_to_an_agents_token(tmp_path: Path) -> None:
    home = home_with(tmp_path, "demo")
    token = Clients(home).add("claude")
    async with served(load(home), home=home) as server:
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(
                f"ws://127.0.0.1:{server.port}/ws",
                subprotocols=["tabhub", token],  # type: ignore[list-item]
            )
