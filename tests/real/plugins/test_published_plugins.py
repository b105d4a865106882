"""Plugins on a real registry and in a real browser: from `npm publish` to a call and back.

Neither has code of tabhub in it. One is written by hand in the format, the other is bundled with
Zod 4, and its schemas are made by Zod.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.zod_package import build_lists
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually
from tests.support.site import Site
from tests.support.verdaccio import Verdaccio, running_verdaccio

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]

NOTES = Path(__file__).parents[2] / "plugins" / "fixtures" / "notes"
LISTS = "@acme/opentabs-plugin-lists"
ECHOED = {"text": "hi", "times": 1}
"""What the page gets: with the default of a property that was left out."""


@pytest.fixture(scope="module")
def verdaccio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdaccio]:
    with running_verdaccio(tmp_path_factory.mktemp("verdaccio")) as verdaccio:
        verdaccio.publish(NOTES)
        verdaccio.publish(build_lists(tmp_path_factory.mktemp("old") / "lists"))
        yield verdaccio


@pytest.fixture
async def here(
    tmp_path: Path, verdaccio: Verdaccio, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    monkeypatch.setenv("npm_config_userconfig", str(verdaccio.npmrc))
    async with rig(tmp_path) as here:
        yield here


async def _plugin(here: Rig, *arguments: str) -> str:
    done = await asyncio.to_thread(here.product.run, "plugin", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def _answers(agent: Agent, tool: str, **arguments: Any) -> Any:
    """The result of a tool, once its plugin is ready in the tab."""

    async def call() -> Any:
        return await agent.call(tool, **arguments)

    return await eventually(call, tool, ignore=(ToolFailed, KeyError))


@pytest.mark.requirement("OT-30", "OT-36")
async def test_a_plugin_is_published_found_installed_reviewed_called_updated_and_removed(
    here: Rig, verdaccio: Verdaccio, site: Site, tmp_path: Path
) -> None:
    async with here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=html(site, "lists"))
        assert LISTS in await _plugin(here, "search", "lists")
        await _plugin(here, "install", LISTS)
        assert "acme-lists" not in str(await agent.post("tools/list", {}))
        await _plugin(here, "review", "acme-lists", "--yes", "--level", "auto")
        first = await _answers(agent, "acme-lists_add_item", item="milk")
        assert first == {"list": "groceries", "items": ["1 milk"], "version": "1.0.0"}

        verdaccio.publish(build_lists(tmp_path / "new" / "lists", "1.1.0"))
        await _plugin(here, "update", "acme-lists")
        kept = await agent.call("acme-lists_add_item", item="tea", count=2)
        assert (kept["items"], kept["version"]) == (["1 milk", "2 tea"], "1.0.0")
        await _plugin(here, "review", "acme-lists", "--yes", "--level", "auto")

        async def is_new() -> bool:
            done = await agent.call("acme-lists_add_item", item="jam", list="new")
            return bool(done["version"] == "1.1.0")

        await eventually(is_new, "the new version answers", ignore=(ToolFailed, KeyError))
        await _plugin(here, "remove", "acme-lists")
        gone = (await agent.post("tools/call", {"name": "acme-lists_add_item"})).json()
        assert gone["error"]["data"]["reason"] == "unknown_tool"


@pytest.mark.requirement("OT-30", "OT-36")
async def test_a_plugin_written_by_hand_runs_as_it_was_published(here: Rig, site: Site) -> None:
    async with here.agent("robot") as agent:
        await _plugin(here, "install", "opentabs-plugin-notes")
        await _plugin(here, "review", "notes", "--yes", "--level", "auto")
        await agent.call("browser_open_tab", url=html(site, "notes"))
        assert (await _answers(agent, "notes_echo", text="hi"))["input"] == ECHOED
