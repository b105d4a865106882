"""A plugin package in a real browser, from its folder to the page, for a person and an agent."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.browsers.unpacked import browser_with, paired
from tests.support.eventually import eventually
from tests.support.site import Site, serving

pytestmark = pytest.mark.real_browser

NOTES = Path(__file__).parents[2] / "plugins" / "fixtures" / "notes"
TOKEN = "<script>window.startToken = 'at the start'; delete window.startToken</script>"


class Person:
    """The person whose server it is."""

    def __init__(self, made: Rig, folder: Path) -> None:
        self.made = made
        self.folder = folder
        self._home = Home(made.product.home)

    async def reload(self) -> dict[str, Any]:
        async with self.made.http(self.made.product.secret) as http:
            answer = await http.post("/reload")
            assert answer.status_code == 200, answer.text
            return (await http.get("/health")).json()["pluginDetails"][0]  # type: ignore[no-any-return]

    async def review(self, level: str = "auto") -> dict[str, Any]:
        """Approve the plugin as it lies on disk."""
        Reviews(self._home, lambda name, word: None).approve(read_package(self.folder, "local"))
        return await self.set_level(level)

    async def set_level(self, level: str) -> dict[str, Any]:
        keys.set_level(self._home, "plugins", "notes", level)
        return await self.reload()

    async def health(self) -> dict[str, Any]:
        async with self.made.http(self.made.product.secret) as http:
            found: dict[str, Any] = (await http.get("/health")).json()["pluginDetails"][0]
            return found


Use = tuple[Person, Agent, Site]


@pytest.fixture
async def use(tmp_path: Path) -> AsyncIterator[Use]:
    """A server with the plugin in a local folder, not reviewed yet; its browser; an agent."""
    folder = tmp_path / "notes"
    (folder / "dist").mkdir(parents=True)
    for path in [NOTES / "package.json", *NOTES.glob("dist/*")]:
        (folder / path.relative_to(NOTES)).write_bytes(path.read_bytes())
    config = {"localPlugins": [str(folder)]}
    async with rig(tmp_path, config) as made, made.agent("ann") as agent:
        with serving() as site:
            yield Person(made, folder), agent, site


async def counts(person: Person, url: str) -> str:
    """How often adapter and pre-script have run in a page."""
    page = await person.made.cdp.page(url)
    code = "[window.adapterRuns ?? 0, window.preScriptRuns ?? 0].join()"
    found: str = await person.made.cdp.evaluate(page, code)
    return found


async def ready(agent: Agent) -> Any:
    async def look() -> Any:
        listed = (await agent.call("plugin_list_tabs", plugin="notes"))["plugins"][0]
        return listed["tabs"] if any(tab["ready"] for tab in listed["tabs"]) else None

    return await eventually(look, "the plugin is ready")


async def unlisted(agent: Agent) -> bool:
    params = {"name": "notes_echo", "arguments": {"text": "a"}}
    error = (await agent.post("tools/call", params)).json()["error"]
    return bool(error["data"]["reason"] == "unknown_tool")


async def reason(agent: Agent, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    return failed.value.reason


@pytest.mark.requirement("OT-30", "OT-31", "OT-45")
async def test_a_plugin_runs_only_while_it_is_reviewed_unchanged_and_not_off(use: Use) -> None:
    person, agent, site = use
    first = html(site, f"{TOKEN}one")
    await agent.call("browser_open_tab", url=first)
    assert await unlisted(agent)
    assert await counts(person, first) == "0,0"

    await person.review()
    await ready(agent)
    assert await counts(person, first) == "1,0"
    assert (await agent.call("notes_echo", text="hi"))["input"] == {"text": "hi", "times": 1}
    second = html(site, f"{TOKEN}two")
    tab = (await agent.call("browser_open_tab", url=second))["tabId"]
    assert await agent.call("notes_whoami", tabId=tab) == {"token": "at the start"}
    assert await counts(person, second) == "1,1"

    adapter = person.folder / "dist" / "adapter.iife.js"
    adapter.write_text(adapter.read_text() + "\nwindow.isEvil = true;")
    details = await person.reload()
    assert (details["review"], details["closed"]) == ("changed", "not_reviewed")
    third = html(site, f"{TOKEN}three")
    await agent.call("browser_open_tab", url=third)
    assert await counts(person, third) == "0,0"
    assert await unlisted(agent)

    await person.review()
    await ready(agent)
    await person.set_level("off")
    assert await reason(agent, "notes_echo", text="a") == "permission_off"
    fourth = html(site, f"{TOKEN}four")
    await agent.call("browser_open_tab", url=fourth)
    assert await counts(person, fourth) == "0,0"

    async def left() -> list[Any]:
        tabs = (await person.health())["tabs"]
        return [found for found in tabs if found["reason"] == "needs_reload"]

    assert [found["tabId"] for found in await eventually(left)] == [tab]


async def test_the_files_are_in_both_copies_and_survive_a_new_installation(use: Use) -> None:
    person, agent, site = use
    await person.review()
    home = person.made.product.home
    copies = [home / "extension" / "adapters", home / "managed-extension" / "adapters"]
    before = [sorted(path.name for path in copy.iterdir()) for copy in copies]
    assert before[0] == before[1] and len(before[0]) == 2
    product = person.made.product
    # It installs the extension again.
    assert product.run("extension", "path").returncode == 0
    await agent.call("browser_open_tab", url=html(site, "again"))
    await ready(agent)
    connected = product.status()["browsers"][0]["connectedAt"]
    async with person.made.http(product.secret) as http:
        assert (await http.post("/extension/reload")).status_code == 200
    await asyncio.to_thread(product.wait_browser, connected)
    await ready(agent)
    assert (await agent.call("notes_echo", text="hi"))["input"]["text"] == "hi"
    assert json.dumps(before) == json.dumps(
        [sorted(path.name for path in copy.iterdir()) for copy in copies]
    )


async def test_a_worker_killed_during_a_call_leaves_the_plugin_usable(use: Use) -> None:
    person, agent, site = use
    await person.review()
    await agent.call("browser_open_tab", url=html(site, "killed"))
    await ready(agent)
    call = asyncio.create_task(reason(agent, "notes_hang"))
    page = await person.made.cdp.page(html(site, "killed"))
    began = "pluginEvents.includes('began')"
    await eventually(lambda: person.made.cdp.evaluate(page, began))
    await person.made.cdp.kill_worker()
    assert await call == "page_may_have_received"
    await ready(agent)
    assert (await agent.call("notes_echo", text="hi"))["input"]["text"] == "hi"
    assert (await counts(person, html(site, "killed"))).startswith("1,")


async def test_two_profiles_have_the_plugin_each_from_its_own_copy(
    use: Use, tmp_path: Path
) -> None:
    person, agent, site = use
    await person.review()
    mine = html(site, "mine")
    tab = (await agent.call("browser_open_tab", url=mine))["tabId"]
    second = tmp_path / "second"
    second.mkdir()
    (second / "managed-extension").symlink_to(person.made.product.home / "extension")
    async with browser_with(second) as other:
        await other.open(html(site, "theirs"))

        async def both() -> dict[str, int] | None:
            tabs = await ready(agent)
            found = {found["url"]: found["tabId"] for found in tabs if found["ready"]}
            return found if len(found) == 2 else None

        found = await eventually(both, "the plugin is ready in both browsers")
        assert found[mine] == tab
        for number in found.values():
            assert (await agent.call("notes_echo", text="hi", tabId=number))["input"][
                "text"
            ] == "hi"
    await eventually(lambda: _counted(agent, 1), "the other browser's tab is gone")


async def _counted(agent: Agent, count: int) -> bool:
    return len([tab for tab in await ready(agent) if tab["ready"]]) == count


async def test_a_copy_that_the_server_cannot_write_to_gets_code_by_the_debugger_in_a_call(
    use: Use, tmp_path: Path
) -> None:
    person, agent, site = use
    await person.review()
    product = person.made.product
    async with browser_with(tmp_path / "apart", paired(person.made.port, product.secret)) as other:
        page = await other.open(html(site, f"{TOKEN}apart"))

        async def reported() -> Any:
            listed = (await agent.call("plugin_list_tabs", plugin="notes"))["plugins"][0]["tabs"]
            told = [tab for tab in listed if "debugger" in tab.get("message", "")]
            return told and told[0]

        found = await eventually(reported, "the reason")
        assert (found["ready"], found["reason"]) == (False, "not_injected")
        code = "[window.adapterRuns ?? 0, window.preScriptRuns ?? 0].join()"
        assert await other.evaluate(page, code) == "0,0"
        tab = found["tabId"]
        answer = await agent.call("notes_echo", text="hi", tabId=tab)
        assert answer["input"] == {"text": "hi", "times": 1}
        assert await other.evaluate(page, code) == "1,0"
        await other.evaluate(page, "location.reload(); 1")

        async def started() -> bool:
            return bool(await other.evaluate(page, code) == "1,1")

        await eventually(started, "the pre-script has run")
        assert await agent.call("notes_whoami", tabId=tab) == {"token": "at the start"}
        await person.set_level("off")
        assert await reason(agent, "notes_echo", text="a", tabId=tab) == "permission_off"


@pytest.mark.requirement("OT-32")
async def test_two_instances_are_told_apart_by_their_addresses(use: Use) -> None:
    person, agent, site = use
    about = json.loads((person.folder / "package.json").read_text())
    setting = {"type": "url", "label": "Address"}
    about["opentabs"] |= {"configSchema": {"site": setting}, "urlPatterns": ["*://127.0.0.1/*"]}
    (person.folder / "package.json").write_text(json.dumps(about))
    await person.review()
    both = {"work": f"{site.url}/", "home": f"{site.other}/"}
    async with person.made.http(person.made.product.secret) as http:
        settings = {"plugin": "notes", "settings": {"site": both}}
        assert (await http.post("/plugin-settings", json=settings)).status_code == 200
    work = (await agent.call("browser_open_tab", url=html(site, "work")))["tabId"]
    other = html(site, "home").replace(site.url, site.other)
    home = (await agent.call("browser_open_tab", url=other))["tabId"]

    async def named() -> dict[str, int] | None:
        tabs = await ready(agent)
        found = {tab["instance"]: tab["tabId"] for tab in tabs if tab["ready"]}
        return found if len(found) == 2 else None

    assert await eventually(named, "both instances") == {"work": work, "home": home}
    for name, address in both.items():
        answer = await agent.call("notes_echo", text="hi", instance=name)
        assert answer == {"input": {"text": "hi", "times": 1}, "config": {"site": address}}
    refused = await reason(agent, "notes_echo", text="hi", instance="work", tabId=home)
    assert refused == "tab_url_mismatch"
    assert await reason(agent, "notes_echo", text="hi") == "invalid_arguments"
