"""A tab opens, is focused and closes, in a browser without the extension."""

import re
from pathlib import Path

import pytest

from tests.documents.mt.app import real_app

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MT-01")]
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
RECORD = """(() => {
  const { postMessage } = MessagePort.prototype;
  window.sent = [];
  MessagePort.prototype.postMessage = function (message, ...more) {
    sent.push(message.type);
    return postMessage.call(this, message, ...more);
  };
})()"""
STORED = "Object.values(sessionStorage)"


@pytest.mark.document(
    "MT-lifecycle-1", "MT-lifecycle-2", "MT-lifecycle-3", "MT-format-1", "MT-api-7"
)
async def test_a_tab_that_opens_registers_by_its_uuid_and_is_active(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab(before=RECORD)
        assert UUID.fullmatch(tab) and await here.value(page, STORED) == [tab]
        sent = await here.value(page, "sent")
        assert sent[0] == "REGISTER_TAB" and "SET_ACTIVE_TAB" in sent[1:]
        await here.looked_at(tab)


@pytest.mark.document("MT-lifecycle-4")
async def test_a_tab_that_is_focused_becomes_the_active_one(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, first = await here.tab(before=RECORD)
        _, second = await here.tab()
        await here.looked_at(second)
        await here.value(page, "void sent.splice(0)")
        await here.show(page)
        await here.looked_at(first)
        assert set(await here.value(page, "sent")) == {"SET_ACTIVE_TAB"}


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MT-lifecycle-5", "MT-lifecycle-6", "MT-counting-4")
async def test_the_tools_of_a_tab_that_closes_stay_while_another_tab_has_them(
    tmp_path: Path,
) -> None:
    async with real_app(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.tab(), await here.tab()
        await here.have("get_page_info", first, second)
        await here.close(first_page)
        await here.have("get_page_info", second)
        assert await here.used("get_page_info") == second
        await here.close(second_page)
        await here.without("get_page_info")
