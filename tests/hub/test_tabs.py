"""Tabs of several browsers, and which tab a call goes to."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.errors import NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Change, Tab, Tabs


def _tab(native_id: int, browser: str = "a", **more: str) -> Tab:
    return Tab(id=0, browser=browser, native_id=native_id, **more)  # type: ignore[arg-type]


def test_a_tab_keeps_its_browsers_number_unless_another_browser_has_it() -> None:
    tabs = Tabs()
    assert tabs.put(_tab(5)).id == 5
    minted = tabs.put(_tab(5, "b")).id
    assert minted != 5
    assert tabs.put(_tab(5, "b", title="new")).id == minted
    assert (tabs.get(5).browser, tabs.get(minted).browser) == ("a", "b")


def test_a_full_list_removes_unlisted_tabs_and_does_not_affect_other_browsers() -> None:
    tabs = Tabs()
    for tab in (_tab(1), _tab(2), _tab(3, "b")):
        tabs.put(tab)
    assert tabs.sync("a", [_tab(2), _tab(4)]) == [1]
    assert sorted(tab.id for tab in tabs.all()) == [2, 3, 4]


def test_changes_are_reported_and_repetitions_are_not() -> None:
    tabs = Tabs()
    changes: list[tuple[Change, int]] = []
    tabs.on_change(lambda change, id: changes.append((change, id)))
    tabs.put(_tab(1))
    tabs.put(_tab(1))
    tabs.put(_tab(1, title="x"))
    tabs.remove("a", 1)
    assert changes == [("opened", 1), ("updated", 1), ("closed", 1)]


def test_a_window_has_one_active_tab() -> None:
    tabs = Tabs()
    for native_id, window in ((1, 1), (2, 1), (3, 2)):
        tabs.put(replace(_tab(native_id), active=native_id != 2, window_id=window))
    tabs.put(replace(_tab(2), active=True, window_id=1))
    assert [tab.id for tab in tabs.all() if tab.active] == [2, 3]


def test_a_renumbered_tab_keeps_its_public_id() -> None:
    tabs = Tabs()
    tabs.put(_tab(1))
    tabs.rename("a", 1, 9)
    assert tabs.get(1).native_id == 9
    assert tabs.put(_tab(9, title="back")).id == 1


def test_an_unknown_tab_is_refused_and_the_known_ones_are_named() -> None:
    tabs = Tabs()
    tabs.put(_tab(4))
    with pytest.raises(NotFound, match="Open tabs: 4") as missing:
        tabs.get(7)
    assert missing.value.reason == "tab_not_found"


def test_a_call_goes_to_the_tab_it_names_else_to_the_sessions_own_and_never_elsewhere() -> None:
    hub = Hub()
    for number in (1, 2):
        hub.tabs.put(_tab(number))
        hub.ownership.take("me", number)
    hub.sessions.open("me", "main", "me", 0)
    with pytest.raises(NotFound) as nothing:
        hub.routes.tab("me", None)
    assert nothing.value.reason == "no_current_tab"
    hub.sessions.use("me", 2)
    assert hub.routes.tab("me", None).id == 2
    assert hub.routes.tab("me", 1).id == 1
    hub.sessions.forget_tab(2)
    with pytest.raises(NotFound):
        hub.routes.tab("me", None)


_steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "rename", "sync"]),
        st.sampled_from("abc"),
        st.integers(1, 6),
        st.integers(1, 6),
    )
)


@given(_steps)
def test_public_ids_stay_unique_and_findable_for_all_reports(
    steps: list[tuple[str, str, int, int]],
) -> None:
    tabs = Tabs()
    for verb, browser, number, other_number in steps:
        if verb == "put":
            tabs.put(_tab(number, browser))
        elif verb == "remove":
            tabs.remove(browser, number)
        elif verb == "rename":
            tabs.rename(browser, number, other_number)
        else:
            tabs.sync(browser, [_tab(number, browser), _tab(other_number, browser)])
        listed = tabs.all()
        assert len({tab.id for tab in listed}) == len(listed)
        assert len({(tab.browser, tab.native_id) for tab in listed}) == len(listed)
        assert all(tabs.get(tab.id) == tab for tab in listed)
