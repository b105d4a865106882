"""The commands of `tool.dispatch`: what each one takes and what it answers.

The one place that says it. `protocol/link.schema.json`, the table in `docs/link.md` and the types
of the extension (`extension/worker/shared/wire.d.ts`) are generated from here by `make docs`.
"""

from tabhub.wire.commands import acting_commands as acting
from tabhub.wire.commands import data_commands as data
from tabhub.wire.commands import looks_commands as looks
from tabhub.wire.commands import network_commands as network
from tabhub.wire.commands import reading_commands as reading
from tabhub.wire.commands import tab_commands as tabs
from tabhub.wire.commands.command import Command

FAMILIES: dict[str, tuple[Command, ...]] = {
    "Tabs, windows and groups": tabs.COMMANDS,
    "Reading a page": reading.COMMANDS,
    "Acting on a page": acting.COMMANDS,
    "Pictures, styles and emulation": looks.COMMANDS,
    "Records and interception": network.COMMANDS,
    "Data of the browser": data.COMMANDS,
}

COMMANDS: dict[str, Command] = {
    command.name: command for family in FAMILIES.values() for command in family
}
