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

    try:
        app()
    except TabhubError as error:
        print(f"tabhub: {error.message}", file=sys.stderr)
        sys.exit(_exit_code(error))
    except OSError as error:
        print(f"tabhub: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        sys.exit(FAILED)


def _exit_code(error: "TabhubError") -> int:
    from tabhub.cli.running import NotRunning
    from tabhub.cli.tool.rest_client import RequestRefused

    if isinstance(error, NotRunning):
        return NOT_REACHABLE
    if isinstance(error, RequestRefused):
        return FAILED
    return USAGE if error.row.category == "validation" else FAILED
