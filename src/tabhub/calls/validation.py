"""Arguments against schemas, compiled once a tool. A schema never makes us fetch anything."""

from collections.abc import Callable
from typing import Any

import jsonschema_rs
import msgspec

from tabhub.errors import InvalidArguments
from tabhub.hub.page_schema import PageSchema
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool

SHOWN_ERRORS = 5
KEPT = 1000
"""How many tools' schemas stay compiled; the one used longest ago goes."""
PATTERN_BYTES = 1024 * 1024
BACKTRACKS = 10_000
"""What a page's pattern may cost: most are matched in linear time, the others with a bound."""


class Validators:
    """The compiled schema of each tool; a tool that was replaced is compiled anew."""

    def __init__(self, by_worker: Callable[[str], Tab | None] = lambda id: None) -> None:
        self._by_worker = by_worker
        self._compiled: dict[str, tuple[Tool, jsonschema_rs.Validator]] = {}

    def arguments(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """Decode and check; every fault is named with its place."""
        given = self._numbered(tool, _renamed(tool, _decode(raw)))
        validator = self._of(tool)
        # A page's schema need not know the parameter for the tab; whoever routes looks at that.
        is_pages = isinstance(tool.input_schema, PageSchema)
        checked = {k: v for k, v in given.items() if k != tool.tab_argument} if is_pages else given
        try:
            if not validator.is_valid(checked):
                raise _refusal(tool, validator, checked)
        except ValueError:
            raise InvalidArguments(f"{tool.name}: the arguments are nested too deeply.") from None
        return given

    def _numbered(self, tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
        """With the number of a tab that was named by the id of the page worker."""
        named = given.get("tabId")
        if not tool.needs_tab or not isinstance(named, str) or tool.domain:
            return given
        tab = self._by_worker(named)
        return given if tab is None else {**given, "tabId": tab.id}

    def _of(self, tool: Tool) -> jsonschema_rs.Validator:
        known = self._compiled.pop(tool.name, None)
        if known is None or known[0] is not tool:
            known = (tool, _compile(tool))
        self._compiled[tool.name] = known
        if len(self._compiled) > KEPT:
            del self._compiled[next(iter(self._compiled))]
        return known[1]


_UNUSABLE = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


def _compile(tool: Tool) -> jsonschema_rs.Validator:
    schema = tool.input_schema
    try:
        if isinstance(schema, PageSchema):
            return _of_page(schema.page_schema())
        return jsonschema_rs.validator_for(dict(schema), offline=True)
    except _UNUSABLE:
        raise InvalidArguments(f"The schema of {tool.name} cannot be used.") from None


def _of_page(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """Patterns of a page must not be able to keep us busy."""
    linear = jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES)
    try:
        return jsonschema_rs.validator_for(schema, offline=True, pattern_options=linear)
    except _UNUSABLE:
        bounded = jsonschema_rs.FancyRegexOptions(
            backtrack_limit=BACKTRACKS, size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES
        )
        return jsonschema_rs.validator_for(schema, offline=True, pattern_options=bounded)


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


def _refusal(tool: Tool, validator: jsonschema_rs.Validator, given: Any) -> InvalidArguments:
    faults = []
    for error in validator.iter_errors(given):
        place = "/".join(str(step) for step in error.instance_path)
        message = _unquoted(error) if _is_secret(tool, error) else error.message
        faults.append(f"{place}: {message}" if place else message)
    shown = "; ".join(faults[:SHOWN_ERRORS])
    return InvalidArguments(f"{tool.name}: {shown}", data={"errors": faults[:SHOWN_ERRORS]})


def _is_secret(tool: Tool, error: jsonschema_rs.ValidationError) -> bool:
    return bool(error.instance_path) and error.instance_path[0] in tool.secret_arguments


def _unquoted(error: jsonschema_rs.ValidationError) -> str:
    """The fault without the value, which may be a password."""
    return f"does not fit the schema ({error.schema_path[-1]})"
