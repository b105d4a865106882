"""The flags of a command as another process is to be given them."""

from collections.abc import Collection, Iterator
from typing import Any

import typer


def given(context: typer.Context, *, but: Collection[str]) -> list[str]:
    """What was said on this command line, without some of it."""
    options = [option for option in context.command.params if option.name not in but]
    return [word for option in options for word in _words(option, context.params[option.name])]


def _words(option: Any, value: Any) -> Iterator[str]:
    if value is True:
        yield option.opts[0]
    elif value is False:
        yield from option.secondary_opts[:1]
    elif value is not None:
        for one in value if isinstance(value, list | tuple) else [value]:
            yield f"{option.opts[0]}={one}"
