"""Published tools across restarts of the server."""

import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabhub.config.settings import Limits
from tabhub.page_tools.core.memory import Remembered
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.intake import StoredPageCheck
from tabhub.page_tools.persistence import PagePersistence
from tabhub.store.store import Store
from tests.page_tools.core.pages import page, published

HOUR = 3600.0


def _started(file: Path, now: float) -> tuple[PageHub, PagePersistence, Store]:
    hub, store = PageHub(), Store(file)
    return hub, PagePersistence(store, hub.pages, StoredPageCheck(Limits), now), store


def _names(hub: PageHub) -> set[str]:
    return {tool.name.removeprefix("website_tool_") for tool in hub.tools}


@pytest.mark.requirement("MB-10")
@pytest.mark.document("MB-disconnect-2", "MB-disconnect-7")
def test_tools_are_restored_after_a_restart_except_of_tabs_unseen_for_an_hour(
    tmp_path: Path,
) -> None:
    now = time.time()
    hub, images, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search"), published("cart", cached=True)))
    hub.pages.register(page(1, published("pay"), domain="bank.example", frame=1))
    hub.pages.register(page(2, published("gone")))
    hub.pages.gone(page(2).ref)
    images.alive(now)
    store.close()

    hub, _, store = _started(tmp_path / "db", now + HOUR - 1)
    assert _names(hub) == {"shop_example_search", "shop_example_cart", "bank_example_pay"}
    store.close()
    hub, images, store = _started(tmp_path / "db", now + HOUR + 1)
    assert _names(hub) == {"shop_example_cart"}
    hub.pages.register(page(3, published("cart", cached=False)))
    hub.pages.closed(3)
    assert _names(hub) == set()
    store.close()
    hub, _, store = _started(tmp_path / "db", now + HOUR + 2)
    assert _names(hub) == set()
    store.close()


@pytest.mark.requirement("MB-10")
def test_a_page_that_registers_again_replaces_its_copy_and_others_are_forgotten(
    tmp_path: Path,
) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search")))
    hub.pages.register(page(2, published("cart")))
    store.close()
    hub, images, store = _started(tmp_path / "db", now)
    changes: list[int] = []
    hub.tools.on_change(lambda: changes.append(1))
    hub.pages.register(page(1, published("search")))
    assert not changes
    images.alive(now + 2 * HOUR)
    assert _names(hub) == {"shop_example_search"}
    store.close()


@pytest.mark.requirement("MB-10")
@pytest.mark.document("MB-testing-2")
def test_a_torn_write_loses_only_its_own_row(tmp_path: Path) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search")))
    hub.pages.register(page(2, published("cart")))
    torn = next(iter(store.collection("page-tabs").load()))
    store.collection("page-tabs").put(torn, b'{"domain": "shop.ex')
    store.collection("page-tools").put("x", b"\xff")
    store.close()
    hub, _, store = _started(tmp_path / "db", now)
    assert len(_names(hub)) == 1
    store.close()


def _broken(body: dict[str, Any], fault: str) -> dict[str, Any]:
    tool = body["tool"] if "tool" in body else body["tools"][0]
    if fault == "schema":
        tool["schema"] = b64encode(b'"tabId" garbage').decode()
    elif fault == "remote":
        tool["schema"] = b64encode(b'{"$ref":"https://evil.example/"}').decode()
    elif fault == "annotations":
        tool["annotations"] = b64encode(b"[1").decode()
    elif fault == "name":
        tool["name"] = "\u202e\x1b[2J x" * 100
    elif fault == "domain":
        body["domain"] = "bank.example"
    elif fault == "origin":
        body["origin"] = "file:///etc"
    return body


@pytest.mark.requirement("MB-10")
@pytest.mark.parametrize("shelf", ["page-tools", "page-tabs"])
@pytest.mark.parametrize("fault", ["schema", "remote", "annotations", "name", "domain", "origin"])
def test_a_bad_row_is_dropped_and_logged_and_the_others_are_restored(
    tmp_path: Path, shelf: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    is_cached = shelf == "page-tools"
    hub.pages.register(page(1, published("search", cached=is_cached)))
    hub.pages.register(page(2, published("cart", cached=is_cached)))
    for number in (1, 2) if is_cached else ():
        hub.pages.closed(number)
    (key, body), _ = store.collection(shelf).load().items()
    broken = _broken(msgspec.json.decode(body), fault)
    store.collection(shelf).put(key, msgspec.json.encode(broken))
    store.close()
    hub, _, store = _started(tmp_path / "db", now)
    assert len(_names(hub)) == 1 and "dropped" in caplog.text
    store.close()
    hub, _, store = _started(tmp_path / "db", now)
    assert len(_names(hub)) == 1
    store.close()


def test_a_foreign_address_in_a_row_becomes_the_sites_own(tmp_path: Path) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search", cached=True)))
    hub.pages.closed(1)
    ((key, body),) = store.collection("page-tools").load().items()
    row = {**msgspec.json.decode(body), "url": "https://bank.example/transfer"}
    store.collection("page-tools").put(key, msgspec.json.encode(row))
    store.close()
    hub, _, store = _started(tmp_path / "db", now)
    assert [kept.url for kept in hub.pages.memory] == ["https://shop.example"]
    store.close()


def test_only_changed_rows_are_written(tmp_path: Path) -> None:
    hub, _, store = _started(tmp_path / "db", time.time())
    for site in range(20):
        tools = (published(f"t{n}", cached=True) for n in range(50))
        hub.pages.register(page(site, *tools, domain=f"site-{site}.example"))
    writes: list[str] = []
    store._database.set_trace_callback(writes.append)
    hub.pages.register(page(99, published("pay", cached=True), domain="bank.example"))
    assert sum("page-tools" in statement for statement in writes) == 1
    store.close()


def test_too_many_stored_tools_are_cut_when_they_are_read(tmp_path: Path) -> None:
    _, _, store = _started(tmp_path / "db", time.time())
    rows = {}
    for n in range(300):
        tool = published(f"t{n}", cached=True)
        kept = Remembered("shop.example", tool, "", "https://shop.example", float(n))
        rows[f'["shop.example","t{n}"]'] = msgspec.json.encode(kept)
    store.collection("page-tools").change(rows, [])
    store.close()
    hub, _, store = _started(tmp_path / "db", time.time())
    assert {kept.tool.name for kept in hub.pages.memory} == {f"t{n}" for n in range(100, 300)}
    assert len(store.collection("page-tools").keys()) == 200
    store.close()


@pytest.mark.requirement("MB-10")
@pytest.mark.document("MB-testing-2")
def test_a_file_cut_within_a_transaction_is_read_up_to_that_transaction(tmp_path: Path) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search")))
    first = (tmp_path / "db-wal").stat().st_size
    hub.pages.register(page(2, published("cart")))
    copy = tmp_path / "copy"
    copy.write_bytes((tmp_path / "db").read_bytes())
    whole = (tmp_path / "db-wal").read_bytes()
    (tmp_path / "copy-wal").write_bytes(whole[: first + (len(whole) - first) // 2])
    store.close()
    hub, _, store = _started(copy, now)
    assert _names(hub) == {"shop_example_search"}
    store.close()
