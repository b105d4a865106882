"""Ownership of tabs: owners, shared tabs, tabs that pages open, and reclaiming."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tabhub.errors import Forbidden, NotFound, TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import COLORS
from tabhub.hub.tabs import Tab


def _hub(*native_ids: int, **more: Any) -> Hub:
    hub = Hub()
    for id in native_ids:
        hub.tabs.put(Tab(id=0, browser="a", native_id=id, **more))
    for name in ("ann", "bob"):
        hub.sessions.open(name, "main", name, 0)
    return hub


def _refusal(hub: Hub, session: str, tab: int | None) -> TabhubError:
    with pytest.raises((Forbidden, NotFound)) as refused:
        hub.routes.tab(session, tab)
    return refused.value


@pytest.mark.requirement("TH-23")
def test_a_tab_of_another_agent_is_refused_by_its_owners_name() -> None:
    hub = _hub(1, 2)
    hub.ownership.take("ann", 1)
    hub.ownership.take("bob", 2)
    assert hub.routes.tab("ann", 1).id == 1
    error = _refusal(hub, "bob", 1)
    assert error.reason == "foreign_tab"
    assert "'ann (main)'" in error.message and "Your tabs: 2" in error.message


def test_the_persons_own_tab_is_refused_until_it_is_shared() -> None:
    hub = _hub(1)
    assert "the person's own" in _refusal(hub, "ann", 1).message
    hub.ownership.share(1, shared=True)
    assert hub.routes.tab("ann", 1).id == hub.routes.tab("bob", 1).id == 1
    hub.ownership.share(1, shared=False)
    assert _refusal(hub, "ann", 1).reason == "foreign_tab"


def test_the_active_tab_is_usable_and_the_default_only_when_it_is_shared() -> None:
    hub = _hub(1, active=True, focused_window=True)
    assert _refusal(hub, "ann", None).reason == "no_current_tab"
    hub.ownership.shares_active = True
    assert hub.routes.tab("ann", None).id == 1
    hub.tabs.put(Tab(id=0, browser="a", native_id=2, active=True, focused_window=True))
    assert hub.routes.tab("ann", None).id == 2
    assert _refusal(hub, "ann", 1).reason == "foreign_tab"


def test_a_tab_that_an_agents_page_opens_is_the_agents_in_any_order_of_reports() -> None:
    hub = _hub(1, 2, 3, 4)
    hub.ownership.opened(2, opener=1)  # before the owner of 1 is known
    hub.ownership.opened(3, opener=2)
    hub.ownership.take("ann", 1)
    assert hub.ownership.of("ann") == [3, 2, 1] or {*hub.ownership.of("ann")} == {1, 2, 3}
    assert hub.ownership.opened(4, opener=3) == "ann"


def test_a_tab_that_a_persons_page_opens_is_the_persons() -> None:
    hub = _hub(1, 2)
    hub.ownership.share(1, shared=True)
    assert hub.ownership.opened(2, opener=1) is None
    assert _refusal(hub, "ann", 2).reason == "foreign_tab"


def test_an_owned_tab_keeps_its_owner_if_a_page_names_it() -> None:
    hub = _hub(1, 2)
    hub.ownership.take("ann", 1)
    hub.ownership.take("bob", 2)
    assert hub.ownership.opened(2, opener=1) == "bob"


def test_a_released_tab_belongs_to_the_person_only() -> None:
    hub = _hub(1)
    hub.ownership.take("ann", 1)
    assert hub.ownership.free(1) == "ann"
    for session in ("ann", "bob"):
        assert _refusal(hub, session, 1).reason == "foreign_tab"


def test_tabs_keep_their_owners_over_a_reconnection_but_not_over_a_restart() -> None:
    for run, is_kept in (("run 1", True), ("run 2", False)):
        hub = _hub(1)
        hub.ownership.is_new_run("a", "run 1")
        hub.ownership.take("ann", 1)
        hub.ownership.park("a")
        hub.ownership.closed(1)
        hub.tabs.remove("a", 1)
        hub.ownership.is_new_run("a", run)
        back = hub.tabs.put(Tab(id=0, browser="a", native_id=1))
        assert (hub.ownership.reclaim(back) == "ann") is is_kept
        assert hub.ownership.may_use("ann", back) is is_kept


def test_sessions_have_different_names_and_while_colours_last_different_colours() -> None:
    hub = Hub()
    opened = [hub.sessions.open(str(n), "main", "cursor", 0) for n in range(len(COLORS))]
    assert [session.name for session in opened[:3]] == ["cursor", "cursor 2", "cursor 3"]
    assert len({session.color for session in opened}) == len(COLORS)


def test_a_name_that_a_client_gives_itself_is_one_short_readable_line() -> None:
    hub = Hub()
    name = hub.sessions.open("s", "main", "\u202eevil\n\x1b[31m" + "x" * 100, 0).name
    assert name.isprintable() and len(name) <= 40
    assert hub.sessions.open("t", "laptop", "\n\t", 0).name == "laptop"


def test_a_paused_clients_new_session_begins_paused() -> None:
    hub = _hub()
    hub.sessions.pause("ann", paused=True)
    hub.sessions.end("ann")
    hub.sessions.open("again", "main", "ann", 0)
    assert hub.sessions.is_halted("again")
    hub.sessions.pause("again", paused=False)
    hub.sessions.open("third", "main", "ann", 0)
    assert not hub.sessions.is_halted("third")


SESSIONS = ("ann", "bob", "cid")
TABS = range(1, 6)
tabs, sessions = st.sampled_from(TABS), st.sampled_from(SESSIONS)
Step = Callable[[Hub, dict[int, str | None]], None]


def _opens(session: str, tab: int) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        if hub.tabs.find(tab) is None:
            hub.tabs.put(Tab(id=0, browser="a", native_id=tab))
            hub.ownership.take(session, tab)
            owners[tab] = session

    return step


def _page_opens(opener: int, child: int) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        if hub.tabs.find(child) is None and hub.tabs.find(opener) is not None:
            hub.tabs.put(Tab(id=0, browser="a", native_id=child))
            hub.ownership.opened(child, opener)
            owners[child] = owners[opener]

    return step


def _closes(tab: int) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        if hub.tabs.remove("a", tab) is not None:
            hub.sessions.forget_tab(tab)
            hub.ownership.closed(tab)
            owners.pop(tab)

    return step


def _person_opens(tab: int) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        if hub.tabs.find(tab) is None:
            hub.tabs.put(Tab(id=0, browser="a", native_id=tab))
            owners[tab] = None

    return step


def _taken_back(tab: int) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        if hub.tabs.find(tab) is not None:
            hub.ownership.free(tab)
            owners[tab] = None

    return step


def _ends(session: str) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        hub.ownership.end(session)
        hub.sessions.end(session)
        owners.update({tab: None for tab, owner in owners.items() if owner == session})

    return step


def _reconnects(restarted: bool) -> Step:
    def step(hub: Hub, owners: dict[int, str | None]) -> None:
        hub.ownership.park("a")
        for tab in list(owners):
            hub.tabs.remove("a", tab)
            hub.ownership.closed(tab)
        hub.ownership.is_new_run("a", "next" if restarted else "first")
        for tab in list(owners):
            hub.ownership.reclaim(hub.tabs.put(Tab(id=0, browser="a", native_id=tab)))
        hub.ownership.drop_parked("a")
        if restarted:
            owners.update(dict.fromkeys(owners))
            hub.ownership.is_new_run("a", "first")

    return step


STEPS = st.one_of(
    st.builds(_opens, sessions, tabs),
    st.builds(_page_opens, tabs, tabs),
    st.builds(_closes, tabs),
    st.builds(_person_opens, tabs),
    st.builds(_taken_back, tabs),
    st.builds(_ends, sessions),
    st.builds(_reconnects, st.booleans()),
)


@given(st.lists(STEPS, max_size=30))
@example([_person_opens(1), _page_opens(1, 2), _closes(1), _opens("ann", 1)])
@example([_opens("ann", 1), _page_opens(1, 2), _taken_back(2), _closes(1), _opens("ann", 1)])
def test_no_interleaving_of_sessions_reaches_a_foreign_tab(steps: list[Step]) -> None:
    hub = Hub()
    hub.ownership.is_new_run("a", "first")
    owners: dict[int, str | None] = {}
    for step in steps:
        step(hub, owners)
        for tab in TABS:
            reached = [session for session in SESSIONS if _reaches(hub, session, tab)]
            owner = owners.get(tab)
            assert reached == ([] if owner is None else [owner])


def _reaches(hub: Hub, session: str, tab: int) -> bool:
    try:
        hub.routes.tab(session, tab)
    except (Forbidden, NotFound):
        return False
    return True


def test_the_default_tab_is_the_current_one_or_the_first_own_one_or_none() -> None:
    hub = _hub(1, 2, 3)
    hub.ownership.shares_active = True
    assert hub.routes.at_hand("ann") is None
    hub.ownership.take("ann", 2)
    hub.ownership.take("ann", 3)
    default = hub.routes.at_hand("ann")
    assert default is not None and default.id == 2
    hub.sessions.use("ann", 3)
    default = hub.routes.at_hand("ann")
    assert default is not None and default.id == 3
