"""Checks and bounds the schemas of untrusted authors before they are compiled or listed.

Every value in a place where a schema can stand is checked as one. What is left out cannot be
referred to, so an accepted schema is small even with its references expanded.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from tabhub.hub import schema_size
from tabhub.hub.schema_size import MOST_PLACES, Unfit, require_small
from tabhub.hub.texts import LONGEST, readable

DEEPEST = 50
MOST_PATTERNS = 100
PATTERN_BYTES = 16 * 1024
NO_ARGUMENTS = b'{"properties":{},"type":"object"}'

Json = dict[str, Any]


def checked_schema(given: msgspec.Raw, most_bytes: int) -> bytes:
    """A schema as compact JSON; Unfit with the reason if it is refused."""
    if len(given) > most_bytes:
        raise Unfit(f"its schema has more than {most_bytes} bytes")
    schema = _object(given)
    if schema.get("type", "object") != "object":
        raise Unfit("its schema is not that of an object")
    reader = _SchemaReader()
    without_id = {key: value for key, value in schema.items() if key != "$id"}
    read: Json = reader.schema(without_id, 1)
    if reader.needs_expansion:
        require_small(read, DEEPEST)
    # Properties come first, so that another can be inserted without decoding the schema.
    return msgspec.json.encode({"properties": {}, **_dialect(schema), **read, "type": "object"})


def _object(given: msgspec.Raw) -> Json:
    try:
        schema = msgspec.json.decode(given)
        if isinstance(schema, str):
            # Some browsers send schemas as text.
            schema = msgspec.json.decode(schema)
    except (ValueError, RecursionError):
        raise Unfit("its schema cannot be read") from None
    if not isinstance(schema, dict):
        raise Unfit("its schema is no object")
    return schema


def _dialect(schema: Json) -> Json:
    """The dialect that the schema declares, if it is a known one."""
    uri = schema.get("$schema")
    return {"$schema": uri} if isinstance(uri, str) and uri in schema_size.DIALECTS else {}


class _SchemaReader:
    """Copies a schema, keeps only values of the right type, and counts everything."""

    def __init__(self) -> None:
        self._places = 0
        self._patterns = 0
        self._pattern_bytes = 0
        self.needs_expansion = False
        """Whether validation may cost more than the number of places suggests."""

    def schema(self, node: Any, depth: int) -> Any:
        self._enter(1, depth)
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            raise Unfit("its schema has a part that is no schema")
        read = {}
        for keyword, value in node.items():
            self._enter(1, depth)
            kept = _READERS.get(keyword, _unknown)(self, value, depth + 1)
            if kept is not UNSET:
                read[keyword] = kept
        return read

    def _enter(self, places: int, depth: int) -> None:
        if depth > DEEPEST:
            raise Unfit(f"its schema is nested more than {DEEPEST} deep")
        self._places += places
        if self._places > MOST_PLACES:
            raise Unfit(f"its schema has more than {MOST_PLACES} places")

    def under_names(self, value: Any, depth: int) -> Json:
        if not isinstance(value, dict):
            raise Unfit("its schema has properties that are no object")
        return {name: _as_object(self.schema(item, depth + 1)) for name, item in value.items()}

    def under_patterns(self, value: Any, depth: int) -> Json:
        read = self.under_names(value, depth)
        for name in read:
            self.pattern(name, depth)
        return read

    def listed(self, value: Any, depth: int) -> Any:
        if not isinstance(value, list):
            raise Unfit("its schema has a part that is no list of schemas")
        return [self.schema(item, depth + 1) for item in value] or UNSET

    def items(self, value: Any, depth: int) -> Any:
        return (self.listed if isinstance(value, list) else self.schema)(value, depth)

    def unevaluated(self, value: Any, depth: int) -> Any:
        self.needs_expansion = True
        return self.schema(value, depth)

    def dependencies(self, value: Any, depth: int) -> Json:
        if not isinstance(value, dict):
            raise Unfit("its schema has dependencies that are no object")
        return {
            name: (self.names if isinstance(item, list) else self.schema)(item, depth + 1)
            for name, item in value.items()
        }

    def names(self, value: Any, depth: int) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise Unfit("its schema requires what are no names")
        self._enter(len(value), depth)
        return list(dict.fromkeys(value))

    def names_by_name(self, value: Any, depth: int) -> Json:
        if not isinstance(value, dict):
            raise Unfit("its schema requires what are no names")
        return {name: self.names(item, depth + 1) for name, item in value.items()}

    def data(self, value: Any, depth: int) -> Any:
        """Any value: it contains no schemas, and no reference can lead into it."""
        self._enter(1, depth)
        if isinstance(value, list | dict):
            self._enter(len(value), depth)
            for item in value.values() if isinstance(value, dict) else value:
                if isinstance(item, list | dict):
                    self.data(item, depth + 1)
        return value

    def listed_data(self, value: Any, depth: int) -> Any:
        return self.data(value, depth) if isinstance(value, list) else UNSET

    def pattern(self, value: Any, depth: int) -> Any:
        if not isinstance(value, str):
            return UNSET
        self._patterns += 1
        self._pattern_bytes += len(value)
        if self._patterns > MOST_PATTERNS or self._pattern_bytes > PATTERN_BYTES:
            raise Unfit(
                f"its schema has more than {MOST_PATTERNS} patterns "
                f"or {PATTERN_BYTES} bytes of them"
            )
        return value

    def reference(self, value: Any, depth: int) -> Any:
        self.needs_expansion = True
        return value if isinstance(value, str) else UNSET


def _as_object(schema: Any) -> Json:
    """A boolean schema as an object, which is what clients expect of properties."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    read: Json = schema
    return read


_Read = Callable[[_SchemaReader, Any, int], Any]


def _kept(fits: Callable[[Any], bool]) -> _Read:
    """Keep a value of the right type; drop any other."""
    return lambda reader, value, depth: value if fits(value) else UNSET


def _refused(keyword: str) -> _Read:
    def refuse(reader: _SchemaReader, value: Any, depth: int) -> Any:
        raise Unfit(f"its schema uses {keyword}")

    return refuse


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _text(reader: _SchemaReader, value: Any, depth: int) -> Any:
    if not isinstance(value, str):
        return UNSET
    return value if value.isprintable() and len(value) <= LONGEST else readable(value)


def _type(reader: _SchemaReader, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value in schema_size.TYPES else UNSET
    if not isinstance(value, list):
        return UNSET
    return [name for name in dict.fromkeys(map(str, value)) if name in schema_size.TYPES] or UNSET


def _unknown(reader: _SchemaReader, value: Any, depth: int) -> Any:
    """The value of an unknown keyword, such as a note; lists and objects are left out."""
    if isinstance(value, str):
        return _text(reader, value, depth)
    return value if isinstance(value, bool | int | float) else UNSET


_READERS: dict[str, _Read] = {
    **dict.fromkeys(schema_size.MAPS, _SchemaReader.under_names),
    "patternProperties": _SchemaReader.under_patterns,
    **dict.fromkeys(schema_size.LISTS, _SchemaReader.listed),
    **dict.fromkeys(schema_size.SINGLE, _SchemaReader.schema),
    "items": _SchemaReader.items,
    **dict.fromkeys(schema_size.UNEVALUATED, _SchemaReader.unevaluated),
    "dependencies": _SchemaReader.dependencies,
    "dependentRequired": _SchemaReader.names_by_name,
    "required": _SchemaReader.names,
    **dict.fromkeys(schema_size.DATA, _SchemaReader.data),
    "enum": _SchemaReader.listed_data,
    "examples": _SchemaReader.listed_data,
    "pattern": _SchemaReader.pattern,
    "$ref": _SchemaReader.reference,
    **{keyword: _refused(keyword) for keyword in schema_size.FOREIGN},
    "type": _type,
    **dict.fromkeys(("title", "description", "$comment"), _text),
    **dict.fromkeys(
        ("format", "contentEncoding", "contentMediaType"),
        _kept(lambda value: isinstance(value, str)),
    ),
    **dict.fromkeys(schema_size.NUMBERS, _kept(_is_number)),
    "multipleOf": _kept(lambda value: _is_number(value) and value > 0),
    **dict.fromkeys(schema_size.COUNTS, _kept(_is_count)),
    **dict.fromkeys(schema_size.FLAGS, _kept(lambda value: isinstance(value, bool))),
    # Kept at the root only, by `_dialect`.
    "$schema": _kept(lambda value: False),
}
