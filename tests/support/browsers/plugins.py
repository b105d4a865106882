"""The plugin of `plugins/fixtures/notes` in the real extension, behind a double of the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tabhub.wire.commands import misfit
from tests.support.browsers.cdp import Cdp, CdpError
from tests.support.browsers.extension_alone import extension_with
from tests.support.eventually import eventually
from tests.support.scripted_server import ScriptedServer
from tests.support.site import Site, serving

DIST = Path(__file__).parents[2] / "plugins" / "fixtures" / "notes" / "dist"
ADAPTER = (DIST / "adapter.iife.js").read_bytes()
PRE_SCRIPT = (DIST / "pre-script.iife.js").read_bytes()
READINESS = "plugin.readiness"
TOKEN = "<script>window.startToken = 'at the start'; delete window.startToken</script>"
"""A page in which only a script that runs before all others can see the token."""


def digest(code: bytes) -> str:
    return sha256(code).hexdigest()


class PluginBench:
    """A browser whose extension gets plugins from a double of the server."""

    def __init__(self, server: ScriptedServer, cdp: Cdp, site: Site, extension: Path) -> None:
        self.server = server
        self.cdp = cdp
        self.site = site
        self.adapters = extension / "adapters"
        self.dispatched = ""
        """The id of the last call."""

    def plugin(
        self, name: str = "notes", adapter: bytes = ADAPTER, pre: bytes | None = None, **more: Any
    ) -> dict[str, Any]:
        """A plugin whose files are in place."""
        self.adapters.mkdir(exist_ok=True)
        for code in filter(None, (adapter, pre)):
            self.file(name, code).write_bytes(code)
        return {
            "name": name,
            "version": "1.0.0",
            "urlPatterns": ["*://127.0.0.1/*"],
            "excludePatterns": ["*://127.0.0.1/private/*"],
            "adapter": digest(adapter),
            "preScript": pre and digest(pre),
            "settings": {},
            "urls": {},
            **more,
        }

    def file(self, name: str, code: bytes) -> Path:
        return self.adapters / f"{name}-{digest(code)}.js"

    async def sync(self, *plugins: dict[str, Any]) -> None:
        self.server.greeting = {**self.server.greeting, "plugins": list(plugins)}
        await self.server.notify("sync.full", self.server.greeting)
        expected = sum(bool(plugin["preScript"]) for plugin in plugins)
        await eventually(lambda: self._has_scripts(expected), "pre-scripts are registered")

    async def _has_scripts(self, count: int) -> bool:
        code = "chrome.scripting.getRegisteredContentScripts().then((all) => all.length)"
        return bool(await self.cdp.in_worker(code) == count)

    async def without_scripts(self) -> None:
        """Wait until no pre-script is registered."""
        await eventually(lambda: self._has_scripts(0), "no pre-script is registered")

    async def open(self, body: str = "<p>", host: str = "", **query: str) -> tuple[str, int]:
        """Open a page; return it and the number of its tab."""
        mark = f"{len(self.server.received)}"
        address = f"{host or self.site.url}/html?{urlencode({'body': body, 'n': mark, **query})}"
        target = await self.cdp.open(address)
        return target, await self.tab(address)

    async def tab(self, address: str) -> int:
        """The number of the tab that shows an address."""
        code = f"chrome.tabs.query({{}}).then((all) => all.find((t) => t.url === {address!r})?.id)"
        found: int = await eventually(lambda: self.cdp.in_worker(code), address)
        return found

    async def readiness(self, tab: int, plugin: str = "notes", **wanted: Any) -> dict[str, Any]:
        """What was reported last about a plugin in a tab, once it is as wanted."""

        def last() -> dict[str, Any] | None:
            reports = [m["params"]["tabs"] for m in self.server.received if _is_report(m)]
            about = [t for tabs in reports for t in tabs if t["tabId"] == tab]
            mine = [found for found in about if found["plugin"] == plugin][-1:]
            fits = mine and all(mine[0].get(key) == value for key, value in wanted.items())
            return mine[0] if fits else None

        return await eventually(last, f"{plugin} in {tab}: {wanted}")

    async def ready(self, tab: int, plugin: str = "notes") -> None:
        await self.readiness(tab, plugin, ready=True)

    async def begin(self, tab: int, tool: str, plugin: str = "notes", **input: Any) -> str:
        self.dispatched = f"call-{len(self.server.received)}-{tool}"
        more = {"tabId": tab, "tool": tool, "input": input, "dispatchId": self.dispatched}
        return await self.server.begin("tool.dispatch", plugin=plugin, **more)

    async def call(self, tab: int, tool: str, plugin: str = "notes", **input: Any) -> Any:
        answer = await self.server.answer(await self.begin(tab, tool, plugin, **input))
        assert "result" in answer, answer
        return answer["result"]["output"]

    async def refusal(self, tab: int, tool: str, plugin: str = "notes", **input: Any) -> Any:
        """The error of a call that must fail."""
        answer = await self.server.answer(await self.begin(tab, tool, plugin, **input))
        assert "error" in answer, answer
        return {"message": answer["error"]["message"], **answer["error"]["data"]}

    async def begin_command(self, tab: int, command: str, **input: Any) -> str:
        """Send a command of the link, such as `plugin.fetch`, for the site of the tests."""
        self.dispatched = f"call-{len(self.server.received)}-{command}"
        more = {"tabId": tab, "tool": command, "input": input, "dispatchId": self.dispatched}
        site = self.site.url.removeprefix("http://")
        return await self.server.begin("tool.dispatch", plugin="browser", site=site, **more)

    async def command(self, tab: int, name: str, **input: Any) -> Any:
        answer = await self.server.answer(await self.begin_command(tab, name, **input))
        assert "result" in answer, answer
        assert misfit(name, "output", answer["result"]["output"]) is None
        return answer["result"]["output"]

    async def fault(self, tab: int, name: str, **input: Any) -> dict[str, Any]:
        """The error of a command that must fail."""
        answer = await self.server.answer(await self.begin_command(tab, name, **input))
        assert "error" in answer, answer
        return {"message": answer["error"]["message"], **answer["error"]["data"]}

    async def value(self, target: str, code: str) -> Any:
        return await self.cdp.evaluate(target, code)

    async def happens(self, target: str, code: str) -> None:
        """Wait for it, also while the page navigates and gives no answers."""
        await eventually(lambda: self.value(target, f"Boolean({code})"), code, ignore=(CdpError,))


def _is_report(message: dict[str, Any]) -> bool:
    return message.get("method") == READINESS


@asynccontextmanager
async def plugin_bench(
    folder: Path, server: ScriptedServer | None = None
) -> AsyncIterator[PluginBench]:
    server = server or ScriptedServer()
    async with extension_with(server, folder) as cdp:
        with serving() as site:
            yield PluginBench(server, cdp, site, folder / "managed-extension")
