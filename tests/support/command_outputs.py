"""Outputs of commands by a double of the extension; a test gives only the members it needs."""

from typing import Any

import msgspec
from msgspec import inspect

from tabhub.wire.commands import COMMANDS, misfit


def completed(command: str, output: Any) -> Any:
    """Add every member that the shape requires; given members stay unchanged."""
    if command not in COMMANDS or not isinstance(output, dict):
        return output
    filled = [_filled(shape, output) for shape in COMMANDS[command].outputs]
    fitting = (output for output in filled if misfit(command, "output", output) is None)
    return next(fitting, filled[0])


def _filled(shape: type[msgspec.Struct], members: dict[str, Any]) -> dict[str, Any]:
    kind = inspect.type_info(shape)
    assert isinstance(kind, inspect.StructType)
    missing = (
        field for field in kind.fields if field.required and field.encode_name not in members
    )
    plain = {field.encode_name: _plain(field.type) for field in missing}
    known = {field.encode_name: field.type for field in kind.fields}
    return {**plain, **{name: _inside(known.get(name), value) for name, value in members.items()}}


def _inside(kind: inspect.Type | None, value: Any) -> Any:
    """Complete the value of a member."""
    if isinstance(kind, inspect.ListType) and isinstance(value, list):
        return [_inside(kind.item_type, item) for item in value]
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        return _filled(kind.cls, value)
    return value


def _plain(kind: inspect.Type) -> Any:
    """The simplest value of a type."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _plain(kind.types[0])
    if isinstance(kind, inspect.StructType):
        return _filled(kind.cls, {})
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.AnyType | inspect.NoneType):
        return None
    return msgspec.to_builtins(_PLAIN[type(kind)])


_PLAIN: dict[type[inspect.Type], Any] = {
    inspect.StrType: "",
    inspect.IntType: 0,
    inspect.FloatType: 0,
    inspect.BoolType: False,
    inspect.ListType: [],
    inspect.DictType: {},
}
