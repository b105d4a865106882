"""Compiled schemas: what one may cost, and how many are kept."""

from contextlib import suppress
from typing import Any, NamedTuple

import jsonschema_rs
import msgspec

from tabhub.errors import InvalidArguments
from tabhub.hub.schemas import BoundedSchema
from tabhub.hub.tools import Tool

KEPT = 1000
KEPT_BYTES = 64 * 1024 * 1024
"""What the schemas of pages may take while they are kept, by a generous estimate."""
GROWTH = 50
"""How much larger a schema is once it is compiled, its patterns aside."""
PATTERN_BYTES = 1024 * 1024
ALL_PATTERN_BYTES = 8 * 1024 * 1024
"""What one pattern of a page may take, and all of a schema together."""
BACKTRACKS = 10_000
"""What a page's pattern may cost: most are matched in linear time, the others with a bound."""
EXPLAINED = 200_000_000
"""Each fault holds a copy of what it is about: bytes of schema times bytes of arguments."""
WITH_REFERENCES = 240_000
"""How long a schema counts as that may be larger than it is written."""

NAME_PATTERNS = ("patternProperties", "additionalProperties", "unevaluatedProperties")
"""What says nothing without patterns of names, or too much."""

_UNUSABLE = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


class Compiled(NamedTuple):
    """The schema of a tool, ready to be used."""

    validator: jsonschema_rs.Validator
    weight: int = 0
    """In bytes, as far as it can be told; of our own tools nothing."""
    length: int = 0
    """Of the schema as it is written, for a page's."""

    def can_explain(self, given: Any) -> bool:
        """Whether all faults can be told without taking too much."""
        return self.length * len(msgspec.json.encode(given)) <= EXPLAINED


def compiled(tool: Tool) -> Compiled:
    schema = tool.input_schema
    try:
        if isinstance(schema, BoundedSchema):
            return _bounded(schema)
        return Compiled(jsonschema_rs.validator_for(dict(schema), offline=True))
    except _UNUSABLE:
        raise InvalidArguments(f"The schema of {tool.name} cannot be used.") from None


def _bounded(schema: BoundedSchema) -> Compiled:
    read = schema.published()
    count = patterns_in(read)
    each = min(PATTERN_BYTES, ALL_PATTERN_BYTES // max(count, 1))
    length = max(len(schema.own), WITH_REFERENCES if b'"$ref"' in schema.own else 0)
    weight = GROWTH * len(schema.own) + count * each
    return Compiled(page_validator(read, each), weight, length)


def page_validator(schema: dict[str, Any], each: int = PATTERN_BYTES) -> jsonschema_rs.Validator:
    """Patterns of a page must not be able to keep us busy, nor to take much memory.

    Those that we cannot use are left to the page, which has the last word anyway.
    """
    linear = jsonschema_rs.RegexOptions(size_limit=each, dfa_size_limit=each)
    bounded = jsonschema_rs.FancyRegexOptions(
        backtrack_limit=BACKTRACKS, size_limit=each, dfa_size_limit=each
    )
    for options in (linear, bounded):
        with suppress(*_UNUSABLE):
            return jsonschema_rs.validator_for(schema, offline=True, pattern_options=options)
    return jsonschema_rs.validator_for(_without_patterns(schema), offline=True)


def _without_patterns(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_patterns(one) for one in node]
    if not isinstance(node, dict):
        return node
    left_out = set(NAME_PATTERNS) if "patternProperties" in node else set()
    if isinstance(node.get("pattern"), str):
        left_out.add("pattern")
    return {key: _without_patterns(one) for key, one in node.items() if key not in left_out}


def patterns_in(node: Any) -> int:
    """How many there are, or more: whatever looks like one counts."""
    if isinstance(node, list):
        return sum(map(patterns_in, node))
    if not isinstance(node, dict):
        return 0
    under = node.get("patternProperties")
    own = isinstance(node.get("pattern"), str) + (len(under) if isinstance(under, dict) else 0)
    return own + sum(map(patterns_in, node.values()))


class Kept:
    """The compiled schemas by tool; those used longest ago go, by number and by weight."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Tool, Compiled]] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._known)

    def find(self, tool: Tool) -> Compiled | None:
        known = self._known.pop(tool.name, None)
        if known is None:
            return None
        if known[0] is not tool:
            self._weight -= known[1].weight
            return None
        self._known[tool.name] = known
        return known[1]

    def put(self, tool: Tool, made: Compiled) -> Compiled:
        """Keep it, if there is none of that name."""
        self._known[tool.name] = (tool, made)
        self._weight += made.weight
        while len(self._known) > KEPT or (self._weight > KEPT_BYTES and len(self._known) > 1):
            self._weight -= self._known.pop(next(iter(self._known)))[1].weight
        return made
