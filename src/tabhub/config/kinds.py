"""What the settings may hold, as their types say it: found by key, told in plain words."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_PLACE = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")


def is_section(kind: Any) -> bool:
    """Whether something holds keys of its own."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def kind_at(steps: Sequence[str], kind: Any) -> tuple[tuple[str, ...], Any]:
    """The members that a key names below a type, and the type there; None if there is nothing."""
    if not steps:
        return (), kind
    if get_origin(kind) is dict and all(steps):
        # A host has dots of its own.
        return (".".join(steps),), get_args(kind)[1]
    if not is_section(kind):
        return (), None
    for field in msgspec.structs.fields(kind):
        if field.encode_name == steps[0]:
            path, found = kind_at(steps[1:], field.type)
            return (steps[0], *path), found
    return (), None


def described(kind: Any) -> str:
    """What fits a type, so that it can follow "must be"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(described(inner[0]), inner[1])
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin is list:
        return f"a list, each of it {described(inner[0])}"
    if origin is dict:
        return f"an object, each value of it {described(inner[1])}"
    options = [described(one) for one in inner if one is not type(None)]
    return " or ".join(options) if options else _WORDS.get(kind, "an object")


def complaint(error: msgspec.ValidationError, root: Any) -> str:
    """What does not fit in a whole file, without what somebody wrote there."""
    place = _PLACE.search(str(error))
    named = place[1].partition("[")[0].rstrip(".") if place else ""
    _, kind = kind_at(named.split(".") if named else [], root)
    if kind is None:
        return str(error)
    return f"{named or 'the whole of it'} must be {described(kind)}"


def _bounded(words: str, meta: msgspec.Meta) -> str:
    if meta.description is not None:
        return meta.description
    bounds = ((word, getattr(meta, name)) for name, word in _BOUNDS)
    told = [f"{word} {bound}" for word, bound in bounds if bound is not None]
    return f"{words} {' and '.join(told)}" if told else words
