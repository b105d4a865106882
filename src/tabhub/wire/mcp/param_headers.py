"""Arguments that travel in headers too: `x-mcp-header` in a tool's schema, `Mcp-Param-*` beside it.

What is given in the one must be given, with the same value, in the other.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tabhub.errors import ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp.headers import (
    PARAM_PREFIX,
    Headers,
    decode_value,
    encode_value,
    mismatch,
    value_of,
)

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_SCALARS = ("string", "integer", "boolean")


class Mark(NamedTuple):
    """One marked property: where it is in the arguments, its header's name, its type."""

    path: tuple[str, ...]
    token: Any
    kind: Any

    @property
    def header(self) -> bytes:
        return PARAM_PREFIX + str(self.token).lower().encode("utf-8")

    def usable(self) -> bool:
        named = isinstance(self.token, str) and _TOKEN.fullmatch(self.token) is not None
        return named and self.kind in _SCALARS


class ParamHeaders:
    """Checks calls; remembers the marks of each tool for as long as its schema is the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, list[Mark]]] = {}

    def check(self, tool: str, schema: Any, arguments: msgspec.Raw, headers: Headers) -> None:
        marks = self._marks(tool, schema)
        if marks:
            given = _decoded(arguments)
            for mark in marks:
                _check(mark, given, headers)

    def _marks(self, tool: str, schema: Any) -> list[Mark]:
        if schema is None:
            return []
        known = self._known.get(tool)
        if known is None or known[0] is not schema:
            known = self._known[tool] = (schema, declared(schema))
        return known[1]


def declared(schema: Any) -> list[Mark]:
    """The marks of a schema; none if any of them is unusable."""
    marks = list(_walk(schema, ()))
    unique = len({mark.header for mark in marks}) == len(marks)
    return marks if unique and all(mark.usable() for mark in marks) else []


def rendered(marks: list[Mark], arguments: Any) -> list[tuple[bytes, bytes]]:
    """The headers that go with these arguments."""
    values = [(mark.header, _render(_value_at(arguments, mark.path))) for mark in marks]
    return [(name, encode_value(value)) for name, value in values if value is not None]


def _walk(schema: Any, path: tuple[str, ...]) -> Iterator[Mark]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for key, sub in properties.items() if isinstance(properties, dict) else ():
        if isinstance(sub, dict):
            if "x-mcp-header" in sub:
                yield Mark((*path, key), sub["x-mcp-header"], sub.get("type"))
            yield from _walk(sub, (*path, key))


def _decoded(arguments: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(arguments)
    except jsonrpc.UNREADABLE as error:
        raise ProtocolError(f"Wrong arguments: {error}.", "invalid_params") from None


def _check(mark: Mark, arguments: Any, headers: Headers) -> None:
    name, raw = mark.header.decode(), value_of(headers, mark.header)
    value = _value_at(arguments, mark.path)
    rendered = _render(value)
    if raw is None and rendered is None:
        return
    if raw is None or rendered is None:
        raise mismatch(f"The header {name} and its argument must be given together.")
    given = decode_value(raw)
    if given is None:
        raise mismatch(f"The header {name} is not valid base64.")
    same_number = mark.kind == "integer" and _INTEGER.fullmatch(given) and float(given) == value
    if given != rendered and not same_number:
        raise mismatch(f"The header {name} does not match its argument.")


def _value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, Mapping) else None
    return arguments


def _render(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
