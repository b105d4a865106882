"""The keywords of JSON Schema, and the size of a schema with its references expanded.

That size bounds what validating arguments can cost.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords with schemas under names of the author's choice."""
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
"""Keywords by which a schema could refer to something outside itself."""
TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
DIALECTS = {
    f"{scheme}://json-schema.org/{path}/schema{end}"
    for scheme in ("http", "https")
    for path in ("draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
}


_WITH_VALUES = DATA | {"required", "dependentRequired", "dependencies"}

MOST_PLACES = 20_000
UNEVALUATED_FACTOR = 4
"""To find unevaluated members, a validator checks all other keywords again, at each level."""

Json = dict[str, Any]


class Unfit(ValueError):
    """Something from an untrusted author cannot be used; the message says why."""


def require_small(schema: Json, deepest: int) -> None:
    """Raise Unfit if a checked schema refers to itself, to another document, or to too much."""
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
        if any(keyword in node for keyword in UNEVALUATED):
            places *= UNEVALUATED_FACTOR
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
        for keyword, value in node.items():
            yield from _schemas(keyword, value)

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise Unfit("its schema refers to another document")
        if reference in ("#", "#/"):
            raise Unfit("its schema refers to itself")
        return resolved(self._root, reference)


def _own(node: Json) -> int:
    """The places of a schema without its subschemas, with the values that it lists."""
    lists = (value for keyword, value in node.items() if keyword in _WITH_VALUES)
    return 1 + len(node) + sum(map(_values, lists))


def _values(data: Any) -> int:
    if isinstance(data, dict):
        return 1 + sum(map(_values, data.values()))
    return 1 + sum(map(_values, data)) if isinstance(data, list) else 1


def _schemas(keyword: str, value: Any) -> Iterator[Any]:
    """The subschemas in the value of a keyword."""
    if keyword in MAPS or keyword == "dependencies":
        yield from (item for item in value.values() if not isinstance(item, list))
    elif isinstance(value, list):
        yield from value if keyword in LISTS or keyword == "items" else ()
    elif keyword in SINGLE:
        yield value


def resolved(root: Json, reference: str) -> Any:
    """The schema that a reference names; each step must lead from schema to schema."""
    node: Any = root
    steps = iter(unquote(reference).removeprefix("#/").split("/"))
    for step in steps:
        keyword = _unescaped(step)
        value = node.get(keyword) if isinstance(node, dict) else None
        if keyword in MAPS or keyword == "dependencies":
            name = _unescaped(next(steps, ""))
            node = value.get(name) if isinstance(value, dict) else None
        elif isinstance(value, list) and (keyword in LISTS or keyword == "items"):
            node = _at(value, next(steps, ""))
        else:
            node = value if keyword in SINGLE else None
        if not isinstance(node, dict | bool):
            raise Unfit("its schema refers to nothing")
    return node


def _at(values: list[Any], step: str) -> Any:
    is_index = step.isascii() and step.isdigit() and len(step) <= 6
    return values[int(step)] if is_index and int(step) < len(values) else None


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
