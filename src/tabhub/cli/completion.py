"""Completion in shells: the script for each, and what is completed besides names of commands."""

import os
from collections.abc import Callable, Iterable
from typing import Literal

from tabhub.config.known_agents import KNOWN_AGENTS

Shell = Literal["bash", "zsh", "fish", "powershell"]
PROGRAM = "tabhub"
VARIABLE = "_TABHUB_COMPLETE"
"""Set by a shell that asks; the rest is typer's."""
Complete = Callable[[str], list[str]]


def is_asked() -> bool:
    return VARIABLE in os.environ


def prepare() -> None:
    """Let typer answer the shell; it does that before any command runs."""
    from typer._completion_classes import completion_init

    completion_init()


def script(shell: Shell) -> str:
    from typer._completion_shared import get_completion_script

    return get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)


def agents(incomplete: str) -> list[str]:
    return _beginning(incomplete, KNOWN_AGENTS)


def tools(incomplete: str) -> list[str]:
    """The tools that the running server lists; none if none runs."""
    from tabhub.cli.tool.rest_client import connect
    from tabhub.config.paths import Home
    from tabhub.errors import TabhubError

    try:
        listed = connect(Home.from_environment()).tools({"toolset": "all"})
    except (TabhubError, OSError):
        return []
    return _beginning(incomplete, (str(tool["name"]) for tool in listed))


def clients(incomplete: str) -> list[str]:
    from tabhub.config.clients import Clients
    from tabhub.config.paths import Home
    from tabhub.errors import TabhubError

    try:
        return _beginning(incomplete, (c.name for c in Clients(Home.from_environment()).list()))
    except (TabhubError, OSError):
        return []


def settings(incomplete: str) -> list[str]:
    from tabhub.config import keys

    return _beginning(incomplete, keys.names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
