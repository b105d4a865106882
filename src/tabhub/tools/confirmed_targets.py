"""An action on exactly what a person has said yes to."""

from collections.abc import Sequence
from typing import Any

from tabhub.calls.ports import ActionTarget
from tabhub.errors import Refused

Json = dict[str, Any]
CONFIRMED = frozenset(
    "page.click page.hover page.fill page.select page.set page.press page.type page.scroll "
    "page.drag page.upload page.dialog".split()
)
"""The commands that act on what they name, or on what has the focus or is open."""
_NAMES = ("ref", "selector", "find", "x", "y", "pageX", "pageY")
"""The members of a place."""


def confirmed_input(input: Json, confirmed: Sequence[ActionTarget]) -> Json:
    """The input of a command with the elements that the person has said yes to.

    A place that nobody was asked about is refused: a point, for one, means another place after
    another screenshot.
    """
    ends = {name: input[name] for name in ("from", "to") if isinstance(input.get(name), dict)}
    changed = {name: confirmed_input(end, confirmed) for name, end in ends.items()}
    named = {name: input[name] for name in _NAMES if name in input}
    if not named:
        received = [_known(each) for each in confirmed if "of" in each.place]
        return {**input, **changed, **({"confirmed": received[0]} if received else {})}
    target = next((each for each in confirmed if each.place == named), None)
    if target is None:
        raise Refused(
            "This is not the place that the person was asked about. Nothing was done.",
            "target_changed",
        )
    rest = {name: value for name, value in input.items() if name not in _NAMES}
    # A point stays one: on a map or a drawing, it matters where the element is pressed.
    where = named if {"x", "pageX"} & named.keys() else {"ref": target.ref}
    return {**rest, **where, "confirmed": _known(target)}


def _known(target: ActionTarget) -> Json:
    """What the browser compares: an element, or a dialog."""
    if not target.ref:
        return {name: value for name, value in target.place.items() if name != "of"}
    return {
        "ref": target.ref,
        "role": target.role,
        "name": target.name,
        "position": target.position,
    }


def with_found(output: Any, confirmed: Sequence[ActionTarget]) -> Any:
    """The output of an action whose words were looked up before the question."""
    by_words = [each for each in confirmed if "find" in each.place]
    if not by_words or not isinstance(output, dict) or "effect" not in output:
        return output
    found = [{"ref": each.ref, "role": each.role, "name": each.name} for each in by_words]
    return {**output, "effect": {**output["effect"], "found": found}}
