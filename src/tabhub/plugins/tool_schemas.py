"""The schemas of a plugin's tools, checked and made fit for calls.

The SDK writes them from Zod in its output mode: a property with a default counts as required
there, although nobody fills it in, and a recursive type refers to itself.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from tabhub.hub.schema_rules import checked_schema
from tabhub.hub.schema_size import DATA, MAPS, Unfit, resolved

SCHEMA_BYTES = 256 * 1024
HOST_PARAMETERS = ("tabId", "instance")
"""What the host adds to every tool of a plugin, and removes before the page gets the call."""

Json = dict[str, Any]


def input_schema(given: Raw) -> tuple[bytes, Json]:
    """The schema as compact JSON, and the defaults to fill in; Unfit with the reason."""
    bounded = _without_cycles(given) if b'"$ref"' in bytes(given) else given
    written = checked_schema(bounded, SCHEMA_BYTES)
    for name in HOST_PARAMETERS:
        if f'"{name}"'.encode() in written and name in msgspec.json.decode(written)["properties"]:
            raise Unfit(f"it has an input {name}, which is a name of the host's")
    return _with_optional_defaults(written)


def _with_optional_defaults(written: bytes) -> tuple[bytes, Json]:
    """The schema without the demand for properties that have a default, and these defaults."""
    if b'"default"' not in written:
        return written, {}
    schema = msgspec.json.decode(written)
    properties, required = schema["properties"], schema.get("required", [])
    defaults = {n: properties[n]["default"] for n in required if "default" in properties.get(n, ())}
    if not defaults:
        return written, {}
    schema["required"] = [name for name in required if name not in defaults]
    if not schema["required"]:
        del schema["required"]
    return msgspec.json.encode(schema), defaults


def output_schema(given: Raw) -> bytes | None:
    """The schema as it was written; nothing is ever checked against it."""
    written = bytes(given)
    if written == b"null":
        return None
    if len(written) > SCHEMA_BYTES:
        raise Unfit(f"its output schema has more than {SCHEMA_BYTES} bytes")
    return written


def _without_cycles(given: Raw) -> Raw:
    """The schema, with each reference to something around it removed.

    What it stood for is then not checked here, but in the page. To check it would let the author
    of a schema decide how long a check takes.
    """
    if len(given) > SCHEMA_BYTES:
        raise Unfit(f"its schema has more than {SCHEMA_BYTES} bytes")
    try:
        schema = msgspec.json.decode(given)
        if isinstance(schema, dict):
            _Cycles(schema).cut(schema)
    except Unfit:
        raise
    except (ValueError, RecursionError):
        raise Unfit("its schema cannot be read") from None
    return Raw(msgspec.json.encode(schema))


class _Cycles:
    """Walks along parts and references, and cuts each reference that leads back to its way."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._way: set[int] = set()
        self._seen: set[int] = set()

    def cut(self, node: Json | list[Any]) -> None:
        if id(node) in self._seen:
            return
        self._way.add(id(node))
        if isinstance(node, dict):
            self._follow(node)
        for part in _parts(node):
            self.cut(part)
        self._way.discard(id(node))
        self._seen.add(id(node))

    def _follow(self, node: Json) -> None:
        target = self._target(node.get("$ref"))
        if target is None:
            return
        if id(target) in self._way:
            del node["$ref"]
        else:
            self.cut(target)

    def _target(self, reference: object) -> Json | None:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found = self._root if reference in ("#", "#/") else resolved(self._root, reference)
        return found if isinstance(found, dict) else None


def _parts(node: Json | list[Any]) -> Iterator[Json | list[Any]]:
    """What a part of a schema contains, but for plain values."""
    values = iter(node) if isinstance(node, list) else _values(node)
    return (value for value in values if isinstance(value, dict | list))


def _values(node: Json) -> Iterator[Any]:
    """The values under keywords; a property may be called like a keyword."""
    for keyword, value in node.items():
        if keyword in MAPS and isinstance(value, dict):
            yield from value.values()
        elif keyword not in DATA:
            yield value
