"""An agent can read a plugin and ask the person about it; nobody else approves it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.plugins.agent_review import (
    MOST_TOKENS,
    PAGE_CHARACTERS,
    TOKEN_SECONDS,
    ReadingPlace,
    Tokens,
)
from tabhub.server.serving import Server
from tests.plugins.homes import home_with, install, installed, review
from tests.plugins.packages import package_json, write_package
from tests.support.agent import PREFIX, Agent, ToolFailed
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

LONG = "// begin\n" + "let a = 1;\n" * 5000 + "// end\n"


class Setting(NamedTuple):
    home: Home
    server: Server
    extension: FakeExtension
    agent: Agent
    other: Agent

    def is_open(self) -> bool:
        return self.server.app.reviews.is_open(installed(self.home, "demo"))


@asynccontextmanager
async def asking(
    root: Path, panels: int = 1, settings: Settings | None = None, skip: bool = False
) -> AsyncIterator[Setting]:
    home = home_with(root, "demo", pre_script="self.early = 1;")
    clients = Clients(home)
    async with (
        served(settings, home=home, skip_permissions=skip) as server,
        connected(server.port) as extension,
        client(server.port, clients.add("ann")) as http,
        client(server.port, clients.add("bob")) as other,
    ):
        # Without a panel, a person is reached only in a browser of their own.
        await extension.sync(tab(1), kind="personal" if panels else "managed", panels=panels)
        yield Setting(home, server, extension, Agent(http), Agent(other))


async def read(agent: Agent, plugin: str = "demo") -> dict[str, Any]:
    """The last page of a plugin, and the whole source."""
    page = await agent.call("plugin_inspect", plugin=plugin)
    source = page["source"]
    while "cursor" in page:
        page = await agent.call("plugin_inspect", plugin=plugin, cursor=page["cursor"])
        source += page["source"]
    return {**page, "source": source}


def arguments(page: dict[str, Any], **changes: Any) -> dict[str, Any]:
    names = ("plugin", "version", "reviewToken")
    return {**{name: page[name] for name in names}, "permission": "ask", **changes}


def ask(agent: Agent, page: dict[str, Any], **changes: Any) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(agent.call("plugin_mark_reviewed", **arguments(page, **changes)))


async def refused(call: "asyncio.Task[dict[str, Any]]") -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await call
    return failed.value


async def test_an_agent_reads_every_file_page_by_page_and_then_gets_a_token(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        install(setting.home, "demo", adapter=LONG, pre_script="self.early = 1;")
        setting.server.app.plugins.reload()
        first = await setting.agent.call("plugin_inspect", plugin="demo")
        last = await read(setting.agent)
    assert (first["page"], first["review"]) == (1, "never")
    assert "reviewToken" not in first
    assert len(first["source"]) == PAGE_CHARACTERS
    assert first["about"]["files"][-1]["bytes"] == len(LONG)
    assert last["page"] == last["pages"]
    folder = setting.home.plugins / "demo"
    names = ["package.json", "dist/tools.json", "dist/pre-script.iife.js", "dist/adapter.iife.js"]
    whole = "\n".join(f"=== {name}\n{(folder / name).read_text()}" for name in names)
    assert last["source"] == whole


async def test_what_the_agent_reads_is_marked_as_data(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        result = await setting.agent.result("plugin_inspect", plugin="demo")
    assert "[page " in result["content"][0]["text"]
    assert "/structuredContent/source" in result["_meta"]["tabhub/untrusted"]


async def test_a_persons_yes_in_the_panel_opens_the_plugin(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        page = await read(setting.agent)
        call = ask(setting.agent, page)
        request = await question(setting.extension)
        assert (request["scopes"], request["origin"]) == (["once"], "")
        shown = request["parameters"]
        digests = installed(setting.home, "demo").digests
        assert [file["sha256"] for file in shown["files"]] == list(digests.values())
        assert (shown["permission"], shown["hasPreScript"]) == ("ask", True)
        assert shown["tools"] == ["demo_add_note"]
        assert page["reviewToken"] not in json.dumps(shown)
        assert not setting.is_open()
        assert await respond(setting.extension, request["id"], "allow", scope="always")
        assert (await call)["permission"] == "ask"
        assert setting.is_open()
        state = await setting.extension.state()
        assert state["grants"] == []
        [plugin] = state["plugins"]
        assert (plugin["review"], plugin["closed"]) == ("reviewed", None)
        names = {tool["name"] for tool in state["tools"]}
    assert "demo_add_note" in names
    assert json.loads(setting.home.config.read_text())["permissions"]["plugins"] == {"demo": "ask"}


async def test_a_persons_no_opens_nothing_and_the_token_is_used(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        page = await read(setting.agent)
        call = ask(setting.agent, page)
        await respond(setting.extension, (await question(setting.extension))["id"], "deny")
        assert (await refused(call)).reason == "permission_denied"
        again = await refused(ask(setting.agent, page))
        assert (again.reason, setting.is_open()) == ("invalid_arguments", False)


@pytest.mark.parametrize("how", ["unattended", "level", "skip", "elicitation"])
async def test_nothing_answers_in_place_of_the_person(tmp_path: Path, how: str) -> None:
    levels = {"plugin_mark_reviewed": "auto"}
    settings = {
        "unattended": Settings(unattended="allow"),
        "level": Settings(permissions=PermissionSettings(tools=levels)),  # type: ignore[arg-type]
    }
    capabilities: dict[str, Any] = {f"{PREFIX}clientCapabilities": {"elicitation": {}}}
    async with asking(tmp_path, 0, settings.get(how), how == "skip") as setting:
        if how == "elicitation":
            setting.home.policy.write_text("elicitation = true\n")
            setting.server.app.reload()
        page = await read(setting.agent)
        result = await setting.agent.result("plugin_mark_reviewed", capabilities, **arguments(page))
        assert result["structuredContent"]["error"]["reason"] == "approval_unavailable"
        assert "tabhub plugin review demo" in result["content"][0]["text"]
        assert not setting.is_open()


async def test_a_token_is_for_one_reader_one_plugin_and_these_bytes(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        install(setting.home, "second")
        setting.server.app.plugins.reload()
        agent = setting.agent
        attempts = [
            (setting.other, {}),
            (agent, {"plugin": "second"}),
            (agent, {"version": "9.9.9"}),
            (agent, {"reviewToken": "guessed"}),
        ]
        for caller, changes in attempts:
            failed = await refused(ask(caller, await read(agent), **changes))
            assert failed.reason == "invalid_arguments", changes
        page = await read(agent)
        install(setting.home, "demo", adapter="steal();")
        setting.server.app.plugins.reload()
        assert (await refused(ask(agent, page))).reason == "invalid_arguments"
        assert not setting.is_open()


async def test_a_file_that_is_swapped_while_the_person_decides_is_not_approved(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path) as setting:
        call = ask(setting.agent, await read(setting.agent))
        request = await question(setting.extension)
        install(setting.home, "demo", adapter="steal();")
        await respond(setting.extension, request["id"], "allow")
        failed = await refused(call)
        assert (failed.reason, setting.is_open()) == ("invalid_arguments", False)
        assert "has changed since it was read" in failed.message


@pytest.mark.parametrize("cursor", ["", "guessed"])
async def test_no_page_can_be_skipped(tmp_path: Path, cursor: str) -> None:
    async with asking(tmp_path) as setting:
        with pytest.raises(ToolFailed, match="Begin again"):
            await setting.agent.call("plugin_inspect", plugin="demo", cursor=cursor)
        with pytest.raises(ToolFailed, match="There is no plugin"):
            await setting.agent.call("plugin_inspect", plugin="../demo")


async def test_a_cursor_is_for_the_files_it_was_made_for(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        install(setting.home, "demo", adapter=LONG)
        setting.server.app.plugins.reload()
        first = await setting.agent.call("plugin_inspect", plugin="demo")
        install(setting.home, "demo", adapter=f"{LONG} ")
        setting.server.app.plugins.reload()
        with pytest.raises(ToolFailed, match="Begin again"):
            await setting.agent.call("plugin_inspect", plugin="demo", cursor=first["cursor"])


async def test_an_update_that_waits_is_what_is_read_and_approved(tmp_path: Path) -> None:
    async with asking(tmp_path) as setting:
        review(setting.home, "demo")
        update = {**package_json(), "version": "2.0.0"}
        write_package(setting.home.plugins / ".waiting" / "demo", update)
        setting.server.app.reload()
        call = ask(setting.agent, await read(setting.agent))
        await respond(setting.extension, (await question(setting.extension))["id"], "allow")
        assert (await call)["version"] == "2.0.0"
        assert setting.is_open()
        assert setting.server.app.plugins.get("demo").version == "2.0.0"


def test_a_token_is_good_for_ten_minutes_once_and_not_too_many_are_kept(tmp_path: Path) -> None:
    now = 0.0
    tokens = Tokens(lambda: now)
    digests = installed(home_with(tmp_path, "demo"), "demo").digests
    place = ReadingPlace("demo", digests, "ann", 1)
    first, second = tokens.issue(place), tokens.issue(place)
    now = TOKEN_SECONDS - 1
    assert (tokens.take(first), tokens.take(first)) == (place, None)
    now = TOKEN_SECONDS
    assert tokens.take(second) is None
    oldest = tokens.issue(place)
    for _ in range(MOST_TOKENS):
        tokens.issue(place)
    assert tokens.take(oldest) is None
