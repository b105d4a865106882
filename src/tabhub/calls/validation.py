"""Arguments against schemas, compiled once a tool. A schema never makes us fetch anything."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import msgspec

from tabhub.calls.compiled import Compiled, Kept, compiled
from tabhub.calls.tab_ids import numbered, unknown_tab
from tabhub.errors import InvalidArguments
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import Tool

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
