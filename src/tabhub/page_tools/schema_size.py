"""How large a schema is once its references are followed: what a check of arguments may cost."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Schemas under names that are the page's own, whatever they are."""
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
DATA = frozenset({"enum", "const", "default", "examples", "example"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
COUNTS = frozenset(
    {
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    }
)
FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
FOREIGN = frozenset({"$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"})
"""By these a schema would refer to more than its own places."""
TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
DIALECTS = {
    f"{scheme}://json-schema.org/{path}/schema{end}"
    for scheme in ("http", "https")
    for path in ("draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
}


class Unfit(ValueError):
    """What a page has sent cannot be used; the text says why."""


MOST_PLACES = 20_000
DEARER = 4
"""To find what is not evaluated, all that is beside is checked again, and so what is in it."""

Json = dict[str, Any]


def require_small(schema: Json, deepest: int) -> None:
    """Unfit if it refers to itself, elsewhere, or to too much; it has been read before."""
    _Expansion(schema, deepest).of(schema, 1)


class _Size(NamedTuple):
    places: int
    height: int


class _Expansion:
    """Counts the places of a schema as if every reference were written out."""

    def __init__(self, root: Json, deepest: int) -> None:
        self._root = root
        self._deepest = deepest
        self._known: dict[int, _Size] = {}
        self._open: set[int] = set()

    def of(self, node: Any, depth: int) -> _Size:
        if isinstance(node, bool):
            return _Size(1, 1)
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._measured(node, depth)
        self._require_low(depth + known.height - 1)
        return known

    def _measured(self, node: Json, depth: int) -> _Size:
        if id(node) in self._open:
            raise Unfit("its schema refers to itself")
        self._require_low(depth)
        self._open.add(id(node))
        places, height = _own(node), 0
        for child in self._children(node):
            size = self.of(child, depth + 1)
            places, height = places + size.places, max(height, size.height)
        if any(word in node for word in UNEVALUATED):
            places *= DEARER
        self._open.discard(id(node))
        if places > MOST_PLACES:
            raise Unfit("its schema is too large once its references are followed")
        return _Size(places, height + 1)

    def _require_low(self, depth: int) -> None:
        if depth > self._deepest:
            raise Unfit(f"its schema is nested more than {self._deepest} deep")

    def _children(self, node: Json) -> Iterator[Any]:
        if "$ref" in node:
            yield self._target(node["$ref"])
        for word, value in node.items():
            yield from _schemas(word, value)

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise Unfit("its schema refers to another document")
        if reference in ("#", "#/"):
            raise Unfit("its schema refers to itself")
        return _found(self._root, reference)


def _own(node: Json) -> int:
    """What a schema says itself, with the values that it lists."""
    lists = (value for word, value in node.items() if word in _LISTED)
    return 1 + len(node) + sum(_values(one) for one in lists)


_LISTED = DATA | {"required", "dependentRequired", "dependencies"}


def _values(data: Any) -> int:
    if isinstance(data, dict):
        return 1 + sum(map(_values, data.values()))
    return 1 + sum(map(_values, data)) if isinstance(data, list) else 1


def _schemas(word: str, value: Any) -> Iterator[Any]:
    """The schemas behind a word."""
    if word in MAPS or word == "dependencies":
        yield from (one for one in value.values() if not isinstance(one, list))
    elif isinstance(value, list):
        yield from value if word in LISTS or word == "items" else ()
    elif word in SINGLE:
        yield value


def _found(root: Json, reference: str) -> Any:
    """What a reference leads to, from schema to schema."""
    node: Any = root
    steps = iter(unquote(reference).removeprefix("#/").split("/"))
    for step in steps:
        word = _unescaped(step)
        behind = node.get(word) if isinstance(node, dict) else None
        if word in MAPS or word == "dependencies":
            name = _unescaped(next(steps, ""))
            node = behind.get(name) if isinstance(behind, dict) else None
        elif isinstance(behind, list) and (word in LISTS or word == "items"):
            node = _at(behind, next(steps, ""))
        else:
            node = behind if word in SINGLE else None
        if not isinstance(node, dict | bool):
            raise Unfit("its schema refers to nothing")
    return node


def _at(values: list[Any], step: str) -> Any:
    is_index = step.isascii() and step.isdigit() and len(step) <= 6
    return values[int(step)] if is_index and int(step) < len(values) else None


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
