"""The dotted keys of the settings: which there are, and what each may hold."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args, get_origin

import msgspec

from tabhub.config.settings import Settings
from tabhub.errors import InvalidArguments

Path = tuple[str, ...]


def path_of(key: str) -> tuple[Path, Any]:
    """The members that a dotted key names, and the type of what is there."""
    path, kind = _walk(key.split("."), Settings)
    if kind is None:
        close = get_close_matches(key, list(names()), n=1, cutoff=0.5)
        hint = f" Did you mean {close[0]}?" if close else " `tabhub config show` lists them."
        raise InvalidArguments(f"There is no setting {key!r}.{hint}")
    return path, kind


def names(kind: Any = Settings, prefix: str = "") -> Iterator[str]:
    """Every key; for what people name themselves, such as hosts, the part before."""
    for field in msgspec.structs.fields(kind):
        name = prefix + field.encode_name
        if is_section(field.type):
            yield from names(field.type, f"{name}.")
        else:
            yield name


def differing(one: Settings, other: Settings) -> list[str]:
    """The keys at which two settings are not the same."""
    ours, theirs = msgspec.to_builtins(one), msgspec.to_builtins(other)
    return [name for name in names() if _at(ours, name) != _at(theirs, name)]


def _at(plain: Any, name: str) -> Any:
    for step in name.split("."):
        plain = plain[step]
    return plain


def _walk(steps: list[str], kind: Any) -> tuple[Path, Any]:
    """The type is None if there is nothing of that name."""
    if not steps:
        return (), kind
    if get_origin(kind) is dict and all(steps):
        # A host has dots of its own.
        return (".".join(steps),), get_args(kind)[1]
    if not is_section(kind):
        return (), None
    for field in msgspec.structs.fields(kind):
        if field.encode_name == steps[0]:
            path, found = _walk(steps[1:], field.type)
            return (steps[0], *path), found
    return (), None


def is_section(kind: Any) -> bool:
    """Whether something holds keys of its own."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
