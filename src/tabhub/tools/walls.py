"""What results say of sites that the rules close to the caller: only that they are walled.

A call is decided for one site, but what the browser reports of it can concern others: where a
click led, who asks for a password, where a file came from. So the output of every command passes
here before a tool sees it. The types in `wire/commands` say what in it is an address.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import inspect as types

from tabhub.errors import TabhubError
from tabhub.permissions.sites import WALLED, MayTell, is_walled
from tabhub.wire.commands import COMMANDS
from tabhub.wire.commands.command import ADDRESS, Dialog, Shape

IsWalled = Callable[[object, MayTell], bool]
_KEPT = (types.BoolType, types.IntType, types.FloatType, types.LiteralType, types.NoneType)
"""Types whose values say nothing that a page has written."""
_MESSAGES = {
    "dialog_open": "A page of a walled site shows a dialog in this tab. Navigating elsewhere or "
    "closing the tab dismisses it.",
    "navigation_failed": "This led to a walled site, which could not be loaded.",
}
_FROM_SERVER = re.compile(r"(?:blob:)?(?:http|ws)s?:", re.IGNORECASE)
_SOCKET = re.compile(r"^ws", re.IGNORECASE)
_MESSAGE = "This concerns a walled site, so no more is said about it."


def told(command: str, output: Any, may_tell: MayTell) -> Any:
    """The output of a command as its tool may see it."""
    objects = _objects(command)
    return output if objects is None else objects.told(output, may_tell)


def told_error(error: TabhubError, may_tell: MayTell) -> TabhubError:
    """An error of a command; its data has the addresses that its sentence names."""
    extra, before = dict(error.extra), error.extra.get("dialog")
    walled = is_walled(extra.get("url"), may_tell)
    if isinstance(before, dict):
        extra["dialog"] = dialog = _object_of(Dialog).told(before, may_tell)
        walled = walled or dialog.get("origin") == WALLED
    if walled and "url" in extra:
        extra["url"] = WALLED
    copy = error.with_effect(error.effect)
    copy.extra = extra
    if walled:
        copy.message = _MESSAGES.get(error.reason, _MESSAGE)
        copy.args = (copy.message,)
    return copy


def _is_source_walled(address: object, may_tell: MayTell) -> bool:
    if not isinstance(address, str) or not _FROM_SERVER.match(address):
        return False
    return is_walled(_SOCKET.sub("http", address), may_tell)


class _Object:
    """An object of an output: which of its members are addresses, and which lead to others."""

    def __init__(self) -> None:
        self._addresses: dict[str, IsWalled] = {}
        self._hidden: list[str] = []
        self._inner: dict[str, _Object] = {}
        self._kept: set[str] = set()
        self._emptied: dict[str, Any] = {}
        self.matters = False
        """Whether there is an address in it."""

    def learn(self, info: types.StructType) -> None:
        for member in info.fields:
            self._learn(member.encode_name, member.type, member.required)

    def _learn(self, name: str, kind: types.Type, is_required: bool) -> None:
        how, bare = _unwrapped(kind)
        if how is not None:
            self._addresses[name] = _is_source_walled if how == "source" else is_walled
            self._hidden += [name] if how == "hidden" else []
            self.matters = True
        elif isinstance(bare, types.StructType) and _object_of(bare.cls).matters:
            self._inner[name] = _object_of(bare.cls)
            self.matters = True
        elif isinstance(bare, _KEPT) or getattr(bare, "cls", Shape).of_page is False:
            self._kept.add(name)
        elif is_required:
            self._emptied[name] = _empty(kind)

    def told(self, value: Any, may_tell: MayTell) -> Any:
        """The value, or each of a list; without all texts if an address in it is walled."""
        if isinstance(value, list):
            return [self.told(one, may_tell) for one in value]
        if not self.matters or not isinstance(value, dict):
            return value
        if any(check(value.get(name), may_tell) for name, check in self._addresses.items()):
            return self._without_texts(value, may_tell)
        shown = {name: one for name, one in value.items() if name not in self._hidden}
        for name in self._inner.keys() & shown.keys():
            shown[name] = self._inner[name].told(shown[name], may_tell)
        return shown

    def _without_texts(self, value: Any, may_tell: MayTell) -> Any:
        shown = {name: one for name, one in value.items() if name in self._kept}
        for name in self._inner.keys() & value.keys():
            # It has an address of its own, which may be of another site.
            shown[name] = self._inner[name].told(value[name], may_tell)
        # Where only a hidden address was walled, another one says so.
        shown_addresses = [name for name in self._addresses if name not in self._hidden]
        named = [name for name in shown_addresses if name in value] or shown_addresses[:1]
        return {**self._emptied, **shown, **dict.fromkeys(named, WALLED)}


@cache
def _objects(command: str) -> _Object | None:
    """The object that a command returns; None if there is no address in it."""
    outputs = [_object_of(output) for output in COMMANDS[command].outputs]
    if not any(output.matters for output in outputs):
        return None
    if len(outputs) > 1:
        raise TypeError(f"{command}: which of its outputs has the address?")
    return outputs[0]


_KNOWN: dict[type, _Object] = {}


def _object_of(shape: type) -> _Object:
    if shape not in _KNOWN:
        info = types.type_info(shape)
        assert isinstance(info, types.StructType)
        # An object can contain itself, as a folder of bookmarks does.
        _KNOWN[shape] = found = _Object()
        found.learn(info)
    return _KNOWN[shape]


def _unwrapped(kind: types.Type) -> tuple[str | None, types.Type]:
    """How an address is shown (None for no address), and the type without list and `Maybe`."""
    if isinstance(kind, types.Metadata):
        how = (kind.extra or {}).get(ADDRESS)
        return (how, kind.type) if how else _unwrapped(kind.type)
    if isinstance(kind, types.UnionType):
        known = map(_unwrapped, kind.types)
        return max(known, key=_weight)
    if isinstance(kind, types.ListType):
        how, inner = _unwrapped(kind.item_type)
        return (how, inner) if _is_struct(inner) else (how, kind)
    return None, kind


def _weight(unwrapped: tuple[str | None, types.Type]) -> tuple[bool, bool, bool]:
    """Of the types of a union, an address counts most, then an object, then a text."""
    how, kind = unwrapped
    return how is not None, _is_struct(kind), not isinstance(kind, _KEPT)


def _is_struct(kind: types.Type) -> bool:
    return isinstance(kind, types.StructType)


def _empty(kind: types.Type) -> Any:
    if isinstance(kind, types.ListType):
        return []
    return {} if isinstance(kind, types.DictType) else ""
