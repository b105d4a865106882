"""The command line. Each command imports what it needs when it runs, so that `--help` is fast."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tabhub.errors import TabhubError

FAILED, USAGE, NOT_REACHABLE = 1, 2, 3
"""Exit codes, besides 0."""


def main() -> None:
    """Run the command; an error ends as one sentence on stderr, never as a traceback."""
    from tabhub.cli.commands import app
    from tabhub.errors import TabhubError
    from tabhub.system.text import make_printable

    make_printable()
    try:
        app()
    except TabhubError as error:
        print(f"tabhub: {error.message}{_way_out(error)}", file=sys.stderr)
        sys.exit(_exit_code(error))
    except OSError as error:
        print(f"tabhub: {described_error(error)}", file=sys.stderr)
        sys.exit(FAILED)


def described_error(error: OSError) -> str:
    """The file and what is wrong with it; for one of tabhub's home also what helps."""
    from tabhub.config.paths import Home

    what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    way_out = Home.from_environment().way_out(error)
    return what if way_out is None else f"{what}. {way_out}"


def _way_out(error: "TabhubError") -> str:
    """What helps where the error itself cannot say it."""
    from tabhub.cli.own_program import command_text
    from tabhub.config.settings import BrokenFile

    reset = command_text("config", "reset", "--confirm")
    return f" Repair the file, or set it aside: {reset}" if isinstance(error, BrokenFile) else ""


def _exit_code(error: "TabhubError") -> int:
    from tabhub.cli.running import NotRunning
    from tabhub.cli.tool.rest_client import RequestRefused

    if isinstance(error, NotRunning):
        return NOT_REACHABLE
    if isinstance(error, RequestRefused):
        return FAILED
    return USAGE if error.row.category == "validation" else FAILED
