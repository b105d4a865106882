"""The commands of `tool.dispatch`: the input and the output of each.

`make docs` generates `protocol/link.schema.json`, the tables in `docs/link.md` and the extension's
types (`extension/worker/shared/wire.d.ts`) from here.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from tabhub.wire.commands import (
    acting_commands,
    data_commands,
    network_commands,
    plugin_commands,
    reading_commands,
    rendering_commands,
    tab_commands,
)
from tabhub.wire.commands.command import Command, Shape

FAMILIES: dict[str, tuple[Command, ...]] = {
    "Tabs, windows and groups": tab_commands.COMMANDS,
    "Reading a page": reading_commands.COMMANDS,
    "Acting on a page": acting_commands.COMMANDS,
    "Pictures, styles and emulation": rendering_commands.COMMANDS,
    "Records and interception": network_commands.COMMANDS,
    "Data of the browser": data_commands.COMMANDS,
    "Python plugins": plugin_commands.COMMANDS,
}

COMMANDS: dict[str, Command] = {
    command.name: command for family in FAMILIES.values() for command in family
}

Side = Literal["input", "output"]


def misfit(command: str, side: Side, value: Any) -> str | None:
    """Validate an input or output of a command; returns what is wrong, or None."""
    known = COMMANDS.get(command)
    if known is None:
        return f"{command}: there is no such command"
    reason = _misfit(known.inputs if side == "input" else known.outputs, value)
    return None if reason is None else f"{command}: its {side} is invalid: {reason}"


def _misfit(shapes: Iterable[type[Shape]], value: Any) -> str | None:
    body = msgspec.json.encode(value)
    reasons = []
    for shape in shapes:
        try:
            msgspec.json.decode(body, type=shape)
        except msgspec.ValidationError as error:
            reasons.append(str(error))
        else:
            return None
    return "; nor ".join(reasons)


def input_schemas() -> dict[str, Any]:
    """The JSON Schema of every input, for the extension."""
    kinds = {shape for command in COMMANDS.values() for shape in command.inputs}
    _, shapes = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    inputs = {
        name: {"anyOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in command.inputs]}
        for name, command in COMMANDS.items()
    }
    return {"inputs": inputs, "$defs": shapes}
