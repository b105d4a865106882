"""The extension alone: what pages publish is told over the link, and what the link asks is run."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.finder import find_browser
from tabhub.browser.installation import packaged_extension
from tabhub.browser.process import BrowserProcess
from tabhub.config.home import Home
from tests.support.cdp import Cdp, browser_of
from tests.support.scripted import SECRET, ScriptedServer, names, scripted
from tests.support.site import Site, serving

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]
WITHOUT_WEBMCP = "--disable-features=WebMCP"
REGISTER, UPDATE = "browser/registerTools", "browser/updateTools"
UNREGISTER = "browser/unregisterTools"


class Bench:
    """A browser whose extension talks to a double of the server."""

    def __init__(self, server: ScriptedServer, cdp: Cdp, site: Site) -> None:
        self.server = server
        self.cdp = cdp
        self.site = site

    async def open(self, page: str, tool: str = "double") -> tuple[str, dict[str, Any]]:
        """A page, and what the server was told of it once it had this tool."""
        start = len(self.server.heard)
        target = await self.cdp.open(self.site.page(page))
        return target, await self.tools(tool, start)

    async def tools(self, tool: str, start: int = 0) -> dict[str, Any]:
        """Where a tool was registered, though it may have come by an update."""
        wanted = (REGISTER, UPDATE)

        def fits(message: dict[str, Any]) -> bool:
            return message.get("method") in wanted and tool in names(message["params"])

        found = (await self.server.until(fits, start))["params"]
        known = await self.server.told(REGISTER, start, documentId=found["documentId"])
        return {**known, **found}


@asynccontextmanager
async def bench(folder: Path, *arguments: str) -> AsyncIterator[Bench]:
    home = Home(folder).create()
    shutil.copytree(packaged_extension(), home.managed_extension, dirs_exist_ok=True)
    async with scripted() as server:
        paired = {"secret": SECRET, "port": server.port, "managed": True}
        (home.managed_extension / "auth.json").write_text(json.dumps(paired))
        extra = ["--remote-debugging-port=0", *arguments]
        browser = await BrowserProcess.start(
            find_browser(), home=home, profile=home.profile, headless=True, extra_args=extra
        )
        try:
            async with browser_of(home.root) as cdp:
                await server.told("tab.syncAll")
                with serving() as site:
                    yield Bench(server, cdp, site)
        finally:
            await browser.stop()


@pytest.fixture
async def native(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as made:
        yield made


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[Bench]:
    """Without WebMCP in the browser itself."""
    async with bench(tmp_path, WITHOUT_WEBMCP) as made:
        yield made


PAGES = {"tools-global": "mcp-b", "tools-transport": "mcp-b", "tools-polyfill": "polyfill"}


async def runs(made: Bench, page: dict[str, Any]) -> None:
    """Its tools answer, fail and refuse."""
    done = await made.server.call(page, "double", a=21)
    assert done["success"]
    said = json.loads(done["payload"]["content"][0]["text"])
    assert said == {"doubled": 42, "where": page["origin"]}
    failed = await made.server.call(page, "fail", a=1)
    assert not failed["success"] or failed["payload"]["isError"]
    assert await made.server.refusal(page, "unheard_of") == "no_tab_for_tool"


def described(page: dict[str, Any]) -> None:
    tool = next(tool for tool in page["tools"] if tool["name"] == "double")
    assert tool["title"] == "Title of double"
    assert tool["description"] == "Does double"
    assert tool["inputSchema"]["properties"] == {"a": {"type": "number"}}
    assert tool["inputSchema"]["required"] == ["a"]
    assert tool["annotations"]["readOnlyHint"] is True


@pytest.mark.requirement("MB-01", "MB-03")
async def test_native_tools_are_told_in_full_and_run(native: Bench) -> None:
    _, page = await native.open("tools")
    assert page["kind"] == "native"
    assert page["origin"] == native.site.url
    described(page)
    await runs(native, page)


@pytest.mark.requirement("MB-01", "MB-03")
async def test_tools_of_all_kinds_of_pages_are_told_in_full_and_run(plain: Bench) -> None:
    for name, kind in PAGES.items():
        _, page = await plain.open(name)
        assert page["kind"] == kind, name
        assert page["origin"] == plain.site.url
        described(page)
        await runs(plain, page)
