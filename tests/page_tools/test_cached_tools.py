"""Tools without a tab are dropped together with the setting that allowed them."""

from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.page_tools.persistence import forget_origins
from tabhub.server.serving import Server
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import ONE, SHOP, admitted, tool
from tests.support.serving import served

PAIRED = Settings(worker_origins=[SHOP])
CACHED = {"annotations": {"cache": True}}


def _sites(server: Server) -> list[str]:
    return [tool.site for tool in server.app.hub.tools if tool.source == "pages"]


async def _leave(server: Server) -> None:
    """Close a tab known to the extension and one known only to its worker; their tools stay."""
    async with connected(server.port) as extension:
        await extension.sync(tab(1))
        origin = {"origin": "https://bank.example"}
        await extension.publish(1, page_tool("pay", **CACHED), **origin)
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await extension.settled()
    async with admitted(server) as worker:
        await worker.register(ONE, tool("view", **CACHED))
        await worker.ask("browser/unregisterTools", tabId=ONE)
    assert _sites(server) == ["bank.example", "shop.example"]


@pytest.mark.requirement("MB-09")
async def test_a_site_that_may_no_longer_publish_keeps_no_tool(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(PAIRED, home=home) as server:
        await _leave(server)
        server.app.settings.page_origins = [SHOP]
        server.app.pages.take_settings()
        assert _sites(server) == ["shop.example"]
        server.app.pairing.take([])
        assert _sites(server) == []
    async with served(PAIRED, home=home) as server:
        assert _sites(server) == []


async def test_tools_of_a_site_disallowed_while_no_server_ran_are_not_listed_again(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    async with served(PAIRED, home=home) as server:
        await _leave(server)
    async with served(Settings(), home=home) as server:
        assert _sites(server) == ["bank.example"]
    async with served(Settings(page_origins=[SHOP]), home=home) as server:
        assert _sites(server) == []


async def test_tools_that_another_process_has_dropped_are_gone_after_a_reload(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    home.config.write_text('{"workerOrigins": ["https://shop.example"]}')
    async with served(PAIRED, home=home) as server:
        await _leave(server)
        assert forget_origins(server.app.store, lambda origin: "bank" in origin) == 1
        server.app.reload()
        assert _sites(server) == ["shop.example"]


async def test_the_setting_for_cached_tools_applies_at_once() -> None:
    name = "website_tool_shop_example_search"

    def listed() -> list[str]:
        return [tool.name for tool in server.app.hub.tools if tool.source == "pages"]

    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"), page_tool("stays", **CACHED))
        server.app.settings.cache = {"shop.example": True}
        server.app.pages.take_settings()
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await extension.settled()
        assert name in listed()
        server.app.settings.cache = {}
        server.app.pages.take_settings()
        assert listed() == ["website_tool_shop_example_stays"]


@pytest.mark.parametrize(
    ("setting", "stays"), [("127.0.0.1", True), ("127.0.0.1:81", True), ("127.0.0.1:82", False)]
)
async def test_a_domain_without_a_port_in_the_setting_means_every_port(
    setting: str, stays: bool
) -> None:
    async with served(Settings(cache={setting: True})) as server:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            await extension.publish(1, page_tool("search"), origin="http://127.0.0.1:81")
            await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
            await extension.settled()
            assert _sites(server) == ["127.0.0.1:81"] * stays
