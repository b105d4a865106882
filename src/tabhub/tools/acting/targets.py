"""What an action is done to: an element by ref, selector or words, or a point of a screenshot."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.marks import quoted
from tabhub.errors import InvalidArguments, TabhubError, Unavailable
from tabhub.tools.tool import Context, Json

WAYS = ("ref", "selector", "find", "coordinate")
"""The arguments that name a target."""
_UNREACHED = frozenset({"covered_by", "not_visible"})
_POINTING = " To press what is seen there: browser_screenshot_tab, then coordinate [x, y]."


def target(context: Context, ways: tuple[str, ...] = WAYS) -> Json:
    """The target of a call, as its command takes it; exactly one way to name it."""
    given = {name for name in ways if name in context.arguments}
    if len(given) != 1:
        raise InvalidArguments(
            f"{context.call.tool.name}: give one of {', '.join(ways)}. Nothing was done."
        )
    return place(context, context.arguments)


def any_target(context: Context, ways: tuple[str, ...] = WAYS) -> Json:
    """The same for a call that needs no target."""
    has_target = any(name in context.arguments for name in ways)
    return target(context, ways) if has_target else {}


def place(context: Context, given: Mapping[str, Any]) -> Json:
    """What one of the ways names."""
    if "coordinate" in given:
        return context.frame.place(given["coordinate"])
    if "find" in given:
        context.require_target_words(given["find"])
    return {name: given[name] for name in ("ref", "selector", "find") if name in given}


async def reached(context: Context, command: str, input: Json) -> Json:
    """The output of a command with the mouse; the error of an element that cannot be pressed
    names the way by a point."""
    try:
        output: Json = await context.in_tab(command, input)
    except TabhubError as error:
        if error.reason not in _UNREACHED or _has_point(context.arguments):
            raise
        pointed = error.with_effect(error.effect)
        pointed.message += _POINTING
        pointed.args = (pointed.message,)
        raise pointed from error.__cause__
    return output


def _has_point(arguments: Mapping[str, Any]) -> bool:
    ends = [arguments, arguments.get("from", {}), arguments.get("to", {})]
    return any({"coordinate", "x"} & end.keys() for end in ends)


def target_name(given: Mapping[str, Any], effect: Json) -> str:
    """The target in a sentence; what words meant is named by its ref and its own name."""
    if "coordinate" in given:
        x, y = given["coordinate"]
        return f"({x:g}, {y:g})"
    if "find" in given:
        return found_names(effect)[0]
    return str(next(given[name] for name in WAYS if name in given))


def found_names(effect: Json) -> list[str]:
    """The elements that words meant: the ref of each, and what the page calls it.

    An extension that does not say them has not looked for words, and may have acted elsewhere.
    """
    if not effect.get("found"):
        raise Unavailable(
            "The extension does not say which element the words meant: it may have acted on "
            "another one. Look at the page.",
            "invalid_response",
        )
    return [f"{found['ref']} {quoted(found['role'], found['name'])}" for found in effect["found"]]
