"""Checks the commands that go over the link against their table; nothing outside development.

The table is imported when it is first needed: its many types would make every start slower.
"""

import logging
from typing import Any, Literal

import msgspec

from tabhub.browser.link.pending import Reads, dispatched
from tabhub.config.settings import in_development
from tabhub.errors import Internal

log = logging.getLogger(__name__)

MARK = "not as declared"
"""In the log, before what is wrong with a command."""
MISFITS: list[str] = []
"""What was found so far, for tests."""


def require_input(command: str, input: Any) -> None:
    """Fail if the server is about to send what the table does not know."""
    if (found := _found(command, "input", input)) is not None:
        raise Internal(found)


def reads_output(command: str) -> Reads:
    """Read the output of a command; what the table does not know counts as unreadable."""

    def read(result: msgspec.Raw) -> Any:
        output = dispatched(result)
        if (found := _found(command, "output", output)) is not None:
            raise ValueError(found)
        return output

    return read


def _found(command: str, side: Literal["input", "output"], value: Any) -> str | None:
    from tabhub.wire.commands.checking import misfit

    found = misfit(command, side, value)
    if found is not None:
        MISFITS.append(found)
        log.error("%s: %s", MARK, found)
    return found


def greeting() -> dict[str, Any]:
    """What the extension is sent with `sync.full`, so that it checks what it gets as well."""
    if not in_development():
        return {}
    from tabhub.wire.commands.checking import input_schemas

    return {"commands": input_schemas()}
