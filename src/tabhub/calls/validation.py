"""Arguments against schemas, compiled once a tool. A schema never makes us fetch anything."""

from typing import Any

import jsonschema_rs
import msgspec

from tabhub.errors import InvalidArguments
from tabhub.hub.tools import Tool

SHOWN_ERRORS = 5


class Validators:
    """The compiled schema of each tool; a tool that was replaced is compiled anew."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[Tool, jsonschema_rs.Validator]] = {}

    def arguments(self, tool: Tool, raw: msgspec.Raw | None) -> dict[str, Any]:
        """Decode and check; every fault is named with its place."""
        given = _renamed(tool, _decode(raw))
        validator = self._of(tool)
        try:
            if not validator.is_valid(given):
                raise _refusal(tool, validator, given)
        except ValueError:
            raise InvalidArguments(f"{tool.name}: the arguments are nested too deeply.") from None
        return given

    def _of(self, tool: Tool) -> jsonschema_rs.Validator:
        known = self._compiled.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._compiled[tool.name] = (tool, _compile(tool))
        return known[1]


def _compile(tool: Tool) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(dict(tool.input_schema), offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        raise InvalidArguments(f"The schema of {tool.name} cannot be used.") from None


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
