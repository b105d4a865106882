"""Schemas of pages: read place by place and bounded, before anybody compiles or lists them.

What stands where a schema may stand is a schema, whatever it is called, and is looked at. What is
left out cannot be referred to. So what is admitted is small, also once its references are followed.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from tabhub.page_tools import schema_size
from tabhub.page_tools.core.schema import LONGEST, readable
from tabhub.page_tools.schema_size import MOST_PLACES, Unfit, require_small

DEEPEST = 50
MOST_PATTERNS = 100
PATTERN_BYTES = 16 * 1024
NO_ARGUMENTS = b'{"properties":{},"type":"object"}'

Json = dict[str, Any]


def checked_schema(given: msgspec.Raw, most_bytes: int) -> bytes:
    """A page's schema in as few bytes as can be; Unfit with the reason if it is refused."""
    if len(given) > most_bytes:
        raise Unfit(f"its schema has more than {most_bytes} bytes")
    schema = _object(given)
    if schema.get("type", "object") != "object":
        raise Unfit("its schema is not that of an object")
    reader = _Reader()
    read: Json = reader.schema(_at_home(schema), 1)
    if reader.refers:
        require_small(read, DEEPEST)
    # Properties come first, so that one more can be put in without reading all of it.
    return msgspec.json.encode({"properties": {}, **_dialect(schema), **read, "type": "object"})


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


def _at_home(schema: Json) -> Json:
    """Without what names it elsewhere."""
    return {key: value for key, value in schema.items() if key != "$id"}


def _dialect(schema: Json) -> Json:
    """The one it is written in, if anybody here speaks it."""
    named = schema.get("$schema")
    return {"$schema": named} if isinstance(named, str) and named in schema_size.DIALECTS else {}


class _Reader:
    """Reads a schema: what it keeps is well typed, and everything counts."""

    def __init__(self) -> None:
        self._places = 0
        self._patterns = 0
        self._pattern_bytes = 0
        self.refers = False
        """Whether checking may cost more than there are places."""

    def schema(self, node: Any, depth: int) -> Any:
        self._enter(1, depth)
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            raise Unfit("its schema has a part that is no schema")
        read = {}
        for word, value in node.items():
            self._enter(1, depth)
            kept = _READERS.get(word, _unknown)(self, value, depth + 1)
            if kept is not UNSET:
                read[word] = kept
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
        return {name: _as_object(self.schema(one, depth + 1)) for name, one in value.items()}

    def under_patterns(self, value: Any, depth: int) -> Json:
        read = self.under_names(value, depth)
        for name in read:
            self.pattern(name, depth)
        return read

    def listed(self, value: Any, depth: int) -> Any:
        if not isinstance(value, list):
            raise Unfit("its schema has a part that is no list of schemas")
        return [self.schema(one, depth + 1) for one in value] or UNSET

    def items(self, value: Any, depth: int) -> Any:
        return (self.listed if isinstance(value, list) else self.schema)(value, depth)

    def unevaluated(self, value: Any, depth: int) -> Any:
        self.refers = True
        return self.schema(value, depth)

    def dependencies(self, value: Any, depth: int) -> Json:
        if not isinstance(value, dict):
            raise Unfit("its schema has dependencies that are no object")
        return {
            name: (self.names if isinstance(one, list) else self.schema)(one, depth + 1)
            for name, one in value.items()
        }

    def names(self, value: Any, depth: int) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise Unfit("its schema requires what are no names")
        self._enter(len(value), depth)
        return list(dict.fromkeys(value))

    def names_by_name(self, value: Any, depth: int) -> Json:
        if not isinstance(value, dict):
            raise Unfit("its schema requires what are no names")
        return {name: self.names(one, depth + 1) for name, one in value.items()}

    def data(self, value: Any, depth: int) -> Any:
        """Any value: nothing in it is a schema, and nothing can refer to it."""
        self._enter(1, depth)
        if isinstance(value, list | dict):
            self._enter(len(value), depth)
            for one in value.values() if isinstance(value, dict) else value:
                if isinstance(one, list | dict):
                    self.data(one, depth + 1)
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
        self.refers = True
        return value if isinstance(value, str) else UNSET


def _as_object(schema: Any) -> Json:
    """Clients expect objects under names, where a schema may be just yes or no."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    read: Json = schema
    return read


_Read = Callable[[_Reader, Any, int], Any]


def _kept(fits: Callable[[Any], bool]) -> _Read:
    """What is not of the type that its word asks for says nothing."""
    return lambda reader, value, depth: value if fits(value) else UNSET


def _refused(word: str) -> _Read:
    def refuse(reader: _Reader, value: Any, depth: int) -> Any:
        raise Unfit(f"its schema uses {word}")

    return refuse


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _text(reader: _Reader, value: Any, depth: int) -> Any:
    if not isinstance(value, str):
        return UNSET
    return value if value.isprintable() and len(value) <= LONGEST else readable(value)


def _type(reader: _Reader, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value in schema_size.TYPES else UNSET
    if not isinstance(value, list):
        return UNSET
    return [name for name in dict.fromkeys(map(str, value)) if name in schema_size.TYPES] or UNSET


def _unknown(reader: _Reader, value: Any, depth: int) -> Any:
    """A word that nobody here knows may be a note; whatever may hide more is left out."""
    if isinstance(value, str):
        return _text(reader, value, depth)
    return value if isinstance(value, bool | int | float) else UNSET


_READERS: dict[str, _Read] = {
    **dict.fromkeys(schema_size.MAPS, _Reader.under_names),
    "patternProperties": _Reader.under_patterns,
    **dict.fromkeys(schema_size.LISTS, _Reader.listed),
    **dict.fromkeys(schema_size.SINGLE, _Reader.schema),
    "items": _Reader.items,
    **dict.fromkeys(schema_size.UNEVALUATED, _Reader.unevaluated),
    "dependencies": _Reader.dependencies,
    "dependentRequired": _Reader.names_by_name,
    "required": _Reader.names,
    **dict.fromkeys(schema_size.DATA, _Reader.data),
    "enum": _Reader.listed_data,
    "examples": _Reader.listed_data,
    "pattern": _Reader.pattern,
    "$ref": _Reader.reference,
    **{word: _refused(word) for word in schema_size.FOREIGN},
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
    # It counts at the root only, and only if it is one of those known.
    "$schema": _kept(lambda value: False),
}
