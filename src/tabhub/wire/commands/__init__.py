"""The commands of `tool.dispatch`: what each one takes and what it answers.

The one place that says it. `protocol/link.schema.json`, the table in `docs/link.md` and the types
of the extension (`extension/worker/shared/wire.d.ts`) are generated from here by `make docs`.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from tabhub.wire.commands import (
    acting_commands,
    data_commands,
    looks_commands,
    network_commands,
    reading_commands,
    tab_commands,
)
from tabhub.wire.commands.command import Command, Shape

FAMILIES: dict[str, tuple[Command, ...]] = {
    "Tabs, windows and groups": tab_commands.COMMANDS,
    "Reading a page": reading_commands.COMMANDS,
    "Acting on a page": acting_commands.COMMANDS,
    "Pictures, styles and emulation": looks_commands.COMMANDS,
    "Records and interception": network_commands.COMMANDS,
    "Data of the browser": data_commands.COMMANDS,
}

COMMANDS: dict[str, Command] = {
    command.name: command for family in FAMILIES.values() for command in family
}

Side = Literal["input", "output"]


def misfit(command: str, side: Side, value: Any) -> str | None:
    """What is wrong with an input or output of a command; None if nothing is."""
    known = COMMANDS.get(command)
    if known is None:
        return f"{command}: there is no such command"
    why = _misfit(known.inputs if side == "input" else known.outputs, value)
    return None if why is None else f"{command}: its {side} does not fit: {why}"


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
    """The JSON Schema of every input, and the shapes they are made of, for the extension."""
    kinds = {shape for command in COMMANDS.values() for shape in command.inputs}
    _, shapes = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    inputs = {
        name: {"anyOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in command.inputs]}
        for name, command in COMMANDS.items()
    }
    return {"inputs": inputs, "$defs": shapes}
