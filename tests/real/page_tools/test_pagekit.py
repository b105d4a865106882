"""The page worker library in a real browser that has no extension."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.server.demo import serve_page
from tabhub.errors import TabhubError
from tabhub.page_tools.pairing import Pairing
from tests.support.browsers.plain import TAB_ID, PlainBrowser, browser
from tests.support.eventually import eventually
from tests.support.page_events import PageEvents
from tests.support.serving import served

pytestmark = pytest.mark.real_browser
TOOLS = ["search_products", "add_to_cart", "remove_from_cart", "view_cart", "checkout"]
DEATH_SECONDS = 20.0


class World(PlainBrowser):
    """A browser without the extension, and the page events that reach the server."""

    events: PageEvents
    pairing: Pairing

    async def tabs(self, *ids: str, seconds: float = 10.0) -> None:
        """Wait until exactly these tabs have all tools of the shop."""
        expected = dict.fromkeys(ids, TOOLS)
        await eventually(lambda: self.events.tabs == expected, seconds=seconds)

    async def active(self, id: str | None) -> None:
        await eventually(lambda: self.events.active == id)


@asynccontextmanager
async def world(folder: Path, *flags: str, paired: bool = True) -> AsyncIterator[World]:
    with serve_page() as url:
        site = url.rstrip("/")
        async with served() as server:
            if paired:
                server.app.pairing.confirm(site, None)
            events = PageEvents(server.app.pages)
            async with browser(folder, *(flag.format(port=site[17:]) for flag in flags)) as cdp:
                here = World(cdp, site, server.port)
                here.events = events
                here.pairing = server.app.pairing
                yield here


@pytest.mark.requirement("MT-01")
async def test_a_localhost_page_offers_its_tools_and_runs_them(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        found = await here.events.call(tab, "search_products", query="coffee")
        names = [product["sku"] for product in found.payload["structuredContent"]["products"]]
        assert names == ["filter", "decaf"]
        await here.events.call(tab, "add_to_cart", sku="mug", quantity=2)
        assert await here.value(page, "document.querySelector('#total').textContent") == "12.00"
        failed = await here.events.call(tab, "add_to_cart", sku="moon")
        assert not failed.success and failed.payload.startswith("There is no product moon.")
        ordered = await here.events.call(tab, "checkout", name="Ada")
        assert ordered.payload["structuredContent"] == {"order": 1, "total": 12}


@pytest.mark.requirement("MT-01")
@pytest.mark.document("MT-overview-2", "MT-security-3")
async def test_all_tabs_of_an_origin_share_one_socket_and_calls_reach_one_tab(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open() for _ in range(3)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        assert len(here.events.of("connect")) == 1
        await here.events.call(tabs[1], "add_to_cart", sku="mug")
        totals = [
            await here.value(page, "document.querySelector('#total').textContent") for page in pages
        ]
        assert totals == ["0.00", "6.00", "0.00"]


@pytest.mark.requirement("MT-01")
async def test_a_service_worker_replaces_a_missing_shared_worker(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open(before="delete window.SharedWorker") for _ in range(2)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        assert len(here.events.of("connect")) == 1
        found = await here.events.call(tabs[0], "view_cart")
        assert found.payload["structuredContent"] == {"items": [], "total": 0}
        targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
        assert {"service_worker"} <= {target["type"] for target in targets}
        (worker,) = [target for target in targets if target["type"] == "service_worker"]
        await here.close(pages[0])
        await here.tabs(tabs[1], seconds=DEATH_SECONDS)
        # The browser may end it at any time.
        await here.cdp.send("Target.closeTarget", targetId=worker["targetId"])
        await here.events.until("connect", 2)
        await here.tabs(tabs[1])


@pytest.mark.requirement("MT-01")
async def test_a_public_page_needs_the_persons_permission_to_reach_this_machine(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, "--ip-address-space-overrides=127.0.0.1:{port}=public") as here:
        await _permit(here, "denied")
        page = await here.open()
        assert "local network" in (await here.status(page, "denied"))["message"]
        assert here.events.of("connect") == []
        # While the browser asks the person, the page waits; a denial is reported as such.
        for setting, state in (("prompt", "waiting"), ("denied", "denied")) * 2:
            await _permit(here, setting)
            await here.status(page, state)
        await _permit(here, "granted")
        await here.tabs(await here.connected(page))
        assert len(here.events.of("connect")) == 1


async def _permit(here: World, setting: str) -> None:
    await here.cdp.send(
        "Browser.setPermission",
        permission={"name": "loopback-network"},
        setting=setting,
        origin=here.site,
    )


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MT-lifecycle-7")
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
async def test_tabs_survive_the_end_of_their_shared_worker(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pages = [await here.open() for _ in range(3)]
        tabs = [await here.connected(page) for page in pages]
        await here.tabs(*tabs)
        targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
        (worker,) = [target for target in targets if target["type"] == "shared_worker"]
        await here.cdp.send("Target.closeTarget", targetId=worker["targetId"])
        await here.events.until("connect", 2)
        await here.tabs(*tabs)
        assert [await here.value(page, TAB_ID) for page in pages] == tabs
        found = await here.events.call(tabs[1], "view_cart")
        assert found.success


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MT-counting-5")
async def test_the_tools_of_a_tab_are_unregistered_one_by_one(tmp_path: Path) -> None:
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
        updates: list[Any] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            updates.append((done, total, message))

        await eventually(lambda: here.events.tabs == {tab: [*TOOLS, "slow"]})
        call = asyncio.create_task(here.events.call(tab, "slow", progress))
        await eventually(lambda: updates == [(1, 2, "half")])
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
        await eventually(lambda: here.events.tabs == {tab: [*TOOLS, "quick"]})
        await here.value(page, "gone.abort()")
        await here.tabs(tab)
        await here.value(page, "client.registerTool('last', 'Is the last.', null, () => 1)")
        await eventually(lambda: here.events.tabs == {tab: [*TOOLS, "last"]})
        await here.value(page, "client.close()")
        await here.tabs(tab)


@pytest.mark.requirement("MT-01")
async def test_a_tool_registered_again_is_ignored_and_a_changed_one_replaces_it(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as here:
        page = await here.open(f"{here.site}/shop.css")
        code = f"""(async () => {{
          window.warnings = [];
          console.warn = (text) => warnings.push(text);
          const {{ WorkerClient }} = await import("/pagekit/pagekit.js");
          window.client = new WorkerClient({{ url: {here.hub!r} }});
          window.gone = new AbortController();
          await client.registerTool("brew", () => "first", gone);
          await client.registerTool("brew", () => "second");
          return client.getTabId();
        }})()"""
        tab = await here.value(page, code)
        await eventually(lambda: here.events.tabs == {tab: ["brew"]})
        assert await here.value(page, "warnings") == ["There is a tool brew already."]
        assert (await here.events.call(tab, "brew")).payload["content"][0]["text"] == "first"
        changed = "client.registerTool('brew', 'Brews tea.', null, () => 'third')"
        await here.value(page, f"{changed}.then(() => gone.abort())")
        tools = await eventually(
            lambda: here.events.of("register")[-1][4],
            until=lambda tools: tools[0]["description"] == "Brews tea.",
        )
        assert len(tools) == 1
        assert (await here.events.call(tab, "brew")).payload["content"][0]["text"] == "third"


@pytest.mark.requirement("MT-05")
async def test_a_call_fails_when_its_page_closes(tmp_path: Path) -> None:
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
        await eventually(lambda: here.events.tabs == {tab: [*TOOLS, "hang"]})
        call = asyncio.create_task(here.events.call(tab, "hang"))
        assert await here.until(page, "window.hangs")
        await here.close(page)
        with pytest.raises(TabhubError) as failed:
            await call
        assert failed.value.reason == "page_may_have_received"


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-uses-6")
async def test_the_active_tab_is_known_with_two_windows(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        first_page = await here.open()
        first = await here.connected(first_page)
        await here.active(first)
        second_page = await here.open(newWindow=True)
        second = await here.connected(second_page)
        await here.active(second)
        # Without a screen all windows have the focus, so the test minimizes one.
        window = (await here.cdp.send("Browser.getWindowForTarget", targetId=second_page))[
            "windowId"
        ]
        for state, looked_at in (("minimized", first), ("normal", second), ("minimized", first)):
            bounds = {"windowState": state}
            await here.cdp.send("Browser.setWindowBounds", windowId=window, bounds=bounds)
            await here.active(looked_at)


@pytest.mark.requirement("MT-01")
async def test_an_unpaired_page_shows_a_code_and_does_not_connect(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, paired=False) as here:
        page = await here.open()
        code = (await here.status(page, "unpaired"))["code"]
        assert len(code) == 4
        assert here.events.of("connect") == []


STORED = """new Promise((resolve) => {
  indexedDB.open("tabhub").onsuccess = ({ target: { result: database } }) => {
    const stored = database.transaction("tabhub").objectStore("tabhub").getAll();
    stored.onsuccess = () => (database.close(), resolve(stored.result));
  };
})"""
LOSE = """new Promise((resolve, reject) => {
  const deleting = indexedDB.deleteDatabase("tabhub");
  deleting.onsuccess = resolve;
  deleting.onblocked = deleting.onerror = reject;
}).then(() => 1)"""


async def _reopened(here: World, page: str) -> str:
    """Close the only page of the shop, and so its worker, and open another."""
    await here.close(page)
    await here.tabs()
    return await here.open()


@pytest.mark.requirement("MT-01")
async def test_a_page_keeps_its_pairing_and_asks_again_when_it_is_lost_or_revoked(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, paired=False) as here:
        page = await here.open()
        code = (await here.status(page, "unpaired"))["code"]
        assert here.pairing.confirm(here.site, code) == code
        tab = await here.connected(page)
        await here.tabs(tab)
        (stored,) = await here.value(page, STORED)
        assert sorted(stored) == ["id", "key", "token"]
        await here.value(page, "window.old = 1; location.reload()")
        await here.until(page, "window.old === undefined")
        assert await here.connected(page) == tab
        page = await _reopened(here, page)
        await here.tabs(await here.connected(page))
        assert await here.value(page, STORED) == [stored]
        # The page is still connected, and asks only when it connects again.
        assert await here.value(page, LOSE) == 1
        page = await _reopened(here, page)
        lost = (await here.status(page, "unpaired"))["code"]
        here.pairing.confirm(here.site, lost)
        await here.tabs(await here.connected(page))
        assert await here.value(page, STORED) != [stored]
        here.pairing.take([])
        revoked = (await here.status(page, "unpaired"))["code"]
        assert [page["code"] for page in here.pairing.waiting()] == [revoked]


@pytest.mark.requirement("MT-08")
async def test_a_page_reports_its_worker_id_to_the_extension(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        code = """new Promise((resolve) => {
          document.addEventListener("tabhub:worker", ({ detail }) => resolve(detail));
          document.dispatchEvent(new CustomEvent("tabhub:ask"));
        })"""
        assert await here.value(page, code) == tab


async def test_a_page_reconnects_after_the_back_button(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        await here.tabs(tab)
        await here.value(page, f"location.href = '{here.site}/shop.css'")
        await here.tabs()
        await here.value(page, "history.back()")
        await here.tabs(tab)
