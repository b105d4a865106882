"""How long a tab keeps its id, and what the id looks like."""

import re
from pathlib import Path

import pytest

from tests.documents.mt.app import RealApp, real_app
from tests.support.browsers.cdp import Cdp

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MT-02")]
FALLBACK = re.compile(r"fallback_\d{13}_[a-z0-9]+")


@pytest.mark.document("MT-persistence-1", "MT-persistence-2")
async def test_a_tab_keeps_its_id_when_it_is_reloaded_and_when_it_navigates(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab()
        for step, tool in (
            ("location.reload()", "get_page_info"),
            (f"location.href = {here.address('settings')!r}", "get_settings"),
        ):
            await here.value(page, f"window.isOld = true; {step}")
            await here.until(page, "!window.isOld")
            assert await here.ready(page) == tab
            await here.have(tool, tab)
        assert [entry["tabId"] for entry in await here.tabs()] == [tab]


@pytest.mark.document("MT-persistence-3", "MT-persistence-4")
async def test_a_duplicated_tab_and_a_new_window_get_ids_of_their_own(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab()
        # Duplicating a tab does the same: a new page with a copy of the storage.
        await here.value(page, "void window.open(location.href + '&twin')")
        twin = await here.page("&twin")
        assert await here.value(twin, "sessionStorage.length") == 1
        duplicate = await here.ready(twin)
        _, in_window = await here.tab(newWindow=True)
        assert len({tab, duplicate, in_window}) == 3
        assert await here.value(page, "workerClient.getTabId()") == tab
        await here.have("get_page_info", tab, duplicate, in_window)
        for one in (tab, duplicate, in_window):
            assert await here.used("get_page_info", tabId=one) == one


@pytest.mark.document("MT-persistence-5")
async def test_a_private_window_is_independent(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        _, tab = await here.tab()
        context = await _private(here.cdp)
        page = await here.open(here.address("dashboard"), browserContextId=context)
        code = await here.until(page, "window.workerClient?.status.code")
        own = await here.value(page, "workerClient.getTabId()")
        assert code and own != tab
        assert await _stored(here, page) == []
        await here.have("get_page_info", tab)


@pytest.mark.document("MT-format-2")
async def test_without_crypto_the_id_has_the_fallback_form(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        _, tab = await here.tab(before="delete Crypto.prototype.randomUUID")
        assert FALLBACK.fullmatch(tab)
        assert await here.used("get_page_info") == tab


async def _private(cdp: Cdp) -> str:
    context: str = (await cdp.send("Target.createBrowserContext"))["browserContextId"]
    return context


async def _stored(here: RealApp, page: str) -> list[str]:
    """The pairings that a page can find: those of its own profile."""
    names: list[str] = await here.value(
        page,
        """new Promise((resolve) => {
          const opening = indexedDB.open("tabhub");
          opening.onsuccess = () => {
            const store = opening.result.transaction("tabhub").objectStore("tabhub");
            store.getAllKeys().onsuccess = ({ target }) => resolve(target.result);
          };
        })""",
    )
    return names
