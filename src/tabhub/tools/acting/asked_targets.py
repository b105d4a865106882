"""What a person is asked about before an action."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tabhub.calls.ports import ActionTarget
from tabhub.errors import TabhubError, TimedOut
from tabhub.tools.acting.targets import WAYS, place
from tabhub.tools.tool import Context, Json

SECONDS = 10.0
"""How long the page may take to say what is meant; the person is not asked about something."""
_KINDS = {"browser_type_text": "text", "browser_select_option": "select"}
_RECEIVERS = {
    "browser_press_key": "focus",
    "browser_upload_files": "chooser",
    "file_upload": "chooser",
    "upload_image": "chooser",
    "browser_handle_dialog": "dialog",
}
"""What the calls of a tool that name nothing are done to."""
_KEYS = ("type", "key")
"""Actions of `computer` for what has the focus."""
_LATER = frozenset({"unknown_command", "tab_url_mismatch"})
"""Reasons for which the person is asked without a name: an older extension does not know the
command, and a tab that has moved is decided about again."""


def places(context: Context) -> list[Json]:
    """The places that a call names: one, two for a drag, or none."""
    given = context.arguments
    if isinstance(given.get("from"), dict):
        ends: list[Mapping[str, Any]] = [given["from"], given["to"]]
    elif "start_coordinate" in given:
        ends = [{"coordinate": given[name]} for name in ("start_coordinate", "coordinate")]
    else:
        ends = [given] if any(way in given for way in WAYS) else []
    return [_place(context, end) for end in ends]


def _place(context: Context, given: Mapping[str, Any]) -> Json:
    if "x" in given:
        return {"x": given["x"], "y": given["y"]}
    return place(context, {way: given[way] for way in WAYS if way in given})


def _receiver(context: Context) -> str | None:
    if context.arguments.get("action") in _KEYS:
        return "focus" if context.call.tool.name == "computer" else None
    return _RECEIVERS.get(context.call.tool.name)


async def asked_targets(context: Context) -> tuple[ActionTarget, ...]:
    """What a call would be done to; raises as the call would if there is no such thing.

    Who may not read the page learns nothing of it: then the person is asked without its names.
    """
    call = context.call
    if "{" not in call.tool.phrase_of(call.arguments):
        return ()
    found = places(context)
    of = None if found else _receiver(context)
    if not found and of is None:
        return ()
    context.observed = context.reading(call, context.tab)
    try:
        async with asyncio.timeout(SECONDS):
            return await (_named(context, found) if of is None else _received(context, of))
    except TimeoutError:
        raise TimedOut(
            "The page does not say what is meant, so that the person cannot be asked about it. "
            "Nothing was done."
        ) from None
    except TabhubError as error:
        if error.reason in _LATER:
            return ()
        if context.observed is None and "frameSite" not in error.extra:
            return ()
        raise


async def _named(context: Context, found: list[Json]) -> tuple[ActionTarget, ...]:
    name = context.call.tool.name
    kind = {"kind": _KINDS[name]} if name in _KINDS else {}
    output = await context.in_tab("page.target", {"places": [{**each, **kind} for each in found]})
    return tuple(
        ActionTarget(each, **target) for each, target in zip(found, output["targets"], strict=True)
    )


async def _received(context: Context, of: str) -> tuple[ActionTarget, ...]:
    if of != "dialog":
        target = await context.in_tab("page.receiver", {"of": of})
        return (ActionTarget({"of": of}, **target),)
    dialog = await context.in_tab("page.shownDialog", {})
    shown = {"of": of, **dialog}
    # What a prompt asks for may be a password.
    return (ActionTarget(shown, "", dialog["type"], dialog["message"], sensitive=True),)
