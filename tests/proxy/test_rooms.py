"""Rooms: what a node knows of a user on all nodes."""

import pytest

from tabhub.proxy.rooms import UserRoom

pytestmark = pytest.mark.requirement("PX-09")


@pytest.mark.parametrize(("first", "second"), [("a", "z"), ("z", "a")])
@pytest.mark.parametrize("is_heard", [True, False])
def test_the_extension_that_came_last_stays_also_if_nodes_had_not_heard_of_each_other(
    first: str, second: str, is_heard: bool
) -> None:
    old, new = (UserRoom("room", node, lambda: 0.0) for node in (first, second))
    old.add_extension("ext-1", "Chrome", now=100.0)
    if is_heard:
        # A clock that is behind does not matter then.
        new.take(old.own)
    new.add_extension("ext-1", "Chrome", now=50.0 if is_heard else 100.5)
    old.take(new.own)
    new.take(old.own)
    assert (old.replaced(), new.replaced()) == (["ext-1"], [])
    assert old.extensions()["ext-1"][0] == new.extensions()["ext-1"][0] == second
