"""The page worker library in a real browser that has no extension."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.server.demo import serve_page
from tabhub.config.settings import Settings
from tabhub.errors import TabhubError
from tests.support.browsers.plain import TAB_ID, PlainBrowser, browser
from tests.support.eventually import eventually
from tests.support.page_events import Heard
from tests.support.serving import served

pytestmark = pytest.mark.real_browser
TOOLS = ["search_products", "add_to_cart", "remove_from_cart", "view_cart", "checkout"]
DEATH_SECONDS = 20.0


class World(PlainBrowser):
    """With what the server has heard."""

    heard: Heard

    async def tabs(self, *ids: str, seconds: float = 10.0) -> None:
        """Wait until exactly these have all tools of the shop."""
        wanted = dict.fromkeys(ids, TOOLS)
        await eventually(lambda: self.heard.tabs == wanted, seconds=seconds)

    async def active(self, id: str | None) -> None:
        await eventually(lambda: self.heard.active == id)


@asynccontextmanager
async def world(folder: Path, *flags: str, paired: bool = True) -> AsyncIterator[World]:
    with serve_page() as url:
        site = url.rstrip("/")
        async with served(Settings(worker_origins=[site] if paired else [])) as server:
            heard = Heard(server.app.pages)
            async with browser(folder, *(flag.format(port=site[17:]) for flag in flags)) as cdp:
                here = World(cdp, site, server.port)
                here.heard = heard
                yield here


@pytest.mark.requirement("MT-01")
async def test_a_localhost_page_offers_its_tools_and_runs_them(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        found = await here.heard.call(tab, "search_products", query="coffee")
        names = [one["sku"] for one in found.payload["structuredContent"]["products"]]
        assert names == ["filter", "decaf"]
        await here.heard.call(tab, "add_to_cart", sku="mug", quantity=2)
        assert await here.value(page, "document.querySelector('#total').textContent") == "12.00"
        failed = await here.heard.call(tab, "add_to_cart", sku="moon")
        assert not failed.success and failed.payload.startswith("There is no product moon.")
        ordered = await here.heard.call(tab, "checkout", name="Ada")
        assert ordered.payload["structuredContent"] == {"order": 1, "total": 12}


@pytest.mark.requirement("MT-01")
async def test_all_tabs_of_an_origin_share_one_socket_and_calls_reach_one_tab(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open() for _ in range(3)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        assert len(here.heard.of("connect")) == 1
        await here.heard.call(tabs[1], "add_to_cart", sku="mug")
        totals = [
            await here.value(page, "document.querySelector('#total').textContent") for page in pages
        ]
        assert totals == ["0.00", "6.00", "0.00"]


@pytest.mark.requirement("MT-01")
async def test_where_there_is_no_shared_worker_a_service_worker_does(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open(before="delete window.SharedWorker") for _ in range(2)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        assert len(here.heard.of("connect")) == 1
        found = await here.heard.call(tabs[0], "view_cart")
        assert found.payload["structuredContent"] == {"items": [], "total": 0}
        targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
        assert {"service_worker"} <= {told["type"] for told in targets}
        (worker,) = [told for told in targets if told["type"] == "service_worker"]
        await here.close(pages[0])
        await here.tabs(tabs[1], seconds=DEATH_SECONDS)
        # The browser may end it at any time.
        await here.cdp.send("Target.closeTarget", targetId=worker["targetId"])
        await here.heard.until("connect", 2)
        await here.tabs(tabs[1])


@pytest.mark.requirement("MT-01")
async def test_a_public_page_needs_the_persons_leave_to_reach_this_machine(tmp_path: Path) -> None:
    async with world(tmp_path, "--ip-address-space-overrides=127.0.0.1:{port}=public") as here:
        await _permit(here, "denied")
        page = await here.open()
        assert "local network" in (await here.status(page, "denied"))["message"]
        assert here.heard.of("connect") == []
        # A page that may ask, and gets no answer, is told of no server; a no is told as such.
        for setting, state in (("prompt", "waiting"), ("denied", "denied")) * 2:
            await _permit(here, setting)
            await here.status(page, state)
        await _permit(here, "granted")
        await here.tabs(await here.connected(page))
        assert len(here.heard.of("connect")) == 1


async def _permit(here: World, setting: str) -> None:
    await here.cdp.send(
        "Browser.setPermission",
        permission={"name": "loopback-network"},
        setting=setting,
        origin=here.site,
    )


@pytest.mark.requirement("MT-02")
async def test_an_id_lives_through_reload_and_navigation_and_is_new_for_a_duplicate(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        for step in ("location.reload()", "location.href += '&again'"):
            count = len(here.heard.of("register"))
            await here.value(page, step)
            await here.heard.until("register", count + 1)
            assert await here.connected(page) == tab
            await here.tabs(tab)
        # What a duplicated tab is too: a new page with a copy of the storage.
        await here.value(page, "void window.open(location.href + '&twin')")
        twin = await here.page("&twin")
        other = await here.connected(twin)
        assert other != tab and await here.value(page, TAB_ID) == tab
        await here.tabs(tab, other)
        await here.heard.call(other, "add_to_cart", sku="mug")
        assert await here.value(page, "document.querySelector('#total').textContent") == "0.00"


@pytest.mark.requirement("MT-02")
async def test_without_crypto_an_id_is_made_up(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open(before="delete Crypto.prototype.randomUUID")
        tab = await here.connected(page)
        assert tab.startswith("fallback_")
        await here.tabs(tab)


@pytest.mark.requirement("MT-05")
async def test_a_tab_that_leaves_closes_or_crashes_is_gone_soon(tmp_path: Path) -> None:
    async with world(tmp_path, "--site-per-process") as here:
        pages = [await here.open() for _ in range(4)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        await here.close(pages[0])
        await here.tabs(*tabs[1:], seconds=DEATH_SECONDS)
        await here.value(pages[1], "location.href = 'about:blank'")
        await here.tabs(*tabs[2:], seconds=DEATH_SECONDS)
        session = await here.attach(pages[2])
        crashing = asyncio.ensure_future(here.cdp.send("Page.crash", session))
        await here.tabs(tabs[3], seconds=DEATH_SECONDS)
        crashing.cancel()


@pytest.mark.requirement("MT-05")
async def test_tabs_outlive_the_worker_that_dies_with_one_of_them(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open() for _ in range(3)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
        (worker,) = [told for told in targets if told["type"] == "shared_worker"]
        await here.cdp.send("Target.closeTarget", targetId=worker["targetId"])
        await here.heard.until("connect", 2)
        await here.tabs(*tabs)
        assert [await here.value(page, TAB_ID) for page in pages] == tabs
        found = await here.heard.call(tabs[1], "view_cart")
        assert found.success


@pytest.mark.requirement("MT-05")
async def test_the_tools_of_a_tab_go_one_by_one(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        code = f"""(async () => {{
          const {{ WorkerClient }} = await import("/pagekit/pagekit.js");
          window.client = new WorkerClient({{ url: {here.hub!r} }});
          await client.registerTool("slow", "Waits.", null, (_, {{ signal, progress }}) => {{
            progress(1, 2, "half");
            return new Promise((_, reject) => {{
              signal.onabort = () => {{ window.stopped = true; reject(signal.reason); }};
            }});
          }});
          return client.getTabInfo().tabId;
        }})()"""
        assert await here.value(page, code) == tab, "two clients in one document are one tab"
        said: list[Any] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            said.append((done, total, message))

        await eventually(lambda: here.heard.tabs == {tab: [*TOOLS, "slow"]})
        call = asyncio.create_task(here.heard.call(tab, "slow", progress))
        await eventually(lambda: said == [(1, 2, "half")])
        call.cancel()
        assert await here.until(page, "window.stopped")
        await here.value(page, "client.unregisterTool('slow')")
        await here.tabs(tab)
        again = """(() => {
          for (let times = 0; times < 3; times++) {
            window.gone?.abort();
            window.gone = new AbortController();
            void client.registerTool("quick", "Is quick.", null, () => 1, gone);
          }
        })()"""
        await here.value(page, again)
        await eventually(lambda: here.heard.tabs == {tab: [*TOOLS, "quick"]})
        await here.value(page, "gone.abort()")
        await here.tabs(tab)
        await here.value(page, "client.registerTool('last', 'Is the last.', null, () => 1)")
        await eventually(lambda: here.heard.tabs == {tab: [*TOOLS, "last"]})
        await here.value(page, "client.close()")
        await here.tabs(tab)


@pytest.mark.requirement("MT-05")
async def test_a_call_is_told_when_its_page_goes(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        hang = """import("/pagekit/pagekit.js").then(({ WorkerClient }) => {
          const client = new WorkerClient({ url: %r });
          return client.registerTool("hang", "Hangs.", null, () => new Promise(() => {
            window.hangs = true;
          })).then(() => client.getTabId());
        })"""
        assert await here.value(page, hang % here.hub) == tab
        await eventually(lambda: here.heard.tabs == {tab: [*TOOLS, "hang"]})
        call = asyncio.create_task(here.heard.call(tab, "hang"))
        assert await here.until(page, "window.hangs")
        await here.close(page)
        with pytest.raises(TabhubError) as failed:
            await call
        assert failed.value.reason == "page_may_have_received"


@pytest.mark.requirement("MT-03")
async def test_the_tab_that_is_looked_at_is_known_in_two_windows(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        one = await here.open()
        first = await here.connected(one)
        await here.active(first)
        two = await here.open(newWindow=True)
        second = await here.connected(two)
        await here.active(second)
        # Without a screen all windows have the focus, so one has to go.
        window = (await here.cdp.send("Browser.getWindowForTarget", targetId=two))["windowId"]
        for state, looked_at in (("minimized", first), ("normal", second), ("minimized", first)):
            bounds = {"windowState": state}
            await here.cdp.send("Browser.setWindowBounds", windowId=window, bounds=bounds)
            await here.active(looked_at)


@pytest.mark.requirement("MT-01")
async def test_it_comes_back_when_the_server_does_and_when_the_person_does(tmp_path: Path) -> None:
    async with world(tmp_path, paired=False) as here:
        page = await here.open()
        code = (await here.status(page, "unpaired"))["code"]
        assert len(code) == 4
        assert here.heard.of("connect") == []


@pytest.mark.requirement("MT-08")
async def test_a_page_tells_the_extension_its_worker_id(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        code = """new Promise((resolve) => {
          document.addEventListener("tabhub:worker", ({ detail }) => resolve(detail));
          document.dispatchEvent(new CustomEvent("tabhub:ask"));
        })"""
        assert await here.value(page, code) == tab


async def test_a_page_that_comes_back_by_the_back_button_is_there_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        await here.value(page, f"location.href = '{here.site}/shop.css'")
        await here.tabs()
        await here.value(page, "history.back()")
        await here.tabs(tab)
