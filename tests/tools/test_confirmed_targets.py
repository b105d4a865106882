"""An action is done to what a person has said yes to, and to nothing else."""

from typing import Any

import pytest

from tabhub.calls.ports import ActionTarget
from tabhub.errors import Refused
from tabhub.tools.confirmed_targets import CONFIRMED, confirmed_input, with_found
from tabhub.wire.commands import COMMANDS, misfit

FOUND = ActionTarget({"find": "order"}, "ref_7", "button", "Order")
CHOSEN = ActionTarget({"selector": "#b"}, "ref_8", "link", "Buy", position=4)
POINT = ActionTarget({"pageX": 1, "pageY": 2}, "ref_9", "img", "Map")
ALL = (FOUND, CHOSEN, POINT)
FOCUS = ActionTarget({"of": "focus"}, "ref_5", "textbox", "Amount", position=2)
SHOWN = {"type": "confirm", "message": "Sure?"}
DIALOG = ActionTarget({"of": "dialog", **SHOWN}, "", "confirm", "Sure?", sensitive=True)


def known(target: ActionTarget) -> dict[str, Any]:
    return {
        "ref": target.ref,
        "role": target.role,
        "name": target.name,
        "position": target.position,
    }


def test_a_named_element_becomes_its_ref_and_a_point_stays_one() -> None:
    assert confirmed_input({"find": "order", "settle": 5}, ALL) == {
        "ref": "ref_7",
        "settle": 5,
        "confirmed": known(FOUND),
    }
    assert confirmed_input({"pageX": 1, "pageY": 2}, ALL) == {
        "pageX": 1,
        "pageY": 2,
        "confirmed": known(POINT),
    }
    both = {"from": {"selector": "#b"}, "to": {"find": "order"}, "settle": 0}
    assert confirmed_input(both, ALL) == {
        "from": {"ref": "ref_8", "confirmed": known(CHOSEN)},
        "to": {"ref": "ref_7", "confirmed": known(FOUND)},
        "settle": 0,
    }


@pytest.mark.parametrize("input", [{}, {"key": "Enter"}])
def test_what_names_no_place_stays_as_it_is(input: dict[str, Any]) -> None:
    assert confirmed_input(input, ALL) == input


def test_what_names_no_place_is_bound_to_the_focus_or_to_the_dialog_that_was_asked_about() -> None:
    keys = {"key": "Enter", "repeat": 1}
    assert confirmed_input(keys, (FOCUS,)) == {**keys, "confirmed": known(FOCUS)}
    accept = {"action": "accept"}
    assert confirmed_input(accept, (DIALOG,)) == {**accept, "confirmed": SHOWN}


@pytest.mark.parametrize(
    "input",
    [
        {"selector": "#c"},
        {"x": 1, "y": 2},
        {"pageX": 2, "pageY": 4},
        {"from": {"find": "order"}, "to": {"x": 1, "y": 2}},
    ],
)
def test_a_place_that_nobody_was_asked_about_is_refused(input: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        confirmed_input(input, ALL)
    assert refused.value.reason == "target_changed"


def test_only_words_are_told_as_found() -> None:
    output = {"effect": {"mutated": True}, "trusted": True}
    assert with_found(output, ALL)["effect"] == {
        "mutated": True,
        "found": [{"ref": "ref_7", "role": "button", "name": "Order"}],
    }
    assert with_found(output, (CHOSEN,)) == output


def test_every_command_that_acts_on_a_place_takes_what_was_confirmed() -> None:
    place = {"ref": "ref_7", "confirmed": known(FOUND)}
    more: dict[str, Any] = {
        "page.fill": {"text": "x"},
        "page.set": {"value": "x"},
        "page.press": {"key": "a"},
        "page.upload": {"files": []},
    }
    for name in CONFIRMED - {"page.drag", "page.type", "page.dialog"}:
        assert misfit(name, "input", {**place, **more.get(name, {})}) is None
    assert misfit("page.drag", "input", {"from": place, "to": place}) is None
    typed = {"text": "x", "confirmed": known(FOUND)}
    assert misfit("page.type", "input", typed) is None
    answer = {"action": "accept", **confirmed_input({}, (DIALOG,))}
    assert misfit("page.dialog", "input", answer) is None
    taking = {name for name in COMMANDS if misfit(name, "input", place) is None}
    assert taking <= CONFIRMED
