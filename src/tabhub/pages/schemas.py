"""Schemas of pages: bounded before anybody compiles or lists them."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

DEEPEST = 50
MOST_PLACES = 20_000
"""Places to look at, with references followed: what a check of arguments may cost."""
KNOWN = ("draft-06", "draft-07", "2019-09", "2020-12")
NO_ARGUMENTS = b'{"properties":{},"type":"object"}'
_DATA = frozenset({"enum", "const", "default", "examples", "example"})
_FOREIGN = ("$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor", "$vocabulary")

Json = dict[str, Any]


class Unfit(ValueError):
    """What a page has sent cannot be used; the text says why."""


def checked_schema(given: msgspec.Raw, most_bytes: int) -> bytes:
    """A page's schema in as few bytes as can be; Unfit with the reason if it is refused."""
    if len(given) > most_bytes:
        raise Unfit(f"its schema has more than {most_bytes} bytes")
    schema = _object(given)
    if schema.get("type", "object") != "object":
        raise Unfit("its schema is not that of an object")
    if not isinstance(schema.get("properties", {}), dict):
        raise Unfit("its schema has properties that are no object")
    _Places(schema).count()
    # Properties come first, so that one more can be put in without reading all of it.
    return msgspec.json.encode({"properties": {}, **_cleaned(schema), "type": "object"})


def _object(given: msgspec.Raw) -> Json:
    try:
        schema = msgspec.json.decode(given)
        if isinstance(schema, str):
            # Some browsers tell schemas as text.
            schema = msgspec.json.decode(schema)
    except (ValueError, RecursionError):
        raise Unfit("its schema cannot be read") from None
    if not isinstance(schema, dict):
        raise Unfit("its schema is no object")
    return schema


def _cleaned(schema: Json) -> Json:
    """Without what names it elsewhere, and without dialects that nobody here speaks."""
    dialect = schema.get("$schema")
    is_known = isinstance(dialect, str) and any(name in dialect for name in KNOWN)
    dropped = {"$id"} if is_known else {"$id", "$schema"}
    return {key: value for key, value in schema.items() if key not in dropped}


class _Places:
    """Counts the places of a schema as if every reference were written out."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._counted: dict[str, int] = {}
        self._open: set[str] = set()

    def count(self) -> int:
        return self._of(self._root, 0)

    def _of(self, node: Any, depth: int) -> int:
        if depth > DEEPEST:
            raise Unfit(f"its schema is nested more than {DEEPEST} deep")
        places = 1
        if isinstance(node, dict):
            self._refuse_foreign(node)
            reference = node.get("$ref")
            if isinstance(reference, str):
                places += self._referred(reference, depth)
        for child in _children(node):
            places += self._of(child, depth + 1)
            _require_few(places)
        _require_few(places)
        return places

    def _refuse_foreign(self, node: Json) -> None:
        for word in _FOREIGN:
            if isinstance(node.get(word), str) and not (word == "$id" and node is self._root):
                raise Unfit(f"its schema uses {word}")

    def _referred(self, reference: str, depth: int) -> int:
        if not reference.startswith("#"):
            raise Unfit("its schema refers to another document")
        if reference in self._open:
            raise Unfit("its schema refers to itself")
        if reference not in self._counted:
            self._open.add(reference)
            self._counted[reference] = self._of(self._target(reference), depth + 1)
            self._open.discard(reference)
        return self._counted[reference]

    def _target(self, reference: str) -> Any:
        node: Any = self._root
        if reference in ("#", "#/"):
            raise Unfit("its schema refers to itself")
        for step in unquote(reference).removeprefix("#/").split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise Unfit("its schema refers to nothing")
            node = node[key]
        return node


def _require_few(places: int) -> None:
    if places > MOST_PLACES:
        raise Unfit("its schema is too large once its references are followed")


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key not in _DATA)
    elif isinstance(node, list):
        yield from node
