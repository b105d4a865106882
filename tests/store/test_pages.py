"""What pages publish, across restarts of the server."""

import time
from pathlib import Path

import pytest

from tabhub.hub.hub import Hub
from tabhub.store.pages import PageImages
from tabhub.store.store import Store
from tests.hub.test_page_hub import page, published

HOUR = 3600.0


def _started(file: Path, now: float) -> tuple[Hub, PageImages, Store]:
    hub, store = Hub(), Store(file)
    return hub, PageImages(store, hub.pages, now), store


def _names(hub: Hub) -> set[str]:
    return {tool.name.removeprefix("website_tool_") for tool in hub.tools}


@pytest.mark.requirement("MB-10")
def test_what_was_known_is_there_after_a_restart_and_tabs_unseen_for_an_hour_are_not(
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
def test_who_comes_back_takes_its_place_and_who_does_not_is_forgotten(tmp_path: Path) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search")))
    hub.pages.register(page(2, published("cart")))
    store.close()
    hub, images, store = _started(tmp_path / "db", now)
    told: list[int] = []
    hub.tools.on_change(lambda: told.append(1))
    hub.pages.register(page(1, published("search")))
    assert not told
    images.alive(now + 2 * HOUR)
    assert _names(hub) == {"shop_example_search"}
    store.close()


@pytest.mark.requirement("MB-10")
def test_a_torn_write_costs_what_was_torn_and_nothing_else(tmp_path: Path) -> None:
    now = time.time()
    hub, _, store = _started(tmp_path / "db", now)
    hub.pages.register(page(1, published("search")))
    hub.pages.register(page(2, published("cart")))
    torn = next(iter(store.shelf("page-tabs").load()))
    store.shelf("page-tabs").put(torn, b'{"domain": "shop.ex')
    store.shelf("page-tools").put("x", b"\xff")
    store.close()
    hub, _, store = _started(tmp_path / "db", now)
    assert len(_names(hub)) == 1
    store.close()


@pytest.mark.requirement("MB-10")
def test_a_file_cut_in_the_middle_of_a_transaction_is_read_up_to_there(tmp_path: Path) -> None:
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
