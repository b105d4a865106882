"""Checks arguments against a tool's schema, compiled once a tool. A schema never fetches anything.

Schemas that tabhub did not write are compiled with bounds on time and memory.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, TypeGuard

import jsonschema_rs
import msgspec

from tabhub.calls.marks import quoted
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import BoundedSchema, Json, Tool, shortened
from tabhub.wire.pages import TabId

TAB_ID, TAB_IDS = "tabId", "tabIds"
MOST_TAB_IDS = 1000
"""In a longer list, ids of page workers are not looked up."""
SHOWN_ERRORS = 5
LONGEST_ERROR = 1000

KEPT = 1000
KEPT_BYTES = 64 * 1024 * 1024
"""How many compiled schemas are kept, and how large those of pages may be by an estimate."""
GROWTH = 50
"""How much larger a schema is once it is compiled, without its patterns."""
PATTERN_BYTES = 1024 * 1024
ALL_PATTERN_BYTES = 8 * 1024 * 1024
"""How large one pattern of a page may be once compiled, and all of a schema together."""
BACKTRACKS = 10_000
"""Bounds the patterns of a page that cannot be matched in linear time."""
EXPLAINED = 200_000_000
"""Bytes of schema times bytes of arguments: every error holds a copy of the value concerned."""
WITH_REFERENCES = 240_000
"""The assumed length of a schema with references, which may be larger than it is written."""

NAME_PATTERNS = ("patternProperties", "additionalProperties", "unevaluatedProperties")
"""Keywords that are wrong or empty once the patterns for property names are left out."""

_UNUSABLE = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


class Validators:
    """Decodes and checks the arguments of each tool; a replaced tool is compiled again."""

    def __init__(self, tabs: Tabs | None = None) -> None:
        self._tabs = Tabs() if tabs is None else tabs
        self.compiled = CompiledSchemas()

    def arguments(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """Decode and check; the error names each fault with its path."""
        arguments = self.decoded(tool, raw)
        self.check(tool, arguments)
        return arguments

    def decoded(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """The arguments under their listed names, with tabs by number; not checked yet."""
        return _with_tab_numbers(self._tabs, tool, _without_aliases(tool, _decode(raw)))

    def check(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Raise if the arguments do not fit."""
        schema = self.compiled.find(tool) or self.compiled.put(tool, compile_schema(tool))
        checked = arguments
        if tool.is_bounded:
            # A foreign schema need not know the parameter for the tab; the router checks that.
            checked = {k: v for k, v in arguments.items() if k != tool.tab_argument}
        try:
            if not schema.validator.is_valid(checked):
                raise _unknown_tab(self._tabs, tool, checked) or _refusal(tool, schema, checked)
        except ValueError:
            raise InvalidArguments(f"{tool.name}: the arguments are nested too deeply.") from None


def _decode(raw: msgspec.Raw | None) -> dict[str, Any]:
    if raw is None:
        return {}
    try:
        arguments = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArguments(f"The arguments cannot be read: {error}.") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidArguments("The arguments must be an object.")
    return arguments


def _without_aliases(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace aliases by the listed names; where both are given, the schema refuses the alias."""
    if not tool.aliases:
        return arguments
    names = {alias: name for alias, name in tool.aliases.items() if name not in arguments}
    return {names.get(key, key): value for key, value in arguments.items()} if names else arguments


def _with_tab_numbers(tabs: Tabs, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace the page workers' ids of tabs by numbers; an unknown id stays as it is."""
    if TAB_ID not in arguments and TAB_IDS not in arguments:
        return arguments
    changed = {
        key: _numbers(tabs, arguments[key]) for key in _tab_parameters(tool) if key in arguments
    }
    return {**arguments, **changed} if changed else arguments


def _tab_parameters(tool: Tool) -> list[str]:
    """The parameters that name tabs; in a foreign schema these names can mean anything."""
    known = () if tool.is_bounded else tool.input_schema.get("properties", ())
    return [key for key in (TAB_ID, TAB_IDS) if key in known]


def _numbers(tabs: Tabs, value: Any) -> Any:
    if isinstance(value, list) and len(value) <= MOST_TAB_IDS:
        return [_number(tabs, id) for id in value]
    return _number(tabs, value)


def _number(tabs: Tabs, id: Any) -> Any:
    number = tabs.number_of(id) if isinstance(id, str) else None
    return id if number is None else number


def _unknown_tab(tabs: Tabs, tool: Tool, arguments: Mapping[str, Any]) -> NotFound | None:
    """The error for an id of a page worker that no tab has."""
    values = (arguments.get(key) for key in _tab_parameters(tool))
    ids = (id for value in values for id in (value if isinstance(value, list) else [value]))
    return next((tabs.missing(id) for id in ids if _is_worker_id(id)), None)


def _is_worker_id(id: Any) -> TypeGuard[str]:
    try:
        msgspec.convert(id, TabId)
    except msgspec.ValidationError:
        return False
    return True


class CompiledSchema(NamedTuple):
    """The validator of a tool, and what it costs."""

    validator: jsonschema_rs.Validator
    size: int = 0
    """Estimated bytes in memory; 0 for our own tools."""
    length: int = 0
    """The length of the schema as it is written."""

    def can_explain(self, arguments: Any) -> bool:
        """Whether listing every error stays within bounds."""
        return self.length * len(msgspec.json.encode(arguments)) <= EXPLAINED


class CompiledSchemas:
    """The compiled schemas by tool; drops the least recently used, by number and by size."""

    def __init__(self) -> None:
        self._schemas: dict[str, tuple[Tool, CompiledSchema]] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._schemas)

    def find(self, tool: Tool) -> CompiledSchema | None:
        known = self._schemas.pop(tool.name, None)
        if known is None:
            return None
        if known[0] is not tool:
            self._size -= known[1].size
            return None
        self._schemas[tool.name] = known
        return known[1]

    def put(self, tool: Tool, schema: CompiledSchema) -> CompiledSchema:
        """Keep a schema; `find` must have found none of that name."""
        self._schemas[tool.name] = (tool, schema)
        self._size += schema.size
        while len(self._schemas) > KEPT or (self._size > KEPT_BYTES and len(self._schemas) > 1):
            self._size -= self._schemas.pop(next(iter(self._schemas)))[1].size
        return schema


def compile_schema(tool: Tool) -> CompiledSchema:
    schema = tool.input_schema
    try:
        if isinstance(schema, BoundedSchema):
            return _compile_bounded(schema)
        length = len(msgspec.json.encode(schema))
        validator = jsonschema_rs.validator_for(dict(schema), offline=True)
        return CompiledSchema(validator, length=length)
    except _UNUSABLE:
        raise InvalidArguments(f"The schema of {tool.name} cannot be used.") from None


def _compile_bounded(schema: BoundedSchema) -> CompiledSchema:
    published = schema.published()
    count = count_patterns(published)
    each = min(PATTERN_BYTES, ALL_PATTERN_BYTES // max(count, 1))
    length = max(len(schema.own), WITH_REFERENCES if b'"$ref"' in schema.own else 0)
    size = GROWTH * len(schema.own) + count * each
    return CompiledSchema(page_validator(published, each), size, length)


def page_validator(schema: dict[str, Any], each: int = PATTERN_BYTES) -> jsonschema_rs.Validator:
    """The validator of a page's schema, whose patterns are bounded in time and memory.

    Patterns that cannot be compiled are left out: the page checks its arguments itself anyway.
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
        return [_without_patterns(item) for item in node]
    if not isinstance(node, dict):
        return node
    left_out = set(NAME_PATTERNS) if "patternProperties" in node else set()
    if isinstance(node.get("pattern"), str):
        left_out.add("pattern")
    return {key: _without_patterns(value) for key, value in node.items() if key not in left_out}


def count_patterns(node: Any) -> int:
    """How many patterns a schema has at most: everything that looks like one counts."""
    if isinstance(node, list):
        return sum(map(count_patterns, node))
    if not isinstance(node, dict):
        return 0
    by_name = node.get("patternProperties")
    own = isinstance(node.get("pattern"), str) + (len(by_name) if isinstance(by_name, dict) else 0)
    return own + sum(map(count_patterns, node.values()))


def _refusal(tool: Tool, schema: CompiledSchema, arguments: Any) -> InvalidArguments:
    known, faults = (arguments, []) if tool.is_bounded else _without_unknown(tool, arguments)
    if schema.can_explain(known):
        faults += _faults(tool, schema, known)
    faults = faults[:SHOWN_ERRORS]
    if not faults:
        return InvalidArguments(f"{tool.name}: the arguments do not fit the schema.")
    # The faults repeat words of the schema, which may be a page's.
    listed = quoted("; ".join(faults)) if tool.is_bounded else "; ".join(faults)
    return InvalidArguments(f"{tool.name}: {listed}", data={"errors": faults})


def _without_unknown(tool: Tool, arguments: Mapping[str, Any]) -> tuple[Json, list[str]]:
    """The arguments that the tool has, and a fault for each other name and for missing ones."""
    schema = tool.input_schema
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if schema.get("additionalProperties") is not False:
        return dict(arguments), []
    unknown = (name for name in arguments if name not in properties)
    faults = [
        f"there is no parameter {shortened(name)!r}" for name in islice(unknown, SHOWN_ERRORS)
    ]
    faults += [f"{name!r} is missing" for name in required if name not in arguments]
    return {name: arguments[name] for name in properties if name in arguments}, faults


def _faults(tool: Tool, schema: CompiledSchema, arguments: Json) -> Iterator[str]:
    for error in schema.validator.iter_errors(arguments):
        if error.schema_path == ["required"] and not tool.is_bounded:
            continue
        path = "/".join(str(step) for step in error.instance_path)
        message = _without_value(error) if _is_secret(tool, error) else error.message
        yield (f"{path}: {message}" if path else message)[:LONGEST_ERROR]


def _is_secret(tool: Tool, error: jsonschema_rs.ValidationError) -> bool:
    return bool(error.instance_path) and error.instance_path[0] in tool.secret_arguments


def _without_value(error: jsonschema_rs.ValidationError) -> str:
    """The fault without the value, which may be a password."""
    return f"does not fit the schema ({error.schema_path[-1]})"
