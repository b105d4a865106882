"""The extension where the server cannot write: the debugger puts plugins into pages."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.plugins import (
    ADAPTER,
    PRE_SCRIPT,
    TOKEN,
    PluginBench,
    digest,
    plugin_bench,
)
from tests.support.eventually import eventually
from tests.support.scripted_server import Message, ScriptedServer

pytestmark = pytest.mark.real_browser

STRICT = "script-src 'none'; require-trusted-types-for 'script'"
PIECE = 5000


class Unwritable(ScriptedServer):
    """A server that can write no file, and sends code when it is asked for it."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: dict[str, bytes] = {}

    async def _take(self, message: Message) -> None:
        await super()._take(message)
        if message.get("method") == "sync.requestFull":
            await self.respond(message["id"])
        if message.get("method") == "plugin.code":
            params = message["params"]
            code = self.codes[params["digest"]]
            piece = code[params["offset"] : params["offset"] + PIECE]
            data = base64.b64encode(piece).decode()
            await self.respond(message["id"], {"data": data, "size": len(code)})


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[PluginBench]:
    async with plugin_bench(tmp_path / "home", Unwritable()) as made:
        yield made


def unwritten(made: PluginBench, pre: bytes | None = None, **more: Any) -> dict[str, Any]:
    """A plugin without files."""
    plugin = made.plugin(pre=pre, **more)
    assert isinstance(made.server, Unwritable)
    for code in filter(None, (ADAPTER, pre)):
        made.file("notes", code).unlink()
        made.server.codes[digest(code)] = code
    return plugin


async def greet(made: PluginBench, plugin: dict[str, Any]) -> None:
    made.server.greeting = {**made.server.greeting, "plugins": [plugin]}
    await made.server.notify("sync.full", made.server.greeting)


async def taken(made: PluginBench) -> list[int]:
    """The tabs that the extension's debugger is attached to."""
    found: list[int] = await made.cdp.in_worker(
        "describeTabState().then((all) => all.attachments.taken)"
    )
    return found


async def waits_for_a_call(made: PluginBench, tab: int) -> None:
    message = (
        "The server cannot write into the folder of this extension, so the debugger puts the code "
        "into the page, with the first call in this tab."
    )
    await made.readiness(tab, ready=False, reason="not_injected", message=message)


def asked_for(made: PluginBench) -> list[str]:
    requests = [m["params"] for m in made.server.received if m.get("method") == "plugin.code"]
    return [params["digest"] for params in requests if not params["offset"]]


async def test_a_call_runs_the_code_that_the_server_has_sent(made: PluginBench) -> None:
    page, tab = await made.open(policy=STRICT)
    other, idle = await made.open()
    await greet(made, unwritten(made, settings={"colour": "red"}))
    for each in (tab, idle):
        await waits_for_a_call(made, each)
    assert await taken(made) == []
    assert asked_for(made) == []
    for text in ("a", "b"):
        found = await made.call(tab, "echo", text=text)
        assert found == {"input": {"text": text}, "config": {"colour": "red"}}
    await made.ready(tab)
    assert await made.value(page, "adapterRuns") == 1
    assert await made.value(other, "window.adapterRuns") is None
    assert await taken(made) == [tab]
    assert asked_for(made) == [digest(ADAPTER)]
    left = (await made.server.ask("plugin.uninstall", name="notes"))["result"]
    assert left == {"tornDown": [tab], "needReload": []}
    assert await made.value(page, "pluginEvents.at(-1)") == "torn down"


async def test_code_with_another_digest_never_runs(made: PluginBench) -> None:
    page, tab = await made.open()
    await greet(made, unwritten(made))
    assert isinstance(made.server, Unwritable)
    made.server.codes[digest(ADAPTER)] = b"window.adapterRuns = 'evil'"
    await waits_for_a_call(made, tab)
    error = await made.refusal(tab, "echo", text="a")
    assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_injected")
    assert await made.value(page, "window.adapterRuns") is None


async def test_a_pre_script_runs_in_tabs_that_the_debugger_is_attached_to(
    made: PluginBench,
) -> None:
    page, tab = await made.open(TOKEN)
    await greet(made, unwritten(made, PRE_SCRIPT))
    await waits_for_a_call(made, tab)
    await made.call(tab, "echo", text="a")
    assert await made.value(page, "window.preScriptRuns") is None
    await made.cdp.in_worker(f"chrome.tabs.reload({tab})")
    await made.happens(page, "window.preScriptRuns")
    await made.ready(tab)
    assert await made.call(tab, "whoami") == {"token": "at the start"}
    away = f"{made.site.other}/html?body=x"
    await made.cdp.in_worker(f"chrome.tabs.update({tab}, {{url: {away!r}}})")
    await made.happens(page, f"location.href === {away!r} && document.readyState === 'complete'")
    assert await made.value(page, "[window.adapterRuns, window.preScriptRuns].join()") == ","
    assert "result" in await made.server.ask("plugin.uninstall", name="notes")
    await made.cdp.in_worker(f"chrome.tabs.update({tab}, {{url: '{made.site.url}/html?body=y'}})")
    await made.happens(page, "location.hostname === '127.0.0.1' && document.readyState[0] === 'c'")
    assert await made.value(page, "[window.adapterRuns, window.preScriptRuns].join()") == ","


async def go(made: PluginBench, page: str, tab: int, to: str) -> None:
    await made.cdp.in_worker(f"chrome.tabs.update({tab}, {{url: {to!r}}})")
    await made.happens(page, f"location.href === {to!r} && document.readyState === 'complete'")


async def has_added(made: PluginBench, pattern: str) -> None:
    """Wait until a pre-script for these pages has been added in a tab."""
    added = "describeTabState().then((all) => JSON.stringify(all['debugger pre-scripts']))"
    await eventually(lambda: is_in(made, pattern, added), f"a pre-script for {pattern}")


async def is_in(made: PluginBench, text: str, code: str) -> bool:
    return text in await made.cdp.in_worker(code)


@pytest.mark.parametrize("policy", ["script-src 'unsafe-inline'", STRICT])
async def test_a_pre_script_by_the_debugger_runs_under_any_policy(
    made: PluginBench, policy: str
) -> None:
    evaluates = "<script>try { eval(''); evaluated = 1; } catch { evaluated = 0; }</script>"
    page, tab = await made.open(evaluates, policy=policy)
    await greet(made, unwritten(made, PRE_SCRIPT))
    await waits_for_a_call(made, tab)
    await made.call(tab, "echo", text="a")
    await made.cdp.in_worker(f"chrome.tabs.reload({tab})")
    await made.happens(page, "window.preScriptRuns && document.readyState === 'complete'")
    assert not await made.value(page, "window.evaluated")


@pytest.mark.parametrize(
    "end", [b"\n} outside = 1; {", b"\n*/ } outside = 1; /*", b'"); outside = 1;']
)
async def test_no_text_of_a_pre_script_runs_in_pages_that_it_is_not_for(
    made: PluginBench, end: bytes
) -> None:
    page, tab = await made.open()
    await greet(made, unwritten(made, PRE_SCRIPT + end))
    await waits_for_a_call(made, tab)
    await made.call(tab, "echo", text="a")
    await has_added(made, "*://127.0.0.1/*")
    await go(made, page, tab, f"{made.site.other}/html?body=x")
    assert await made.value(page, "[window.outside, window.preScriptRuns].join()") == ","


async def test_a_pre_script_follows_new_patterns_of_its_plugin(made: PluginBench) -> None:
    page, tab = await made.open()
    plugin = unwritten(made, PRE_SCRIPT)
    await greet(made, plugin)
    await waits_for_a_call(made, tab)
    await made.call(tab, "echo", text="a")
    await has_added(made, "*://127.0.0.1/*")
    await go(made, page, tab, f"{made.site.url}/html?body=x")
    assert await made.value(page, "window.preScriptRuns") == 1
    elsewhere = {**plugin, "urlPatterns": ["*://localhost/*"]}
    await made.server.notify("plugin.update", {"plugin": elsewhere})
    await has_added(made, "*://localhost/*")
    await go(made, page, tab, f"{made.site.url}/html?body=y")
    assert await made.value(page, "window.preScriptRuns") is None


async def test_a_script_of_a_python_plugin_runs_by_the_debugger(made: PluginBench) -> None:
    _, tab = await made.open("<p>a<p>b", policy=STRICT)
    count = b"__tabhub.run((s) => document.querySelectorAll(s).length);"
    plain = b"Promise.resolve(__tabhub.args);"
    fails = b"throw new Error('too early');"
    assert isinstance(made.server, Unwritable)
    made.server.codes = {digest(code): code for code in (count, plain, fails)}
    for code, value in [(count, 2), (plain, ["p"])]:
        order = {"plugin": "notes", "script": digest(code), "args": ["p"]}
        assert await made.command(tab, "plugin.run", **order) == {"value": value}
    error = await made.fault(tab, "plugin.run", plugin="notes", script=digest(fails))
    assert error["reason"] == "script_error" and "too early" in error["message"]
