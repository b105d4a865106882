"""Arguments against schemas, compiled once a tool. A schema never makes us fetch anything."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import jsonschema_rs
import msgspec

from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.schemas import BoundedSchema
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import Tool
from tabhub.wire.pages import TabId

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


ONE, MANY = "tabId", "tabIds"
MOST = 1000
"""In a list of more, texts are not looked up."""


def numbered(tabs: Tabs, tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """With the numbers of tabs that were named by a text; what names none stays as it is."""
    changed = {key: _numbers(tabs, given[key]) for key in _taken(tool) if key in given}
    return {**given, **changed} if changed else given


def unknown_tab(tabs: Tabs, tool: Tool, given: Mapping[str, Any]) -> NotFound | None:
    """What to say where an id of the page worker is given that no tab has."""
    words = (word for key in _taken(tool) for word in _several(given.get(key)))
    return next((tabs.missing(word) for word in words if _is_id(word)), None)


def _taken(tool: Tool) -> list[str]:
    """What a schema that somebody else wrote calls so is its own."""
    known = () if tool.is_bounded else tool.input_schema.get("properties", ())
    return [key for key in (ONE, MANY) if key in known]


def _numbers(tabs: Tabs, named: Any) -> Any:
    if isinstance(named, list) and len(named) <= MOST:
        return [_number(tabs, one) for one in named]
    return _number(tabs, named)


def _number(tabs: Tabs, named: Any) -> Any:
    number = tabs.number_of(named) if isinstance(named, str) else None
    return named if number is None else number


def _several(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]


def _is_id(word: Any) -> bool:
    try:
        msgspec.convert(word, TabId)
    except msgspec.ValidationError:
        return False
    return True


SHOWN_ERRORS = 5
LONGEST_ERROR = 1000


class Validators:
    """The compiled schema of each tool; a tool that was replaced is compiled anew."""

    def __init__(self, tabs: Tabs | None = None) -> None:
        self._tabs = Tabs() if tabs is None else tabs
        self.kept = Kept()

    def arguments(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """Decode and check; every fault is named with its place."""
        given = self.decoded(tool, raw)
        self.check(tool, given)
        return given

    def decoded(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """By the names that are listed, and not checked yet."""
        return numbered(self._tabs, tool, _renamed(tool, _decode(raw)))

    def check(self, tool: Tool, given: Mapping[str, Any]) -> None:
        """Refuse what does not fit."""
        known = self.kept.find(tool) or self.kept.put(tool, compiled(tool))
        checked = given
        if tool.is_bounded:
            # Such a schema need not know the parameter for the tab; whoever routes looks at that.
            checked = {k: v for k, v in given.items() if k != tool.tab_argument}
        try:
            if not known.validator.is_valid(checked):
                raise unknown_tab(self._tabs, tool, checked) or _refusal(tool, known, checked)
        except ValueError:
            raise InvalidArguments(f"{tool.name}: the arguments are nested too deeply.") from None


def _decode(raw: msgspec.Raw | None) -> dict[str, Any]:
    if raw is None:
        return {}
    try:
        given = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArguments(f"The arguments cannot be read: {error}.") from None
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidArguments("The arguments must be an object.")
    return given


def _renamed(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """With the listed words in the place of others; where both are given, the other is refused."""
    names = {other: name for other, name in tool.aliases.items() if name not in given}
    return {names.get(key, key): value for key, value in given.items()} if names else given


def _refusal(tool: Tool, known: Compiled, given: Any) -> InvalidArguments:
    if not known.can_explain(given):
        return InvalidArguments(f"{tool.name}: the arguments do not fit the schema.")
    faults = []
    for error in known.validator.iter_errors(given):
        place = "/".join(str(step) for step in error.instance_path)
        message = _unquoted(error) if _is_secret(tool, error) else error.message
        faults.append((f"{place}: {message}" if place else message)[:LONGEST_ERROR])
    shown = "; ".join(faults[:SHOWN_ERRORS])
    return InvalidArguments(f"{tool.name}: {shown}", data={"errors": faults[:SHOWN_ERRORS]})


def _is_secret(tool: Tool, error: jsonschema_rs.ValidationError) -> bool:
    return bool(error.instance_path) and error.instance_path[0] in tool.secret_arguments


def _unquoted(error: jsonschema_rs.ValidationError) -> str:
    """The fault without the value, which may be a password."""
    return f"does not fit the schema ({error.schema_path[-1]})"
