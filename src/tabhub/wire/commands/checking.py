"""Whether inputs and outputs are as the table of commands says: for development and for tests."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from tabhub.wire.commands import COMMANDS
from tabhub.wire.commands.command import Shape

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
