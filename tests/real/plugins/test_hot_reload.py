"""Dev mode in a real browser: a changed plugin replaces the old one in open pages."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.fixture_plugin import copied
from tests.real.looking import html
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually
from tests.support.site import serving

pytestmark = pytest.mark.real_browser

CONFIG = {"permissions": {"plugins": {"notes": "auto"}}}
NEVER = "return new Promise(() => {});\n      },\n    },\n  ];"
UNTIL_TOLD = (
    "return new Promise((resolve) =>"
    " (globalThis.finish ??= []).push(() => resolve({ version: 1 })));\n      },\n    },\n  ];"
)


def linked(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A linked plugin whose tool `hang` answers when the page says so, with its version."""
    folder = copied(tmp_path / "notes")
    adapter = folder / "dist" / "adapter.iife.js"
    assert NEVER in adapter.read_text()
    adapter.write_text(adapter.read_text().replace(NEVER, UNTIL_TOLD))
    return folder, {**CONFIG, "localPlugins": [str(folder)]}


async def evaluated(made: Rig, url: str, code: str) -> Any:
    return await made.cdp.evaluate(await made.cdp.page(url), code)


@pytest.mark.requirement("OT-37")
async def test_two_calls_that_run_during_a_change_do_not_notice_it(tmp_path: Path) -> None:
    folder, config = linked(tmp_path)
    adapter = folder / "dist" / "adapter.iife.js"
    async with rig(tmp_path, config, "--dev") as made, made.agent("ann") as ann:
        async with made.agent("ben") as ben:
            with serving() as site:
                page = html(site, "notes")
                await ann.call("browser_open_tab", url=page)
                await _ready(ann)
                calls = [asyncio.create_task(each.call("notes_hang")) for each in (ann, ben)]
                await eventually(
                    lambda: evaluated(
                        made, page, "pluginEvents.filter((e) => e === 'began').length"
                    ),
                    until=lambda count: count == 2,
                )
                adapter.write_text(adapter.read_text().replace("version: 1", "version: 2"))
                tools = folder / "dist" / "tools.json"
                tools.write_text(tools.read_text().replace("Never answer.", "Answer at last."))
                await eventually(
                    lambda: evaluated(made, page, "adapterRuns"), until=lambda runs: runs == 2
                )
                await eventually(lambda: _description(ann), until=lambda text: "at last" in text)
                assert not any(call.done() for call in calls)
                await evaluated(made, page, "finish.splice(0).forEach((end) => end())")
                assert await asyncio.gather(*calls) == [{"version": 1}, {"version": 1}]
                later = asyncio.create_task(ben.call("notes_hang"))
                await eventually(
                    lambda: evaluated(made, page, "finish.length"), until=lambda count: count == 1
                )
                await evaluated(made, page, "finish.forEach((end) => end())")
                assert await later == {"version": 2}


PYTHON = '''
from tabhub.sdk import Page, Plugin, tool

class Notes(Plugin):
    """Notes of this machine."""

    match = ("http://127.0.0.1/*",)

    @tool(read_only=True)
    async def hang(self, page: Page) -> int:
        """Never answer."""
        await page.evaluate("window.begun = (window.begun ?? 0) + 1")
        await page.wait_for("#done", seconds=25)
        return 1
'''


@pytest.mark.requirement("OT-37")
async def test_calls_of_a_plugin_in_python_do_not_notice_a_change_either(tmp_path: Path) -> None:
    source = tmp_path / "notes" / "plugin.py"
    source.parent.mkdir()
    source.write_text(PYTHON)
    config = {**CONFIG, "localPlugins": [str(source.parent)]}
    async with (
        rig(tmp_path, config, "--dev") as made,
        made.agent("ann") as ann,
        made.agent("ben") as ben,
    ):
        with serving() as site:
            page = html(site, "notes")
            await ann.call("browser_open_tab", url=page)
            await _ready(ann)
            calls = [asyncio.create_task(each.call("notes_hang")) for each in (ann, ben)]
            await eventually(
                lambda: evaluated(made, page, "window.begun"), until=lambda count: count == 2
            )
            source.write_text(PYTHON.replace("return 1", "return 2").replace("Never", "At last"))
            await eventually(lambda: _description(ann), until=lambda text: "At last" in text)
            assert not any(call.done() for call in calls)
            await evaluated(
                made,
                page,
                "document.body.append(Object.assign("
                "document.createElement('p'), { id: 'done' })), 1",
            )
            assert await asyncio.gather(*calls) == [{"result": 1}, {"result": 1}]
            assert await ben.call("notes_hang") == {"result": 2}


async def _ready(agent: Agent) -> None:
    async def look() -> bool:
        listed = (await agent.call("plugin_list_tabs", plugin="notes"))["plugins"][0]
        return any(tab["ready"] for tab in listed["tabs"])

    await eventually(look, "the plugin is ready")


async def _description(agent: Agent) -> str:
    listed = (await agent.post("tools/list")).json()["result"]["tools"]
    descriptions: dict[str, str] = {tool["name"]: tool["description"] for tool in listed}
    return descriptions["notes_hang"]
