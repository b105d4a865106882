"""`tabhub logs`: what the server has written, and what it writes now."""

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from tabhub.cli import FAILED
from tabhub.cli.following import follow, kept
from tabhub.cli.output import harmless
from tabhub.config.paths import Home

_RECORD = re.compile(r"\d{4}-\d\d-\d\d \S+ [A-Z]+ (\S+?): ")
"""How a record begins; lines that begin otherwise belong to the one before."""
PLUGINS = "tabhub.plugins."
NO_PLUGINS = "tabhub: this version runs no plugins, so no line is of one."


def run(following: bool, lines: int, plugin: str | None) -> None:
    log = Home.from_environment().log
    if plugin is not None:
        print(NO_PLUGINS, file=sys.stderr)
    is_wanted = _everything if plugin is None else _of_logger(f"{PLUGINS}{plugin}")
    if following:
        _show(filter(is_wanted, follow(log, lines)))
    elif log.exists():
        _show(deque(filter(is_wanted, kept(log)), maxlen=lines))
    else:
        _complain(log)


def _show(lines: Iterable[str]) -> None:
    clean = harmless if sys.stdout.isatty() else str
    for line in lines:
        print(clean(line), flush=True)


def _complain(log: Path) -> None:
    print(f"tabhub: no server has run here yet: there is no {log}.", file=sys.stderr)
    sys.exit(FAILED)


def _everything(line: str) -> bool:
    return True


def _of_logger(name: str) -> Callable[[str], bool]:
    """Whether a line is of that logger, or goes on with what it has said."""
    belongs = False

    def check(line: str) -> bool:
        nonlocal belongs
        begins = _RECORD.match(line)
        if begins:
            belongs = begins[1] == name or begins[1].startswith(f"{name}.")
        return belongs

    return check
